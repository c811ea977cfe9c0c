// MemoryIndex: the index of memories as those who run it see it.
// Owns what is said of it, its snapshots, and making up what it lacks. Leaves searching to `fleet.memory`.
// M1  An index is of a whole store: what is said and done here is of all its tenants.
// M2  A snapshot that was put back is brought up to the ledger before the order ends.

import { type IndexSnapshot, type IndexStatus, Recall, RecallUnavailable } from "@reverie/memory"
import { type IndexLag, indexLag, type IndexCaughtUp, catchUpAll } from "@reverie/runtime"
import { defined } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { FleetDefinitionInvalid } from "../errors.ts"
import type { RunReading } from "../fleet/entry-source.ts"

const NO_SNAPSHOTS =
  "fleet: snapshots are for an index at a Qdrant server; that of a data directory is in its backup, and any index is made anew by memory.rebuild"

/** What an index says of itself, and how far it is behind. */
export interface IndexReport extends Partial<IndexStatus> {
  /** What of the ledger it lacks. */
  readonly lag: IndexLag
  /** How long the oldest entry waits that it lacks, in milliseconds; not there when it lacks none. */
  readonly lagMs?: number
}

/** What came of putting a snapshot back. */
export interface IndexRestored extends IndexCaughtUp {
  /** The one that was put back. */
  readonly snapshot: string
}

const numberText = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`

const MEGABYTE = 1_048_576

/** Where vectors are compared, in words. */
const WHERE = { database: "by pgvector", process: "in the process" } as const

/** How an index is, in a sentence without any address or key. */
export const describeIndex = ({ lag, lagMs = 0, ...told }: IndexReport): string => {
  const {
    bytes,
    compared,
    embedder,
    format,
    kind,
    memories,
    newestFormat,
    points,
    state,
    vectors,
    warnings = []
  } = told
  const parts = [
    ...(kind === undefined ? [] : [`${kind} is ${state ?? "green"}`]),
    ...(memories === undefined ? [] : [numberText(memories, "memory", "memories")]),
    ...(points === undefined ? [] : [numberText(points, "point")]),
    ...(embedder === undefined ? [] : [`${numberText(vectors ?? 0, "vector")} of ${embedder.id}`]),
    ...(embedder === undefined || compared === undefined ? [] : [`compared ${WHERE[compared]}`]),
    ...(bytes === undefined ? [] : [`${(bytes / MEGABYTE).toFixed(1)} MB`]),
    ...(format === undefined ? [] : [`format ${format}${format === newestFormat ? "" : ` of ${newestFormat}`}`]),
    ...(lag.unread === undefined
      ? []
      : [`${numberText(lag.unread, "entry", "entries")} not in it because their segment could not be read`]),
    lag.entries === 0
      ? lag.unread === undefined
        ? "nothing is missing"
        : "nothing else is missing"
      : `${numberText(lag.entries, "entry", "entries")} of ${numberText(lag.assistants, "assistant")} not taken in yet, the oldest for ${Math.round(lagMs / 1_000)} s`,
    ...(lag.lookedAt === undefined ? [] : [`of the first ${lag.lookedAt} assistants`])
  ]
  return [parts.join(", "), ...warnings].join("; ")
}

/** `fleet.memory.index`: the index of memories, of all tenants. Each rejects with RecallUnavailable where there is none. */
export interface MemoryIndex {
  /**
   * How it is, what it holds, and how far it is behind the ledger.
   * @example const { lag, state } = await fleet.memory.index.status()
   */
  readonly status: () => Promise<IndexReport>
  /** The snapshots of an index at a Qdrant server, the newest first; none where there can be none. */
  readonly snapshots: () => Promise<ReadonlyArray<IndexSnapshot>>
  /** Makes a snapshot at the server, which keeps it. Rejects with FleetDefinitionInvalid where there can be none, as the next one. */
  readonly snapshot: () => Promise<IndexSnapshot>
  /**
   * Puts a snapshot in the place of the index, by its name or by its location as the server understands it, and brings it up to the
   * ledger. Searches find all the while.
   */
  readonly restore: (snapshot: string) => Promise<IndexRestored>
  /** Brings the index of every assistant up to its ledger, and takes out those whom the store does not know any more. */
  readonly catchUp: () => Promise<IndexCaughtUp>
}

const here = Effect.gen(function* () {
  const found = yield* Effect.serviceOption(Recall)
  if (Option.isSome(found)) return found.value
  return yield* new RecallUnavailable({ operation: "status", message: "there is no index of memories here" })
})

const indexReport = Effect.gen(function* () {
  const recall = yield* here
  const status = recall.status === undefined ? {} : yield* recall.status
  const lag = yield* Effect.provideService(indexLag, Recall, recall)
  const now = yield* Clock.currentTimeMillis
  const { oldestAt } = lag
  const lagMs = oldestAt === undefined ? undefined : Math.max(0, now - oldestAt)
  return { ...status, lag, ...defined({ lagMs }) } satisfies IndexReport
})

const snapshotsHere = Effect.gen(function* () {
  const { snapshots } = yield* here
  if (snapshots !== undefined) return snapshots
  return yield* new FleetDefinitionInvalid({ subject: "fleet", message: NO_SNAPSHOTS })
})

const caughtUp = Effect.flatMap(here, (recall) => Effect.provideService(catchUpAll, Recall, recall))

export const memoryIndexIn = (run: RunReading): MemoryIndex => ({
  status: () => run(indexReport),
  snapshots: () => run(Effect.flatMap(here, ({ snapshots }) => snapshots?.list ?? Effect.succeed([]))),
  snapshot: () => run(Effect.flatMap(snapshotsHere, ({ make }) => make)),
  restore: (snapshot) =>
    run(
      Effect.gen(function* () {
        yield* (yield* snapshotsHere).restore(snapshot)
        return { snapshot, ...(yield* caughtUp) } satisfies IndexRestored
      })
    ),
  catchUp: () => run(caughtUp)
})
