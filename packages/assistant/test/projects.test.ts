import { assert, describe, it } from "@effect/vitest"
import {
  createProject,
  listProjects,
  projectChanges,
  type Projects,
  projectsOf,
  swapProject,
  updateProject
} from "../src/index.ts"
import { projectsView } from "../src/self/projects.ts"

const TEN = Date.UTC(2025, 11, 6, 10, 0, 0)
const HALF_PAST_TWO = Date.UTC(2025, 11, 6, 14, 30, 0, 999)

const none: Projects = { active: null, slots: new Map() }

const created = (projects: Projects, key: string, context = "", now = TEN): Projects =>
  createProject(projects, { key, summary: `About ${key}`, context }, now).state

const two = created(created(none, "build_tavern", "walls 50%"), "quest_design", "three acts")

describe("projects", () => {
  it("F66 A37: the state is one value with the names and times of the wire", () => {
    assert.deepStrictEqual(projectsView(two), {
      active: "build_tavern",
      slots: {
        build_tavern: {
          summary: "About build_tavern",
          context: "walls 50%",
          status: "active",
          created_at: "2025-12-06T10:00:00Z",
          last_active: "2025-12-06T10:00:00Z"
        },
        quest_design: {
          summary: "About quest_design",
          context: "three acts",
          status: "paused",
          created_at: "2025-12-06T10:00:00Z",
          last_active: "2025-12-06T10:00:00Z"
        }
      }
    })
  })

  it("F66: one record a slot, one of the kind state for the active key, and nothing else", () => {
    const changes = projectChanges(none, two)
    assert.deepStrictEqual(
      changes.map(({ key, kind }) => `${kind}/${key}`),
      ["project/build_tavern", "project/quest_design", "state/active-project"]
    )
    assert.deepStrictEqual(projectChanges(two, two), [])
    const read = projectsOf(
      new Map(changes.filter(({ kind }) => kind === "project").map(({ key, value }) => [key, value])),
      new Map(changes.filter(({ kind }) => kind === "state").map(({ key, value }) => [key, value]))
    )
    assert.deepStrictEqual(projectsView(read), projectsView(two))
  })

  it("F66: records that do not fit are not seen, and a name in state without its slot counts for nothing", () => {
    const read = projectsOf(new Map([["odd", 5]]), new Map([["active-project", "odd"]]))
    assert.deepStrictEqual(projectsView(read), { active: null, slots: {} })
  })

  it("A23: the first project is active, the next one paused; a key is taken once", () => {
    assert.deepStrictEqual(createProject(none, { key: "a", summary: "A" }, TEN).result, {
      success: true,
      key: "a",
      status: "active"
    })
    const again = createProject(two, { key: "quest_design", summary: "B" }, TEN)
    assert.deepStrictEqual(again.result, {
      success: false,
      error: `There is a project "quest_design" already; take another key`,
      available_projects: ["build_tavern", "quest_design"]
    })
    assert.strictEqual(again.state, two)
  })

  it("F68: swapping pages the old context out with the update, and the new one in", () => {
    const swap = { key: "quest_design", current_project_update: "Walls 60% done" }
    const { result, state } = swapProject(two, swap, HALF_PAST_TWO)
    assert.deepStrictEqual(result, {
      success: true,
      old_project: "build_tavern",
      new_project: "quest_design",
      summary: "About quest_design",
      context: "three acts"
    })
    assert.strictEqual(state.active, "quest_design")
    assert.deepInclude(state.slots.get("build_tavern"), {
      context: "Walls 60% done",
      status: "paused",
      last_active: "2025-12-06T14:30:00Z",
      created_at: "2025-12-06T10:00:00Z"
    })
    assert.deepInclude(state.slots.get("quest_design"), { context: "three acts", status: "active" })
  })

  it("F68 A23: the old project is paused without an update too, its context untouched", () => {
    const { state } = swapProject(two, { key: "quest_design" }, HALF_PAST_TWO)
    assert.deepInclude(state.slots.get("build_tavern"), { context: "walls 50%", status: "paused" })
    assert.deepStrictEqual([...state.slots.values()].filter(({ status }) => status === "active").length, 1)
  })

  it("A23: an unknown key is refused with those that exist; the active one is no swap", () => {
    const unknown = swapProject(two, { key: "castle", current_project_update: "lost?" }, TEN)
    assert.deepStrictEqual(unknown.result, {
      success: false,
      error: `There is no project "castle"`,
      available_projects: ["build_tavern", "quest_design"]
    })
    assert.strictEqual(unknown.state, two)
    const same = swapProject(two, { key: "build_tavern", current_project_update: "ignored" }, HALF_PAST_TWO)
    assert.strictEqual(same.state, two)
    assert.deepInclude(same.result, { success: true, unchanged: true, context: "walls 50%" })
  })

  it("F69: an update changes the context of the active project and swaps nothing", () => {
    const { result, state } = updateProject(two, { context: "walls 55%" }, HALF_PAST_TWO)
    assert.deepInclude(result, { success: true, key: "build_tavern", context: "walls 55%", status: "active" })
    assert.strictEqual(state.active, "build_tavern")
    assert.strictEqual(state.slots.get("build_tavern")?.last_active, "2025-12-06T14:30:00Z")
    assert.strictEqual(state.slots.get("quest_design"), two.slots.get("quest_design"))
  })

  it("F69: without an active project, or with nothing to say, an update is refused", () => {
    assert.deepStrictEqual(updateProject(none, { context: "x" }, TEN).result, {
      success: false,
      error: "No project is active; swap to one or create one",
      available_projects: []
    })
    assert.deepInclude(updateProject(two, {}, TEN).result, { success: false })
  })

  it("A23: completing closes the project, and swapping to it opens it again", () => {
    const done = updateProject(two, { status: "completed" }, HALF_PAST_TWO).state
    assert.isNull(done.active)
    assert.strictEqual(done.slots.get("build_tavern")?.status, "completed")
    assert.deepStrictEqual(projectChanges(two, done).at(-1), { kind: "state", key: "active-project", value: null })
    const reopened = swapProject(done, { key: "build_tavern" }, HALF_PAST_TWO)
    assert.deepInclude(reopened.result, { old_project: null, new_project: "build_tavern" })
    assert.strictEqual(reopened.state.slots.get("build_tavern")?.status, "active")
  })

  it("F67: the list shows summaries and status, never a context", () => {
    const listed = listProjects(two)
    assert.deepStrictEqual(listed.projects[1], {
      key: "quest_design",
      summary: "About quest_design",
      status: "paused",
      created_at: "2025-12-06T10:00:00Z",
      last_active: "2025-12-06T10:00:00Z"
    })
    assert.strictEqual(listed.active, "build_tavern")
    assert.notInclude(JSON.stringify(listed), "walls 50%")
  })
})
