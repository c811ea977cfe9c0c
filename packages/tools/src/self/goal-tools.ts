// GoalTools: add_goal, update_goal, decompose_goal (F72-F74, A24, A25).
// Owns what the model is offered and the question to the model that decomposing needs. Leaves the rules to `assistant`.
// I1  add_goal and update_goal are SAFE_CHAIN, decompose_goal is ASYNC_REQUIRED.
// I2  Subtasks and the report that names them come with the same result: both are kept or none.

import {
  addGoal,
  decomposeGoal,
  decomposeText,
  goalChanges,
  goalPriorities,
  type Goals,
  goalsOf,
  goalStatuses,
  noteTask,
  sessionChanges,
  sessionMemoryOf,
  type ToldGoal,
  undividable,
  updateGoal
} from "@reverie/assistant"
import * as Schema from "effect/Schema"
import type { ToolRecords } from "../tool.ts"
import { type AsyncReport, asyncReport } from "../async-report.ts"
import { selfTool, text, writeAll } from "./self-tool.ts"

/** A model is asked inside the run. */
const DECOMPOSE_TIMEOUT_MILLIS = 120_000

const goalsOn = (records: ToolRecords): Goals => goalsOf(records.read("goal"))

const description = text(500, "What is to be reached")
const goalId = text(64, "The id of a goal, such as goal_42_0")
const priority = Schema.Literals(goalPriorities)

/** A root goal that was completed is a task that was done. */
const noteCompleted = (records: ToolRecords, goals: Goals, { completed }: ToldGoal, now: number): void => {
  const memory = sessionMemoryOf(records.read("session"))
  const roots = completed.flatMap((id) => goals.get(id) ?? []).filter(({ parent_id }) => parent_id === null)
  const after = roots.reduce((noted, root) => noteTask(noted, root.description, now), memory)
  if (after !== memory) writeAll(records, sessionChanges(memory, after))
}

export const addGoalTool = selfTool({
  name: "add_goal",
  description:
    "Adds a goal, or a subtask when parent_id names a goal. Progress of a parent follows from its subtasks. Use it for an " +
    "outcome to follow in steps; the context of long work belongs in a project.",
  input: Schema.Struct({
    description,
    priority: Schema.optionalKey(priority),
    parent_id: Schema.optionalKey(goalId)
  }),
  run: (wanted, { records, now }) => {
    const before = goalsOn(records)
    const { result, state } = addGoal(before, wanted, { tick: records.loop.tick, now })
    writeAll(records, goalChanges(before, state))
    return result
  }
})

export const updateGoalTool = selfTool({
  name: "update_goal",
  description:
    "Changes a goal's status, progress, description, priority or place. Parents are recalculated: their progress is " +
    "the mean of their subtasks, and they are completed when all of these are.",
  input: Schema.Struct({
    goal_id: goalId,
    status: Schema.optionalKey(Schema.Literals(goalStatuses)),
    progress: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100 }))),
    description: Schema.optionalKey(description),
    priority: Schema.optionalKey(priority),
    parent_id: Schema.optionalKey(Schema.NullOr(goalId))
  }),
  run: (update, { records, now }) => {
    const before = goalsOn(records)
    const { result, state } = updateGoal(before, update)
    writeAll(records, goalChanges(before, state))
    if (result.success) noteCompleted(records, state, result, now)
    return result
  }
})

export const decomposeGoalTool = selfTool({
  name: "decompose_goal",
  description: "Divides an active goal into 3 to 7 subtasks. They are reported when they have been found.",
  background: true,
  timeoutMs: DECOMPOSE_TIMEOUT_MILLIS,
  input: Schema.Struct({ goal_id: goalId }),
  run: async ({ goal_id }, { records, now }): Promise<AsyncReport> => {
    const before = goalsOn(records)
    const goal = before.get(goal_id)
    const refused = undividable(before, goal_id)
    if (goal === undefined || refused !== undefined) throw new Error(refused?.error)
    const answer = await records.consult("goal_decompose", decomposeText(before, goal))
    const { result, state } = decomposeGoal(before, goal_id, answer, { tick: records.loop.tick, now })
    if (!result.success) throw new Error(result.error)
    writeAll(records, goalChanges(before, state))
    return asyncReport(`Dividing ${goal_id}; its subtasks are reported`, JSON.stringify(result))
  }
})
