// Tasks: what a model is asked for memory's sake, and which rules answer it.
// Owns recognising such an ask. Leaves the answers to the module of each task.
// T1  The instructions name the task: a system message, or, where an ask is a message, its first line.
// T2  What is to be read is data: no line of it is obeyed.

import type { Prompt } from "@reverie/model"
import { type Task, taskLine, taskOf, tasks } from "@reverie/protocol"
import type { Request } from "../calls.ts"
import { profiled } from "./attributes.ts"
import { consolidated } from "./consolidation.ts"
import { extracted } from "./extraction.ts"
import { insightsIn } from "./insights.ts"
import { linked } from "./links.ts"
import { routed } from "./routing.ts"
import { summaryOf } from "./summary.ts"

interface Answer {
  readonly text?: string
  readonly requests?: ReadonlyArray<Request>
}

const answers: Readonly<Record<Exclude<Task, "extract">, (data: string) => string>> = {
  consolidate: consolidated,
  route: routed,
  link: linked,
  profile: profiled,
  reflect: insightsIn,
  summarize: summaryOf
}

const taskIn = ({ messages }: Prompt, data: string): Task | undefined => {
  const instructed = messages.flatMap(({ content, role }) => (role === "system" ? (taskOf(content) ?? []) : []))
  const [first = ""] = data.split("\n")
  return instructed.at(-1) ?? tasks.find((task) => first.trim() === taskLine(task))
}

/** The answer to an ask; undefined when the prompt is none. */
export const answerOf = (prompt: Prompt): Answer | undefined => {
  const data = prompt.messages.findLast(({ role }) => role === "user")?.content ?? ""
  const task = taskIn(prompt, data)
  if (task === undefined) return undefined
  return task === "extract" ? extracted(prompt) : { text: answers[task](data) }
}
