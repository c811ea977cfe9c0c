// Events: what the statechart receives, control data only.
// Owns the typed machine events. Leaves texts and results to the ledger: an event names them, it does not carry them.
// I1  An event holds a few hundred bytes at most, whatever the message it stands for.

import type { Bound } from "./budget/account.ts"
import type { Amount, ToolCategory } from "@reverie/protocol"
import type { ExecutionPattern, Restriction } from "./patterns/select-pattern.ts"
import type { Settings } from "./settings.ts"
import type { DelegateRequest, News } from "./sub-agents/sub-agent.ts"

/** What the runtime measured just before the event. */
export interface Signals {
  /** Tokens of the history by the context window, 0 to 1 and more. */
  readonly tokenRatio: number
  /** Mail is waiting that this state does not hear. */
  readonly mailWaiting: boolean
  /** No trigger may have the history compacted: an undo holds it, or it could not be made shorter. */
  readonly historyHeld?: boolean
}

interface Mail {
  readonly envelope: string
  /** How many assistants the envelope has passed through; what this tick sends goes one further. */
  readonly hops: number
  readonly signals: Signals
  /** In which kind of context the model is asked (F1); `tick_event` when not said. */
  readonly contextType?: string
  /** What that context, and the signals, leave of the static pattern. */
  readonly restriction?: Restriction
  /** Present when the definition's settings have changed since the last tick. */
  readonly settings?: Partial<Settings>
}

/** What a reply comes to. */
export interface InferOutput {
  readonly calls: ReadonlyArray<CallRequest>
  /** What the call took; said of an assistant with a budget. */
  readonly used?: Amount
  /** What is left of the pattern where the pressure has risen since the tick began. */
  readonly restriction?: Restriction
  /** It is an answer, and has not the form that it must have. */
  readonly misshapen?: true
  /** A hook of the user has refused it. */
  readonly refused?: true
}

/**
 * Why a model call failed, and who acts next (protocol's Recovery, less what concerns the runtime alone). again: a crash
 * cut it off, and it is made anew. cut: it was not sent, for it had no room in the budget.
 */
export interface InferFailure {
  readonly recovery: "retry" | "park" | "tell-owner" | "stop" | "again" | "cut"
  /** What the call took, where that is known. */
  readonly used?: Amount
  readonly reason: string
  readonly retryAfterMs?: number
  /** Nothing is wrong: a limit of the tenant leaves no room, or a hook let the prompt not pass. It counts as no error. */
  readonly limited?: true
  /** Nothing is wrong with what was asked: the server is not well. It counts as no error either. */
  readonly outage?: OutageSeen
}

export interface ToolOutput {
  readonly ok: boolean
  /** Its report will come as an envelope. */
  readonly pending: boolean
  /** No tool has failed: the call fitted none, or was not let through. It neither makes a row of failures longer nor ends it. */
  readonly unrun?: true
  /** A task is to be handed on; its report answers the call. */
  readonly delegate?: DelegateRequest
  /** The call whose sub-agent is to end. */
  readonly dismiss?: string
}

/** One step of a dream operation or of a phase of compaction. */
export interface StepOutput {
  readonly skipped: boolean
  /** The operation or phase has another step to do. */
  readonly more?: boolean
  readonly signals: Signals
  /** When it ended, in milliseconds since the epoch. */
  readonly at?: number
  /** What the layers leave of the tick's pattern from now on; as before when not said. */
  readonly restriction?: Restriction
}

export type MachineEvent =
  | ({ readonly type: "message" } & Mail)
  | ({ readonly type: "timer"; readonly name: string } & Mail)
  /** `at`: the present, so that the end of the sleep is known. */
  | ({ readonly type: "sleep"; readonly forMs?: number; readonly at?: number } & Mail)
  /** `at`: the present, so that the rest of a sleep is known. */
  | { readonly type: "compact"; readonly at?: number }
  | { readonly type: "wake" }
  | { readonly type: "report"; readonly call?: string; readonly tool?: string }
  | { readonly type: "approval"; readonly approval?: string; readonly decision: "approved" | "denied" }
  | { readonly type: "halt"; readonly reason: string }
  | { readonly type: "stop"; readonly tick: number }
  | { readonly type: "resume" }
  | { readonly type: "refresh" }
  | { readonly type: "remind" }
  | ({ readonly type: "budget" } & Partial<Bound>)
  | { readonly type: "undoCompaction" }
  | { readonly type: "releaseHistory" }
  | { readonly type: "deletePassage" }
  | { readonly type: "releaseFact" }
  | { readonly type: "retireFact" }
  | { readonly type: "writeFact" }
  | { readonly type: "writeProfile" }
  | { readonly type: "undoDream" }
  | { readonly type: "acceptDream" }
  | { readonly type: "retire"; readonly reason?: string }
  | ({ readonly type: "delegate" } & DelegateRequest)
  | ({ readonly type: "news" } & News)
  | { readonly type: `xstate.done.actor.child.${string}`; readonly output: unknown }
  | { readonly type: `xstate.error.actor.child.${string}`; readonly error: unknown }
  | { readonly type: `xstate.done.actor.tool.${number}`; readonly output: ToolOutput }
  | { readonly type: `xstate.error.actor.tool.${number}`; readonly error: unknown }

export interface AssessOutput {
  readonly restriction: Restriction
}

interface JobEnd {
  readonly output?: unknown
  readonly error?: unknown
}

/** What a job says at its end; of which job the event comes, the state that receives it knows. */
const endIn = (event: MachineEvent): JobEnd => event as JobEnd

export const assessOutput = (event: MachineEvent): AssessOutput => endIn(event).output as AssessOutput
export const inferOutput = (event: MachineEvent): InferOutput => endIn(event).output as InferOutput
export const stepOutput = (event: MachineEvent): StepOutput => endIn(event).output as StepOutput
export const inferFailure = (event: MachineEvent): InferFailure => endIn(event).error as InferFailure
/** Of a dream or a compaction. */
export const stepFailure = (event: MachineEvent): ServerFailure => endIn(event).error as ServerFailure

/** How a job's end reaches the statechart. */
export const jobDone = (name: string, output: unknown): { readonly type: string } & Record<string, unknown> => ({
  type: `xstate.done.actor.${name}`,
  output,
  actorId: name
})

export const jobFailed = (name: string, error: unknown): { readonly type: string } & Record<string, unknown> => ({
  type: `xstate.error.actor.${name}`,
  error,
  actorId: name
})

/** One failure of a model's server, as the runtime tells of it. */
export interface OutageSeen {
  /** Host and port. */
  readonly server: string
  /** Those of other models of a list, all of which are away. */
  readonly others?: ReadonlyArray<string>
  /** The present, in milliseconds since the epoch. */
  readonly at: number
  /** From 0 to 1, another one for each assistant. */
  readonly spread: number
  /** Nothing was sent: the server is known to be away. */
  readonly withheld?: true
  /** The server has answered others since it last failed this assistant. */
  readonly alone?: true
  /** The server named a time: for every caller, or because this one asks too much. */
  readonly named?: "all" | "one"
}

/** A failure that may be one of the server. */
export interface ServerFailure {
  readonly reason: string
  readonly retryAfterMs?: number
  readonly outage?: OutageSeen
}

// Calls: the tool calls of one iteration, as the statechart follows them.
// I1  At most one dangerous call runs in a tick; the others are refused with a reason.
// I2  A call outside the pattern's categories never runs.
// I3  A dangerous call runs without approval only when the pattern asks for none and the call itself neither.
// I4  A call that a tool rule refuses never runs.
// I5  A call that has ended (done, failed, refused) never runs again.

/**
 * ready: may be started. running: its job is open. asking: waits for approval. waiting: its report is outstanding.
 * done: it worked. failed: its result says that it did not. refused: it never ran, or no one knows how far.
 */
export type CallPhase = (typeof callPhases)[number]
export const callPhases = ["ready", "running", "asking", "waiting", "done", "failed", "refused"] as const

/** What the model asked for, as control data. */
export interface CallRequest {
  readonly tool: string
  readonly category: ToolCategory
  /** Names this call with these arguments, for the person that decides. */
  readonly approval?: string
  /** The epoch in which that approval was asked for: a part of what it is bound to. */
  readonly askedIn?: number
  /** A person has to agree to it, whatever the pattern says of dangerous calls. */
  readonly asks?: true
  /** Why a tool rule refuses it. */
  readonly refused?: string
  /** What a tool rule makes of its end, whatever its category. */
  readonly ends?: "exit" | "continue"
}

export interface Call extends CallRequest {
  readonly phase: CallPhase
}

export interface Refusal {
  readonly index: number
  readonly reason: string
}

interface Admission {
  readonly calls: ReadonlyArray<Call>
  readonly refusals: ReadonlyArray<Refusal>
  readonly dangerousUsed: number
}

/** Decides what becomes of each call the model asked for. */
export const admit = (
  requests: ReadonlyArray<CallRequest>,
  pattern: ExecutionPattern,
  dangerousUsed: number
): Admission => {
  const refusals: Array<Refusal> = []
  let dangerous = dangerousUsed
  const calls = requests.map((request, index): Call => {
    const refuse = (reason: string): Call => {
      refusals.push({ index, reason })
      return { ...request, phase: "refused" }
    }
    if (request.refused !== undefined) return refuse(request.refused)
    if (!pattern.multiTool && index > 0) return refuse("Only one tool call is allowed in this tick.")
    if (!pattern.categories.includes(request.category)) {
      return refuse(`Tools of the category ${request.category} are not allowed in this tick.`)
    }
    if (request.category !== "dangerous") return { ...request, phase: "ready" }
    if (dangerous > 0) return refuse("Only one dangerous tool may run in a tick; ask for it again in a later one.")
    dangerous++
    return { ...request, phase: pattern.confirmDangerous || request.asks === true ? "asking" : "ready" }
  })
  return { calls, refusals, dangerousUsed: dangerous }
}

/** Moves the calls named by `indexes` to another phase. */
export const movedTo = (
  calls: ReadonlyArray<Call>,
  indexes: ReadonlyArray<number>,
  phase: CallPhase
): ReadonlyArray<Call> => calls.map((call, index) => (indexes.includes(index) ? { ...call, phase } : call))

/** Indexes of the calls in one of the phases. */
export const inPhase = (calls: ReadonlyArray<Call>, ...phases: ReadonlyArray<CallPhase>): ReadonlyArray<number> =>
  calls.flatMap((call, index) => (phases.includes(call.phase) ? [index] : []))

export const isInPhase = (calls: ReadonlyArray<Call>, phase: CallPhase): boolean =>
  calls.some((call) => call.phase === phase)

/** The id of a call, the same in messages, jobs, approvals and reports. */
export const callId = (tick: number, iteration: number, index: number): string => `${tick}.${iteration}.${index}`
