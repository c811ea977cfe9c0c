// Goals: a forest of what the assistant wants to reach (F70-F73, A24, A25).
// Owns the shape, the ids and the roll-up. Leaves asking a model for subtasks to decompose.ts.
// I1  A completed goal has the progress 100; a progress of 100 alone completes nothing.
// I2  The progress of a goal with subtasks is the mean of theirs, rounded down: 100 only when all are 100.
// I3  A goal with subtasks is completed exactly when all of them are; one that was abandoned stays so until reopened.
// I4  No goal is its own ancestor, and every parent names its subtasks as they name it.
// I5  A rule that says no changes nothing.

import type { RecordChange } from "@reverie/protocol"
import * as Schema from "effect/Schema"
import { changesOf, fitting, isoTime, oneLine, type Outcome, type Records, type Refusal, refusal } from "../projects.ts"

export const goalPriorities = ["high", "medium", "low"] as const
export type GoalPriority = (typeof goalPriorities)[number]

export const goalStatuses = ["active", "completed", "abandoned"] as const
export type GoalStatus = (typeof goalStatuses)[number]

/** A goal as it is kept: the names are those of the wire. */
export const Goal = Schema.Struct({
  id: Schema.String,
  description: Schema.String,
  priority: Schema.Literals(goalPriorities),
  status: Schema.Literals(goalStatuses),
  /** 0 to 100. */
  progress: Schema.Finite,
  created: Schema.String,
  parent_id: Schema.NullOr(Schema.String),
  subtask_ids: Schema.Array(Schema.String),
  /** Made by decomposing its parent. */
  auto_generated: Schema.Boolean
})
export type Goal = typeof Goal.Type

/** By id. */
export type Goals = ReadonlyMap<string, Goal>

const isGoal = Schema.is(Goal)

export const goalsOf = (records: Records): Goals => fitting(records, isGoal)

export const goalChanges = (before: Goals, after: Goals): ReadonlyArray<RecordChange> =>
  changesOf("goal", before, after)

/** When a rule is applied: the tick names new goals. */
export interface Moment {
  readonly tick: number
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** `goal_{tick}_{index}`, the index counting within the tick. */
const nextId = (goals: Goals, tick: number): string => {
  const prefix = `goal_${tick}_`
  let next = 0
  for (const id of goals.keys()) {
    const index = id.startsWith(prefix) ? Number(id.slice(prefix.length)) : -1
    if (Number.isInteger(index)) next = Math.max(next, index + 1)
  }
  return `${prefix}${next}`
}

const subtasksOf = (goals: Goals, { subtask_ids }: Goal): ReadonlyArray<Goal> =>
  subtask_ids.flatMap((id) => goals.get(id) ?? [])

const statusFrom = (goal: Goal, subtasks: ReadonlyArray<Goal>): GoalStatus => {
  if (goal.status === "abandoned") return "abandoned"
  return subtasks.every(({ status }) => status === "completed") ? "completed" : "active"
}

/** The goal as its subtasks make it; a leaf, and one that they leave as it is, is given back itself. */
const summedUp = (goals: Goals, goal: Goal): Goal => {
  const subtasks = subtasksOf(goals, goal)
  if (subtasks.length === 0) return goal
  const progress = Math.floor(subtasks.reduce((sum, subtask) => sum + subtask.progress, 0) / subtasks.length)
  const status = statusFrom(goal, subtasks)
  return progress === goal.progress && status === goal.status ? goal : { ...goal, progress, status }
}

/** Carries a change up, parent by parent. What was seen is remembered, so that damaged records end the walk too. */
const rolledUp = (goals: Goals, from: string | null): Goals => {
  const after = new Map(goals)
  const seen = new Set<string>()
  for (let id = from; id !== null && !seen.has(id); id = after.get(id)?.parent_id ?? null) {
    seen.add(id)
    const goal = after.get(id)
    if (goal !== undefined) after.set(id, summedUp(after, goal))
  }
  return after
}

const unknownGoal = (id: string): Refusal => refusal(`There is no goal "${id}"`)

export interface NewGoal {
  readonly description: string
  /** That of the parent, or medium. */
  readonly priority?: GoalPriority
  readonly parent_id?: string
  readonly auto_generated?: boolean
}

export interface ToldGoal {
  readonly success: true
  readonly goal: Goal
  /** Ancestors that changed with it, the nearest first. */
  readonly rolled_up: ReadonlyArray<{ readonly id: string; readonly progress: number; readonly status: GoalStatus }>
  /** Goals that became completed by this, the nearest first. */
  readonly completed: ReadonlyArray<string>
}

const told = (before: Goals, after: Goals, goal: Goal): ToldGoal => {
  const ancestors = ancestorsOf(after, goal)
  return {
    success: true,
    goal,
    rolled_up: ancestors
      .filter((each) => before.get(each.id) !== each)
      .map(({ id, progress, status }) => ({ id, progress, status })),
    completed: [goal, ...ancestors]
      .filter(({ id, status }) => status === "completed" && before.get(id)?.status !== "completed")
      .map(({ id }) => id)
  }
}

/** The nearest first. */
export const ancestorsOf = (goals: Goals, goal: Goal): ReadonlyArray<Goal> => {
  const found = new Map<string, Goal>()
  for (let id = goal.parent_id; id !== null && !found.has(id);) {
    const ancestor = goals.get(id)
    if (ancestor === undefined) break
    found.set(id, ancestor)
    id = ancestor.parent_id
  }
  return [...found.values()]
}

const withParent = (goals: Map<string, Goal>, id: string, parent: Goal): void => {
  goals.set(parent.id, { ...parent, subtask_ids: [...parent.subtask_ids, id] })
}

/** A subtask of a completed goal reopens it; an abandoned one takes none. */
export const addGoal = (goals: Goals, wanted: NewGoal, { now, tick }: Moment): Outcome<Goals, ToldGoal | Refusal> => {
  const parent = wanted.parent_id === undefined ? undefined : goals.get(wanted.parent_id)
  if (wanted.parent_id !== undefined && parent === undefined) {
    return { state: goals, result: unknownGoal(wanted.parent_id) }
  }
  if (parent?.status === "abandoned") {
    return { state: goals, result: refusal(`The goal "${parent.id}" is abandoned; set it active before adding to it`) }
  }
  const goal: Goal = {
    id: nextId(goals, tick),
    description: oneLine(wanted.description),
    priority: wanted.priority ?? parent?.priority ?? "medium",
    status: "active",
    progress: 0,
    created: isoTime(now),
    parent_id: parent?.id ?? null,
    subtask_ids: [],
    auto_generated: wanted.auto_generated ?? false
  }
  const added = new Map(goals).set(goal.id, goal)
  if (parent !== undefined) withParent(added, goal.id, parent)
  const state = rolledUp(added, goal.parent_id)
  return { state, result: told(goals, state, goal) }
}

export interface GoalUpdate {
  readonly goal_id: string
  readonly status?: GoalStatus
  readonly progress?: number
  readonly description?: string
  readonly priority?: GoalPriority
  /** Moves the goal under another one; null makes it a root. */
  readonly parent_id?: string | null
}

/** Why the update can not be, or undefined. */
const objection = (goals: Goals, goal: Goal, update: GoalUpdate): string | undefined => {
  const { description, parent_id, priority, progress, status } = update
  if ([description, parent_id, priority, progress, status].every((part) => part === undefined)) {
    return "Nothing to update: give a status, a progress, a description, a priority or a parent_id"
  }
  if (subtasksOf(goals, goal).length > 0) {
    if (progress !== undefined) return `The progress of "${goal.id}" follows from its subtasks; update one of them`
    if (status === "completed" && goal.status !== "completed") {
      return `"${goal.id}" is completed when all its subtasks are; complete those`
    }
    if (status === "active" && goal.status === "completed") return `To reopen "${goal.id}", reopen one of its subtasks`
  }
  if (parent_id === undefined || parent_id === null || parent_id === goal.parent_id) return undefined
  const parent = goals.get(parent_id)
  if (parent === undefined) return unknownGoal(parent_id).error
  if (parent.id === goal.id || ancestorsOf(goals, parent).some(({ id }) => id === goal.id)) {
    return `"${goal.id}" can not stand under "${parent_id}": that would make a circle`
  }
  if (parent.status === "abandoned") return `The goal "${parent.id}" is abandoned; set it active before adding to it`
  return undefined
}

/** A completed leaf has the progress 100; a leaf that is set below 100 is open again. */
const changedGoal = (goal: Goal, { description, parent_id, priority, progress, status }: GoalUpdate): Goal => {
  const reopened = goal.status === "completed" && progress !== undefined && progress < 100
  const next = status ?? (reopened ? "active" : goal.status)
  return {
    ...goal,
    description: description === undefined ? goal.description : oneLine(description),
    priority: priority ?? goal.priority,
    status: next,
    progress: next === "completed" ? 100 : Math.min(100, Math.max(0, Math.round(progress ?? goal.progress))),
    parent_id: parent_id === undefined ? goal.parent_id : parent_id
  }
}

export const updateGoal = (goals: Goals, update: GoalUpdate): Outcome<Goals, ToldGoal | Refusal> => {
  const goal = goals.get(update.goal_id)
  if (goal === undefined) return { state: goals, result: unknownGoal(update.goal_id) }
  const why = objection(goals, goal, update)
  if (why !== undefined) return { state: goals, result: refusal(why) }
  const changed = changedGoal(goal, update)
  const draft = new Map(goals).set(goal.id, changed)
  const moved = changed.parent_id !== goal.parent_id
  const oldParent = goal.parent_id === null ? undefined : draft.get(goal.parent_id)
  const newParent = changed.parent_id === null ? undefined : draft.get(changed.parent_id)
  if (moved && oldParent !== undefined) {
    draft.set(oldParent.id, { ...oldParent, subtask_ids: oldParent.subtask_ids.filter((id) => id !== goal.id) })
  }
  if (moved && newParent !== undefined) withParent(draft, goal.id, newParent)
  // The goal itself first: one that was abandoned and is active again follows its subtasks from here on.
  const left = moved ? rolledUp(draft, goal.parent_id) : draft
  const state = rolledUp(left, goal.id)
  return { state, result: told(goals, state, state.get(goal.id) ?? changed) }
}
