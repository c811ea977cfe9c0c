// Context: what the statechart remembers between two events.
// Owns its shape and the pure changes to it. Leaves when they happen to machine.ts.
// I1  Control data only: no text a person or a model wrote, so a snapshot stays under 8 KB, and a third of one for each sub-agent beyond eight.
// I2  `envelope` is set exactly while a tick is in hand.

import { defined } from "@reverie/protocol"
import {
  admit,
  type Call,
  callId,
  type CallPhase,
  type CallRequest,
  type InferFailure,
  type InferOutput,
  inPhase,
  isInPhase,
  type MachineEvent,
  movedTo,
  type Refusal,
  type Signals,
  type StepOutput,
  type ToolOutput
} from "./events.ts"
import { type Account, type Bound, openAccount } from "./budget/account.ts"
import { type ExecutionPattern, patternOf, restrict, type Restriction } from "./patterns/select-pattern.ts"
import { changedSettings, type Settings, settingsOf } from "./settings.ts"
import type { Assignment, SubAgent } from "./sub-agents/sub-agent.ts"
import type { CompactionPhase } from "./machine/phases.ts"

export const compactingPlaces = ["awake", "dreaming", "idle", "pausing", "resting"] as const

export interface AssistantContext {
  /** The settings that differ from the defaults. */
  readonly settings: Partial<Settings>
  /** Ticks begun since creation. */
  readonly tick: number
  /** The envelope of the tick in hand. */
  readonly envelope: string | null
  /** Hops of that envelope. */
  readonly hops: number
  readonly iteration: number
  readonly restriction: Restriction
  readonly contextType: string
  readonly calls: ReadonlyArray<Call>
  readonly dangerousUsed: number
  /** Ticks in a row that failed for reasons of their own, which no outage is. */
  readonly errors: number
  readonly parkMs: number
  readonly sleepMs: number
  /** When the sleep ends, in milliseconds since the epoch; 0 when not given. */
  readonly sleepUntil: number
  /** Which operation a dream goes on with after its pause; empty without a pause. */
  readonly dreamNext: string
  /** Steps that the operation or phase at hand has made before this one. */
  readonly round: number
  readonly wakeWanted: boolean
  /** Where compaction goes back to: a tick, the end of a dream, or where the order for it was heard. */
  readonly compactingFrom: (typeof compactingPlaces)[number]
  readonly signals: Signals
  /** Why the assistant is halted. */
  readonly haltReason: string | null
  /** What a person said that it may spend, in the place of what its settings say. */
  readonly budget?: Partial<Bound>
  /** What it may spend and has spent; null as long as nothing bounds it and it has granted nothing. */
  readonly account: Account | null
  /** Those that are open, and the last that have ended. */
  readonly subAgents: ReadonlyArray<SubAgent>
  /** Set for a sub-agent, from its creation on. */
  readonly assignment: Assignment | null
  /** Failed tries in a row of the model call in hand, for reasons of its own. */
  readonly tries: number
  /** The outage of its model that the work in hand has met. */
  readonly outage: Outage | null
  /** Model calls that failed in a row for reasons of their own, and tool calls that did; a success of the same kind ends its row. */
  readonly modelFailures: number
  readonly toolFailures: number
  /** Answers of the tick in hand that were not accepted, by their form or by a hook, and were asked for again. */
  readonly repairs: number
}

/** What a sub-agent is created with. */
export interface SubAgentStart {
  readonly assignment: Assignment
  readonly granted: Bound
}

/** The kind of context an ordinary event is handled in. */
export const DEFAULT_CONTEXT_TYPE = "tick_event"

const NO_SIGNALS: Signals = { tokenRatio: 0, mailWaiting: false }

export const creationContext = (settings: Partial<Settings>, subAgentStart?: SubAgentStart): AssistantContext => ({
  settings: changedSettings(settingsOf(settings)),
  tick: 0,
  envelope: null,
  hops: 0,
  iteration: 0,
  restriction: {},
  contextType: DEFAULT_CONTEXT_TYPE,
  calls: [],
  dangerousUsed: 0,
  errors: 0,
  parkMs: 0,
  sleepMs: 0,
  sleepUntil: 0,
  dreamNext: "",
  round: 0,
  wakeWanted: false,
  compactingFrom: "awake",
  signals: NO_SIGNALS,
  haltReason: null,
  account: subAgentStart === undefined ? null : openAccount(subAgentStart.granted),
  subAgents: [],
  assignment: subAgentStart?.assignment ?? null,
  tries: 0,
  outage: null,
  modelFailures: 0,
  toolFailures: 0,
  repairs: 0
})

type Change = Partial<AssistantContext>
type SleepEvent = Extract<MachineEvent, { readonly type: "sleep" }>
type CompactEvent = Extract<MachineEvent, { readonly type: "compact" }>
type MailEvent = Extract<MachineEvent, { readonly envelope: string }>

export const settingsNow = (context: AssistantContext): Settings => settingsOf(context.settings)

export const patternNow = (context: AssistantContext): ExecutionPattern =>
  restrict(patternOf(settingsNow(context)), context.restriction)

/** Nothing has gone wrong with the work in hand. */
const UNTROUBLED: Change = { tries: 0, outage: null }

/** A model call has succeeded. */
export const answered = (): Change => ({ errors: 0, modelFailures: 0, ...UNTROUBLED })

export const begin = (context: AssistantContext, event: MailEvent): Change => ({
  tick: context.tick + 1,
  envelope: event.envelope,
  hops: event.hops,
  iteration: 0,
  restriction: event.restriction ?? {},
  contextType: event.contextType ?? DEFAULT_CONTEXT_TYPE,
  calls: [],
  dangerousUsed: 0,
  repairs: 0,
  wakeWanted: false,
  signals: event.signals,
  ...UNTROUBLED,
  ...defined({ settings: event.settings === undefined ? undefined : changedSettings(settingsOf(event.settings)) })
})

/** How long the sleep lasts that begins here. */
export const fallAsleep = (context: AssistantContext, { at, forMs }: SleepEvent): Change => {
  const sleepMs = forMs ?? settingsNow(context).sleepMs
  return { sleepMs, sleepUntil: at === undefined ? 0 : at + sleepMs, dreamNext: "", round: 0 }
}

/** What is left of the sleep; it ends after what is at hand has ended, so never before now. */
const sleepLeft = ({ sleepMs, sleepUntil }: AssistantContext, { at = 0 }: { readonly at?: number }): number =>
  sleepUntil === 0 || at === 0 ? sleepMs : Math.max(1, sleepUntil - at)

/** True when a dream goes no further after this step. */
export const endsSleep = ({ sleepUntil, wakeWanted }: AssistantContext, { at = 0, signals }: StepOutput): boolean =>
  wakeWanted || signals.mailWaiting || (sleepUntil > 0 && at >= sleepUntil)

/** After a step of a dream, which goes on with `next`. */
export const dreamt = (context: AssistantContext, output: StepOutput, next: string): Change => ({
  signals: output.signals,
  sleepMs: sleepLeft(context, output),
  dreamNext: settingsNow(context).sleepTickMs > 0 ? next : "",
  outage: null,
  round: output.more === true ? context.round + 1 : 0
})

/** A compaction begins by order. What its sleep has left is counted here, for its end may not tell the time. */
export const compactByOrder = (
  context: AssistantContext,
  event: CompactEvent,
  compactingFrom: "idle" | "pausing" | "resting"
): Change => ({ compactingFrom, round: 0, wakeWanted: false, outage: null, sleepMs: sleepLeft(context, event) })

/** After a step of a compaction. */
export const compacted = (context: AssistantContext, output: StepOutput): Change => ({
  signals: output.signals,
  ...defined({
    sleepMs: context.compactingFrom === "awake" ? undefined : sleepLeft(context, output),
    restriction: output.restriction
  }),
  outage: null,
  round: output.more === true ? context.round + 1 : 0
})

/** True when an outage of the model has outlasted the sleep. */
export const sleptOut = ({ sleepUntil }: AssistantContext, at: number): boolean => sleepUntil > 0 && at >= sleepUntil

export const end = (): Change => ({ envelope: null, calls: [], restriction: {}, ...UNTROUBLED })

export const nextIteration = (context: AssistantContext): Change => ({ iteration: context.iteration + 1, calls: [] })

/** The context in which the calls of a reply are admitted: what pressed while the model was asked counts from them on. */
export const pressedBy = (context: AssistantContext, { restriction }: InferOutput): AssistantContext =>
  restriction === undefined ? context : { ...context, restriction }

/** Most times that an answer is asked for again in one tick: because of its form, or because a hook refused it. */
const MAX_REPAIRS = 2

/** An answer that was not accepted may be asked for again. */
export const mayRepair = (context: AssistantContext, output: InferOutput): boolean =>
  (output.misshapen === true || output.refused === true) &&
  context.repairs < MAX_REPAIRS &&
  context.iteration < patternNow(pressedBy(context, output)).maxIterations

/** It is asked for again. */
export const repaired = (context: AssistantContext, output: InferOutput): Change => ({
  repairs: context.repairs + 1,
  restriction: pressedBy(context, output).restriction,
  ...answered()
})

export const admitted = (context: AssistantContext, requests: ReadonlyArray<CallRequest>): Change => {
  const { calls, dangerousUsed } = admit(requests, patternNow(context), context.dangerousUsed)
  return { calls, dangerousUsed, restriction: context.restriction, ...answered() }
}

/** The refusals that `admitted` brings about, computed before it is applied. */
export const refusalsOf = (context: AssistantContext, requests: ReadonlyArray<CallRequest>): ReadonlyArray<Refusal> =>
  admit(requests, patternNow(context), context.dangerousUsed).refusals

const phaseAfter = ({ ok, pending }: ToolOutput): CallPhase => (pending ? "waiting" : ok ? "done" : "failed")

/** A call has ended by itself, well or not. What waits for a report has not. */
export const ran = (context: AssistantContext, index: number, output: ToolOutput): Change => {
  const { ok, pending, unrun = false } = output
  const toolFailures = pending || unrun ? context.toolFailures : ok ? 0 : context.toolFailures + 1
  return { ...moved(context, [index], phaseAfter(output)), toolFailures }
}

export const moved = (context: AssistantContext, indexes: ReadonlyArray<number>, phase: CallPhase): Change => ({
  calls: movedTo(context.calls, indexes, phase)
})

/** A limit of the tenant held the call back: the pause lasts until there may be room again. */
export const heldBack = (context: AssistantContext, { retryAfterMs }: InferFailure): Change => ({
  parkMs: retryAfterMs ?? settingsNow(context).parkMinMs
})

/** One more failed try of the call in hand: the pause doubles from one to the next. */
export const triedInVain = (context: AssistantContext, { retryAfterMs = 0 }: InferFailure): Change => {
  const { parkMaxMs, parkMinMs } = settingsNow(context)
  const doubled = Math.min(parkMaxMs, parkMinMs * 2 ** context.tries)
  const modelFailures = context.modelFailures + 1
  return { tries: context.tries + 1, modelFailures, parkMs: Math.max(retryAfterMs, doubled) }
}

/** The tick in hand has failed. */
export const failed = (context: AssistantContext): Change => ({
  errors: context.errors + 1,
  modelFailures: context.modelFailures + 1
})

export const halted = (reason: string): Change => ({ haltReason: clipped(reason) })

/** The open call that a report answers, or undefined. */
export const callOfReport = (context: AssistantContext, event: MachineEvent): number | undefined => {
  if (event.type !== "report") return undefined
  return inPhase(context.calls, "waiting").find((index) => {
    const id = callId(context.tick, context.iteration, index)
    // A call that waits for a sub-agent is answered by news of that sub-agent only.
    if (context.subAgents.some(({ call }) => call === id)) return false
    return event.call === undefined
      ? event.tool === undefined || context.calls[index]?.tool === event.tool
      : event.call === id
  })
}

/** The call that a decision is about, or undefined. */
export const callOfApproval = (context: AssistantContext, event: MachineEvent): number | undefined =>
  event.type === "approval"
    ? inPhase(context.calls, "asking").find(
        (index) => event.approval === undefined || context.calls[index]?.approval === event.approval
      )
    : undefined

export const isRunning = (context: AssistantContext, index: number): boolean =>
  context.calls[index]?.phase === "running"

export const isSettled = (context: AssistantContext): boolean =>
  !isInPhase(context.calls, "ready") && !isInPhase(context.calls, "running")

export const endedTerminally = (context: AssistantContext): boolean =>
  context.calls.some(
    ({ category, ends, phase }) =>
      phase === "done" &&
      (ends === "exit" || (category === "terminal" && ends !== "continue" && settingsNow(context).terminalEndsLoop))
  )

/** What may end a pause before its time: that someone has to try, the success of others, or nothing. */
export const haste = ["try", "answer", "never"] as const

export type Haste = (typeof haste)[number]

export interface Outage {
  readonly server: string
  /** Servers of other models that would do as well: an answer of any of them ends the wait. */
  readonly others?: ReadonlyArray<string>
  /** The first failure, and the last. */
  readonly since: number
  readonly at: number
  /** Failures in a row. */
  readonly tries: number
  /** How many of them the server answered others before. */
  readonly alone: number
  readonly sooner: Haste
  /** The last reason, in one line. */
  readonly reason: string
  /** The phase of a compaction that is tried again; empty outside of one. */
  readonly phase: CompactionPhase | ""
}

/** Its one task is done: a sub-agent does not wait for another. */
export const isAssignmentOver = ({ envelope, assignment, tick }: AssistantContext): boolean =>
  assignment !== null && envelope === null && tick > 0

const MAX_REASON_CHARS = 200

export const clipped = (reason: string): string =>
  reason.length <= MAX_REASON_CHARS ? reason : `${reason.slice(0, MAX_REASON_CHARS - 1)}…`
