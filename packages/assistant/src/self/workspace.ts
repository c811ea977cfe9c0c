// Workspace: what a prompt shows of self-management.
// Owns the texts of the open project, the session memory and the goals. Leaves their place in the prompt to `context`.
// I1  The context of a project that is not open is never shown: that is what paging is for.
// I2  Goals that are done or given up are not shown, but for a subtask of one that is still open.
// I3  Nothing to show is the empty text.

import type { Goal, Goals } from "./goals/goals.ts"
import type { Projects } from "./projects.ts"
import type { SessionMemory } from "./session-memory.ts"

export const projectText = ({ active, slots }: Projects): string => {
  const open = active === null ? undefined : slots.get(active)
  const waiting = [...slots].filter(([, { status }]) => status === "paused").map(([key]) => key)
  const lines = [
    ...(open === undefined ? [] : [`Active project ${active}: ${open.summary}`, open.context]),
    ...(waiting.length === 0 ? [] : [`Paused projects: ${waiting.join(", ")}`])
  ]
  return lines.filter((line) => line !== "").join("\n")
}

const list = (heading: string, lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.length === 0 ? [] : [heading, ...lines.map((line) => `- ${line}`)]

export const sessionMemoryText = ({ completed_tasks, key_facts, learned_patterns }: SessionMemory): string =>
  [
    ...list("Known facts:", key_facts),
    ...list("Patterns:", learned_patterns),
    ...list(
      "Completed tasks:",
      completed_tasks.map(({ description, timestamp }) => `${description} (${timestamp})`)
    )
  ].join("\n")

const rank = { high: 0, medium: 1, low: 2 } as const
const byPriority = (a: Goal, b: Goal): number => rank[a.priority] - rank[b.priority]

const goalLine = ({ description, id, priority, progress, status }: Goal, depth: number): string => {
  const state = status === "active" ? `${progress}%` : status
  return `${"  ".repeat(depth)}- [${id}] ${description} (${priority}, ${state})`
}

/** Open goals, the pressing first, each above its subtasks. */
export const goalsText = (goals: Goals): string => {
  const lines: Array<string> = []
  const seen = new Set<string>()
  const show = (goal: Goal, depth: number): void => {
    if (seen.has(goal.id)) return
    seen.add(goal.id)
    lines.push(goalLine(goal, depth))
    if (goal.status !== "active") return
    for (const id of goal.subtask_ids) {
      const subtask = goals.get(id)
      if (subtask !== undefined) show(subtask, depth + 1)
    }
  }
  const isShownAbove = ({ parent_id }: Goal) => parent_id !== null && goals.get(parent_id)?.status === "active"
  for (const goal of [...goals.values()].filter((each) => each.status === "active").toSorted(byPriority)) {
    if (!isShownAbove(goal)) show(goal, 0)
  }
  return lines.join("\n")
}
