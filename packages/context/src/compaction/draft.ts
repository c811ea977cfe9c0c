// Draft: a compaction that is under way, between two of its commits.
// Owns what is kept of it and how it goes on. Leaves asking the model to the runtime.
// D1  A draft changes nothing of the history; one that is dropped at any point leaves it as it was.
// D2  What is compacted is settled when the draft is made, so that what is said meanwhile stays.
// D3  A step that is repeated after a crash reads the same piece.

import {
  type Entry,
  isBefore,
  type Message,
  type MessagePlace,
  type PlacedMessage,
  type RecordChange
} from "@reverie/protocol"
import * as Schema from "effect/Schema"
import type { CompactionConfig } from "./config.ts"
import { type CompactionTrigger, compactionTriggers, Extraction, Place } from "./record.ts"
import type { Split } from "./split.ts"
import { nextPiece, type PieceLimits } from "./summary.ts"

// Placed: messages with their places in the ledger.
// P1  They stand in the order of history, each where the ledger has it.

/** The messages of entries in their order, from a place on. */
export const placedMessages = (
  entries: ReadonlyArray<Pick<Entry, "no" | "messages">>,
  from?: MessagePlace
): ReadonlyArray<PlacedMessage> => {
  const placed: Array<PlacedMessage> = []
  for (const { messages, no } of entries) {
    for (const [index, message] of messages.entries()) {
      const place = { no, index }
      if (from === undefined || !isBefore(place, from)) placed.push({ place, message })
    }
  }
  return placed
}

/** The messages from one place to another one, both of them among them. */
export const between = (
  history: ReadonlyArray<PlacedMessage>,
  from: MessagePlace,
  to: MessagePlace
): ReadonlyArray<PlacedMessage> => history.filter(({ place }) => !isBefore(place, from) && !isBefore(to, place))

export const tokensOf = (history: ReadonlyArray<PlacedMessage>): number =>
  history.reduce((sum, { message }) => sum + message.tokens, 0)

export const CompactionDraft = Schema.Struct({
  trigger: Schema.Literals(compactionTriggers),
  threshold: Schema.Finite,
  /** Share of the context window that the conversation had. */
  ratio: Schema.Finite,
  /** The first and the last message that are compacted. */
  from: Place,
  to: Place,
  /** The first message that stays. */
  keep: Place,
  /** The first message that no call has read; null when all are read. */
  next: Schema.NullOr(Place),
  summary: Schema.String,
  /** Calls that have been made. */
  pieces: Schema.Int
})
export type CompactionDraft = typeof CompactionDraft.Type

export const RoundMessage = Schema.Struct({
  role: Schema.Literals(["system", "user", "assistant", "tool"]),
  content: Schema.String,
  at: Schema.Finite,
  tokens: Schema.Finite,
  name: Schema.optionalKey(Schema.String),
  call: Schema.optionalKey(Schema.String),
  calls: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        id: Schema.String,
        tool: Schema.String,
        arguments: Schema.Json,
        malformed: Schema.optionalKey(Schema.String)
      })
    )
  ),
  reasoning: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        provider: Schema.String,
        model: Schema.String,
        part: Schema.Json,
        at: Schema.Finite,
        tokens: Schema.Finite
      })
    )
  ),
  meta: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json))
}) satisfies Schema.Schema<Message>

/** What is kept while a history is being compacted. */
export const PendingCompaction = Schema.Struct({
  extraction: Schema.optionalKey(Extraction),
  /** What the rounds of the extraction have said and were answered, for the rounds that follow. */
  rounds: Schema.optionalKey(Schema.Array(RoundMessage)),
  draft: Schema.optionalKey(CompactionDraft)
})
export type PendingCompaction = typeof PendingCompaction.Type

const isPendingCompaction = Schema.is(PendingCompaction)

/** Under this key of the kind `state`. */
const COMPACTION_KEY = "compaction"

/** What is kept of the compaction at hand; nothing when it can not be read. */
export const pendingCompactionOf = (stateRecords: ReadonlyMap<string, unknown>): PendingCompaction => {
  const kept = stateRecords.get(COMPACTION_KEY)
  return isPendingCompaction(kept) ? kept : {}
}

/** Null: no compaction is at hand any more. */
export const pendingCompactionChange = (compaction: PendingCompaction | null): RecordChange => ({
  kind: "state",
  key: COMPACTION_KEY,
  value: compaction
})

export interface DraftInput {
  readonly split: Split
  readonly trigger: CompactionTrigger
  readonly threshold: number
  readonly ratio: number
  /** The summary of what was compacted before; empty when nothing was. */
  readonly earlier: string
  readonly strategy: CompactionConfig["strategy"]
}

/** The beginning of a compaction; undefined when the split compacts or keeps nothing. */
export const draftOf = ({
  earlier,
  ratio,
  split: { compacted, preserved },
  strategy,
  threshold,
  trigger
}: DraftInput): CompactionDraft | undefined => {
  const [from, to, keep] = [compacted[0]?.place, compacted.at(-1)?.place, preserved[0]?.place]
  if (from === undefined || to === undefined || keep === undefined) return undefined
  const next = strategy.type === "truncate" ? null : from
  return { trigger, threshold, ratio, from, to, keep, next, summary: earlier, pieces: 0 }
}

/** What the next call reads; empty when all has been read. `history`: from `draft.next` on, or from before it. */
export const pieceOf = (
  { next, to }: CompactionDraft,
  history: ReadonlyArray<PlacedMessage>,
  limits: PieceLimits
): ReadonlyArray<PlacedMessage> => (next === null ? [] : nextPiece(between(history, next, to), limits))

/** The draft after a piece was read and summarized. */
export const withPiece = (
  draft: CompactionDraft,
  history: ReadonlyArray<PlacedMessage>,
  piece: ReadonlyArray<PlacedMessage>,
  summary: string
): CompactionDraft => {
  const last = piece.at(-1)?.place
  return {
    ...draft,
    next: last === undefined ? null : placeAfter(history, last, draft.to),
    summary,
    pieces: draft.pieces + 1
  }
}

const placeAfter = (
  history: ReadonlyArray<PlacedMessage>,
  last: MessagePlace,
  to: MessagePlace
): MessagePlace | null => {
  const next = history.find(({ place }) => isBefore(last, place))?.place
  return next === undefined || isBefore(to, next) ? null : next
}

/** Everything has been read: the history can be replaced. */
export const isRead = ({ next }: CompactionDraft): boolean => next === null
