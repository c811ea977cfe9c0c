// Deployment: the groups about the deployment: the statechart, the prompt registry, the system, the audit log, the event stream.
// Owns their schemas and endpoints.
// H1  An event of the stream carries the outbox position as its id: anyone who comes back with it misses nothing.

import * as Schema from "effect/Schema"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import { failures } from "./errors.ts"
import { limit, Text, WholeFromQuery } from "./words.ts"

const Json = Schema.Json
const Point = Schema.Struct({ x: Schema.Finite, y: Schema.Finite })

/** The statechart with its layout: positions from the left and the top of the whole picture. */
export const Machine = Schema.Struct({
  hash: Schema.String,
  width: Schema.Finite,
  height: Schema.Finite,
  nodes: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      /** As states are reported, e.g. `awake.idle`. */
      path: Schema.String,
      parent: Schema.NullOr(Schema.String),
      kind: Schema.String,
      x: Schema.Finite,
      y: Schema.Finite,
      width: Schema.Finite,
      height: Schema.Finite,
      invokes: Schema.Array(Schema.String),
      /** What it takes without leaving, in words, as written below its name and its jobs. */
      inside: Schema.Array(Schema.String)
    })
  ),
  edges: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      from: Schema.String,
      to: Schema.String,
      event: Schema.String,
      guard: Schema.optionalKey(Schema.String),
      actions: Schema.Array(Schema.String),
      /** Those between the same two states go the same way. */
      points: Schema.Array(Point),
      label: Schema.optionalKey(
        Schema.Struct({ text: Schema.String, ...Point.fields, width: Schema.Finite, height: Schema.Finite })
      )
    })
  )
})
export type Machine = typeof Machine.Type

export class MachineGroup extends HttpApiGroup.make("machine").add(
  /**
   * Its `ETag` is the hash, of an overview with its name: with it in `If-None-Match` the answer is 304. In an `overview` every
   * region but the first is one state of the kind `closed`, which holds what it says it holds.
   */
  HttpApiEndpoint.get("machine", "/v1/machine", {
    query: { view: Schema.optionalKey(Schema.Literals(["whole", "overview"])) },
    success: Machine,
    error: failures
  })
) {}

export const PromptTemplateView = Schema.Struct({
  key: Schema.String,
  name: Schema.String,
  category: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  text: Schema.String,
  builtin: Schema.Boolean,
  version: Schema.Int
})

const ofPrompt = { key: Text(128) }

/** What was written, newest first; `definition` is absent where it was deleted. */
const PromptPast = Schema.Struct({
  items: Schema.Array(
    Schema.Struct({
      version: Schema.Int,
      at: Schema.Finite,
      change: Schema.Literals(["written", "deleted", "restored"]),
      restores: Schema.optionalKey(Schema.Int),
      definition: Schema.optionalKey(Json)
    })
  )
})

/** The version that was seen; a newer one makes it a conflict. */
const seen = { expected: WholeFromQuery }
const undone = {
  payload: Schema.Struct({ expected: Schema.optionalKey(Schema.Int) }),
  /** What stands there now; nothing where it was created by what was undone. */
  success: Schema.Struct({ definition: Schema.optionalKey(Json) }),
  error: failures
}

/** What an export is: what it says of itself, and one template or component. */
const imported = {
  payload: Schema.Struct({
    export: Json,
    /** What has its key is replaced; otherwise that is a conflict. */
    overwrite: Schema.optionalKey(Schema.Boolean),
    /** The version that was seen, 0 for none; another one makes it a conflict. */
    expected: Schema.optionalKey(Schema.Int)
  }),
  error: failures
}
/** Under which key a copy is kept. */
const copied = {
  params: ofPrompt,
  payload: Schema.Struct({ to: Text(128), name: Schema.optionalKey(Text(200)) }),
  success: Schema.Struct({ key: Schema.String, version: Schema.Int }),
  error: failures
}

export class PromptsGroup extends HttpApiGroup.make("prompts").add(
  HttpApiEndpoint.get("templates", "/v1/prompts", {
    success: Schema.Struct({ items: Schema.Array(PromptTemplateView) }),
    error: failures
  }),
  /** What stands in every prompt, by the place where it stands: those that are built in and those plugged in. */
  HttpApiEndpoint.get("components", "/v1/prompt-components", {
    success: Schema.Struct({ items: Schema.Array(Json) }),
    error: failures
  }),
  HttpApiEndpoint.put("write", "/v1/prompts/:key", {
    params: { key: Text(128) },
    payload: Schema.Struct({
      name: Text(200),
      text: Text(100_000),
      description: Schema.optionalKey(Text(2_000)),
      category: Schema.optionalKey(Text(128)),
      /** The version that was seen; a newer one makes it a conflict. 0 for a new one. */
      expected: Schema.Int
    }),
    success: Schema.Struct({ version: Schema.Int }),
    error: failures
  }),
  /** Deletes a template; a built-in one of its key is back. */
  HttpApiEndpoint.delete("remove", "/v1/prompts/:key", {
    params: ofPrompt,
    query: seen,
    success: Schema.Struct({ key: Schema.String }),
    error: failures
  }),
  HttpApiEndpoint.get("history", "/v1/prompts/:key/history", {
    params: ofPrompt,
    success: PromptPast,
    error: failures
  }),
  /** Undoes the newest change of a template, and with every further call the one before it. */
  HttpApiEndpoint.post("undo", "/v1/prompts/:key/undo", { params: ofPrompt, ...undone }),
  /** Copies a template, a built-in one too, under another key. */
  HttpApiEndpoint.post("clone", "/v1/prompts/:key/clone", copied),
  /** A template as JSON to be shared: it has no times, and nothing of the tenant. */
  HttpApiEndpoint.get("export", "/v1/prompts/:key/export", { params: ofPrompt, success: Json, error: failures }),
  HttpApiEndpoint.post("import", "/v1/prompts/import", {
    ...imported,
    success: Schema.Struct({ key: Schema.String, version: Schema.Int })
  }),
  /** Creates a component behind a static one, changes it, or moves it. */
  HttpApiEndpoint.put("writeComponent", "/v1/prompt-components/:key", {
    params: ofPrompt,
    payload: Schema.Struct({
      name: Schema.optionalKey(Text(200)),
      /** Or the key of a template in `template`, whose text is copied. */
      text: Schema.optionalKey(Text(100_000)),
      template: Schema.optionalKey(Text(128)),
      description: Schema.optionalKey(Text(2_000)),
      role: Schema.optionalKey(Schema.Literals(["system", "user", "assistant", "tool"])),
      enabled: Schema.optionalKey(Schema.Boolean),
      /** The id of the static component that it stands behind. */
      after: Schema.optionalKey(Schema.Int),
      /** The version that was seen; a newer one makes it a conflict. 0 for a new one. */
      expected: Schema.Int
    }),
    success: Schema.Struct({ id: Schema.Int, version: Schema.Int }),
    error: failures
  }),
  HttpApiEndpoint.delete("removeComponent", "/v1/prompt-components/:key", {
    params: ofPrompt,
    query: seen,
    success: Schema.Struct({ key: Schema.String }),
    error: failures
  }),
  HttpApiEndpoint.get("componentHistory", "/v1/prompt-components/:key/history", {
    params: ofPrompt,
    success: PromptPast,
    error: failures
  }),
  HttpApiEndpoint.post("undoComponent", "/v1/prompt-components/:key/undo", { params: ofPrompt, ...undone }),
  /** Keeps the text of a component as a template. */
  HttpApiEndpoint.post("saveComponent", "/v1/prompt-components/:key/save", copied),
  HttpApiEndpoint.get("exportComponent", "/v1/prompt-components/:key/export", {
    params: ofPrompt,
    success: Json,
    error: failures
  }),
  HttpApiEndpoint.post("importComponent", "/v1/prompt-components/import", {
    ...imported,
    success: Schema.Struct({ key: Schema.String, id: Schema.Int, version: Schema.Int })
  })
) {}

export const eventsHeaders = { "last-event-id": Schema.optionalKey(Text(40)) }
export const eventsQuery = { after: Schema.optionalKey(WholeFromQuery), assistant: Schema.optionalKey(Text(128)) }

const Check = Schema.Struct({
  name: Schema.String,
  ok: Schema.Boolean,
  says: Schema.String,
  hint: Schema.optionalKey(Schema.String)
})

/** A kind of context: what a model is shown in it, and what it may do. Null stands for all. */
export const ContextKind = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  /** It is none of the seven that every assistant has. */
  isOwn: Schema.Boolean,
  mode: Schema.String,
  /** Model calls that it allows at most, after what the settings of the assistant leave. */
  maxSteps: Schema.Int,
  /** Keys of the parts of its prompt, in their order. */
  components: Schema.Array(Schema.String),
  /** The text in the place of a part, by its key; absent for a token that may only look. */
  overrides: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  tools: Schema.NullOr(Schema.Array(Schema.String)),
  toolCategories: Schema.NullOr(Schema.Array(Schema.String)),
  tokenBudget: Schema.NullOr(Schema.Finite),
  requireApproval: Schema.Boolean,
  stopOnFinal: Schema.Boolean,
  multiStep: Schema.Boolean,
  subAgents: Schema.Boolean,
  /** Names of the timers that are handled in it. */
  timers: Schema.Array(Schema.String)
})
export type ContextKind = typeof ContextKind.Type

/** What assistants can be created from. Of one that no assistant of another tenant was made from, its name alone. */
const Definition = Schema.StructWithRest(
  Schema.Struct({
    name: Schema.String,
    isTeam: Schema.Boolean,
    contexts: Schema.optionalKey(Schema.Array(ContextKind))
  }),
  [Schema.Record(Schema.String, Json)]
)
export type DefinitionJson = typeof Definition.Type

const PulsePoint = Schema.Struct({
  /** Its first millisecond. */
  at: Schema.Finite,
  /** Messages that began a run. */
  messages: Schema.Int,
  /** Runs that ended. */
  runs: Schema.Int,
  /** What nineteen of twenty runs stayed within, to a fifth; null where none ended. */
  runP95Ms: Schema.NullOr(Schema.Finite),
  modelCalls: Schema.Int,
  modelFailed: Schema.Int,
  modelP95Ms: Schema.NullOr(Schema.Finite),
  /** Shown and answered, by all model calls. */
  tokens: Schema.Finite,
  costMicros: Schema.Finite,
  unpricedCalls: Schema.Int
})
export type PulsePoint = typeof PulsePoint.Type

const PulseView = Schema.Struct({
  now: Schema.Finite,
  /** What lies before is not known to this process. */
  since: Schema.Finite,
  /** A minute each, the oldest first. */
  hour: Schema.Array(PulsePoint),
  /** A quarter of an hour each, the oldest first. */
  day: Schema.Array(PulsePoint),
  /** What happened last, a line each, the newest first. */
  feed: Schema.Array(
    Schema.Struct({
      seq: Schema.Finite,
      at: Schema.Finite,
      assistant: Schema.String,
      tone: Schema.Literals(["heard", "said", "tool", "note", "warn", "bad"]),
      lead: Schema.String,
      subject: Schema.optionalKey(Schema.String),
      text: Schema.String
    })
  )
})
export type PulseView = typeof PulseView.Type

export class SystemGroup extends HttpApiGroup.make("system").add(
  HttpApiEndpoint.get("system", "/v1/system", {
    success: Schema.Struct({
      version: Schema.String,
      node: Schema.String,
      role: Schema.String,
      /** What it stands on, without any password. */
      profile: Schema.String,
      tenant: Schema.String,
      principal: Schema.String,
      readOnly: Schema.Boolean,
      startedAt: Schema.Finite,
      now: Schema.Finite,
      outboxEnd: Schema.Finite,
      machine: Schema.String,
      checks: Schema.Array(Check),
      /** Each with where it comes from; secrets are masked. */
      config: Schema.Array(Schema.Struct({ name: Schema.String, value: Schema.String, origin: Schema.String })),
      definitions: Schema.Array(Definition)
    }),
    error: failures
  }),
  /** What the assistants of the tenant did in the last hour and day, and in words what they did last. */
  HttpApiEndpoint.get("pulse", "/v1/pulse", { success: PulseView, error: failures }),
  /** Who changed what through this API, the newest first. */
  HttpApiEndpoint.get("audit", "/v1/audit", {
    query: { limit },
    success: Schema.Struct({
      items: Schema.Array(
        Schema.Struct({
          at: Schema.Finite,
          who: Schema.String,
          tenant: Schema.String,
          action: Schema.String,
          target: Schema.String,
          outcome: Schema.String
        })
      )
    }),
    error: failures
  }),
  /**
   * Notices of the tenant, as they are committed: `event` is the notice's type, `id` its outbox position. With
   * `Last-Event-ID` or `after` everything since that position comes first; without, only what is new. A comment every 15
   * seconds keeps it open. `part` (a piece of a reply that is being written) has no id and is reported only where it is written.
   */
  HttpApiEndpoint.get("events", "/v1/events", {
    headers: eventsHeaders,
    query: eventsQuery,
    success: HttpApiSchema.StreamSse({ data: Json }),
    error: failures
  })
) {}
