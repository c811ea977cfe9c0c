// ProjectTools: create_project, list_projects, swap_project, update_project (F67-F69, A23).
// Owns what the model is offered. Leaves the rules to `assistant`'s projects.
// I1  All are SAFE_CHAIN; list_projects changes nothing.

import {
  createProject,
  listProjects,
  noteTask,
  type Outcome,
  projectChanges,
  type Projects,
  projectsOf,
  projectStatuses,
  sessionChanges,
  sessionMemoryOf,
  swapProject,
  updateProject
} from "@reverie/assistant"
import * as Schema from "effect/Schema"
import type { ToolRecords } from "../tool.ts"
import { selfTool, text, writeAll } from "./self-tool.ts"

const MAX_CONTEXT_CHARS = 20_000

const projectsOn = (records: ToolRecords): Projects => projectsOf(records.read("project"), records.read("state"))

const applied = <Result>(records: ToolRecords, rule: (projects: Projects) => Outcome<Projects, Result>): Result => {
  const before = projectsOn(records)
  const { result, state } = rule(before)
  writeAll(records, projectChanges(before, state))
  return result
}

const context = text(MAX_CONTEXT_CHARS, "Everything needed to go on with the project later")
const summary = text(500, "What the project is, in a line or two")

export const createProjectTool = selfTool({
  name: "create_project",
  description:
    "Creates a project: a slot that keeps the context of long work across interruptions. It becomes the active one " +
    "when none is active, otherwise it waits, paused. Use it for work over several sessions that would lose its context; " +
    "steps to follow are goals, and a single simple request needs neither.",
  input: Schema.Struct({
    key: Schema.String.check(Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9_.-]*$/), Schema.isMaxLength(64)).annotate({
      description: "A short name: letters, digits, _ . -"
    }),
    summary,
    context: Schema.optionalKey(context)
  }),
  run: (wanted, { records, now }) => applied(records, (projects) => createProject(projects, wanted, now))
})

export const listProjectsTool = selfTool({
  name: "list_projects",
  description: "Lists all projects with their summaries and status.",
  cache: { scope: "tick" },
  run: (_none, { records }) => listProjects(projectsOn(records))
})

export const swapProjectTool = selfTool({
  name: "swap_project",
  description:
    "Leaves the active project, which is paused, and opens another one; its context is given back. " +
    "current_project_update becomes the context of the project that is left: write down where you stand.",
  input: Schema.Struct({
    key: text(64, "The project to open"),
    current_project_update: Schema.optionalKey(context)
  }),
  run: (swap, { records, now }) => applied(records, (projects) => swapProject(projects, swap, now))
})

export const updateProjectTool = selfTool({
  name: "update_project",
  description:
    "Changes the active project's context, summary or status without leaving it. The status completed or paused closes it.",
  input: Schema.Struct({
    context: Schema.optionalKey(context),
    summary: Schema.optionalKey(summary),
    status: Schema.optionalKey(Schema.Literals(projectStatuses))
  }),
  run: (update, { records, now }) => {
    const result = applied(records, (projects) => updateProject(projects, update, now))
    if (result.success && result.status === "completed") {
      const memory = sessionMemoryOf(records.read("session"))
      writeAll(records, sessionChanges(memory, noteTask(memory, result.summary, now)))
    }
    return result
  }
})
