// Reflection: what the assistant is asked when it looks back, and what it keeps of the answer.
// Owns bringing both to the tick that a reflection is. Leaves questions, evidence and insights to `assistant`.
// R1  The answer that ends a reflection is read for insights once; with or without any, gathering begins anew.

import {
  contextOf,
  journalChanges,
  recordReflection,
  reflectionChanges,
  reflectionOf,
  reflectionQuestions,
  reflectionText
} from "@reverie/assistant"
import type { RecordChange } from "@reverie/protocol"
import { journalOn, recordsOf } from "../session/own-records.ts"
import type { Session } from "../session/session.ts"

/** The three questions with the evidence for each. */
export const reflectionQuestion = (session: Session): string => {
  const journal = journalOn(session.own)
  const entries = [...journal.entries.values()]
  return entries.length === 0
    ? "Look back on your work. Your journal is still empty: write down what is worth keeping, or call noop."
    : reflectionText(journal, reflectionQuestions(entries))
}

/** What an answer to the questions comes to, and what it changes. */
export const reflected = ({ address, decoded, own }: Session, answer: string, now: number) => {
  const { tick } = contextOf(decoded)
  const before = { journal: journalOn(own), reflection: reflectionOf(recordsOf(own, "reflection")) }
  const { result, state } = recordReflection(before, answer, [address.assistant], { tick, now })
  const records: ReadonlyArray<RecordChange> = [
    ...journalChanges(before.journal, state.journal),
    ...reflectionChanges(before.reflection, state.reflection)
  ]
  return { result, records }
}

/** What the end of a reflection changes; nothing when the tick at hand is none. */
export const insightsOf = (session: Session, answer: string, now: number): ReadonlyArray<RecordChange> =>
  contextOf(session.decoded).contextType === "reflection" ? reflected(session, answer, now).records : []
