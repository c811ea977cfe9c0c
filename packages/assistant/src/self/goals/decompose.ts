// Decompose: one goal made into three to seven subtasks (F74, A25).
// Owns what the model is asked, how its answer is read, and the subtasks. Leaves asking to the tool that does it.
// I1  A goal gets 3 to 7 subtasks or none: of more the first 7 count, fewer are an error.
// I2  Subtasks inherit the priority of their goal and are marked as generated.

import { isJsonObject, type Json, linesIn, listIn } from "@reverie/protocol"
import { addGoal, ancestorsOf, type Goal, type Goals, type Moment } from "./goals.ts"
import { oneLine, type Outcome, type Refusal, refusal } from "../projects.ts"

export const MIN_SUBTASKS = 3
export const MAX_SUBTASKS = 7

/** Longest description of a subtask, in UTF-16 units; what is longer is no step. */
const MAX_SUBTASK_CHARS = 500

/** Why this goal can not be decomposed, or undefined. */
export const undividable = (goals: Goals, id: string): Refusal | undefined => {
  const goal = goals.get(id)
  if (goal === undefined) return refusal(`There is no goal "${id}"`)
  return goal.status === "active"
    ? undefined
    : refusal(`The goal "${id}" is ${goal.status}; only an active one is divided`)
}

/** What the model is asked, in the context `goal_decompose`. */
export const decomposeText = (goals: Goals, goal: Goal): string => {
  const around = ancestorsOf(goals, goal).map(({ description }) => `It is part of: ${description}`)
  const there = goal.subtask_ids.flatMap((id) => goals.get(id)?.description ?? [])
  return [
    `Divide this goal into ${MIN_SUBTASKS} to ${MAX_SUBTASKS} steps that can be finished one by one.`,
    "",
    `Goal: ${goal.description}`,
    `Priority: ${goal.priority}`,
    ...around,
    ...(there.length === 0 ? [] : [`Steps it already has, not to be repeated: ${there.join("; ")}`]),
    "",
    "Answer with a JSON array of short texts, one a step, in the order in which they should be done. Nothing else."
  ].join("\n")
}

/** A text, or an object that names one as models like to do. */
const stepOf = (value: Json): string => {
  if (typeof value === "string") return value
  if (!isJsonObject(value)) return ""
  const named = value["description"] ?? value["task"] ?? value["title"]
  return typeof named === "string" ? named : ""
}

/** The steps of the model's answer: a JSON array, or numbered lines. */
export const readSubtasks = (answer: string): ReadonlyArray<string> | Refusal => {
  const found = listIn(answer)?.map(stepOf) ?? linesIn(answer)
  const steps = found.map((step) => oneLine(step).slice(0, MAX_SUBTASK_CHARS))
  const distinct = [...new Set(steps.filter((step) => step !== ""))]
  if (distinct.length >= MIN_SUBTASKS) return distinct.slice(0, MAX_SUBTASKS)
  return refusal(
    `The goal could not be divided: at least ${MIN_SUBTASKS} steps are needed, ${distinct.length} were found`
  )
}

export interface Decomposed {
  readonly success: true
  readonly goal_id: string
  readonly subtasks: ReadonlyArray<Goal>
}

/** Hangs the steps under the goal. */
export const decomposeGoal = (
  goals: Goals,
  id: string,
  answer: string,
  moment: Moment
): Outcome<Goals, Decomposed | Refusal> => {
  const refused = undividable(goals, id)
  if (refused !== undefined) return { state: goals, result: refused }
  const steps = readSubtasks(answer)
  if ("success" in steps) return { state: goals, result: steps }
  let state = goals
  const subtasks: Array<Goal> = []
  for (const description of steps) {
    const added = addGoal(state, { description, parent_id: id, auto_generated: true }, moment)
    state = added.state
    if (added.result.success) subtasks.push(added.result.goal)
  }
  return { state, result: { success: true, goal_id: id, subtasks } }
}
