// Reflection: what the assistant is asked when it looks back, and what it keeps of the answer.
// Owns bringing both to the tick that a reflection is. Leaves questions, evidence and insights to `assistant`.
// R1  The answer that ends a reflection is read for insights once; with or without any, gathering begins anew.

import {
  contextOf,
  journalChanges,
  journalOf,
  recordReflection,
  reflectionChanges,
  reflectionOf,
  reflectionQuestions,
  reflectionText
} from "@reverie/assistant"
import type { RecordChange } from "@reverie/protocol"
import { onDesk } from "./desk.ts"
import type { Session } from "./session.ts"

const journalNow = ({ desk }: Session) => journalOf(onDesk(desk, "journal"), onDesk(desk, "desk"))

/** The three questions with the evidence for each. */
export const reflectionQuestion = (session: Session): string => {
  const journal = journalNow(session)
  const entries = [...journal.entries.values()]
  return entries.length === 0
    ? "Look back on your work. Your journal is still empty: write down what is worth keeping, or call noop."
    : reflectionText(journal, reflectionQuestions(entries))
}

/** What the end of a reflection changes; nothing when the tick at hand is none. */
export const insightsOf = (session: Session, answer: string, now: number): ReadonlyArray<RecordChange> => {
  const { contextType, tick } = contextOf(session.decoded)
  if (contextType !== "reflection") return []
  const journal = journalNow(session)
  const reflection = reflectionOf(onDesk(session.desk, "reflection"))
  const { state } = recordReflection({ journal, reflection }, answer, [session.address.assistant], { tick, now })
  return [...journalChanges(journal, state.journal), ...reflectionChanges(reflection, state.reflection)]
}
