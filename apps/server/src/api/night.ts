// Night: the group about what happens to memory while no one talks: compactions of a history, how full it is, and dreams.
// Owns their schemas and endpoints.

import { Compaction, Fact } from "reverie/forms"
import * as Schema from "effect/Schema"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { cursor, keyed, limit, next, ofAssistant, Receipt, Text } from "./words.ts"
import { failures } from "./errors.ts"
import { MessageView } from "./messages.ts"
import { DreamReport, Placed } from "./entry.ts"

const Json = Schema.Json

export const CompactionView = Schema.Struct({
  id: Schema.String,
  at: Schema.Finite,
  reason: Schema.String,
  undone: Schema.Boolean,
  messages: Schema.Int,
  beforeTokens: Schema.Finite,
  afterTokens: Schema.Finite,
  summary: Schema.String,
  /** Whether every call that was compacted took its result along; told of the one that is opened. */
  pairsWhole: Schema.optionalKey(Schema.Boolean),
  /** As it is kept. */
  record: Compaction
})
export type CompactionView = typeof CompactionView.Type

const Hold = Schema.Struct({ compaction: Schema.String, at: Schema.Finite })

const Source = Schema.Struct({
  id: Schema.String,
  /** The tick that it stands in: a place of the timeline. */
  tick: Schema.optionalKey(Schema.Finite),
  text: Schema.optionalKey(Schema.String)
})
const sources = Schema.Array(Source)

/** How it is taken back, and whether it was. */
const ofDream = {
  item: Schema.String,
  undone: Schema.optionalKey(Schema.Boolean),
  waits: Schema.optionalKey(Schema.Boolean)
}

/** What one dream learnt, linked, changed and forgot. */
export const DreamAccountView = Schema.Struct({
  id: Schema.String,
  headline: Schema.String,
  isQuiet: Schema.Boolean,
  /** When all of it was taken back. */
  undoneAt: Schema.optionalKey(Schema.Finite),
  beganAt: Schema.Finite,
  endedAt: Schema.Finite,
  tookMillis: Schema.Finite,
  tokens: Schema.Finite,
  /** Null where a call of it has no price. */
  costMicros: Schema.NullOr(Schema.Finite),
  learnt: Schema.Array(
    Schema.Struct({
      ...ofDream,
      fact: Schema.String,
      text: Schema.String,
      state: Fact.fields.state,
      trust: Schema.Finite,
      reason: Schema.optionalKey(Schema.String),
      sources
    })
  ),
  linked: Schema.Array(
    Schema.Struct({
      ...ofDream,
      from: Schema.String,
      to: Schema.String,
      fromText: Schema.String,
      toText: Schema.String,
      why: Schema.String
    })
  ),
  changed: Schema.Array(
    Schema.Struct({
      ...ofDream,
      what: Schema.Literals(["superseded", "confirmed", "profile"]),
      id: Schema.String,
      name: Schema.optionalKey(Schema.String),
      before: Schema.Array(Schema.String),
      after: Schema.Array(Schema.String),
      sources
    })
  ),
  forgotten: Schema.Array(
    Schema.Struct({
      ...ofDream,
      what: Schema.Literals(["fact", "journal"]),
      id: Schema.String,
      text: Schema.String,
      reason: Schema.String,
      sources
    })
  )
})

const Detail = Schema.Struct({
  kind: Schema.Literals(["fact", "name", "number", "date"]),
  text: Schema.String,
  /** The message that says it: `m/12/0`. */
  message: Schema.String,
  /** Where it stands in memory, as recall names it. */
  memory: Schema.optionalKey(Schema.String)
})

const WindowPart = Schema.Struct({
  part: Schema.Literals(["summary", "left", "kept"]),
  role: Schema.optionalKey(Schema.Literals(["system", "user", "assistant", "tool"])),
  messages: Schema.Int,
  before: Schema.Finite,
  after: Schema.Finite
})

/** Of each place the first of the details, in the order in which they were said, and how many there are. */
const details = Schema.Struct({ count: Schema.Int, items: Schema.Array(Detail) })

/** Where the details of compacted messages stand now, and the window part by part. */
const OutcomeView = Schema.Struct({
  inSummary: details,
  inMemory: details,
  lost: details,
  parts: Schema.Array(WindowPart)
})

/** How full a window is now, whatever the last prompt was; shares are known where the definition is. */
export const WindowView = Schema.Struct({
  tokens: Schema.Finite,
  messages: Schema.Int,
  hold: Schema.optionalKey(Hold),
  maxTokens: Schema.optionalKey(Schema.Finite),
  share: Schema.optionalKey(Schema.Finite),
  sleepShare: Schema.optionalKey(Schema.Finite),
  emergencyShare: Schema.optionalKey(Schema.Finite),
  /** What an order would compact now, and what would stay. */
  would: Schema.optionalKey(Schema.Struct({ compact: Schema.Int, keep: Schema.Int })),
  /** Why an order would compact nothing. */
  skipped: Schema.optionalKey(Schema.String)
})

export class NightGroup extends HttpApiGroup.make("night").add(
  /** The newest first, long texts cut. */
  HttpApiEndpoint.get("compactions", "/v1/assistants/:id/compactions", {
    params: ofAssistant,
    query: { limit, cursor },
    success: Schema.Struct({
      items: Schema.Array(CompactionView),
      next,
      /** The one whose marker stands at the beginning of what the model is shown. */
      current: Schema.NullOr(Schema.String),
      /** The undo that holds the history: nothing is compacted until it is released, or the window overflows. */
      hold: Schema.NullOr(Hold)
    }),
    error: failures
  }),
  /** With the messages that it took out of sight. */
  HttpApiEndpoint.get("compaction", "/v1/assistants/:id/compactions/:compaction", {
    params: { ...ofAssistant, compaction: Text(128) },
    success: Schema.Struct({
      compaction: CompactionView,
      compacted: Schema.Array(MessageView),
      /** The same messages as they stand in the ledger. */
      messages: Schema.Array(Placed),
      outcome: OutcomeView
    }),
    error: failures
  }),
  HttpApiEndpoint.post("undoCompaction", "/v1/assistants/:id/compactions/:compaction/undo", {
    params: { ...ofAssistant, compaction: Text(128) },
    success: Receipt,
    error: failures
  }),
  /** Lets the history be compacted again when its time comes, after an undo. */
  HttpApiEndpoint.post("releaseHistory", "/v1/assistants/:id/compactions/release", {
    params: ofAssistant,
    headers: keyed,
    success: Receipt,
    error: failures
  }),
  HttpApiEndpoint.get("window", "/v1/assistants/:id/window", {
    params: ofAssistant,
    success: WindowView,
    error: failures
  }),
  /** Reports of its dreams, the newest first, and its sleep schedule. */
  HttpApiEndpoint.get("dreams", "/v1/assistants/:id/dreams", {
    params: ofAssistant,
    success: Schema.Struct({
      items: Schema.Array(DreamReport),
      schedule: Schema.NullOr(Json),
      nextAt: Schema.NullOr(Schema.Finite)
    }),
    error: failures
  }),
  /** What one of them learnt, linked, changed and forgot, each with its sources. */
  HttpApiEndpoint.get("dream", "/v1/assistants/:id/dreams/:dream", {
    params: { ...ofAssistant, dream: Text(128) },
    success: DreamAccountView,
    error: failures
  }),
  /** Lets what waits of it for a person's word be done, all of it or some items of its account. */
  HttpApiEndpoint.post("acceptDream", "/v1/assistants/:id/dreams/:dream/accept", {
    params: { ...ofAssistant, dream: Text(128) },
    headers: keyed,
    payload: Schema.Struct({ items: Schema.optionalKey(Schema.Array(Text(300)).check(Schema.isMaxLength(1_000))) }),
    success: Receipt,
    error: failures
  }),
  /** Takes back what it made, all of it or some items of its account, in one commit. */
  HttpApiEndpoint.post("undoDream", "/v1/assistants/:id/dreams/:dream/undo", {
    params: { ...ofAssistant, dream: Text(128) },
    headers: keyed,
    payload: Schema.Struct({
      items: Schema.optionalKey(Schema.Array(Text(300)).check(Schema.isMaxLength(1_000))),
      reason: Schema.optionalKey(Text(2_000))
    }),
    success: Receipt,
    error: failures
  })
) {}
