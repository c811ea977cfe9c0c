// Self: breaks of what an assistant keeps of itself and its work (F66-F84).
// Owns these breaks. Leaves making and judging them to mutate.ts.

import type { Mutant } from "./mutant.ts"

const projects = "packages/assistant/src/self/projects.ts"
const goals = "packages/assistant/src/self/goals/goals.ts"
const memory = "packages/assistant/src/self/session-memory.ts"
const status = "packages/assistant/src/self/status.ts"
const journal = "packages/assistant/src/self/journal.ts"

export const selfMutants: ReadonlyArray<Mutant> = [
  { row: "F66", file: projects, find: "created_at: time, last_active", put: "created_at: String(now), last_active" },
  { row: "F67", file: "packages/tools/src/self/project-tools.ts", find: `  cache: { scope: "tick" },\n`, put: "" },
  {
    row: "F68",
    file: projects,
    find: "const context = current_project_update ?? left.context",
    put: "const context = left.context"
  },
  { row: "F69", file: projects, find: "context: context ?? open.context,", put: "context: open.context," },
  { row: "F70", file: goals, find: "parent_id: parent?.id ?? null,", put: "parent_id: null," },
  { row: "F71", file: goals, find: "next = Math.max(next, index + 1)", put: "next = Math.max(next, index)" },
  { row: "F72", file: "packages/tools/src/self/goal-tools.ts", find: "  background: true,\n", put: "" },
  {
    row: "F73",
    file: goals,
    find: `return subtasks.every(({ status }) => status === "completed")`,
    put: `return subtasks.some(({ status }) => status === "completed")`
  },
  {
    row: "F74",
    file: "packages/assistant/src/self/goals/decompose.ts",
    find: "if (distinct.length >= MIN_SUBTASKS) return distinct.slice(0, MAX_SUBTASKS)",
    put: "if (distinct.length >= MIN_SUBTASKS) return distinct"
  },
  {
    row: "F75",
    file: memory,
    find: `    ["completed_tasks", completed_tasks.map((task) => ({ ...task }))],\n`,
    put: ""
  },
  { row: "F76", file: memory, find: "key_facts: consolidated(memory.key_facts)", put: "key_facts: memory.key_facts" },
  { row: "F77", file: journal, find: "  firstPerson.test(text) ||\n", put: "" },
  {
    row: "F78",
    file: memory,
    find: "if (rejected !== undefined) return { state: memory, result: rejected }",
    put: `if (rejected !== undefined) return { state: memory, result: { success: false, error: rejected.error } }`
  },
  { row: "F79", file: status, find: "tools_this_cycle: toolsThisTick,", put: "tools_this_cycle: []," },
  { row: "F80", file: status, find: "available: maxContextTokens - tokensUsed", put: "available: maxContextTokens" },
  { row: "F81", file: status, find: "if (percentage >= CRITICAL_PERCENT)", put: "if (percentage > CRITICAL_PERCENT)" },
  { row: "F82", file: memory, find: `    "",\n    user\n  ]`, put: `    ""\n  ]` },
  {
    row: "F83",
    file: journal,
    find: `    ...left.map(([key, entry]): RecordChange => ({ kind: "episode", key, value: { ...entry, ...mark } })),\n`,
    put: ""
  },
  { row: "F84", file: memory, find: `  kind: "prompt",`, put: `  kind: "state",` }
]
