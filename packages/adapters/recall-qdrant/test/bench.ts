// Bench: recall on a double of the server, for tests that look at its requests.
// Owns the pair of both and the shortest entries. Leaves assertions to the tests.

import {
  INDEX_START,
  type IndexChange,
  type IndexPosition,
  type MemoryEntry,
  Recall,
  type RecallQuery
} from "@reverie/memory"
import type { Address } from "@reverie/protocol"
import {
  contractIfThere,
  type QdrantServer,
  type QdrantServerOptions,
  startQdrantServer
} from "@reverie/testkit/qdrant-server"
import * as assert from "node:assert/strict"
import * as Effect from "effect/Effect"
import { recallQdrantLayer } from "../src/index.ts"
import { type QdrantOptions } from "../src/client.ts"

export const NOW = 1_790_000_000_000

export const entry = (id: string, text: string, over: Partial<MemoryEntry> = {}): MemoryEntry => ({
  id,
  kind: "message",
  at: NOW,
  text,
  entities: [],
  tags: [],
  trust: 0.9,
  importance: 5,
  readers: "owner",
  ...over
})

export const put = (id: string, text: string, over: Partial<MemoryEntry> = {}) => ({
  type: "put" as const,
  entry: entry(id, text, over)
})

export const at = (no: number): IndexPosition => ({ no, digest: `entry ${no}` })

/** The first thing that is reported of an assistant. */
export const begin = (no: number) => ({ from: INDEX_START, to: at(no) })

/** Applies changes from where the index stands. */
export const applied = (address: Address, changes: ReadonlyArray<IndexChange>, no: number) =>
  Recall.use((recall) =>
    Effect.flatMap(recall.position(address), (from) => recall.apply(address, changes, { from, to: at(no) }))
  )

export const asking = (text: string, over: Partial<RecallQuery> = {}): RecallQuery => ({
  text,
  search: "fts",
  scope: "own",
  limit: 10,
  now: NOW,
  ...over
})

export const textsFound = (viewer: Address, text: string, over: Partial<RecallQuery> = {}) =>
  Effect.map(
    Recall.use((recall) => recall.search(viewer, asking(text, over))),
    (hits) => hits.map(({ entry }) => entry.text)
  )

/** Recall as one built anew, on the same server. */
export const recallOn = <A, E>(
  { url }: QdrantServer,
  effect: Effect.Effect<A, E, Recall>,
  options: Partial<QdrantOptions> = {}
) => effect.pipe(Effect.provide(recallQdrantLayer({ url, ...options }), { local: true }))

/** Runs with a server that must not see a request that breaks the contract. */
export const withServer = <A, E>(
  use: (server: QdrantServer) => Effect.Effect<A, E>,
  options: Omit<QdrantServerOptions, "contract"> = {}
) =>
  Effect.acquireUseRelease(
    Effect.promise(() => startQdrantServer({ ...options, contract: contractIfThere() })),
    (server) => Effect.tap(use(server), () => Effect.sync(() => assert.deepEqual(server.faults, []))),
    ({ close }) => Effect.promise(close)
  )

/** What was asked of a server, in short: `POST points/query/batch`. */
export const lines = ({ requests }: QdrantServer, from = 0): ReadonlyArray<string> =>
  requests.slice(from).map(({ method, path }) => `${method} ${path.replace(/^\/collections\/[^/]+\/?/, "")}`)
