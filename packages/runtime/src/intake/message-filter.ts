// MessageFilter: how a message is judged before the statechart decides.
// Owns asking the filter, and what wakes a sleeping assistant. Leaves the rules to `assistant`, what is written of a message
// that starts no tick to skip-rules.ts.
// I1  A message that triggers nothing is still settled and on record, with the rule that decided.
// I2  Asleep, only a mention and a direct message trigger; what else would is overheard. A timer wakes as well.

import { DEFAULT_LISTENING, type FilterRule, isTagged, judgeMessage, listeningOf, statusOf } from "@reverie/assistant"
import { type AcceptedEnvelope, type UnreadableEnvelope, defined } from "@reverie/protocol"
import { isJournalsReflection } from "../commit/side-effects.ts"
import type { Session } from "../session/session.ts"

/** What wakes a sleeper. */
export const waking: ReadonlySet<FilterRule> = new Set(["mention", "direct"])

export const isAsleep = ({ decoded }: Session): boolean => isTagged(statusOf(decoded), "asleep")

export const judged = ({ address, definition }: Session, { event, from }: AcceptedEnvelope) => {
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
