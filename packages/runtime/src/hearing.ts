// Hearing: what becomes of a message before the statechart is asked.
// Owns asking the message filter and keeping what is only overheard. Leaves the rules to `assistant`.
// I1  A message that triggers nothing is still settled and on record, with the rule that decided.

import { ambienceChanges, ambienceOf, DEFAULT_LISTENING, judgeMessage, listeningOf, overhear } from "@reverie/assistant"
import type { AcceptedEnvelope } from "@reverie/protocol"
import { changeDesk, onDesk } from "./desk.ts"
import type { Session } from "./session.ts"
import type { Material } from "./turn.ts"

/** What is written of a message that starts no tick; undefined when it does. */
export const passedBy = (session: Session, envelope: AcceptedEnvelope, now: number): Material | undefined => {
  const { event, from, id, lane, seq } = envelope
  if (event.type !== "message") return undefined
  const { address, definition, desk } = session
  const { channel, text } = event
  const heard = { from, text, ...(channel === undefined ? {} : { channel }) }
  const listening = definition.listening === undefined ? DEFAULT_LISTENING : listeningOf(definition.listening)
  const { importance, rule, verdict } = judgeMessage(listening, heard, { id: address.assistant, names: [] })
  if (verdict === "trigger") return undefined
  const material: Material = { cause: { kind: "envelope", lane, seq, id }, event: null, messages: [] }
  if (verdict === "ignore") {
    return { ...material, settled: { id, outcome: "ignored", reason: `passed by under the rule "${rule}"` } }
  }
  const ambience = ambienceOf(onDesk(desk, "overheard"))
  const records = ambienceChanges(ambience, overhear(ambience, { ...heard, at: now, importance }))
  changeDesk(desk, records)
  return { ...material, records, settled: { id, outcome: "handled", reason: `overheard under the rule "${rule}"` } }
}
