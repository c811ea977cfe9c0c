// Entry: one line of a ledger, one message of a history, one dream and why a memory was found, as they cross the wire.
// Owns their schemas. Leaves their meaning to `protocol`.
// N1  Every field of an entry is here: what a schema does not name would be left out of an answer.

import { ContentPart, hookNames, tickOutcomes } from "@reverie/protocol"
import type { Entry, PlacedMessage } from "reverie"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const Json = Schema.Json
const Fields = Schema.Record(Schema.String, Json)

export const Role = Schema.Literals(["system", "user", "assistant", "tool"])

/** What a model is shown of a message. */
const shown = {
  role: Role,
  content: Schema.String,
  name: Schema.optionalKey(Schema.String),
  parts: Schema.optionalKey(Schema.Array(ContentPart)),
  calls: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        id: Schema.String,
        tool: Schema.String,
        arguments: Json,
        malformed: Schema.optionalKey(Schema.String)
      })
    )
  ),
  call: Schema.optionalKey(Schema.String)
}

const Message = Schema.Struct({
  ...shown,
  blocks: Schema.optionalKey(Schema.Array(Schema.String)),
  output: Schema.optionalKey(Fields),
  rejected: Schema.optionalKey(Schema.String),
  note: Schema.optionalKey(
    Schema.Struct({ by: Schema.String, decision: Schema.Literals(["approved", "denied"]), text: Schema.String })
  ),
  at: Schema.Finite,
  tokens: Schema.Finite,
  meta: Schema.optionalKey(Fields)
}) satisfies Schema.Codec<PlacedMessage["message"], unknown>

/** A message, and where it stands in the ledger: entry and index. */
export const Placed = Schema.Struct({
  place: Schema.Struct({ no: Schema.Int, index: Schema.Int }),
  message: Message
})

const Cause = Schema.Union([
  Schema.Struct({ kind: Schema.Literal("creation") }),
  Schema.Struct({
    kind: Schema.Literals(["envelope", "dead-letter"]),
    lane: Schema.String,
    seq: Schema.Int,
    id: Schema.String
  }),
  Schema.Struct({ kind: Schema.Literal("job"), id: Schema.String }),
  Schema.Struct({ kind: Schema.Literal("timer"), name: Schema.String })
])

const Step = Schema.Struct({
  id: Schema.String,
  kind: Schema.Literals(["infer", "tool", "assess", "dream", "compact", "coordinate", "child"]),
  name: Schema.String,
  ok: Schema.Boolean,
  elapsedMs: Schema.Finite,
  usage: Schema.optionalKey(
    Schema.Struct({
      inputTokens: Schema.Finite,
      outputTokens: Schema.Finite,
      cachedInputTokens: Schema.optionalKey(Schema.Finite),
      source: Schema.Literals(["provider", "counted"])
    })
  ),
  detail: Schema.optionalKey(Fields)
}) satisfies Schema.Codec<NonNullable<Entry["step"]>, unknown>

/** What a hook of the user did. */
export const Hook = Schema.Struct({
  hook: Schema.Literals(hookNames),
  did: Schema.Literals(["changed", "refused", "asked", "failed"]),
  of: Schema.String,
  reason: Schema.optionalKey(Schema.String),
  call: Schema.optionalKey(Schema.String),
  tool: Schema.optionalKey(Schema.String),
  /** What stood there before. */
  before: Schema.optionalKey(Json),
  /** Messages of a prompt that it replaced. */
  edits: Schema.optionalKey(
    Schema.Array(Schema.Struct({ at: Schema.Int, drop: Schema.Int, add: Schema.Array(Schema.Struct(shown)) }))
  )
})

export const LedgerEntry = Schema.Struct({
  v: Schema.Int,
  no: Schema.Int,
  at: Schema.Finite,
  epoch: Schema.Int,
  tick: Schema.Int,
  iteration: Schema.Int,
  cause: Cause,
  event: Json,
  status: Schema.String,
  messages: Schema.Array(Message),
  step: Schema.optionalKey(Step),
  hooks: Schema.optionalKey(Schema.Array(Hook)),
  settled: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        id: Schema.String,
        outcome: Schema.Literals(["handled", "ignored", "dead"]),
        reason: Schema.optionalKey(Schema.String)
      })
    )
  ),
  tickEnd: Schema.optionalKey(
    Schema.Struct({
      envelope: Schema.String,
      outcome: Schema.Literals(tickOutcomes),
      iterations: Schema.Int,
      reply: Schema.String,
      output: Schema.optionalKey(Json),
      misfit: Schema.optionalKey(Schema.String),
      refusal: Schema.optionalKey(Schema.String),
      parts: Schema.optionalKey(Schema.Array(ContentPart))
    })
  ),
  emitted: Schema.optionalKey(Schema.Array(Fields)),
  /** What changed of the records that it keeps; null where one was removed. */
  records: Schema.optionalKey(Schema.Array(Schema.Struct({ kind: Schema.String, key: Schema.String, value: Json }))),
  /** Envelopes for other assistants. */
  sends: Schema.optionalKey(Schema.Array(Fields))
})
export type LedgerEntry = typeof LedgerEntry.Type

/** What one night's dream did, operation by operation: the names are those of the wire. */
export const DreamReport = Schema.Struct({
  id: Schema.String,
  began_at: Schema.Finite,
  ended_at: Schema.Finite,
  /** How much of it waits for a person's word. An older server does not say it, nor the next. */
  waiting: Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(0))),
  /** Nothing came of it, and nothing of it waits. */
  isQuiet: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))),
  lines: Schema.Array(
    Schema.Struct({
      operation: Schema.String,
      steps: Schema.Finite,
      read: Schema.Finite,
      proposed: Schema.Finite,
      accepted: Schema.Finite,
      tokens: Schema.Finite,
      elapsed_ms: Schema.Finite,
      skipped: Schema.optionalKey(Schema.String),
      error: Schema.optionalKey(Schema.String)
    })
  )
})

const Found = Schema.Struct({ rank: Schema.Int, score: Schema.Finite })
/** Why a memory was found. */
export const Why = Schema.Struct({
  /** Words of the question that it contains. */
  terms: Schema.Array(Schema.String),
  lexical: Schema.optionalKey(Found),
  vector: Schema.optionalKey(Found),
  /** Ids of attached facts that contain words of the question. */
  facts: Schema.Array(Schema.String),
  boosts: Schema.Array(Schema.String)
})
