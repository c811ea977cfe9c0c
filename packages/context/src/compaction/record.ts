// Record: one compaction as it is kept, with all that it is made of.
// Owns the schemas alone. Leaves making a compaction to `compaction.ts`.
// R1  Nothing but schemas is loaded with it: who speaks to a server knows the form and runs no assistant.

import type { Message, MessagePlace } from "@reverie/protocol"
import * as Schema from "effect/Schema"

export const Place = Schema.Struct({ no: Schema.Int, index: Schema.Int }) satisfies Schema.Schema<MessagePlace>

/** A call that the assistant made, as it is named in an account. */
export const NamedCall = Schema.Struct({
  call: Schema.String,
  tool: Schema.String,
  /** On one line, cut. */
  arguments: Schema.String,
  /** Of the message that made it. */
  place: Place
})
export type NamedCall = typeof NamedCall.Type

export const Account = Schema.Struct({
  /** Messages compacted since the history began, and where and when the first of them was said. */
  count: Schema.Int,
  from: Place,
  since: Schema.Finite,
  /** Calls whose results are compacted, by tool. */
  results: Schema.Array(Schema.Struct({ tool: Schema.String, count: Schema.Int })),
  /** The newest of them. */
  newest: Schema.Array(NamedCall),
  /** Calls that never had a result, the oldest first. */
  unfinished: Schema.Array(NamedCall),
  /** Those that have no room here. */
  moreUnfinished: Schema.Int,
  /** The newest images, files and audio that are compacted, in words; none where there were none. */
  parts: Schema.optionalKey(Schema.Array(Schema.Struct({ text: Schema.String, place: Place }))),
  moreParts: Schema.optionalKey(Schema.Int)
})
export type Account = typeof Account.Type

export const compactionTriggers = ["sleep", "emergency", "order"] as const
export type CompactionTrigger = (typeof compactionTriggers)[number]

export const extractionEnds = ["noop", "no-tool-call", "other-tool", "cap"] as const
export type ExtractionEnd = (typeof extractionEnds)[number]

/** What an extraction has come to, under the names of the wire (F62). */
export const Extraction = Schema.Struct({
  success: Schema.Boolean,
  facts_recorded: Schema.Int,
  observations_recorded: Schema.Int,
  /** Rounds, the last one included. */
  iterations: Schema.Int,
  /** Calls that were run, all rounds together. */
  calls_made: Schema.optionalKey(Schema.Int),
  ended_by: Schema.NullOr(Schema.Literals([...extractionEnds, "failure"]))
})
export type Extraction = typeof Extraction.Type

const Marker = Schema.Struct({
  role: Schema.Literal("system"),
  content: Schema.String,
  at: Schema.Finite,
  tokens: Schema.Finite,
  meta: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json))
}) satisfies Schema.Schema<Message>

/** From where on messages are shown, and what stands before them. */
export const HistoryStart = Schema.Struct({
  /** The compaction that put it there. */
  compaction: Schema.String,
  from: Place,
  marker: Marker,
  /** What the marker is made of, for the next compaction. */
  summary: Schema.String,
  account: Account
})
export type HistoryStart = typeof HistoryStart.Type

const Amount = Schema.Struct({ messages: Schema.Int, tokens: Schema.Finite })

/** As it is kept, under its id, as a record of the kind `compaction`: the names are those of the wire. */
export const Compaction = Schema.Struct({
  id: Schema.String,
  /** Milliseconds since the epoch. */
  at: Schema.Finite,
  trigger: Schema.Literals(compactionTriggers),
  strategy: Schema.Literals(["truncate", "recursive-summarization"]),
  threshold: Schema.Finite,
  ratio: Schema.Finite,
  model: Schema.NullOr(Schema.String),
  pieces: Schema.Int,
  extraction: Schema.NullOr(Extraction),
  /** The first and the last message that it compacted, and how many. */
  range: Schema.Struct({ from: Place, to: Place, since: Schema.Finite, until: Schema.Finite }),
  compacted_count: Schema.Int,
  preserved_count: Schema.Int,
  /** What the model was shown before, its marker included, and where that began: null for the very beginning. */
  before: Schema.Struct({ ...Amount.fields, start: Schema.NullOr(HistoryStart) }),
  after: Schema.Struct({ ...Amount.fields, from: Place }),
  summary: Schema.String,
  marker: Marker,
  journal_entry: Schema.String,
  /** The share of the context window that was aimed at; not there where an order brought the compaction about. */
  aim: Schema.optionalKey(Schema.Finite),
  /** Why the conversation takes more than that. */
  above_aim: Schema.optionalKey(Schema.String),
  /** The undo that held the history, and why it does no more. */
  ended_hold: Schema.optionalKey(
    Schema.Struct({ compaction: Schema.String, at: Schema.Finite, reason: Schema.String })
  ),
  undone_at: Schema.optionalKey(Schema.Finite)
})
export type Compaction = typeof Compaction.Type
