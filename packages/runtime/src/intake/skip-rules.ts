// SkipRules: the envelopes that start no tick.
// Owns the rules by which an envelope is skipped before the statechart decides, their order, and what is written of a
// skipped envelope. Leaves judging a message to message-filter.ts, the plan of a compaction to `compact/`.
// S1  A skipped envelope is settled, with the reason, by the commit that passes its place.
// S2  The first rule that applies decides. A rule changes nothing: what it has to keep is among the records of its skip.
// S3  A reflection that is due while the assistant is asleep is left to its dreams. It does not wake the assistant, and one
//     that was made in a dream is not made again.
// S4  An order to sleep is skipped when the time it was meant for is over.
// S5  A sub-agent receives one message: its task.

import { ambienceChanges, ambienceOf, contextOf, isReflectionDue, overhear, reflectionOf } from "@reverie/assistant"
import { planCompaction, skipReasons, undoCompaction } from "@reverie/context"
import { type AcceptedEnvelope, type RecordChange, defined } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { inputsOf } from "../compact/plan.ts"
import { isAsleep, judged, waking } from "./message-filter.ts"
import { recordsOf } from "../session/own-records.ts"
import { readCompactions } from "../prompt/past.ts"
import type { Session } from "../session/session.ts"
import { isJournalsReflection } from "../commit/side-effects.ts"
import { taskEnvelope } from "../sub-agents/names.ts"
import type { TurnInput } from "../commit/commit-draft.ts"

/** What is written of a skipped envelope. */
type Skip = TurnInput

const skip = (
  { id, lane, seq }: AcceptedEnvelope,
  outcome: "handled" | "ignored",
  reason: string,
  records: ReadonlyArray<RecordChange> = []
): Skip => ({
  cause: { kind: "envelope", lane, seq, id },
  event: null,
  messages: [],
  ...defined({ records: records.length === 0 ? undefined : records }),
  settled: { id, outcome, reason }
})

/** Mail to a sub-agent that is not its task. */
const skipNotItsTask = ({ address, decoded }: Session, envelope: AcceptedEnvelope): Skip | undefined => {
  const isIts =
    contextOf(decoded).assignment === null || envelope.lane !== "mail" || envelope.id === taskEnvelope(address)
  return isIts ? undefined : skip(envelope, "ignored", "a sub-agent receives its task and nothing else")
}

/** An order to sleep until a time that is over. */
const skipExpiredSleep = (_session: Session, envelope: AcceptedEnvelope, now: number): Skip | undefined => {
  const { event } = envelope
  return event.type === "sleep" && event.until !== undefined && event.until <= now
    ? skip(envelope, "ignored", "the night it was meant for is over")
    : undefined
}

/** News of a changed definition: the commit itself sets the timer of the sleep schedule. */
const skipRefreshed = (_session: Session, envelope: AcceptedEnvelope): Skip | undefined =>
  envelope.event.type === "refresh"
    ? skip(envelope, "handled", "its sleep schedule is that of its definition")
    : undefined

/** An order to undo a compaction: the records say it all. */
const skipUndoneCompaction = Effect.fnUntraced(function* (session: Session, envelope: AcceptedEnvelope, now: number) {
  const { event } = envelope
  if (event.type !== "undoCompaction") return undefined
  const undone = undoCompaction(yield* readCompactions(session.address), event.compaction, now)
  if (!undone.success) return skip(envelope, "ignored", undone.error)
  return skip(envelope, "handled", `taken back: ${undone.undone.join(", ")}`, undone.changes)
})

/** An order to compact where nothing is to be compacted. */
const skipNothingToCompact = Effect.fnUntraced(function* (session: Session, envelope: AcceptedEnvelope) {
  if (envelope.event.type !== "compact") return undefined
  const plan = planCompaction((yield* inputsOf(session, "order")).question)
  return plan.skipped ? skip(envelope, "ignored", skipReasons[plan.reason]) : undefined
})

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
  skipExpiredSleep,
  skipRefreshed,
  skipUndoneCompaction,
  skipNothingToCompact,
  skipFiltered
] as const
