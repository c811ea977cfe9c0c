// Tool: something an assistant can do, and how it may be done.
// Owns the definition and what a run is given and gives back. Leaves when to run it to the statechart and the runtime.
// I1  A run never fails: wrong arguments, a timeout and a throw are results that the model can read.
// I2  The key of a run is the same after a crash, so that an idempotent tool can recognise its own earlier run.
// I3  Only a result that is ok carries sends: what a failed run wanted to say is not said.

import type { Reached, SleepBlockers } from "@reverie/assistant"
import type { BlockView, Recalled, RecallOptions } from "@reverie/memory"
import type {
  AssistantId,
  ContentPart,
  Envelope,
  GivenPart,
  Json,
  MessagePlace,
  PlacedMessage,
  RecordChange,
  RecordKind,
  TenantId,
  ToolCategory
} from "@reverie/protocol"
import type * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import type { BlockAccess } from "./blocks/outcome.ts"

/** Longest run of a tool that names no limit of its own. */
export const DEFAULT_TOOL_TIMEOUT_MILLIS = 30_000

/** Most messages one run may send. */
export const MAX_SENDS = 64

export interface SendingOptions {
  /** What its tick comes to is sent back, as a message that names this one. */
  readonly wantsAnswer?: boolean
}

/** What a run can know and do besides its arguments. */
export interface ToolRun {
  /** The id of the assistant that calls. */
  readonly assistant: AssistantId
  /** The tenant of that assistant. */
  readonly tenant: string
  /** The id of the call, to be named in a later report. */
  readonly call: string
  /** The same for every attempt at this call: pass it on as idempotency key. */
  readonly key: string
  /** Aborted when the run times out or is stopped from outside. */
  readonly signal: AbortSignal
  /** Milliseconds since the epoch when the run began. */
  readonly now: number
  /** Who began the tick: the sender of its message; not there where a timer did. */
  readonly from?: string
  /**
   * Sends a message to another assistant of the same tenant. It leaves with the commit of this result, or not at all.
   * Throws when the run has ended, `to` is no assistant id, the text is too long, or the two have written too often.
   */
  readonly send: (to: string, text: string, options?: SendingOptions) => void
  /** Whom a target means: an id, a name, `group:<team>`, `role:<role>`; or why it means no one, and who there is. */
  readonly reach: (target: string) => Reached
  /** Why a message to an assistant may not go now, and when it may; undefined when it may. */
  readonly mayNotWrite: (to: string) => { readonly reason: string; readonly retryAt: number } | undefined
  /** What the assistant keeps about itself and its work. */
  readonly records: ToolRecords
}

/** What a run in a process of its own can know and do. `send` refuses later: a message that may not go fails the call. */
export type IsolatedRun = Pick<ToolRun, "assistant" | "tenant" | "call" | "key" | "signal" | "now" | "send">

/** Where the function of an isolated tool is found, and what its process may use. */
export interface IsolatedModule {
  /** The URL of a module whose default export is the function. */
  readonly module: string
  readonly memoryMb: number
}

/** What a run sees and changes of the assistant's own records. Changes leave with the commit of its result, or not at all. */
export interface ToolRecords {
  /** By key, this run's own changes included. */
  readonly read: (kind: RecordKind) => ReadonlyMap<string, Json>
  /** Null takes the record away. */
  readonly write: (kind: RecordKind, key: string, value: Json | null) => void
  /** Asks the model in another context; recorded with this call. Rejects when the model fails. */
  readonly consult: (context: "goal_decompose", text: string) => Promise<string>
  /** What the assistant remembers. Rejects when the scope is not granted to it. */
  readonly recall: (question: string, options?: RecallOptions) => Promise<Recalled>
  readonly history: PastReading
  /** Whether it has a passage of that id, as far as it is committed. */
  readonly hasPassage: (id: string) => Promise<boolean>
  /** The entries of its journal that are no longer at hand, as far as they are committed, in no order. */
  readonly episodes: () => Promise<ReadonlyArray<Json>>
  /** Its memory blocks, and those it was given. */
  readonly blocks: BlockAccess
  readonly loop: LoopState
}

/** The messages of the history as they were committed, whether they are still shown or not. */
export interface PastReading {
  /** From a place on, the oldest first. */
  readonly read: (from: MessagePlace, limit: number) => Promise<ReadonlyArray<PlacedMessage>>
  /** The first and the last message that a compaction has compacted; undefined when there is no such compaction. */
  readonly compacted: (
    compaction: string
  ) => Promise<{ readonly from: MessagePlace; readonly to: MessagePlace } | undefined>
}

/** Where the tick stands, as `get_system_status` tells it. */
export interface LoopState {
  readonly tick: number
  readonly iteration: number
  readonly maxIterations: number
  /** Tokens of the prompt that led to this call, and of the whole window. */
  readonly tokensUsed: number
  readonly maxContextTokens: number
  readonly reservedResponseTokens: number
  /** Tools called in this tick so far, this call left out. */
  readonly toolsThisTick: ReadonlyArray<string>
  /** Calls of this iteration that have not ended. */
  readonly pendingTools: ReadonlyArray<string>
  /** What speaks against going to sleep. */
  readonly sleepBlockers: SleepBlockers
  /** Sub-agents that are open, and what is left to spend; null where nothing bounds it. */
  readonly subAgents?: {
    readonly sub_agents: ReadonlyArray<{ readonly call: string; readonly phase: string; readonly seconds_left: number }>
    readonly left: { readonly tokens: number | null; readonly calls: number | null } | null
  }
}

/** tick: until the tick ends. session: as long as the assistant stays in memory. ttl: for a time. */
export type CachePolicy = { readonly scope: "tick" | "session" } | { readonly scope: "ttl"; readonly ttlMs: number }

/** A tool of any input, as an assistant takes it. `defineTool` makes one. */
export interface Tool {
  /** Begins with a letter; letters, digits, `_` and `-`, at most 64. One of an assistant's tools has it, no other. */
  readonly name: string
  /** Told to the model: what it does, and when to call it. */
  readonly description: string
  /** JSON Schema of the arguments, an object schema. */
  readonly parameters: { readonly [key: string]: Json }
  /** Whether a person approves its calls, whether it ends the tick, whether its result comes later. */
  readonly category: ToolCategory
  /** How long a run may take, in milliseconds; then it is stopped, and the model reads that. */
  readonly timeoutMs: number
  /** True when running it twice with the same key does no more than running it once. */
  readonly idempotent: boolean
  /** It runs in a process of its own: whatever it does there, this one goes on. */
  readonly isolated?: IsolatedModule
  /** Reads or changes the records: such runs of one assistant follow one another, they never overlap. */
  readonly usesRecords?: boolean
  /** How long an earlier result may stand for an equal call; without it every call runs. */
  readonly cache?: CachePolicy
  /** Whether a person has to agree to this very call first, given the blocks there are, whatever the category says. */
  readonly needsConsent?: (args: Json, blocks: ReadonlyArray<BlockView>) => boolean
  /** Checks arguments and gives what `run` takes; the sentences say what to correct. */
  readonly validate: (args: Json) => Effect.Effect<unknown, ReadonlyArray<string>>
  /** Runs on what `validate` gave, which is its own decoded form and need not be JSON. */
  readonly effect: (args: unknown, run: ToolRun) => Effect.Effect<unknown, unknown>
}

/** crashed: the process ended while it ran, so often that it is not run again. */
export type ToolFailure =
  | "unknown-tool"
  | "arguments"
  | "timeout"
  | "threw"
  | "not-json"
  | "interrupted"
  | "refused"
  | "crashed"

/** How a run ended, ready to be recorded. */
export interface ToolResult {
  readonly ok: boolean
  /** What the model is shown. */
  readonly content: string
  /** Images, files and audio that belong to it. */
  readonly parts?: ReadonlyArray<ContentPart>
  /** The same as the run gave them, until they are kept. */
  readonly given?: ReadonlyArray<GivenPart>
  readonly sends: ReadonlyArray<Envelope>
  /** Changes to the assistant's own records. Only a result that is ok carries any. */
  readonly records?: ReadonlyArray<RecordChange>
  readonly failure?: ToolFailure
  /** The work has begun; its real result comes later as a `report` event. */
  readonly pending?: true
  /** Text of that event, when the run had it already: only beside `pending`, and then no one else has to send it. */
  readonly report?: string
}

// Approval: the id under which a person decides about one call.
// I1  The id changes when any of tenant, assistant, tick, call, tool, arguments or epoch does.
// I2  The order of keys in the arguments does not change it.
// I3  A decision allows the call that was shown and no other: arguments that changed since have another id.

export interface ApprovalSubject {
  readonly tenant: TenantId
  readonly assistant: AssistantId
  readonly tick: number
  readonly call: string
  readonly tool: string
  readonly arguments: Json
  /** Given, the decision holds for one claim only. */
  readonly epoch?: number
}

/** `apr_` and 16 hexadecimal digits. */
export const approvalId = (subject: ApprovalSubject): string => {
  const { arguments: args, assistant, call, epoch = null, tenant, tick, tool } = subject
  const bound = canonicalJson({ arguments: args, assistant, call, epoch, tenant, tick, tool })
  return `apr_${createHash("sha256").update(bound).digest("hex").slice(0, 16)}`
}

/** True when the decision was asked for this very call; asked again right before the call runs. */
export const isApprovalFor = (subject: ApprovalSubject, approval: string): boolean => approvalId(subject) === approval

/** JSON text that is the same for equal values, whatever the order of their keys. */
export const canonicalJson = (value: Json): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(",")}}`
}
