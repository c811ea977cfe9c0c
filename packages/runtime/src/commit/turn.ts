// Turn: one machine event made into one commit.
// Owns the pure way from a decision to the draft of a commit, and from a draft to the entry and state that are written. Leaves
// deciding to `assistant`, what else is in a commit to commit-draft.ts, writing to `ledger`.
// I1  Everything a decision asked for is in the commit: nothing runs that was not first written down.
// I2  A tool call gets exactly one tool message: its result, its report, its refusal or its interruption.
// I3  A job id is `<commit number>/<name>`; a result whose job id is not open is late and is not decided upon.
// I4  Every so many commits what a replay goes on from is written with the commit: the state that this very commit leaves.

import {
  callId,
  contextOf,
  type Decision,
  type Decoded,
  nextNight,
  persist,
  receives,
  type SleepSchedule,
  statusOf
} from "@reverie/assistant"
import {
  type Address,
  type AssistantState,
  type Command,
  defined,
  type Entry,
  ENTRY_VERSION,
  type Envelope,
  ENVELOPE_VERSION,
  EnvelopeId,
  type Json,
  LANES,
  type Message,
  type OpenJob,
  type OpenTimer,
  type RecordChange,
  REFUSED,
  type Settlement,
  STATE_VERSION,
  type TickEnd,
  type TickOutcome
} from "@reverie/protocol"
import type { CommitDraft, TurnInput, UncountedMessage } from "./commit-draft.ts"

// SleepTimer: how an assistant goes to sleep by itself.
// I1  An assistant with sleep schedule always has one timer for its next night, whatever its state; one without has none.
// I2  The order of a night has one id: however often it is sent, it is accepted once. It waits behind the mail before it.

/** The timer of the next night. */
export const SLEEP_TIMER = "sleepTimer"

/** What the timer carries: the end of its night, and the schedule it was set by. */
interface Night {
  readonly type: typeof SLEEP_TIMER
  readonly end: number
  readonly schedule: string
}

/** The next night among some timers, and the schedule it was set by. */
export const sleepTimerIn = (
  timers: ReadonlyArray<OpenTimer>
): { readonly start: number; readonly schedule: string } | undefined => {
  const timer = timers.find(({ name }) => name === SLEEP_TIMER)
  return timer === undefined ? undefined : { start: timer.dueAt, schedule: (timer.event as unknown as Night).schedule }
}

const NO_SCHEDULE = "null"
const schedules = new WeakMap<SleepSchedule, string>()

/** The text of a schedule, made once for each object. */
const scheduleText = (schedule: SleepSchedule | undefined): string => {
  if (schedule === undefined) return NO_SCHEDULE
  const text = schedules.get(schedule) ?? JSON.stringify(schedule)
  schedules.set(schedule, text)
  return text
}

/** The timers with that of the next night among them: kept as long as it lies ahead and the schedule is the same. */
export const addSleepTimer = (
  timers: ReadonlyArray<OpenTimer>,
  schedule: SleepSchedule | undefined,
  now: number
): ReadonlyArray<OpenTimer> => {
  const present = timers.find(({ name }) => name === SLEEP_TIMER)
  const key = scheduleText(schedule)
  const known = sleepTimerIn(timers)
  if (known !== undefined && known.start > now && known.schedule === key) return timers
  const others = present === undefined ? timers : timers.filter((timer) => timer !== present)
  const night = schedule === undefined ? undefined : nextNight(schedule, now)
  if (night === undefined) return others
  const event: Night = { type: SLEEP_TIMER, end: night.end, schedule: key }
  return [...others, { name: SLEEP_TIMER, dueAt: night.start, event: { ...event } }]
}

/** What is written when the timer of a night has come: the order to sleep, sent to the assistant itself. */
export const sleepTimerOf = (address: Address, { dueAt, event }: OpenTimer): TurnInput => {
  const { end } = event as unknown as Night
  const order: Envelope = {
    v: ENVELOPE_VERSION,
    id: EnvelopeId.make(`${SLEEP_TIMER}-${dueAt}`),
    to: address,
    from: "clock",
    event: { type: "sleep", until: end },
    hops: 0
  }
  return { cause: { kind: "timer", name: SLEEP_TIMER }, event: null, messages: [], sends: [order] }
}

export interface Inputs {
  readonly before: Decoded
  readonly decision: Decision
  readonly version: number
  readonly epoch: number
  readonly now: number
  readonly definition: string
  readonly jobs: ReadonlyArray<OpenJob>
  readonly timers: ReadonlyArray<OpenTimer>
  readonly count: (message: UncountedMessage) => number
  /** Hours of sleep. */
  readonly schedule?: SleepSchedule | undefined
  /** The newest messages, for the reply of a tick that ends. */
  readonly tail: ReadonlyArray<Message>
}

export interface Turn {
  readonly entry: Entry
  readonly state: AssistantState
  readonly started: ReadonlyArray<OpenJob>
  readonly stopped: ReadonlyArray<string>
}

type Params = { readonly [key: string]: Json }

/** The jobs that are open after these commands. */
export const jobsAfter = (jobs: ReadonlyArray<OpenJob>, commands: ReadonlyArray<Command>, no: number) =>
  commands.reduce<ReadonlyArray<OpenJob>>((open, command) => {
    switch (command._tag) {
      case "StartJob":
        return [
          ...open.filter((job) => job.name !== command.name),
          { id: `${no}/${command.name}`, name: command.name, src: command.src, input: command.input }
        ]
      case "StopJob":
        return open.filter((job) => job.name !== command.name)
      default:
        return open
    }
  }, jobs)

export const timersAfter = (timers: ReadonlyArray<OpenTimer>, commands: ReadonlyArray<Command>, now: number) =>
  commands.reduce<ReadonlyArray<OpenTimer>>((open, command) => {
    switch (command._tag) {
      case "SetTimer":
        return [
          ...open.filter((timer) => timer.name !== command.name),
          { name: command.name, dueAt: now + command.delayMillis, event: command.event }
        ]
      case "CancelTimer":
        return open.filter((timer) => timer.name !== command.name)
      default:
        return open
    }
  }, timers)

const actionsOf = (commands: ReadonlyArray<Command>, type: string): ReadonlyArray<Params> =>
  commands.flatMap((command) => (command._tag === "Action" && command.type === type ? [command.params as Params] : []))

/** Tool messages for the calls that the decision itself answers: refused, denied, expired, halted, reported. */
const answersOf = (inputs: Inputs, turnInput: TurnInput): ReadonlyArray<UncountedMessage> => {
  // The iteration before: the decision may already have gone on to the next one.
  const { calls, iteration, tick } = contextOf(inputs.before)
  const asked = calls.length > 0 ? calls : turnInput.messages.flatMap((message) => message.calls ?? [])
  const answer = (index: number, content: string): UncountedMessage => ({
    role: "tool",
    content,
    call: callId(tick, iteration, index),
    at: inputs.now,
    ...defined({ name: asked[index] === undefined ? undefined : asked[index].tool })
  })
  const refused = actionsOf(inputs.decision.commands, "refuseCalls").flatMap((params) =>
    (params["refusals"] as unknown as ReadonlyArray<{ readonly index: number; readonly reason: string }>).map(
      ({ index, reason }) => answer(index, `${REFUSED}${reason}`)
    )
  )
  const reported = actionsOf(inputs.decision.commands, "answerReport").map((params) =>
    answer(Number(params["index"]), turnInput.report ?? "")
  )
  const unhired = actionsOf(inputs.decision.commands, "refuseDelegation").flatMap((params) =>
    Number(params["index"]) < 0 ? [] : [answer(Number(params["index"]), JSON.stringify(params["refusal"]))]
  )
  return [...refused, ...reported, ...unhired]
}

/** The calls that end a loop and worked: what they gave is the reply, whichever tool of the iteration ended last. */
const spokenCalls = ({ before }: Inputs, { step }: TurnInput): ReadonlySet<string> => {
  const { calls, iteration, tick } = contextOf(before)
  const isSpoken = (phase: string) => phase === "done" || (phase === "running" && step?.ok === true)
  return new Set(
    calls.flatMap(({ category, ends, phase }, index) =>
      (ends === "exit" || (category === "terminal" && ends !== "continue")) && isSpoken(phase)
        ? [callId(tick, iteration, index)]
        : []
    )
  )
}

/** What the assistant said in the tick that ends here. */
const replyOf = (
  outcome: TickOutcome,
  inputs: Inputs,
  turnInput: TurnInput,
  messages: ReadonlyArray<Message>
): string => {
  if (outcome === "failed" || outcome === "refused" || outcome === "slept") return ""
  if (outcome === "cut") return partOf(messages)
  const spoken = outcome === "terminal" ? spokenCalls(inputs, turnInput) : undefined
  const isSaid = ({ call = "", role }: Message) => (spoken === undefined ? role === "assistant" : spoken.has(call))
  for (const message of messages.toReversed()) {
    if (message.role === "user") return ""
    if (isSaid(message) && message.content !== "") return message.content
  }
  return ""
}

/** What a tick that was cut has come to: its last words, or else the last result it has seen. */
const partOf = (messages: ReadonlyArray<Message>): string => {
  const since = messages.slice(messages.findLastIndex(({ role }) => role === "user") + 1)
  const isIn = (wanted: Message["role"]) =>
    since.findLast(({ content, role }) => role === wanted && content !== "")?.content
  return [isIn("assistant") ?? isIn("tool") ?? "", "[Cut: the budget was used up before this was done.]"]
    .filter((text) => text !== "")
    .join("\n\n")
}

const tickEndOf = (inputs: Inputs, turnInput: TurnInput, messages: ReadonlyArray<Message>) => {
  const [ended] = actionsOf(inputs.decision.commands, "endTick")
  if (ended === undefined) return undefined
  const outcome = ended["outcome"] as TickOutcome
  const { iteration } = contextOf(inputs.decision.next)
  const parts = outcome === "answered" ? messages.findLast(({ role }) => role === "assistant")?.parts : undefined
  return {
    outcome,
    iterations: iteration,
    reply: replyOf(outcome, inputs, turnInput, [...inputs.tail, ...messages]),
    parts,
    ...defined({ reason: typeof ended["reason"] === "string" ? ended["reason"] : undefined })
  }
}

/** What becomes of an answer that must have a form, where the tick ends with it. */
const answerOf = (outcome: TickOutcome, { judged }: TurnInput): Pick<TickEnd, "output" | "misfit" | "refusal"> => {
  if (judged === undefined) return {}
  if ("issues" in judged) return outcome === "misshapen" ? { misfit: judged.issues.join("; ") } : {}
  if ("refusal" in judged) return outcome === "refused" ? { refusal: judged.refusal } : {}
  return outcome === "answered" ? { output: judged.output } : {}
}

/** The end of the tick's envelope; one that failed is dead-lettered with its reason. */
const settlementOf = (tickEnd: TickEnd | undefined, reason: string | undefined): ReadonlyArray<Settlement> => {
  if (tickEnd === undefined) return []
  const { envelope: id, outcome } = tickEnd
  return [outcome === "failed" ? { id, outcome: "dead", reason: reason ?? "failed" } : { id, outcome: "handled" }]
}

/** A list that has something in it. */
const some = <A>(list: ReadonlyArray<A> = []): ReadonlyArray<A> | undefined => (list.length === 0 ? undefined : list)

const emittedOf = ({ commands }: Decision, { emitted = [] }: TurnInput) => [
  ...commands.flatMap((command) => (command._tag === "Emit" ? [command.event] : [])),
  ...emitted
]

/** The first draft: the input, and what the decision says of it. */
export const draftOf = (inputs: Inputs, turnInput: TurnInput): CommitDraft => {
  const { before, decision, now } = inputs
  const messages = [...turnInput.messages, ...answersOf(inputs, turnInput)].map((message): Message => ({
    ...message,
    tokens: inputs.count(message)
  }))
  const envelope = contextOf(before).envelope ?? (turnInput.cause.kind === "envelope" ? turnInput.cause.id : undefined)
  const end = tickEndOf(inputs, turnInput, messages)
  const tickEnd: TickEnd | undefined =
    end === undefined || envelope === undefined
      ? undefined
      : {
          envelope: EnvelopeId.make(envelope),
          outcome: end.outcome,
          iterations: end.iterations,
          reply: end.reply,
          ...defined({ parts: end.parts }),
          ...answerOf(end.outcome, turnInput)
        }
  const settled = [
    ...settlementOf(tickEnd, end?.reason),
    ...(turnInput.settled === undefined ? [] : [turnInput.settled])
  ]
  const status = statusOf(decision.next)
  return {
    no: inputs.version + 1,
    cause: turnInput.cause,
    event: turnInput.event,
    status,
    messages,
    ...defined({
      step: turnInput.step,
      hooks: some(turnInput.hooks),
      settled: some(settled),
      tickEnd,
      emitted: some(emittedOf(decision, turnInput)),
      records: some(turnInput.records),
      sends: some(turnInput.sends)
    }),
    timers:
      status === "retired"
        ? []
        : addSleepTimer(timersAfter(inputs.timers, decision.commands, now), inputs.schedule, now)
  }
}

/** So many commits lie between two places from which a replay can go on: some kilobytes each. */
export const CHECKPOINT_COMMITS = 500

/** The state after a commit as a replay goes on from it. Hours of sleep are no business of the statechart's. */
const checkpointOf = (no: number, { jobs, snapshot, timers }: AssistantState): RecordChange => {
  const value = { no, snapshot, jobs, timers: timers.filter(({ name }) => name !== SLEEP_TIMER) }
  return { kind: "checkpoint", key: String(no), value: value as unknown as Json }
}

/** Everything one commit writes, and what it starts and stops. */
export const turnOf = (inputs: Inputs, { timers, ...draft }: CommitDraft): Turn => {
  const { decision, now } = inputs
  const { cause, event, messages, no, status, ...more } = draft
  const { iteration, tick } = contextOf(decision.next)
  const jobs = jobsAfter(inputs.jobs, decision.commands, no)
  const state: AssistantState = {
    v: STATE_VERSION,
    snapshot: persist(decision.next),
    jobs,
    timers,
    // A retired assistant stays due until everything that waits for it has been dead-lettered.
    receives: status === "retired" ? LANES : receives(decision.next),
    status,
    definition: inputs.definition
  }
  const isMarked = no % CHECKPOINT_COMMITS === 0
  return {
    entry: {
      v: ENTRY_VERSION,
      no,
      at: now,
      epoch: inputs.epoch,
      tick,
      iteration,
      cause,
      event,
      status,
      messages,
      ...more,
      ...defined({ records: isMarked ? [...(more.records ?? []), checkpointOf(no, state)] : undefined })
    },
    state,
    started: jobs.filter((job) => !inputs.jobs.includes(job)),
    stopped: inputs.jobs.filter((job) => !jobs.includes(job)).map((job) => job.id)
  }
}
