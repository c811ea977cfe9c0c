// Registry: every adapter that has laws to keep, by the name under which it is asked for.
// Owns the pairing of adapters with lists of laws. Leaves judging to `@reverie/testkit`.
// R1  An unknown name is refused: it would judge nothing and look like success.

import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { PromptStore } from "@reverie/context"
import { type Allowance, type Ledger, SegmentPlace } from "@reverie/ledger"
import type { Mailbox } from "@reverie/mailbox"
import type { BlockStore } from "@reverie/memory"
import { Model } from "@reverie/model"
import { makeOpenAiModel, openAiEmbedderLayer } from "@reverie/model-openai"
import { queueBullmqLayer, type QueueBullmqOptions } from "@reverie/queue-bullmq"
import { queueLocalLayer } from "@reverie/queue-local"
import { recallPostgresLayer } from "@reverie/recall-postgres"
import { recallQdrantLayer } from "@reverie/recall-qdrant"
import { recallSqliteLayer } from "@reverie/recall-sqlite"
import { openPostgresStore, storePostgresLayer } from "@reverie/store-postgres"
import { IN_MEMORY, openSqliteStore, segmentDirectory, storeSqliteLayer } from "@reverie/store-sqlite"
import {
  allowanceLaws,
  archiveLaws,
  blockStoreLaws,
  checkWaivers,
  embedderLaws,
  type FreshLayer,
  hashedEmbedderLayer,
  type Law,
  type LawResult,
  ledgerLaws,
  mailboxLaws,
  dataStoresLayer,
  memoryAllowanceLayer,
  memoryArchiveLayer,
  memoryBlockStoreLayer,
  MemoryDisk,
  memoryDataStoresLayer,
  memoryPromptStoreLayer,
  memoryRecallLayer,
  memorySegmentPlaceLayer,
  memoryStoreLayer,
  modelLaws,
  OtherEnd,
  Outage,
  promptStoreLaws,
  recallLaws,
  bundleLaws,
  runLaws,
  segmentPlaceLaws,
  storeLaws,
  type Waivers,
  wakeQueueLaws
} from "@reverie/testkit"
import { saying, SERVED_DIMENSIONS, servedOtherEnd, startModelServer } from "@reverie/testkit/model-server"
import { qdrantPlace, qdrantPlaceName } from "@reverie/testkit/qdrant-server"
import { type Server, startPostgres, startRedis, withServerPatience } from "@reverie/testkit/servers"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"

/** One list of laws on one adapter. */
export interface Suite {
  /** Read when it is judged: it may name a server that was started after this was loaded. */
  readonly port: string
  readonly results: Effect.Effect<ReadonlyArray<LawResult>>
  readonly waivers: Waivers
}

const suite = <R>(
  port: string | (() => string),
  laws: ReadonlyArray<Law<R>>,
  layer: FreshLayer<R>,
  waivers: Waivers = {}
): Suite => {
  checkWaivers(
    laws.map(({ id }) => id),
    waivers
  )
  return {
    get port() {
      return typeof port === "string" ? port : port()
    },
    results: runLaws(laws, layer),
    waivers
  }
}

const store = (
  layer: FreshLayer<Mailbox | Ledger>,
  prompts: FreshLayer<PromptStore>,
  blocks: FreshLayer<BlockStore>,
  allowance: FreshLayer<Allowance>
): ReadonlyArray<Suite> => [
  suite("prompt-store", promptStoreLaws, prompts),
  suite("block-store", blockStoreLaws, blocks),
  suite("allowance", allowanceLaws, allowance),
  suite("mailbox", mailboxLaws, layer),
  suite("ledger", ledgerLaws, layer),
  suite("store", storeLaws, layer)
]

/** What keeps its data in a directory, which is gone when it is closed. */
const inDirectory = <A, E>(layer: (directory: string) => Layer.Layer<A, E>) =>
  Layer.unwrap(
    Effect.map(
      Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "reverie-laws-"))),
        (directory) => Effect.sync(() => rmSync(directory, { recursive: true }))
      ),
      layer
    )
  )

const onDisk = () => inDirectory((directory) => storeSqliteLayer(directory))

/** A place for segments, and a store whose segments lie in one. */
const inSegmentDirectory = () => inDirectory((directory) => Layer.sync(SegmentPlace, () => segmentDirectory(directory)))
const segmentsApart = () =>
  inDirectory((directory) =>
    storeSqliteLayer(join(directory, "data"), { segments: segmentDirectory(join(directory, "segments")) })
  )

/** The embedder of OpenAI's client, on a server of its own. */
const embedderOnLoopback = () =>
  Layer.unwrap(
    Effect.map(
      Effect.acquireRelease(
        Effect.promise(() => startModelServer({ script: saying("") })),
        (server) => Effect.promise(() => server.close())
      ),
      (server) =>
        Layer.mergeAll(
          openAiEmbedderLayer({
            baseURL: server.url,
            apiKey: Redacted.make("none"),
            model: "hashed",
            dimensions: SERVED_DIMENSIONS,
            retries: 0
          }),
          Layer.succeed(Outage, {
            strike: Effect.sync(() => server.become({ mode: "status-500" })),
            mend: Effect.sync(() => server.become({ script: saying("") }))
          })
        )
    )
  )

/** The model of OpenAI's client, likewise. */
const modelOnLoopback = (wire: "chat" | "responses") => () =>
  Layer.unwrap(
    Effect.map(
      Effect.acquireRelease(
        Effect.promise(() => startModelServer({ script: saying("") })),
        (server) => Effect.promise(() => server.close())
      ),
      (server) =>
        Layer.merge(
          Layer.effect(
            Model,
            makeOpenAiModel({ baseURL: server.url, apiKey: Redacted.make("none"), model: "laws", retries: 0, wire })
          ),
          Layer.succeed(OtherEnd, servedOtherEnd(server))
        )
    )
  )

/** A collection of its own, on the server that QDRANT_URL names or on a double. */
const onQdrant = () => Layer.unwrap(Effect.map(qdrantPlace, recallQdrantLayer))

const inMemory = () => storeSqliteLayer(IN_MEMORY)

/** One server of each kind for all laws. */
let postgres: ReturnType<typeof startPostgres> | undefined
let redis: ReturnType<typeof startRedis> | undefined
let schemas = 0
let queues = 0

/** Ends the servers that judging has started; what is judged after that starts anew where it finds one. */
export const stopServers = async (): Promise<void> => {
  const started = [postgres, redis].filter((server) => server !== undefined)
  postgres = undefined
  redis = undefined
  for (const server of await Promise.allSettled<Server>(started)) {
    // One that did not start has been told of by the laws.
    if (server.status === "fulfilled") await server.value.stop()
  }
}

/** A schema of its own, on the server that DATABASE_URL names or on one of this machine. */
const onPostgres = () =>
  Layer.unwrap(
    Effect.map(
      Effect.promise(() => (postgres ??= startPostgres({ fsync: false }))),
      ({ url }) =>
        storePostgresLayer(Redacted.make(url), { schema: `laws_${++schemas}`, clock: "effect", connections: 4 })
    )
  )

const recallOnPostgres = () =>
  Layer.unwrap(
    Effect.map(
      Effect.promise(() => (postgres ??= startPostgres({ fsync: false }))),
      ({ url }) => recallPostgresLayer({ url: Redacted.make(url), schema: `laws_recall_${++schemas}` })
    )
  )

/** Data stores share the server and have a schema each. */
const aDataStoreOnPostgres = Effect.flatMap(
  Effect.promise(() => (postgres ??= startPostgres({ fsync: false }))),
  ({ url }) => openPostgresStore(Redacted.make(url), { schema: `laws_${++schemas}`, clock: "effect", connections: 3 })
)

type Backend = QueueBullmqOptions["backend"]

const queueOn = (backend: Backend, prefix: string) =>
  withServerPatience(queueBullmqLayer({ backend, prefix: `${prefix}-${++queues}`, concurrency: 16, drainMillis: 50 }))

/** A queue of its own, on the Redis that REDIS_URL names or on one of this machine. */
const queueOnRedis = () =>
  Layer.unwrap(
    Effect.map(
      Effect.promise(() => (redis ??= startRedis())),
      ({ prefix, url }) => queueOn({ redis: Redacted.make(url) }, prefix)
    )
  )

const queueOnPostgres = () =>
  Layer.unwrap(
    Effect.map(
      Effect.promise(() => (postgres ??= startPostgres({ fsync: false }))),
      ({ url }) => queueOn({ postgres: Redacted.make(url) }, "laws")
    )
  )

export const registry: Readonly<Record<string, ReadonlyArray<Suite>>> = {
  memory: [
    ...store(
      () => memoryStoreLayer(new MemoryDisk()),
      () => memoryPromptStoreLayer(),
      () => memoryBlockStoreLayer(),
      () => memoryAllowanceLayer()
    ),
    suite("bundles", bundleLaws, memoryDataStoresLayer),
    suite("archive", archiveLaws, memoryArchiveLayer),
    suite("segment-place", segmentPlaceLaws, memorySegmentPlaceLayer),
    suite("recall", recallLaws, () => memoryRecallLayer())
  ],
  sqlite: [
    ...store(inMemory, inMemory, inMemory, inMemory),
    suite("bundles", bundleLaws, () => dataStoresLayer(openSqliteStore(IN_MEMORY))),
    suite("archive", archiveLaws, inMemory)
  ],
  "sqlite-directory": [
    ...store(onDisk, onDisk, onDisk, onDisk),
    suite("archive", archiveLaws, onDisk),
    suite("archive with segments apart", archiveLaws, segmentsApart)
  ],
  "segment-directory": [suite("segment-place", segmentPlaceLaws, inSegmentDirectory)],
  "store-postgres": [
    ...store(onPostgres, onPostgres, onPostgres, onPostgres),
    suite("bundles", bundleLaws, () => dataStoresLayer(aDataStoreOnPostgres)),
    suite("archive", archiveLaws, onPostgres)
  ],
  "hashed-embedder": [suite("embedder", embedderLaws, () => hashedEmbedderLayer())],
  "openai-embedder": [suite("embedder", embedderLaws, embedderOnLoopback)],
  "openai-model": [suite("model", modelLaws, modelOnLoopback("chat"))],
  "openai-model-responses": [suite("model", modelLaws, modelOnLoopback("responses"))],
  "queue-local": [suite("wake-queue", wakeQueueLaws, () => queueLocalLayer)],
  "queue-bullmq": [suite("wake-queue", wakeQueueLaws, queueOnRedis)],
  "queue-bullmq-postgres": [
    suite("wake-queue", wakeQueueLaws, queueOnPostgres, {
      "Q2.in-hand": "BullMQ keeps the last wake-up given while a job is active, and no script of ours looks at it there"
    })
  ],
  "recall-sqlite": [
    suite("recall in memory", recallLaws, () => recallSqliteLayer(IN_MEMORY)),
    suite("recall in a directory", recallLaws, () => inDirectory((directory) => recallSqliteLayer(directory)))
  ],
  "recall-postgres": [suite("recall", recallLaws, recallOnPostgres)],
  "recall-qdrant": [suite(() => `recall on ${qdrantPlaceName()}`, recallLaws, onQdrant)]
}

/** The adapters asked for, all of them when none is named. Throws on a name that is not in the registry. */
export const adaptersNamed = (names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const known = Object.keys(registry)
  for (const name of names) {
    if (!known.includes(name)) throw new Error(`no adapter is called ${name}; there are ${known.join(", ")}`)
  }
  return names.length === 0 ? known : names
}
