// Archive: the older part of a life, kept small or deleted.
// Owns the port, what a policy says, and what is left of an entry that one deleted. Leaves carrying it out to the runtime.
// Z1  What is archived reads as before through every port: entries, history, outbox, mail, bundles, and their rewriting.
// Z2  What is deleted keeps its number, its place, what it settled and what its model calls used, and records that stand as it left
//     them; its words are nowhere in the rows, and in their place stands when they were deleted.
// Z3  Only what lies before a number is touched, and only handled mail. Both are done twice as they are done once.
// Z4  A process that ends meanwhile has archived or deleted of each part all or nothing.
// Z5  Compacting changes no row.
// Z6  A segment that is lost (missing, or damaged) holds up nothing of the rest. One that is put back is deleted the next time; one that is
//     damaged goes where all of it is to be deleted. One that is only out of reach is waited for.

import { type Address, defined, type Entry, type Message, type RecordChange } from "@reverie/protocol"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { LedgerUnavailable } from "./errors.ts"
import type { PlaceReport } from "./segment-place.ts"

/** What a call of the archive did. */
export interface Archived {
  /** Entries of the ledger. */
  readonly entries: number
  /** Handled envelopes. */
  readonly envelopes: number
}

/** Entries by their numbers, both included. */
export interface EntrySpan {
  readonly from: number
  readonly to: number
}

/** How far a life was archived, and deleted. */
export interface ArchiveReach {
  /** The number of the last entry that was archived, or deleted; 0 when none was. */
  readonly archived: number
  /** The number of the last entry that was deleted; 0 when none was. */
  readonly removed: number
  /** What before it was not: when it was to be, its segment was lost. */
  readonly left: ReadonlyArray<EntrySpan>
}

/** How large a store is, before and after. */
export interface Compacted {
  readonly bytesBefore: number
  readonly bytesAfter: number
}

export class Archive extends Context.Service<
  Archive,
  {
    /**
     * Moves entries with numbers up to `upTo`, and the mail that began them, into compressed segments: as many of `least` entries or more
     * as there are. Fewer than that wait.
     */
    readonly archive: (address: Address, upTo: number, least?: number) => Effect.Effect<Archived, LedgerUnavailable>
    /**
     * Deletes what entries with numbers up to `upTo`, and the mail that began them, say: no one reads it any more. When its bytes are
     * gone, too, depends on the store.
     */
    readonly remove: (address: Address, upTo: number) => Effect.Effect<Archived, LedgerUnavailable>
    /** How far a life was archived, and deleted. */
    readonly reached: (address: Address) => Effect.Effect<ArchiveReach, LedgerUnavailable>
    /** Gives back the room of what is no longer there; whether others wait meanwhile depends on the store. A trial measures alone. */
    readonly compact: (isTrial?: boolean) => Effect.Effect<Compacted, LedgerUnavailable>
    /** What lies apart from the store, without what nothing refers to any more: a trial takes none of that away. Undefined for nothing. */
    readonly apart: (isTrial?: boolean) => Effect.Effect<PlaceReport | undefined, LedgerUnavailable>
  }
>()("@reverie/ledger/archive") {}

/** What stands in the place of words that a policy deleted. */
export const deletedText = (at: number): string =>
  `[deleted by retention on ${new Date(at).toISOString().slice(0, 10)}]`

const withoutWords = ({ at, call, calls, content, name, role, tokens }: Message, said: string): Message => ({
  role,
  content: content === "" ? "" : said,
  ...defined({
    name: role === "tool" ? name : undefined,
    calls: calls?.map(({ id, tool }) => ({ id, tool, arguments: {} })),
    call
  }),
  at,
  tokens
})

const OF_THE_CHART = new Set(["approval-asked", "model-away"])

/** What the statechart itself emits, which a replay compares: it holds no words but those of a reason. No one else emits these. */
export const isOfChart = (emitted: { readonly type?: unknown }): boolean =>
  typeof emitted.type === "string" && OF_THE_CHART.has(emitted.type)

/**
 * What is left of an entry that a policy deleted: what it was of, what it settled and used, what the statechart heard, and the records
 * that still stand as it left them: these are memory, and an index is made of them again.
 */
export const deletedEntry = (entry: Entry, at: number, stands: (change: RecordChange) => boolean): Entry => {
  const { cause, emitted, epoch, event, iteration, messages, no, settled, status, step, tick, tickEnd, v } = entry
  const said = deletedText(at)
  const kept = emitted?.filter(isOfChart)
  const records = entry.records?.filter(stands)
  return {
    v,
    no,
    at: entry.at,
    epoch,
    tick,
    iteration,
    cause,
    event,
    status,
    messages: messages.map((message) => withoutWords(message, said)),
    ...defined({
      step: step === undefined ? undefined : stepLeft(step),
      settled,
      tickEnd: tickEnd === undefined ? undefined : { ...endLeft(tickEnd), reply: tickEnd.reply === "" ? "" : said },
      emitted: kept?.length === 0 ? undefined : kept,
      records: records?.length === 0 ? undefined : records
    }),
    deleted: at
  }
}

const stepLeft = ({ elapsedMs, id, kind, name, ok, spent, usage }: NonNullable<Entry["step"]>) => ({
  id,
  kind,
  name,
  ok,
  elapsedMs,
  ...defined({ usage, spent })
})

const endLeft = ({ envelope, iterations, outcome }: NonNullable<Entry["tickEnd"]>) => ({
  envelope,
  outcome,
  iterations
})

// Retention: what a user says of the older part of a life.

/** So many of the newest ledger entries, or an age: `36h`, `90d`, `8w`. */
export type RetentionBound = number | string

/** What becomes of the older part of a life. */
export interface Retention {
  /** What is older is compressed, and reads as before. 1,000 entries when left out; false for never. */
  readonly archiveAfter?: RetentionBound | false
  /** What is older loses its words for good. Never when left out. */
  readonly deleteAfter?: RetentionBound
}

const HOUR_MILLIS = 3_600_000
const HOURS: Readonly<Record<string, number>> = { h: 1, d: 24, w: 168 }
const AGE = /^([1-9]\d{0,5})([hdw])$/

/** An age in milliseconds; undefined where it is none. */
export const ageOf = (bound: string): number | undefined => {
  const [, count, unit = ""] = AGE.exec(bound) ?? []
  return count === undefined ? undefined : Number(count) * (HOURS[unit] ?? 0) * HOUR_MILLIS
}

const MOST_ENTRIES = 1_000_000_000

/** What is wrong with a bound, in words that follow on its name; undefined when nothing is. */
export const flawOfBound = (bound: unknown): string | undefined => {
  const isCount = typeof bound === "number" && Number.isInteger(bound) && bound >= 1 && bound <= MOST_ENTRIES
  const isAge = typeof bound === "string" && ageOf(bound) !== undefined
  if (isCount || isAge) return undefined
  return `must be a number of entries, at least 1, or an age such as "36h", "90d" or "8w", and is ${JSON.stringify(bound)}`
}
