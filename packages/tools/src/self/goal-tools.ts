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
import type { Desk } from "../tool.ts"
import { type AsyncReport, asyncReport } from "../async-report.ts"
import { deskTool, text, writeAll } from "./desk-tool.ts"

/** A model is asked inside the run. */
const DECOMPOSE_TIMEOUT_MILLIS = 120_000

const goalsOn = (desk: Desk): Goals => goalsOf(desk.read("goal"))

const description = text(500, "What is to be reached")
const goalId = text(64, "The id of a goal, such as goal_42_0")
const priority = Schema.Literals(goalPriorities)

/** A root goal that was completed is a task that was done. */
const noteCompleted = (desk: Desk, goals: Goals, { completed }: ToldGoal, now: number): void => {
  const memory = sessionMemoryOf(desk.read("session"))
  const roots = completed.flatMap((id) => goals.get(id) ?? []).filter(({ parent_id }) => parent_id === null)
  const after = roots.reduce((noted, root) => noteTask(noted, root.description, now), memory)
  if (after !== memory) writeAll(desk, sessionChanges(memory, after))
}

export const addGoalTool = deskTool({
  name: "add_goal",
  description: "Adds a goal, or a subtask when parent_id names a goal. Progress of a parent follows from its subtasks.",
  input: Schema.Struct({
    description,
    priority: Schema.optionalKey(priority),
    parent_id: Schema.optionalKey(goalId)
  }),
  run: (wanted, { desk, now }) => {
    const before = goalsOn(desk)
    const { result, state } = addGoal(before, wanted, { tick: desk.loop.tick, now })
    writeAll(desk, goalChanges(before, state))
    return result
  }
})

export const updateGoalTool = deskTool({
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
  run: (update, { desk, now }) => {
    const before = goalsOn(desk)
    const { result, state } = updateGoal(before, update)
    writeAll(desk, goalChanges(before, state))
    if (result.success) noteCompleted(desk, state, result, now)
    return result
  }
})

export const decomposeGoalTool = deskTool({
  name: "decompose_goal",
  description: "Divides an active goal into 3 to 7 subtasks. They are reported when they have been found.",
  category: "async_required",
  timeoutMillis: DECOMPOSE_TIMEOUT_MILLIS,
  input: Schema.Struct({ goal_id: goalId }),
  run: async ({ goal_id }, { desk, now }): Promise<AsyncReport> => {
    const before = goalsOn(desk)
    const goal = before.get(goal_id)
    const refused = undividable(before, goal_id)
    if (goal === undefined || refused !== undefined) throw new Error(refused?.error)
    const answer = await desk.consult("goal_decompose", decomposeText(before, goal))
    const { result, state } = decomposeGoal(before, goal_id, answer, { tick: desk.loop.tick, now })
    if (!result.success) throw new Error(result.error)
    writeAll(desk, goalChanges(before, state))
    return asyncReport(`Dividing ${goal_id}; its subtasks are reported`, JSON.stringify(result))
  }
})
