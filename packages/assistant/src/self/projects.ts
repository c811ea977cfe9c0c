// Projects: the slots an assistant keeps its long work in, one of them open at a time (F66-F69, A23).
// Owns their shape and the rules of opening, paging and closing. Leaves showing the open one to the prompt.
// I1  At most one slot has the status `active`, and it is the one that `active` names.
// I2  Swapping changes no context but that of the slot it leaves, and that only when an update was given.
// I3  A rule that says no changes nothing.

import type { Json, RecordChange, RecordKind } from "@reverie/protocol"
import * as Schema from "effect/Schema"

// Kept: how the rules of self-management read records and say what they change.
// I1  A record that does not fit its shape is not seen, and no rule touches it.
// I2  Changes name exactly the records that differ: applied to what was before, they give what is after.
//
// All of it belongs to one assistant (F84): `project`, `session`, `journal` and `prompt` are what it has as a character,
// `goal` what it is working on. How it compacts is no record but a setting, which no rule here can write.

/** Records of one kind, by key. */
export type Records = ReadonlyMap<string, Json>

/** The result of a rule: the state after it, and the text for the assistant. */
export interface Outcome<State, Result> {
  readonly state: State
  readonly result: Result
}

/** The text for the assistant when a rule refuses. */
export interface Refusal {
  readonly success: false
  readonly error: string
}

export const refusal = (error: string): Refusal => ({ success: false, error })

/** The records that fit, in the order in which they are kept. */
export const fitting = <A>(records: Records, fits: (value: unknown) => value is A): ReadonlyMap<string, A> => {
  const found = new Map<string, A>()
  for (const [key, value] of records) if (fits(value)) found.set(key, value)
  return found
}

/** Values are distinguished by identity: a rule that changes nothing gives back the same object. */
export const changesOf = <A extends Json>(
  kind: RecordKind,
  before: ReadonlyMap<string, A>,
  after: ReadonlyMap<string, A>
): ReadonlyArray<RecordChange> => {
  const changes: Array<RecordChange> = []
  for (const [key, value] of after) if (before.get(key) !== value) changes.push({ kind, key, value })
  for (const key of before.keys()) if (!after.has(key)) changes.push({ kind, key, value: null })
  return changes
}

/** `2025-12-06T10:00:00Z`: UTC, whole seconds. */
export const isoTime = (now: number): string => `${new Date(now).toISOString().slice(0, 19)}Z`

/** One line without doubled or outer spaces. */
export const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim()

export const projectStatuses = ["active", "paused", "completed"] as const
export type ProjectStatus = (typeof projectStatuses)[number]

/** A project as it is kept: the names are those of the wire. */
export const ProjectSlot = Schema.Struct({
  /** What the project is, in a line or two. */
  summary: Schema.String,
  /** Everything needed to go on with it. */
  context: Schema.String,
  status: Schema.Literals(projectStatuses),
  created_at: Schema.String,
  last_active: Schema.String
})
export type ProjectSlot = typeof ProjectSlot.Type

export interface Projects {
  readonly active: string | null
  readonly slots: ReadonlyMap<string, ProjectSlot>
}

/** Under this key of the kind `state` stands the key of the active project. */
const ACTIVE_PROJECT_KEY = "active-project"

const isSlot = Schema.is(ProjectSlot)

/** The name in `state` counts only when its slot agrees (I1). */
export const projectsOf = (projects: Records, stateRecords: Records): Projects => {
  const slots = fitting(projects, isSlot)
  const named = stateRecords.get(ACTIVE_PROJECT_KEY)
  const active = typeof named === "string" && slots.get(named)?.status === "active" ? named : null
  return { active, slots }
}

export const projectChanges = (before: Projects, after: Projects): ReadonlyArray<RecordChange> => [
  ...changesOf("project", before.slots, after.slots),
  ...(before.active === after.active
    ? []
    : [{ kind: "state", key: ACTIVE_PROJECT_KEY, value: after.active } satisfies RecordChange])
]

/** The state as one value: `{ active, slots: { key: slot } }`. */
export const projectsView = ({ active, slots }: Projects): { readonly [key: string]: Json } => ({
  active,
  slots: Object.fromEntries(slots)
})

export interface UnknownProject extends Refusal {
  readonly available_projects: ReadonlyArray<string>
}

const unavailable = ({ slots }: Projects, error: string): UnknownProject => ({
  ...refusal(error),
  available_projects: [...slots.keys()]
})

const withSlot = (projects: Projects, key: string, slot: ProjectSlot): Projects["slots"] =>
  new Map(projects.slots).set(key, slot)

export interface NewProject {
  readonly key: string
  readonly summary: string
  readonly context?: string
}

export interface CreatedProject {
  readonly success: true
  readonly key: string
  readonly status: ProjectStatus
}

/** Opens the new slot when none is open; otherwise it waits, paused. */
export const createProject = (
  projects: Projects,
  { context = "", key, summary }: NewProject,
  now: number
): Outcome<Projects, CreatedProject | UnknownProject> => {
  if (projects.slots.has(key)) {
    return { state: projects, result: unavailable(projects, `There is a project "${key}" already; take another key`) }
  }
  const status = projects.active === null ? "active" : "paused"
  const time = isoTime(now)
  const slots = withSlot(projects, key, { summary, context, status, created_at: time, last_active: time })
  return {
    state: { active: status === "active" ? key : projects.active, slots },
    result: { success: true, key, status }
  }
}

export interface ListedProject {
  readonly key: string
  readonly summary: string
  readonly status: ProjectStatus
  readonly created_at: string
  readonly last_active: string
}

/** Summaries only: the context of a slot that is not open stays paged out. */
export const listProjects = ({ active, slots }: Projects) => ({
  success: true as const,
  active,
  projects: [...slots].map(([key, { created_at, last_active, status, summary }]): ListedProject => ({
    key,
    summary,
    status,
    created_at,
    last_active
  }))
})

export interface Swap {
  readonly key: string
  /** Becomes the context of the project that is left. */
  readonly current_project_update?: string
}

export interface Swapped {
  readonly success: true
  readonly old_project: string | null
  readonly new_project: string
  readonly summary: string
  readonly context: string
  /** True when the project was open already: then nothing has changed. */
  readonly unchanged?: true
}

/** Pauses the open project, update or not, and opens another; a completed one that is opened is active again. */
export const swapProject = (
  projects: Projects,
  { current_project_update, key }: Swap,
  now: number
): Outcome<Projects, Swapped | UnknownProject> => {
  const target = projects.slots.get(key)
  if (target === undefined) return { state: projects, result: unavailable(projects, `There is no project "${key}"`) }
  const result: Swapped = {
    success: true,
    old_project: projects.active,
    new_project: key,
    summary: target.summary,
    context: target.context
  }
  if (key === projects.active) return { state: projects, result: { ...result, unchanged: true } }
  const last_active = isoTime(now)
  const slots = new Map(projects.slots).set(key, { ...target, status: "active", last_active })
  const left = projects.active === null ? undefined : projects.slots.get(projects.active)
  if (projects.active !== null && left !== undefined) {
    const context = current_project_update ?? left.context
    slots.set(projects.active, { ...left, context, status: "paused", last_active })
  }
  return { state: { active: key, slots }, result }
}

export interface ProjectUpdate {
  readonly context?: string
  readonly summary?: string
  /** `paused` and `completed` close the project; none is open then. */
  readonly status?: ProjectStatus
}

export interface UpdatedProject {
  readonly success: true
  readonly key: string
  readonly summary: string
  readonly context: string
  readonly status: ProjectStatus
}

/** Changes the open project where it is. */
export const updateProject = (
  projects: Projects,
  { context, status, summary }: ProjectUpdate,
  now: number
): Outcome<Projects, UpdatedProject | UnknownProject> => {
  const key = projects.active
  const open = key === null ? undefined : projects.slots.get(key)
  if (key === null || open === undefined) {
    return { state: projects, result: unavailable(projects, "No project is active; swap to one or create one") }
  }
  if (context === undefined && status === undefined && summary === undefined) {
    return {
      state: projects,
      result: unavailable(projects, "Nothing to update: give a context, a summary or a status")
    }
  }
  const slot: ProjectSlot = {
    ...open,
    summary: summary ?? open.summary,
    context: context ?? open.context,
    status: status ?? open.status,
    last_active: isoTime(now)
  }
  return {
    state: { active: slot.status === "active" ? key : null, slots: withSlot(projects, key, slot) },
    result: { success: true, key, summary: slot.summary, context: slot.context, status: slot.status }
  }
}
