// TaskText: what a sub-agent is told first.
// Owns how much of its parent's mind goes with the task. Leaves the rest of its prompt to sent-definition.ts.
// T1  orchestrator: the task alone. delegate: and the descriptions of three goals. none: all goals, the recent
//     conversation and the state as well.
// T2  What goes along is quoted data, bounded in length; the task stands last.

import { contextOf, goalsOf, statusOf } from "@reverie/assistant"
import { goalsContent, textOf } from "@reverie/context"
import type { AssignmentRequest } from "@reverie/protocol"
import { recordsOf } from "../own-records.ts"
import type { Session } from "../session.ts"

const FOREMOST_GOALS = 3
const RECENT_MESSAGES = 12
const MAX_LINE_CHARS = 1_000

const rank = { critical: 0, high: 1, medium: 2, low: 3 } as Readonly<Record<string, number>>

const clipped = (text: string): string =>
  text.length <= MAX_LINE_CHARS ? text : `${text.slice(0, MAX_LINE_CHARS - 1)}…`

const goalLines = ({ own }: Session): ReadonlyArray<string> =>
  [...goalsOf(recordsOf(own, "goal")).values()]
    .filter(({ status }) => status === "active")
    .toSorted((a, b) => (rank[a.priority] ?? 9) - (rank[b.priority] ?? 9))
    .slice(0, FOREMOST_GOALS)
    .map(({ description }) => `- ${clipped(description)}`)

const conversationLines = ({ window }: Session): ReadonlyArray<string> =>
  window.messages
    .filter(({ content, role }) => (role === "user" || role === "assistant") && content !== "")
    .slice(-RECENT_MESSAGES)
    .map(({ content, name, role }) => `${name ?? role}: ${clipped(content)}`)

const section = (title: string, lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.length === 0 ? [] : [`${title}\n${lines.join("\n")}`]

const goalsText = ({ own }: Session): ReadonlyArray<string> => {
  const text = textOf(goalsContent(goalsOf(recordsOf(own, "goal"))))
  return text === "" ? [] : [text]
}

/** The first message of a sub-agent. */
export const taskText = (session: Session, { insulation = "orchestrator", task }: AssignmentRequest): string => {
  if (insulation === "orchestrator") return task
  const from = session.address.assistant
  if (insulation === "delegate") {
    return [...section(`Goals of ${from}, for whom you work:`, goalLines(session)), `Your task: ${task}`].join("\n\n")
  }
  const { iteration, tick } = contextOf(session.decoded)
  return [
    ...section(`Goals of ${from}, for whom you work:`, goalsText(session)),
    ...section(`What was said to ${from} and by it, lately:`, conversationLines(session)),
    `State of ${from}: ${statusOf(session.decoded)}, tick ${tick}, iteration ${iteration}.`,
    `Your task: ${task}`
  ].join("\n\n")
}
