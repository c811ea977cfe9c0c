// SkipRules: the envelopes that start no tick.
// Owns the rules by which an envelope is skipped before the statechart decides, their order, judging a message,
// and what is written of a skipped envelope. Leaves the plan of a compaction to `compact/`, what a person orders about memory to
// memory-orders.ts.
// S1  A skipped envelope is settled, with the reason, by the commit that passes its place.
// S2  The first rule that applies decides. A rule changes nothing: what it has to keep is among the records of its skip.
// S3  A reflection that is due while the assistant is asleep is left to its dreams. It does not wake the assistant, and one
//     that was made in a dream is not made again.
// S4  An order to sleep is skipped when the time it was meant for is over.
// S5  A sub-agent receives one message: its task.

import {
  ambienceChanges,
  ambienceOf,
  contextOf,
  type Decision,
  DEFAULT_LISTENING,
  type FilterRule,
  isReflectionDue,
  isTagged,
  judgeMessage,
  listeningOf,
  overhear,
  reflectionOf,
  statusOf
} from "@reverie/assistant"
import {
  contextIn,
  historyHoldChange,
  historyHoldOf,
  type HistoryStart,
  planCompaction,
  skipReasons,
  undoCompaction
} from "@reverie/context"
import { Model } from "@reverie/model"
import { type AcceptedEnvelope, defined, textWithParts, type UnreadableEnvelope } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { forgetHistory, inputsOf } from "../compact/phase.ts"
import { deadLetteringOf } from "./inbox.ts"
import { pricesNow } from "../jobs/job-end.ts"
import { notOvertaken, recordsOf } from "../session/own-records.ts"
import { readCompactions, readPast } from "../prompt/past.ts"
import { fillOf, type Session } from "../session/session.ts"
import { addDecisionNotes } from "../commit/decision-notes.ts"
import { addReplies, isJournalsReflection, recordInFlight } from "../commit/replies.ts"
import { addSubAgentSends, taskEnvelope } from "../sub-agents/assignments.ts"
import type { CommitDraft } from "../commit/commit-draft.ts"
import type { CommitView } from "../commit/commit-view.ts"
import { noteReminders, REMINDER_TIMER, remindersSet, whyNoReminder } from "./reminders.ts"
import { memoryOrders } from "./memory-orders.ts"
import { isForgotten, type Skip, skip, UNHEARD } from "./skip.ts"
import { addTeamDue } from "../jobs/team-records.ts"
import { addTraces } from "../telemetry/spans.ts"

// MessageFilter: how a message is judged before the statechart decides.
// I1  A message that triggers nothing is still settled and on record, with the rule that decided.
// I2  Asleep, only a mention and a direct message trigger; what else would is overheard. A timer wakes as well.

const waking: ReadonlySet<FilterRule> = new Set(["mention", "direct"])

const isAsleep = ({ decoded }: Session): boolean => isTagged(statusOf(decoded), "asleep")

const judged = ({ address, definition }: Session, { event, from }: AcceptedEnvelope) => {
  if (event.type !== "message") return undefined
  const { channel, parts } = event
  const text = textWithParts(event.text, parts)
  const listening = definition.listening === undefined ? DEFAULT_LISTENING : listeningOf(definition.listening)
  const heard = { from, text, ...defined({ channel }) }
  return { heard, ...judgeMessage(listening, heard, { id: address.assistant, names: [] }) }
}

/** True when the envelope ends a sleep. */
export const wakes = (session: Session, envelope: AcceptedEnvelope | UnreadableEnvelope): boolean => {
  if ("unreadable" in envelope || isForgotten(envelope)) return false
  const judgement = judged(session, envelope)
  return judgement === undefined
    ? envelope.event.type === "timer" &&
        !isJournalsReflection(envelope) &&
        idleReminder(session, envelope) === undefined
    : judgement.verdict === "trigger" && waking.has(judgement.rule)
}

const idleReminder = (session: Session, { event }: AcceptedEnvelope) =>
  event.type === "timer" && event.reminder !== undefined
    ? whyNoReminder(session, event.name, event.reminder)
    : undefined

/** Mail to a sub-agent that is not its task. */
const skipNotItsTask = ({ address, decoded }: Session, envelope: AcceptedEnvelope): Skip | undefined => {
  const isIts =
    contextOf(decoded).assignment === null || envelope.lane !== "mail" || envelope.id === taskEnvelope(address)
  return isIts ? undefined : skip(envelope, "ignored", "a sub-agent receives its task and nothing else")
}

/** A message that was forgotten while it waited. The task of a sub-agent is taken up all the same: its end is waited for. */
const skipUnheard = ({ decoded }: Session, envelope: AcceptedEnvelope): Skip | undefined =>
  isForgotten(envelope) && contextOf(decoded).assignment === null ? skip(envelope, "ignored", UNHEARD) : undefined

/** An order to sleep until a time that is over. */
const skipExpiredSleep = (_session: Session, envelope: AcceptedEnvelope, now: number): Skip | undefined => {
  const { event } = envelope
  return event.type === "sleep" && event.until !== undefined && event.until <= now
    ? skip(envelope, "ignored", "the night it was meant for is over")
    : undefined
}

/** A stop of a tick that is over, or never began. */
const skipLateStop = ({ decoded }: Session, envelope: AcceptedEnvelope): Skip | undefined => {
  const { event } = envelope
  const { envelope: inHand, tick } = contextOf(decoded)
  if (event.type !== "stop" || (inHand !== null && tick === event.tick)) return undefined
  return skip(envelope, "ignored", `tick ${event.tick} is not in progress: there is nothing to stop`)
}

/** A budget that is part of another's, or that no one could keep. */
const skipBudget = (session: Session, envelope: AcceptedEnvelope) => {
  const { event } = envelope
  if (event.type !== "budget") return undefined
  if (contextOf(session.decoded).assignment !== null)
    return skip(envelope, "ignored", "the budget of a sub-agent is part of that of the one who sent it")
  if (typeof event.costMicros !== "number") return undefined
  return Effect.map(unpricedModel(session), (model) =>
    model === undefined
      ? undefined
      : skip(envelope, "ignored", `no one knows what ${model} costs: bound its tokens or calls, or say it in prices`)
  )
}

/** The model of its answers, where no one knows what it costs. */
const unpricedModel = Effect.fnUntraced(function* (session: Session) {
  const model = Option.getOrUndefined(yield* Effect.serviceOption(Model))
  const name = (session.definition.modelFor?.answer ?? model)?.serves?.model
  const priceOf = yield* pricesNow(session)
  const isPriced = name !== undefined && priceOf(name, { inputTokens: 1, outputTokens: 1 }) !== undefined
  return isPriced ? undefined : (name ?? "a model without a name")
})

/** News of a changed definition: the commit itself sets the timer of the sleep schedule. */
const skipRefreshed = (_session: Session, envelope: AcceptedEnvelope): Skip | undefined =>
  envelope.event.type === "refresh"
    ? skip(envelope, "handled", "its sleep schedule is that of its definition")
    : undefined

const shownAfter = Effect.fnUntraced(function* (session: Session, start: HistoryStart | null) {
  const shown = yield* readPast(session.address, start?.from ?? { no: 1, index: 0 })
  return shown.reduce((sum, { message }) => sum + message.tokens, start?.marker.tokens ?? 0)
})

/** A reminder that is set, changed or cancelled: the records say it all. */
const skipRemind = (session: Session, envelope: AcceptedEnvelope, now: number) =>
  envelope.event.type === "remind"
    ? Effect.map(remindersSet(session, envelope, envelope.event, now), ({ outcome, reason, records }) =>
        skip(envelope, outcome, reason, records)
      )
    : undefined

/** A time of a reminder that was cancelled or changed meanwhile, or that finds nothing to do: no model is asked. */
const skipIdleReminder = (session: Session, envelope: AcceptedEnvelope): Skip | undefined => {
  const why = idleReminder(session, envelope)
  return why === undefined ? undefined : skip(envelope, why.outcome, why.reason)
}

/** An order to undo a compaction: the records say it all. */
const skipUndoneCompaction = (session: Session, envelope: AcceptedEnvelope, now: number) =>
  envelope.event.type === "undoCompaction"
    ? undoneCompaction(session, envelope, envelope.event.compaction, now)
    : undefined

const undoneCompaction = Effect.fnUntraced(function* (
  session: Session,
  envelope: AcceptedEnvelope,
  compaction: string,
  now: number
) {
  const undone = undoCompaction(yield* readCompactions(session.address), compaction, now)
  if (!undone.success) return skip(envelope, "ignored", undone.error)
  const { room, tokens } = { ...fillOf(session), tokens: yield* shownAfter(session, undone.start) }
  const told = `taken back: ${undone.undone.join(", ")}`
  const overflow = `; ${tokens} tokens are more than the window has room for, so the next tick compacts them again`
  return skip(envelope, "handled", tokens > room ? `${told}${overflow}` : told, undone.changes)
})

/** An order to release the history that an undo holds. */
const skipReleased = (session: Session, envelope: AcceptedEnvelope): Skip | undefined => {
  if (envelope.event.type !== "releaseHistory") return undefined
  const hold = historyHoldOf(recordsOf(session.own, "state"))
  if (hold === undefined) return skip(envelope, "ignored", "nothing holds the history")
  const told = `released: the undo of ${hold.compaction} holds the history no more`
  return skip(envelope, "handled", told, [historyHoldChange(null)])
}

/** An order to compact where nothing is to be compacted. */
const skipNothingToCompact = (session: Session, envelope: AcceptedEnvelope) =>
  envelope.event.type === "compact"
    ? Effect.map(inputsOf(session, "order"), ({ question }) => {
        const plan = planCompaction(question)
        if (!plan.skipped) return undefined
        forgetHistory(session)
        return skip(envelope, "ignored", skipReasons[plan.reason])
      })
    : undefined

/** Mail for a kind of context that the definition no longer has: what it asked for can not be done. */
const skipUnknownContext = ({ definition }: Session, envelope: AcceptedEnvelope): Skip | undefined => {
  const { event } = envelope
  const asked = event.type === "message" || event.type === "timer" ? event.context : undefined
  if (asked === undefined || contextIn(definition, asked) !== undefined) return undefined
  return deadLetteringOf(envelope, `its definition has no context ${JSON.stringify(asked)}`)
}

/** The journal's own timer, when it begins no reflection. */
const skipReflection = (session: Session, envelope: AcceptedEnvelope): Skip | undefined => {
  if (!isJournalsReflection(envelope)) return undefined
  const isDue = isReflectionDue(reflectionOf(recordsOf(session.own, "reflection")))
  if (isDue && !isAsleep(session)) return undefined
  return skip(envelope, "handled", isDue ? "asleep, it looks back in its dreams" : "it has looked back already")
}

/** A message that the filter lets start no tick: ignored, or kept as an ambient one. */
const skipFiltered = (session: Session, envelope: AcceptedEnvelope, now: number): Skip | undefined => {
  const judgement = judged(session, envelope)
  if (judgement === undefined) return skipReflection(session, envelope)
  const { heard, importance, rule, verdict } = judgement
  if (verdict === "trigger" && (waking.has(rule) || !isAsleep(session))) return undefined
  if (verdict === "ignore") return skip(envelope, "ignored", `passed by under the rule "${rule}"`)
  const ambience = ambienceOf(recordsOf(session.own, "ambientMessages"))
  const records = ambienceChanges(ambience, overhear(ambience, { ...heard, at: now, importance }))
  return skip(envelope, "handled", `ambient under the rule "${rule}"`, records)
}

/** In this order. What they return is written of the envelope; undefined: the rule does not apply. Some read the store. */
export const skipRules = [
  skipNotItsTask,
  skipUnheard,
  skipUnknownContext,
  skipExpiredSleep,
  skipRefreshed,
  skipLateStop,
  skipBudget,
  skipRemind,
  skipIdleReminder,
  skipUndoneCompaction,
  skipReleased,
  ...memoryOrders,
  skipNothingToCompact,
  skipFiltered
] as const

// Contributors: what a commit contains besides the input and the decision itself.
// D1  A contributor changes nothing: it returns the fields it has a part in, made of those of the draft before it.
// D2  It reads the session as it was before the commit. Records of the commit itself are in the draft.

/** A run that is committed after a later one leaves what that one has written over it. */
const dropOvertaken: Contributor = ({ cause, records }, _decision, { session }) => {
  if (cause.kind !== "job" || records === undefined) return {}
  const left = notOvertaken(session.own, cause.id, records)
  return left.length === records.length ? {} : { records: left }
}

type Contributor = (draft: CommitDraft, decision: Decision, view: CommitView) => Partial<CommitDraft>

/** What becomes of reminders, where the commit is about one. */
const addReminders: Contributor = (draft, _decision, view) => {
  const isAbout =
    (draft.cause.kind === "timer" && draft.cause.name === REMINDER_TIMER) ||
    (view.arrival?.event.type === "timer" && view.arrival.event.reminder !== undefined) ||
    draft.records?.some(({ kind }) => kind === "reminder") === true
  return isAbout ? noteReminders(draft, view) : {}
}

/** In this order: each one sees what those before it have added. */
const contributors: ReadonlyArray<Contributor> = [
  dropOvertaken,
  (draft, _decision, view) => addDecisionNotes(draft, view),
  recordInFlight,
  addReplies,
  (draft, decision, view) =>
    draft.step?.kind === "coordinate" && draft.step.ok ? addTeamDue(draft, decision, view) : {},
  addReminders,
  addSubAgentSends,
  addTraces
]

/** The draft with what the contributors add. */
export const contributed = (first: CommitDraft, decision: Decision, view: CommitView): CommitDraft => {
  const draft = { ...first }
  for (const contribute of contributors) Object.assign(draft, defined(contribute(draft, decision, view)))
  return draft
}
