// Hearing: what becomes of a message, or of the journal's own timer, before the statechart is asked.
// Owns asking the message filter and keeping what is only overheard. Leaves the rules to `assistant`.
// I1  A message that triggers nothing is still settled and on record, with the rule that decided.
// I2  Asleep, only a mention and a direct message trigger; what else would is overheard. A timer wakes as well.
// I3  A reflection that falls due asleep is the dream's, of this night or of the next one: it wakes nobody. One that a
//     dream has made is not made again.

import {
  ambienceChanges,
  ambienceOf,
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
import { type AcceptedEnvelope, type UnreadableEnvelope, defined } from "@reverie/protocol"
import { isJournalsReflection } from "../commit/side-effects.ts"
import { applyRecords, recordsOf } from "../session/own-records.ts"
import { passedOver } from "./passed-over.ts"
import type { Session } from "../session/session.ts"
import type { TurnInput } from "../commit/turn.ts"

/** What wakes a sleeper. */
const waking: ReadonlySet<FilterRule> = new Set(["mention", "direct"])

const isAsleep = ({ decoded }: Session): boolean => isTagged(statusOf(decoded), "asleep")

const judged = ({ address, definition }: Session, { event, from }: AcceptedEnvelope) => {
  if (event.type !== "message") return undefined
  const { channel, text } = event
  const listening = definition.listening === undefined ? DEFAULT_LISTENING : listeningOf(definition.listening)
  const heard = { from, text, ...defined({ channel }) }
  return { heard, ...judgeMessage(listening, heard, { id: address.assistant, names: [] }) }
}

/** True when the envelope ends a sleep. */
export const wakes = (session: Session, envelope: AcceptedEnvelope | UnreadableEnvelope): boolean => {
  if ("unreadable" in envelope) return false
  const judgement = judged(session, envelope)
  return judgement === undefined
    ? envelope.event.type === "timer" && !isJournalsReflection(envelope)
    : judgement.verdict === "trigger" && waking.has(judgement.rule)
}

/** What is written of the journal's timer when it begins no reflection; undefined when it does. */
const dreamtOf = (session: Session, envelope: AcceptedEnvelope): TurnInput | undefined => {
  if (!isJournalsReflection(envelope)) return undefined
  const isDue = isReflectionDue(reflectionOf(recordsOf(session.own, "reflection")))
  if (isDue && !isAsleep(session)) return undefined
  return passedOver(envelope, "handled", isDue ? "asleep, it looks back in its dreams" : "it has looked back already")
}

/** What is written of an envelope that starts no tick; undefined when it does. */
export const passedBy = (session: Session, envelope: AcceptedEnvelope, now: number): TurnInput | undefined => {
  const judgement = judged(session, envelope)
  if (judgement === undefined) return dreamtOf(session, envelope)
  const { own } = session
  const { heard, importance, rule, verdict } = judgement
  if (verdict === "trigger" && (waking.has(rule) || !isAsleep(session))) return undefined
  if (verdict === "ignore") return passedOver(envelope, "ignored", `passed by under the rule "${rule}"`)
  const ambience = ambienceOf(recordsOf(own, "ambientMessages"))
  const records = ambienceChanges(ambience, overhear(ambience, { ...heard, at: now, importance }))
  applyRecords(own, records)
  return passedOver(envelope, "handled", `ambient under the rule "${rule}"`, records)
}
