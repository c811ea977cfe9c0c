// Deployment: the servers that a fleet of several processes stands on.
// Owns their choice, by options first and by the environment (through Config) second, and the adapters for them.
// Leaves the choice between a deployment and an embedded store to profile.ts.
// D1  A URL may carry a password: it goes to the server it names and is never printed.
// D2  Without Redis the wake-ups travel through PostgreSQL: slower, and one server less.

import { type Address, defined, loadWith } from "@reverie/protocol"
import { DEFAULT_WORKER, feedLayer, type NoticeHub, type StoreFailure, type WorkerSettings } from "@reverie/runtime"
import { gptTokenizerLayer, tiktokenLayer } from "@reverie/tokens"
import { FleetDefinitionInvalid } from "../errors.ts"
import * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import type { SleepSchedule } from "@reverie/assistant"
import type { PromptStore } from "@reverie/context"
import type { Archive, Bundles, Ledger } from "@reverie/ledger"
import type { Mailbox, WakeQueue } from "@reverie/mailbox"
import { type BlockStore, Recall } from "@reverie/memory"
import type { Model, Tokens } from "@reverie/model"
import { type EmbedderChoice, embedderLayer } from "../models/embedder-choice.ts"
import type { ModelChoice } from "../models/model-choice.ts"
import { sealingHere } from "./backup.ts"
import { type SegmentsChoice, segmentsOf } from "../options/segments.ts"
import { databaseUrl, DEFAULT_NAME } from "./addresses.ts"

// RecallIndex: where a fleet's memories are found again.
// R1  The key of an index is only ever sent to the server it was configured with, and never printed.
// R2  Opening never waits for an index: one that does not answer is asked again when it is needed.
// R3  An index belongs to one store: data directories that share a server have a collection each (`QDRANT_COLLECTION`),
//     a deployment has a schema of its own in its database, and a store that keeps nothing has an index that keeps
//     nothing, unless the options say otherwise.

const KEEPS_NOTHING = ":memory:"

/** A Qdrant server. */
export interface ServerIndex {
  /** Where it listens, e.g. `http://127.0.0.1:6333`. */
  readonly url: string
  /** Sent to this URL alone, and never printed. */
  readonly apiKey?: string
  /** The alias under which the collection of this store is found; "reverie" when not said. */
  readonly collection?: string
}

/**
 * `embedded`: where the store is, in a file beside it or in a schema of its database. `none`: only the newest memories are
 * found. A service: one of your own.
 */
export type RecallChoice = "embedded" | "none" | ServerIndex | Recall["Service"]

/** The server that the environment names; undefined when it names none. */
const indexFromConfig = Effect.gen(function* () {
  const url = yield* Config.option(Config.URL("QDRANT_URL"))
  const apiKey = yield* Config.option(Config.Redacted("QDRANT_API_KEY"))
  const collection = yield* Config.option(Config.String("QDRANT_COLLECTION"))
  if (Option.isNone(url)) return undefined
  // As it was written: the parsed form has lost a port that is the default of its scheme.
  const written = yield* Config.String("QDRANT_URL")
  return {
    url: written,
    ...defined({
      apiKey: Option.isNone(apiKey) ? undefined : Redacted.value(apiKey.value),
      collection: Option.isNone(collection) ? undefined : collection.value
    })
  }
})

// Loaded when chosen: anyone who asks no server does not wait for its client.
const server = (options: ServerIndex): Layer.Layer<Recall, FleetDefinitionInvalid> =>
  Layer.unwrap(
    Effect.gen(function* () {
      if ((yield* sealingHere) !== undefined) {
        const message =
          'fleet: it is encrypted, and an index at a server would hold its texts in the clear; leave QDRANT_URL out, or say recall: "embedded"'
        return yield* new FleetDefinitionInvalid({ subject: "fleet", message })
      }
      const { recallQdrantLayer } = yield* Effect.promise(() => import("@reverie/recall-qdrant"))
      return recallQdrantLayer(options)
    })
  )

const beside = (data: string): Layer.Layer<Recall> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const sealing = yield* sealingHere
      const { recallSqliteLayer } = yield* Effect.promise(() => import("@reverie/recall-sqlite"))
      return recallSqliteLayer(data, defined({ sealing }))
    })
  )

const isService = (choice: RecallChoice): choice is Recall["Service"] =>
  typeof choice === "object" && "search" in choice

/** The index of a choice; without one, of what the environment names, and beside the store when it names nothing. */
export const recallLayer = (
  data: string,
  choice?: RecallChoice
): Layer.Layer<never, Config.ConfigError | FleetDefinitionInvalid> => {
  if (choice === "none") return Layer.empty
  if (choice === "embedded" || (choice === undefined && data === KEEPS_NOTHING)) return beside(data)
  if (choice !== undefined) return isService(choice) ? Layer.succeed(Recall, choice) : server(choice)
  return Layer.unwrap(Effect.map(indexFromConfig, (found) => (found === undefined ? beside(data) : server(found))))
}

/** The PostgreSQL schema of the index of a deployment. */
const indexSchema = (name: string): string => `${name.slice(0, 56)}_recall`

const inDatabase = (deployment: Deployment): Layer.Layer<Recall> =>
  Layer.unwrap(
    Effect.map(
      Effect.promise(() => import("@reverie/recall-postgres")),
      ({ recallPostgresLayer }) =>
        recallPostgresLayer({
          url: Redacted.make(databaseUrl(deployment)),
          schema: indexSchema(deployment.name ?? DEFAULT_NAME)
        })
    )
  )

/** The index of a deployment: what is chosen, else what the environment names, else in its database. */
export const deployedRecallLayer = (
  deployment: Deployment,
  choice?: RecallChoice
): Layer.Layer<never, Config.ConfigError | FleetDefinitionInvalid> => {
  if (choice === "embedded") return inDatabase(deployment)
  if (choice !== undefined) return recallLayer(KEEPS_NOTHING, choice)
  return Layer.unwrap(
    Effect.map(indexFromConfig, (found) => (found === undefined ? inDatabase(deployment) : server(found)))
  )
}

/** The servers of a fleet of several processes. */
export interface Deployment {
  /** `postgres://...`: where everything is kept. */
  readonly database: string
  /** Of the database, as it is, where its URL names none: in a URL `@ / # :` and others have to be escaped. */
  readonly password?: string
  /** `redis://...`: what carries wake-ups. */
  readonly redis?: string
  /** The PostgreSQL schema, and the prefix of keys in Redis; "reverie" when not said. */
  readonly name?: string
}

export interface DeploymentOptions {
  readonly tokenizer?: TokenizerChoice
  readonly model?: ModelChoice
  readonly embedder?: EmbedderChoice
  readonly recall?: RecallChoice
  readonly segments?: SegmentsChoice
  readonly worker?: Partial<WorkerSettings>
}

/** The servers that the environment names; undefined when it names no database. */
export const deploymentFromConfig = Effect.gen(function* () {
  const database = yield* Config.option(Config.Redacted("DATABASE_URL"))
  const password = yield* Config.option(Config.Redacted("DATABASE_PASSWORD"))
  const redis = yield* Config.option(Config.Redacted("REDIS_URL"))
  const name = yield* Config.option(Config.String("REVERIE_DEPLOYMENT"))
  if (Option.isNone(database)) return undefined
  return {
    database: Redacted.value(database.value),
    ...defined({
      password: Option.isNone(password) ? undefined : Redacted.value(password.value),
      redis: Option.isNone(redis) ? undefined : Redacted.value(redis.value),
      name: Option.isNone(name) ? undefined : name.value
    })
  } satisfies Deployment
})

/** A store that does not answer is waited for: the worker lets go of everything and begins anew. */
const AGAIN_MILLIS = 1_000

const sustained = <R>(work: Effect.Effect<never, StoreFailure, R>): Effect.Effect<never, StoreFailure, R> =>
  Effect.retry(work, Schedule.spaced(AGAIN_MILLIS))

/** What differs from a worker beside its store: wake-ups are held back while a lease session lasts, so none may stay idle. */
const worker: Profile["worker"] = { leaseMs: 5_000, idleMs: 0, isOneOfMany: true }

const describe = ({ database, name = DEFAULT_NAME, redis }: Deployment): string =>
  `${name} at ${hostIn(database)}, wake-ups through ${redis === undefined ? "the same" : hostIn(redis)}`

/** Host and port of a URL; nothing else of it. */
export const hostIn = (url: string): string => (URL.canParse(url) ? new URL(url).host : "an address that is no URL")

/** The store of a deployment. Loaded when chosen: anyone who needs no server does not wait for its client. */
export const deployedStore = (deployment: Deployment, choice?: SegmentsChoice) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { databaseClockLayer, storePostgresLayer } = yield* Effect.promise(() => import("@reverie/store-postgres"))
      const segments = yield* segmentsOf(choice)
      const options = { schema: deployment.name ?? DEFAULT_NAME, ...defined({ segments }) }
      return Layer.provideMerge(databaseClockLayer, storePostgresLayer(Redacted.make(databaseUrl(deployment)), options))
    })
  )

const queueAdapter = () => loadWith("a deployment", ["bullmq", "pg"], () => import("@reverie/queue-bullmq"))

/** The same, with what its carrier needs beside. */
const queueAdapterOf = async ({ redis }: Deployment) => {
  if (redis === undefined) return queueAdapter()
  return loadWith("a deployment", ["bullmq", "ioredis", "pg"], async () => {
    const adapter = await import("@reverie/queue-bullmq")
    await adapter.loadRedis()
    return adapter
  })
}

const deployedQueue = (deployment: Deployment, concurrency: number) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { name = DEFAULT_NAME, redis } = deployment
      const { queueBullmqLayer } = yield* Effect.promise(() => queueAdapterOf(deployment))
      const postgres = () => ({ postgres: Redacted.make(databaseUrl(deployment)) })
      const backend = redis === undefined ? postgres() : { redis: Redacted.make(redis) }
      return queueBullmqLayer({ backend, prefix: name, concurrency, now: Clock.currentTimeMillis })
    })
  )

/** What the queue of a deployment measures, asked through a connection of its own; empty when it does not answer. */
export const deployedQueueMeasures = (deployment: Deployment): Effect.Effect<string> =>
  Effect.provide(queueMeasured, deployedQueue(deployment, 1))

const queueMeasured = Effect.gen(function* () {
  const { QueueMetrics } = yield* Effect.promise(queueAdapter)
  const metrics = yield* Effect.serviceOption(QueueMetrics)
  return Option.isNone(metrics) ? "" : yield* metrics.value.prometheusMetrics
})

const otherWorkers = Effect.gen(function* () {
  const { QueueMetrics } = yield* Effect.promise(queueAdapter)
  const metrics = yield* Effect.serviceOption(QueueMetrics)
  const workers = Option.isNone(metrics) ? undefined : yield* metrics.value.workers
  return workers?.filter(({ isThis }) => !isThis).map(({ name }) => name)
})

/** Nights begin at a full hour; anyone who is asleep already takes the wake-up for nothing. */
const keepHours: Profile["keepHours"] = Effect.fnUntraced(function* (address, { sleepStartHour, timeZone }) {
  const { SleepSchedules } = yield* Effect.promise(queueAdapter)
  const schedules = yield* Effect.serviceOption(SleepSchedules)
  if (Option.isNone(schedules)) return
  yield* Effect.ignore(schedules.value.set(address, { pattern: `0 ${sleepStartHour} * * *`, timeZone }))
})

const tokenizers = { "gpt-tokenizer": gptTokenizerLayer, "js-tiktoken": tiktokenLayer }
export type TokenizerChoice = keyof typeof tokenizers

export const tokensLayer = (chosen: TokenizerChoice = "gpt-tokenizer") => {
  if (Object.hasOwn(tokenizers, chosen)) return tokenizers[chosen]
  const names = Object.keys(tokenizers).join(" or ")
  const message = `fleet: its tokenizer must be ${names}, and is ${JSON.stringify(chosen)}`
  throw new FleetDefinitionInvalid({ subject: "fleet", message })
}

/** Many processes: PostgreSQL, which finds memories too unless a Qdrant is named, and BullMQ. */
export const deployed = (deployment: Deployment, options: DeploymentOptions): Profile => {
  const { concurrency = DEFAULT_WORKER.concurrency } = options.worker ?? {}
  const ports = Layer.mergeAll(
    Layer.merge(feedLayer(), deployedQueue(deployment, concurrency)).pipe(
      // A package that is missing is named before a server is asked.
      Layer.provideMerge(
        Layer.unwrap(
          Effect.as(
            Effect.promise(() => queueAdapterOf(deployment)),
            deployedStore(deployment, options.segments)
          )
        )
      )
    ),
    tokensLayer(options.tokenizer),
    embedderLayer(options.embedder, options.model),
    deployedRecallLayer(deployment, options.recall)
  )
  return { says: describe(deployment), ports, measured: queueMeasured, otherWorkers, keepHours, worker, sustained }
}

// Ports: what a fleet runs on, whichever adapters stand behind it.

/** The ports that a fleet runs on. An index and an embedder may be among them. */
type Ports = Mailbox | Ledger | Bundles | Archive | PromptStore | BlockStore | WakeQueue | Tokens

/** What an open fleet stands on. */
export type Services = NoticeHub | Ports | Model

export interface Profile {
  /** In words, without any password. */
  readonly says: string
  readonly ports: Layer.Layer<Ports | NoticeHub, unknown>
  /** What its servers have measured, in the text format of Prometheus. */
  readonly measured: Effect.Effect<string>
  /** The other processes that work on the same store, by name; undefined when the queue can not say. */
  readonly otherWorkers: Effect.Effect<ReadonlyArray<string> | undefined>
  /** Tells the queue of an assistant's sleep schedule, where it keeps such. Only a wake-up: the night itself is in the store. */
  readonly keepHours: (address: Address, hours: SleepSchedule) => Effect.Effect<void>
  /** What differs from the defaults of a worker. */
  readonly worker: Partial<WorkerSettings>
  /** What becomes of the work of this process when its store fails. */
  readonly sustained: <R>(work: Effect.Effect<never, StoreFailure, R>) => Effect.Effect<never, unknown, R>
}
