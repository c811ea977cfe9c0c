// Context: the group about what the model of an assistant was shown, call by call.
// Owns its schemas and endpoints.

import * as Schema from "effect/Schema"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { ContextKind } from "./deployment.ts"
import { Role } from "./entry.ts"
import { failures } from "./errors.ts"
import { limit, ofAssistant, Usage, WholeFromQuery } from "./words.ts"

const Json = Schema.Json
const Fields = Schema.Record(Schema.String, Json)
const whichCall = { tick: Schema.optionalKey(WholeFromQuery), iteration: Schema.optionalKey(WholeFromQuery) }

const call = { tick: Schema.Int, iteration: Schema.Int, at: Schema.Finite }
const Part = Schema.Struct({ id: Schema.Int, key: Schema.String, messages: Schema.Int, tokens: Schema.Finite })

/** What a model was shown with one call. */
export const ContextView = Schema.Struct({
  ...call,
  ok: Schema.Boolean,
  model: Schema.optionalKey(Schema.String),
  context: Schema.optionalKey(Schema.String),
  parts: Schema.Array(Part),
  toolTokens: Schema.Finite,
  tokens: Schema.Finite,
  /** What the prompt may be; the answer's reserve is beyond it. */
  limit: Schema.Finite,
  share: Schema.Finite,
  /** As the provider counted, where it did. */
  usage: Schema.optionalKey(Usage),
  absent: Schema.Array(
    Schema.Struct({
      key: Schema.String,
      reason: Schema.Literals(["disabled", "not-in-context", "empty", "over-memory", "shown-before"])
    })
  ),
  /** Of the history, by reason. */
  leftOut: Schema.Array(
    Schema.Struct({
      reason: Schema.Literals(["over-limit", "result-without-call", "not-in-context", "replaced", "other-person"]),
      messages: Schema.Int,
      tokens: Schema.Finite
    })
  ),
  /** Contents that were cut, in UTF-16 units. */
  cuts: Schema.Array(
    Schema.Struct({ role: Role, call: Schema.optionalKey(Schema.String), characters: Schema.Finite, of: Schema.Finite })
  ),
  interrupted: Schema.Array(Schema.String),
  /** Ids of the memories that were retrieved. */
  recalled: Schema.Array(Schema.String),
  /** What the tick was allowed, and which layer said so. */
  pattern: Schema.optionalKey(Fields)
})
export type ContextView = typeof ContextView.Type

const Broken = Schema.Struct({ key: Schema.String, how: Schema.String })
const Prefix = Schema.Struct({ tokens: Schema.Finite, share: Schema.Finite, broken: Schema.optionalKey(Broken) })

/** One point of the slider. `prefix`: what repeats the prompt before it in the same context, and the part that ended that. */
const ContextPoint = Schema.Struct({
  ...call,
  tokens: Schema.Finite,
  share: Schema.Finite,
  context: Schema.optionalKey(Schema.String),
  /** Of the conversation among them: what a compaction is measured by. */
  conversationTokens: Schema.Finite,
  prefix: Schema.optionalKey(Prefix),
  cachedTokens: Schema.optionalKey(Schema.Finite)
})
export type ContextPoint = typeof ContextPoint.Type

/** The words of a prompt, part by part. `exact`: its tokens are those of the report, so these are the very words. */
const PromptText = Schema.Struct({
  tick: Schema.Int,
  iteration: Schema.Int,
  parts: Schema.Array(
    Schema.Struct({
      id: Schema.Int,
      key: Schema.String,
      exact: Schema.Boolean,
      messages: Schema.Array(Schema.Struct({ role: Schema.String, content: Schema.String }))
    })
  ),
  tools: Schema.Array(Schema.Struct({ name: Schema.String, description: Schema.String, schema: Json })),
  /** Why the tick could not be gone through again to its end; what stands here is from before that. */
  diverged: Schema.optionalKey(Schema.String)
})
export type PromptText = typeof PromptText.Type

/** A memory that came to mind; its text as it stands now, absent when it is gone. */
const RetrievedView = Schema.Struct({
  id: Schema.String,
  owner: Schema.String,
  kind: Schema.Literals(["message", "episode", "fact", "passage", "profile", "block"]),
  text: Schema.optionalKey(Schema.String),
  /** In which a message was said. */
  tick: Schema.optionalKey(Schema.Int),
  /** How well it fits the event: greater is better, comparable within one call. */
  score: Schema.optionalKey(Schema.Finite)
})

export class ContextGroup extends HttpApiGroup.make("context").add(
  HttpApiEndpoint.get("report", "/v1/assistants/:id/context", {
    params: ofAssistant,
    query: whichCall,
    success: ContextView,
    error: failures
  }),
  HttpApiEndpoint.get("points", "/v1/assistants/:id/contexts", {
    params: ofAssistant,
    query: { before: Schema.optionalKey(WholeFromQuery), limit },
    success: Schema.Struct({ items: Schema.Array(ContextPoint), next: Schema.NullOr(Schema.Int) }),
    error: failures
  }),
  /** The memories that were retrieved with a call, with their texts. */
  HttpApiEndpoint.get("retrieved", "/v1/assistants/:id/context/memories", {
    params: ofAssistant,
    query: whichCall,
    success: Schema.Struct({ items: Schema.Array(RetrievedView) }),
    error: failures
  }),
  /** The kinds of context of its definition: those that a message can ask for with `context`. */
  HttpApiEndpoint.get("kinds", "/v1/assistants/:id/context-kinds", {
    params: ofAssistant,
    success: Schema.Struct({ definition: Schema.String, items: Schema.Array(ContextKind) }),
    error: failures
  }),
  /** How the last model call of tick `tick` differs from that of tick `with`. */
  HttpApiEndpoint.get("compare", "/v1/assistants/:id/context/compare", {
    params: ofAssistant,
    query: { tick: WholeFromQuery, with: WholeFromQuery },
    success: Schema.Struct({ one: ContextView, other: ContextView, comparison: Json }),
    error: failures
  }),
  HttpApiEndpoint.get("prompt", "/v1/assistants/:id/prompt", {
    params: ofAssistant,
    query: whichCall,
    success: PromptText,
    error: failures
  })
) {}
