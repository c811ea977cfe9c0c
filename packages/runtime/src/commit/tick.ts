// Tick: the walk of one machine event, from decision to what it started.
// Owns the order decide, create, plan, write, advance, publish. host.ts has the loop around it, jobs.ts the work itself.
// I1  One machine event, one commit; nothing is published, started or stopped before the commit is durable.
// I2  A result whose job is not open is late: it is dropped and counted, never decided upon.
// I3  An event that the statechart can not take ends in the dead letters with the reason, and blocks nothing.
// I4  A commit is a value that is written: `planned` makes it and needs no service, so it reads and writes nothing. Children
//     that a decision addresses while they are being created exist before it: the stage between deciding and planning creates them.

import { decide, type Decision, type Input, isIgnored, statusOf, waitOf } from "@reverie/assistant"
import { keptAgain, Ledger } from "@reverie/ledger"
import {
  type AcceptedEnvelope,
  defined,
  longWork,
  type OpenJob,
  type OpenTimer,
  type UnreadableEnvelope
} from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { deadLetteringOf, heard, ignored, noteAnswered, noteHeard } from "../intake/inbox.ts"
import { firedReminders, REMINDER_TIMER } from "../intake/reminders.ts"
import { isForgotten } from "../intake/skip.ts"
import { contributed, skipRules } from "../intake/skip-rules.ts"
import { guardedMail, stopText } from "../jobs/hooks.ts"
import { Faults, type JobEnd, Secrets, turnInputOf } from "../jobs/job-end.ts"
import { TEAM_DUE, teamDueOf } from "../jobs/team-records.ts"
import { followed } from "../outages/outage-book.ts"
import { advance, reopenHistory, type Session, signalsOf } from "../session/session.ts"
import { createPendingChildren } from "../sub-agents/child-job.ts"
import { beginTurn, followTurn, inSpan, inTurn } from "../telemetry/spans.ts"
import type { TurnInput } from "./commit-draft.ts"
import { NoticeHub } from "./replies.ts"
import { draftOf, type Inputs, SLEEP_TIMER, sleepTimerOf, type Turn, turnOf } from "./turn.ts"

/** Results that came after their job had been stopped or replaced. */
export const lateResults = Metric.counter("reverie_late_results_total", { incremental: true })

/** Jobs that a commit started, and the ids of those it ended. */
export interface FollowUp {
  readonly started: ReadonlyArray<OpenJob>
  readonly stopped: ReadonlyArray<string>
  readonly sent: boolean
}

const NOTHING_FOLLOWS: FollowUp = { started: [], stopped: [], sent: false }

/** The last messages a reply may be found in: those of one tick. */
const TAIL_MESSAGES = 64

/** What a commit is about, besides the input. */
interface Occasion {
  readonly arrival?: AcceptedEnvelope | undefined
  /** The statechart has taken the envelope: it was not skipped, ignored or dead-lettered. */
  readonly isTaken?: boolean
  /** It is gone with this commit, even when the state it belonged to has already been left. */
  readonly fired?: OpenTimer
}

/** The commit as a value. Its type says that no service is asked for it; made twice, it is the same. */
export const planned = (
  session: Session,
  decision: Decision,
  turnInput: TurnInput,
  now: number,
  { arrival, fired, isTaken = false }: Occasion = {}
): Effect.Effect<Turn> => {
  const tail = session.window.messages.slice(-TAIL_MESSAGES)
  const inputs: Inputs = {
    before: session.decoded,
    decision,
    version: session.version,
    epoch: session.claim.epoch,
    now,
    definition: session.definition.name,
    jobs: session.jobs,
    timers: session.timers.filter((timer) => timer !== fired),
    count: session.count,
    schedule: session.definition.sleep,
    tail
  }
  return Effect.map(
    session.inSlices(() => draftOf(inputs, turnInput)),
    (draft) => turnOf(inputs, contributed(draft, decision, { session, arrival, now, isTaken, tail }))
  )
}

/** Writes a planned commit, and takes it over. */
const write = Effect.fnUntraced(function* (
  session: Session,
  turn: Turn,
  decision: Decision,
  arrival: AcceptedEnvelope | undefined
) {
  const ledger = yield* Ledger
  const faults = yield* Faults
  const hub = yield* NoticeHub
  yield* faults.at("before-commit", session.address)
  yield* longWork.begin(turn.entry.messages.reduce((sum, { content }) => sum + content.length, 0))
  const seq = yield* ledger
    .commit(session.claim, { entry: turn.entry, state: turn.state })
    .pipe(inSpan("ledger.commit"), inTurn(session, arrival))
  yield* faults.at("after-commit", session.address)
  advance(session, turn, decision.next)
  yield* reopenHistory(session, turn.entry.records)
  yield* noteAnswered(session, turn.entry)
  yield* followed(session.address, waitOf(session.decoded)?.outage)
  yield* followTurn(session, turn.entry, arrival)
  hub.tellEntry(session.address, seq, turn.entry)
  return { started: turn.started, stopped: turn.stopped, sent: turn.entry.sends !== undefined }
})

const commit = Effect.fnUntraced(function* (
  session: Session,
  decision: Decision,
  turnInput: TurnInput,
  now: number,
  occasion: Occasion = {}
) {
  const turn = yield* planned(session, decision, turnInput, now, occasion)
  return yield* write(session, turn, decision, occasion.arrival)
})

/** Before a decision is written: the sub-agents that it orders to end while their creation is under way. */
const createdFirst = (session: Session, decision: Decision) =>
  decision.commands.some((command) => command._tag === "Action" && command.type === "tellSubAgents")
    ? createPendingChildren(session, decision)
    : Effect.void

/** Decides, or says why the statechart could not. */
const decided = (session: Session, event: Input, arrival?: AcceptedEnvelope) =>
  Effect.sync(() => {
    try {
      return { decision: decide(session.decoded, event) }
    } catch (cause) {
      return {
        problem: `the statechart broke on ${event.type}: ${cause instanceof Error ? cause.message : String(cause)}`
      }
    }
  }).pipe(
    inSpan("assistant.decide"),
    inTurn(session, arrival),
    Effect.tap((outcome) => ("problem" in outcome ? Effect.void : createdFirst(session, outcome.decision)))
  )

const unmoved = (session: Session): Decision => ({ next: session.decoded, commands: [] })

/** Passes an envelope over for good. */
export const deadLetter = Effect.fnUntraced(function* (
  session: Session,
  envelope: AcceptedEnvelope | UnreadableEnvelope,
  reason: string
) {
  const now = yield* Clock.currentTimeMillis
  const arrival = "unreadable" in envelope ? undefined : envelope
  return yield* commit(session, unmoved(session), deadLetteringOf(envelope, reason), now, { arrival })
})

/** What comes, as the hooks of the user let it come. */
const takeGuarded = Effect.fnUntraced(function* (session: Session, accepted: AcceptedEnvelope) {
  const guarded = isForgotten(accepted) ? undefined : guardedMail({ session, hide: (yield* Secrets).hide }, accepted)
  if (guarded === undefined) return yield* take(session, accepted)
  const { envelope, records, stop } = yield* guarded
  const hooks = defined({ hooks: records.length === 0 ? undefined : records })
  if (stop === undefined) return yield* take(session, envelope, hooks)
  const now = yield* Clock.currentTimeMillis
  const refused = { ...deadLetteringOf(envelope, stopText(stop)), ...hooks }
  return yield* commit(session, unmoved(session), refused, now, { arrival: envelope })
})

export const handleEnvelope = (session: Session, envelope: AcceptedEnvelope) =>
  session.definition.hooks === undefined ? take(session, envelope) : takeGuarded(session, envelope)

const take = Effect.fnUntraced(function* (
  session: Session,
  envelope: AcceptedEnvelope,
  hooks: Pick<TurnInput, "hooks"> = {}
) {
  const now = yield* Clock.currentTimeMillis
  for (const rule of skipRules) {
    const applied = rule(session, envelope, now)
    const skip = Effect.isEffect(applied) ? yield* applied : applied
    if (skip !== undefined) {
      return yield* commit(session, unmoved(session), { ...skip, ...hooks }, now, { arrival: envelope })
    }
  }
  const { event, turnInput: input } = heard(session, envelope, now)
  const turnInput = { ...input, ...hooks }
  // An order is no work; what it sets going is.
  if (envelope.lane !== "control") yield* beginTurn(session, envelope)
  const outcome = yield* decided(session, event, envelope)
  if ("problem" in outcome) return yield* deadLetter(session, envelope, outcome.problem)
  const { decision } = outcome
  if (isIgnored(session.decoded, decision)) {
    return yield* commit(session, decision, ignored(turnInput, envelope, statusOf(session.decoded)), now, {
      arrival: envelope
    })
  }
  const followUp = yield* commit(session, decision, turnInput, now, { arrival: envelope, isTaken: true })
  yield* noteHeard(session, envelope, now)
  return followUp
})

/**
 * The statechart could not take a result or a timer: it halts, and says why, rather than hang. The result is not used:
 * its text would be a reply no one acts on, or a second answer to a call that the halt itself answers.
 */
const haltInstead = Effect.fnUntraced(function* (
  session: Session,
  { cause, step }: TurnInput,
  problem: string,
  now: number,
  fired?: OpenTimer
) {
  const event = { type: "halt", reason: problem } as const
  const broken = step === undefined ? {} : { step: { ...step, ok: false, detail: { error: problem } } }
  const decision = decide(session.decoded, event)
  yield* createdFirst(session, decision)
  return yield* commit(session, decision, { cause, event, messages: [], ...broken }, now, defined({ fired }))
})

/** A step's result carries what the runtime measures at the moment it is handled. */
const withSignals = (session: Session, end: JobEnd, mailWaiting: boolean): JobEnd => {
  if (end.job.src !== "dream" && end.job.src !== "compact") return end
  const { output } = end.event as { readonly output?: object }
  return output === undefined
    ? end
    : { ...end, event: { ...end.event, output: { ...output, signals: signalsOf(session, mailWaiting) } } as Input }
}

/** `problem`: why the statechart is not even asked. */
export const handleJobEnd = Effect.fnUntraced(function* (
  session: Session,
  end: JobEnd,
  mailWaiting: boolean,
  problem?: string
) {
  if (!session.jobs.some((job) => job.id === end.job.id)) {
    yield* Metric.update(lateResults, 1)
    return NOTHING_FOLLOWS
  }
  const now = yield* Clock.currentTimeMillis
  const current = withSignals(session, end, mailWaiting)
  const turnInput = turnInputOf(current)
  const outcome = problem === undefined ? yield* decided(session, current.event) : { problem }
  const written =
    "problem" in outcome
      ? yield* haltInstead(session, turnInput, outcome.problem, now)
      : yield* commit(session, outcome.decision, turnInput, now)
  if (end.made !== undefined) yield* keptAgain((yield* Ledger).blobs, session.address.tenant, end.made)
  return written
})

export const handleTimer = Effect.fnUntraced(function* (session: Session, timer: OpenTimer, problem?: string) {
  const now = yield* Clock.currentTimeMillis
  const fired: Occasion = { fired: timer }
  if (problem === undefined && timer.name === SLEEP_TIMER) {
    return yield* commit(session, unmoved(session), sleepTimerOf(session.address, timer), now, fired)
  }
  if (problem === undefined && timer.name === TEAM_DUE) {
    return yield* commit(session, unmoved(session), teamDueOf(session.address, session.version + 1), now, fired)
  }
  if (problem === undefined && timer.name === REMINDER_TIMER) {
    return yield* commit(session, unmoved(session), yield* firedReminders(session, now), now, fired)
  }
  const event = timer.event as unknown as Input
  const turnInput: TurnInput = { cause: { kind: "timer", name: timer.name }, event: timer.event, messages: [] }
  yield* beginTurn(session)
  const outcome = problem === undefined ? yield* decided(session, event) : { problem }
  return "problem" in outcome
    ? yield* haltInstead(session, turnInput, outcome.problem, now, timer)
    : yield* commit(session, outcome.decision, turnInput, now, fired)
})
