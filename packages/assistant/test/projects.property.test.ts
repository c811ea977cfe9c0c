import { assert, describe, it } from "@effect/vitest"
import type { Json } from "@reverie/protocol"
import * as fc from "fast-check"
import {
  createProject,
  projectChanges,
  type Projects,
  projectsOf,
  projectStatuses,
  swapProject,
  updateProject
} from "../src/index.ts"
import { RUNS } from "./arbitraries.ts"
import { projectsView } from "../src/self/projects.ts"

const key = fc.constantFrom("a", "b", "c", "d")
const text = fc.constantFrom("one", "two", "three")

const aStep = fc.oneof(
  fc
    .record({ key, context: text })
    .map(
      (wanted) => (projects: Projects, now: number) => createProject(projects, { ...wanted, summary: wanted.key }, now)
    ),
  fc
    .record({ key, current_project_update: text })
    .map((swap) => (projects: Projects, now: number) => swapProject(projects, swap, now)),
  key.map((only) => (projects: Projects, now: number) => swapProject(projects, { key: only }, now)),
  fc
    .record({ context: text, status: fc.constantFrom(...projectStatuses) })
    .map((update) => (projects: Projects, now: number) => updateProject(projects, update, now))
)

describe("projects, whatever is done with them", () => {
  it("F66 A23: at most one slot is active, and it is the one that is named; refusals change nothing", () => {
    fc.assert(
      fc.property(fc.array(aStep, { maxLength: 20 }), (steps) => {
        let projects: Projects = { active: null, slots: new Map() }
        for (const [at, step] of steps.entries()) {
          const { result, state } = step(projects, at * 1_000)
          if (!result.success) assert.strictEqual(state, projects)
          const active = [...state.slots].filter(([, { status }]) => status === "active").map(([each]) => each)
          assert.deepStrictEqual(active, state.active === null ? [] : [state.active])
          projects = state
        }
      }),
      RUNS
    )
  })

  it("F66: the records hold the whole state after every change", () => {
    fc.assert(
      fc.property(fc.array(aStep, { maxLength: 20 }), (steps) => {
        let projects: Projects = { active: null, slots: new Map() }
        const kept = { project: new Map<string, Json>(), state: new Map<string, Json>() }
        for (const [at, step] of steps.entries()) {
          const { state } = step(projects, at * 1_000)
          for (const { key, kind, value } of projectChanges(projects, state)) {
            if (kind !== "project" && kind !== "state") assert.fail(`writes ${kind}`)
            else if (value === null) kept[kind].delete(key)
            else kept[kind].set(key, value)
          }
          assert.deepStrictEqual(projectsView(projectsOf(kept.project, kept.state)), projectsView(state))
          projects = state
        }
      }),
      RUNS
    )
  })
})
