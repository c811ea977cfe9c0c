// Steering: the groups about what asks for a hand: approvals, sub-agents, queues, dead letters, replay and forks.
// Owns their schemas and endpoints.

import * as Schema from "effect/Schema"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { failures } from "./errors.ts"
import { Amount, Bound, Id, Key, limit, ofAssistant, Receipt, Text, Totals, WholeFromQuery } from "./words.ts"

const Json = Schema.Json

/** A call that waits for a person, exactly as it would run. */
export const ApprovalAsked = Schema.Struct({
  assistant: Id,
  approval: Schema.String,
  tool: Schema.String,
  call: Schema.String,
  /** JSON, as the tool would get it. */
  arguments: Schema.String,
  category: Schema.String,
  description: Schema.optionalKey(Schema.String),
  /** Why a hook has a person asked. */
  reason: Schema.optionalKey(Schema.String),
  askedAt: Schema.Finite,
  expiresAt: Schema.optionalKey(Schema.Finite),
  tick: Schema.Int,
  epoch: Schema.Int,
  /** Who brought it about, the nearest first. */
  chain: Schema.Array(Schema.Struct({ who: Schema.String, text: Schema.optionalKey(Schema.String) })),
  /** The arguments hold characters that can not be seen. */
  invisible: Schema.Boolean
})
export type ApprovalAsked = typeof ApprovalAsked.Type

export class ApprovalsGroup extends HttpApiGroup.make("approvals").add(
  /** Open ones of the whole tenant, the oldest first. */
  HttpApiEndpoint.get("open", "/v1/approvals", {
    success: Schema.Struct({ items: Schema.Array(ApprovalAsked) }),
    error: failures
  }),
  /** Conflict when it was decided, has expired, or is not what was shown (`call`). */
  HttpApiEndpoint.post("decide", "/v1/approvals/:id/:approval", {
    params: { ...ofAssistant, approval: Text(256) },
    payload: Schema.Struct({
      decision: Schema.Literals(["approved", "denied"]),
      note: Schema.optionalKey(Text(2_000)),
      /** The arguments that the person has seen. */
      seen: Schema.optionalKey(Schema.String)
    }),
    success: Receipt,
    error: failures
  })
) {}

/** An assistant below another one. `sub-agents` holds its own. */
export interface SubAgentNode {
  readonly id: string
  readonly state: string
  readonly phase?: string
  readonly task?: string
  readonly until?: number
  readonly granted: typeof Bound.Type
  readonly spent: typeof Amount.Type
  readonly reserved: typeof Amount.Type
  readonly returned?: typeof Bound.Type
  readonly sub_agents_enabled?: boolean
  readonly sub_agent_budget?: number
  readonly sub_agents_open?: number
  readonly tools: ReadonlyArray<string>
  readonly subAgents: ReadonlyArray<SubAgentNode>
}
export const SubAgentNode: Schema.Codec<SubAgentNode> = Schema.Struct({
  id: Schema.String,
  state: Schema.String,
  phase: Schema.optionalKey(Schema.String),
  task: Schema.optionalKey(Schema.String),
  until: Schema.optionalKey(Schema.Finite),
  granted: Bound,
  spent: Amount,
  reserved: Amount,
  returned: Schema.optionalKey(Bound),
  /** Whether it may hand tasks on, to how many at once, and how many it has now; absent before its creation. */
  sub_agents_enabled: Schema.optionalKey(Schema.Boolean),
  sub_agent_budget: Schema.optionalKey(Schema.Int),
  sub_agents_open: Schema.optionalKey(Schema.Int),
  /** What it may use. */
  tools: Schema.Array(Schema.String),
  subAgents: Schema.Array(Schema.suspend((): Schema.Codec<SubAgentNode> => SubAgentNode))
}).annotate({ identifier: "SubAgentNode" })

export class SubAgentTreeGroup extends HttpApiGroup.make("subAgentTree").add(
  HttpApiEndpoint.get("tree", "/v1/assistants/:id/subagents", {
    params: ofAssistant,
    success: SubAgentNode,
    error: failures
  }),
  HttpApiEndpoint.post("delegate", "/v1/assistants/:id/sub-agents", {
    params: ofAssistant,
    payload: Schema.Struct({ task: Text(20_000), id: Schema.optionalKey(Key) }),
    success: Schema.Struct({ child: Schema.String, call: Schema.String }),
    error: failures
  }),
  /** Ends a sub-agent and everybody below it. */
  HttpApiEndpoint.post("cancel", "/v1/assistants/:id/cancel", {
    params: ofAssistant,
    payload: Schema.Struct({ reason: Schema.optionalKey(Text(2_000)) }),
    success: Receipt,
    error: failures
  })
) {}

const Queue = Schema.Struct({
  name: Schema.String,
  waiting: Schema.Finite,
  active: Schema.Finite,
  delayed: Schema.Finite,
  failed: Schema.Finite,
  completed: Schema.optionalKey(Schema.Finite),
  oldestMs: Schema.optionalKey(Schema.Finite),
  paused: Schema.Boolean
})
const DeadLetter = Schema.Struct({
  assistant: Id,
  envelope: Schema.String,
  reason: Schema.String,
  at: Schema.Finite,
  type: Schema.optionalKey(Schema.String),
  /** Who sent it. */
  from: Schema.optionalKey(Schema.String),
  text: Schema.optionalKey(Schema.String),
  /** Its assistant has retired: it can be discarded, and not sent again. */
  isRetired: Schema.optionalKey(Schema.Literal(true))
})

const DeadLetterDetail = Schema.Struct({
  ...DeadLetter.fields,
  acceptedAt: Schema.optionalKey(Schema.Finite),
  /** The event that was in it, nothing of it cut. */
  event: Schema.optionalKey(Json),
  /** The tick that ended with it, where that is known. */
  tick: Schema.optionalKey(Schema.Int)
})

export class QueuesGroup extends HttpApiGroup.make("queues").add(
  HttpApiEndpoint.get("queues", "/v1/queues", {
    /** How many dead letters come along, so that figures and list are of one moment; none when it is not said. */
    query: { letters: Schema.optionalKey(WholeFromQuery.check(Schema.isLessThanOrEqualTo(500))) },
    success: Schema.Struct({
      /** What carries the wake-ups. */
      backend: Schema.String,
      queues: Schema.Array(Queue),
      /** Of the whole store, every tenant together: told only to the tenant that the process is opened for. */
      totals: Schema.optionalKey(Totals),
      /** As `/v1/dead-letters` lists them; there when `letters` asks for them. */
      deadLetters: Schema.optionalKey(Schema.Array(DeadLetter)),
      /** Who works; absent when the queue can not say, and for tenants that the process is not opened for. */
      workers: Schema.optionalKey(
        Schema.Array(
          Schema.Struct({
            name: Schema.String,
            role: Schema.String,
            /** Whom it works on; absent when that is not known here. */
            holds: Schema.optionalKey(Schema.Array(Schema.String))
          })
        )
      )
    }),
    error: failures
  }),
  /** Those that no one has sent again or discarded. */
  HttpApiEndpoint.get("dead", "/v1/dead-letters", {
    query: { limit },
    success: Schema.Struct({ items: Schema.Array(DeadLetter) }),
    error: failures
  }),
  /** One of them as a whole. */
  HttpApiEndpoint.get("letter", "/v1/dead-letters/:id/letter", {
    params: ofAssistant,
    query: { envelope: Key },
    success: DeadLetterDetail,
    error: failures
  }),
  /** Sends dead letters again, under a new id, and discards the dead letter. */
  HttpApiEndpoint.post("retry", "/v1/dead-letters/:id/retry", {
    params: ofAssistant,
    payload: Schema.Struct({ envelope: Key }),
    success: Receipt,
    error: failures
  }),
  /** Discards it without sending it: it is listed no more, and its dead-lettering stays in the history. */
  HttpApiEndpoint.post("discard", "/v1/dead-letters/:id/discard", {
    params: ofAssistant,
    payload: Schema.Struct({ envelope: Key }),
    success: Schema.Struct({ outcome: Schema.Literals(["discarded", "already"]) }),
    error: failures
  })
) {}

export const Frame = Schema.Struct({
  no: Schema.Int,
  tick: Schema.Int,
  iteration: Schema.Int,
  at: Schema.Finite,
  cause: Schema.String,
  event: Schema.String,
  before: Schema.String,
  after: Schema.String,
  commands: Schema.Array(Schema.String),
  step: Schema.optionalKey(Schema.Struct({ name: Schema.String, kind: Schema.String, ok: Schema.Boolean })),
  /** What of the commit does not agree with its own event. */
  problem: Schema.optionalKey(Schema.String),
  bytes: Schema.Int,
  hash: Schema.String,
  /** What the machine kept after it, for the frame that is opened. */
  snapshot: Schema.optionalKey(Json)
})
export type Frame = typeof Frame.Type

/** A tick and what is changed in it. */
const changedTick = {
  tick: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)),
  /** In the place of the instructions. */
  prompt: Schema.optionalKey(Text(100_000)),
  /** Results by the name of a tool: every call of it gets this one. */
  stubs: Schema.optionalKey(Schema.Record(Text(200), Text(100_000))),
  /** Results of single calls, as long as the same tool is called at the same place. */
  results: Schema.optionalKey(
    Schema.Array(Schema.Struct({ call: Text(200), tool: Text(200), content: Text(100_000) })).check(
      Schema.isMaxLength(200)
    )
  )
}

export class ReplayGroup extends HttpApiGroup.make("replay").add(
  /** Computed anew from the ledger, without any effect. */
  HttpApiEndpoint.get("frames", "/v1/assistants/:id/replay", {
    params: ofAssistant,
    query: {
      from: Schema.optionalKey(WholeFromQuery),
      /** The last commit that is reported. */
      to: Schema.optionalKey(WholeFromQuery),
      limit,
      /** Stops at the first frame that comes into this state, or is caused by this event. */
      untilState: Schema.optionalKey(Text(200)),
      untilEvent: Schema.optionalKey(Text(200)),
      snapshots: Schema.optionalKey(Schema.Literals(["true", "false"]))
    },
    success: Schema.Struct({ items: Schema.Array(Frame), next: Schema.NullOr(Schema.Int) }),
    error: failures
  }),
  /** Replays the whole life and compares its end with what is stored. */
  HttpApiEndpoint.get("verify", "/v1/assistants/:id/replay/verify", {
    params: ofAssistant,
    success: Schema.Struct({
      commits: Schema.Int,
      equal: Schema.Boolean,
      modelCalls: Schema.Int,
      toolCalls: Schema.Int,
      differsAt: Schema.optionalKey(Schema.Int),
      difference: Schema.optionalKey(Schema.String),
      /** Commits that could not be replayed, because the segment that they are in cannot be read. */
      unknown: Schema.optionalKey(Schema.Array(Schema.Struct({ from: Schema.Int, to: Schema.Int, why: Schema.String })))
    }),
    error: failures
  }),
  /** Lives a tick again, in a data store of its own, with something changed. No tool runs; no one learns of it. */
  HttpApiEndpoint.post("fork", "/v1/assistants/:id/forks", {
    params: ofAssistant,
    payload: Schema.Struct({
      ...changedTick,
      /** `recorded`, `offline`, or the name of a model of the server that is configured; its own when not said. */
      model: Schema.optionalKey(Text(200))
    }),
    success: Schema.Struct({ original: Json, forked: Json, differs: Schema.Array(Schema.String) }),
    error: failures
  }),
  /** What a fork of a tick begins with: what the assistant was told in it, and where the prompt registry keeps other words. */
  HttpApiEndpoint.get("beginning", "/v1/assistants/:id/forks/:tick", {
    params: { ...ofAssistant, tick: WholeFromQuery },
    success: Schema.Struct({
      tick: Schema.Int,
      definition: Schema.String,
      instructions: Schema.String,
      promptKey: Schema.String
    }),
    error: failures
  }),
  /** A tick as a case of an eval: a line of the file that `reverie eval FILE.jsonl` takes. It asks no model and changes nothing. */
  HttpApiEndpoint.post("evalCase", "/v1/assistants/:id/eval-cases", {
    params: ofAssistant,
    payload: Schema.Struct({
      ...changedTick,
      name: Schema.optionalKey(Text(200)),
      /** Texts that the answer must hold, and tools that must be called; where neither is said, it must be the recorded answer. */
      expected: Schema.optionalKey(Schema.Array(Text(10_000)).check(Schema.isMaxLength(50))),
      expectedTools: Schema.optionalKey(Schema.Array(Text(200)).check(Schema.isMaxLength(50)))
    }),
    success: Schema.Struct({
      name: Schema.String,
      input: Schema.String,
      expected: Schema.optionalKey(Schema.Array(Schema.String)),
      expectedTools: Schema.optionalKey(Schema.Array(Schema.String))
    }),
    error: failures
  })
) {}
