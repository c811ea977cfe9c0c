import { assert, describe, it } from "@effect/vitest"
import {
  addGoal,
  decomposeGoal,
  decomposeText,
  type Goal,
  goalChanges,
  type Goals,
  goalsOf,
  updateGoal
} from "../src/index.ts"
import { type GoalUpdate, type NewGoal } from "../src/self/goals/goals.ts"
import { readSubtasks } from "../src/self/goals/decompose.ts"

const NOW = Date.UTC(2025, 11, 6, 10, 0, 0)
const moment = { tick: 42, now: NOW }
const none: Goals = new Map()

const added = (goals: Goals, ...wanted: ReadonlyArray<NewGoal>): Goals =>
  wanted.reduce((state, each) => addGoal(state, each, moment).state, goals)

const updated = (goals: Goals, ...updates: ReadonlyArray<GoalUpdate>): Goals =>
  updates.reduce((state, update) => {
    const { result, state: next } = updateGoal(state, update)
    assert.isTrue(result.success, JSON.stringify(result))
    return next
  }, goals)

const at = (goals: Goals, id: string): Goal => goals.get(id) ?? assert.fail(`no ${id}`)

const parent_id = "goal_42_0"
/** A tavern with three steps. */
const tavern = added(
  none,
  { description: "Build a complete tavern", priority: "high" },
  { description: "Lay foundation", parent_id },
  { description: "Raise walls", parent_id },
  { description: "Set the roof", parent_id }
)

const refusalOf = (goals: Goals, update: GoalUpdate): string => {
  const { result, state } = updateGoal(goals, update)
  assert.strictEqual(state, goals, "a refusal changes nothing")
  return result.success ? assert.fail("was not refused") : result.error
}

describe("goals", () => {
  it("F70 F71: a goal has exactly these parts, its id counts within the tick", () => {
    assert.deepStrictEqual(at(tavern, "goal_42_0"), {
      id: "goal_42_0",
      description: "Build a complete tavern",
      priority: "high",
      status: "active",
      progress: 0,
      created: "2025-12-06T10:00:00Z",
      parent_id: null,
      subtask_ids: ["goal_42_1", "goal_42_2", "goal_42_3"],
      auto_generated: false
    })
    assert.deepInclude(at(tavern, "goal_42_1"), { parent_id: "goal_42_0", priority: "high", subtask_ids: [] })
    const later = addGoal(tavern, { description: "Sell ale" }, { tick: 43, now: NOW })
    assert.deepInclude(later.result, { success: true })
    assert.deepInclude(at(later.state, "goal_43_0"), { parent_id: null, priority: "medium" })
  })

  it("F70: the records are the goals, read back as they were; what does not fit is not seen", () => {
    const changes = goalChanges(none, tavern)
    assert.deepStrictEqual(
      changes.map(({ kind }) => kind),
      ["goal", "goal", "goal", "goal"]
    )
    const records = new Map(changes.map(({ key, value }) => [key, value]))
    assert.deepStrictEqual(goalsOf(records), tavern)
    assert.deepStrictEqual(goalsOf(new Map([["goal_1_0", { id: "goal_1_0" }]])), none)
  })

  it("F73 A24: subtasks at 100, 0 and 0 make a parent of 33", () => {
    const after = updated(tavern, { goal_id: "goal_42_1", status: "completed" })
    assert.deepInclude(at(after, "goal_42_0"), { progress: 33, status: "active" })
    assert.deepInclude(at(after, "goal_42_1"), { progress: 100, status: "completed" })
    const two = updated(after, { goal_id: "goal_42_2", status: "completed" })
    assert.strictEqual(at(two, "goal_42_0").progress, 66)
    const nearly = updated(two, { goal_id: "goal_42_3", progress: 99 })
    assert.strictEqual(at(nearly, "goal_42_0").progress, 99, "100 only when all are 100")
  })

  it("F72 F73: an update tells which ancestors it changed, up to the root", () => {
    const deep = added(tavern, { description: "Buy nails", parent_id: "goal_42_2" })
    const { result, state } = updateGoal(deep, { goal_id: "goal_42_4", progress: 60 })
    assert.deepInclude(result, {
      success: true,
      rolled_up: [
        { id: "goal_42_2", progress: 60, status: "active" },
        { id: "goal_42_0", progress: 20, status: "active" }
      ],
      completed: []
    })
    assert.strictEqual(at(state, "goal_42_0").progress, 20)
  })

  it("F73: the last completed subtask completes the parent, and its parent", () => {
    const deep = added(tavern, { description: "Buy nails", parent_id: "goal_42_2" })
    const two = updated(
      deep,
      { goal_id: "goal_42_1", status: "completed" },
      { goal_id: "goal_42_3", status: "completed" }
    )
    const { result, state } = updateGoal(two, { goal_id: "goal_42_4", status: "completed" })
    assert.deepInclude(result, { completed: ["goal_42_4", "goal_42_2", "goal_42_0"] })
    assert.deepInclude(at(state, "goal_42_0"), { progress: 100, status: "completed" })
  })

  it("A25: a progress of 100 alone completes neither a leaf nor its parent", () => {
    const full = updated(
      tavern,
      { goal_id: "goal_42_1", progress: 100 },
      { goal_id: "goal_42_2", progress: 100 },
      { goal_id: "goal_42_3", progress: 100 }
    )
    assert.deepInclude(at(full, "goal_42_1"), { status: "active", progress: 100 })
    assert.deepInclude(at(full, "goal_42_0"), { status: "active", progress: 100 })
  })

  it("A25: an abandoned subtask counts in the mean and blocks completion", () => {
    const after = updated(
      tavern,
      { goal_id: "goal_42_1", status: "completed" },
      { goal_id: "goal_42_2", status: "completed" },
      { goal_id: "goal_42_3", status: "abandoned" }
    )
    assert.deepInclude(at(after, "goal_42_0"), { status: "active", progress: 66 })
  })

  it("A25: reopening a child reopens its parents", () => {
    const done = updated(
      tavern,
      { goal_id: "goal_42_1", status: "completed" },
      { goal_id: "goal_42_2", status: "completed" },
      { goal_id: "goal_42_3", status: "completed" }
    )
    assert.strictEqual(at(done, "goal_42_0").status, "completed")
    const reopened = updated(done, { goal_id: "goal_42_2", status: "active", progress: 40 })
    assert.deepInclude(at(reopened, "goal_42_0"), { status: "active", progress: 80 })
    const lowered = updated(done, { goal_id: "goal_42_2", progress: 10 })
    assert.deepInclude(at(lowered, "goal_42_2"), { status: "active", progress: 10 })
    assert.strictEqual(at(lowered, "goal_42_0").status, "active")
    const extended = added(done, { description: "Hang a sign", parent_id })
    assert.deepInclude(at(extended, "goal_42_0"), { status: "active", progress: 75 })
  })

  it("A25: an abandoned parent stays abandoned until it is reopened itself", () => {
    const given = updated(tavern, { goal_id: "goal_42_0", status: "abandoned" })
    const after = updated(
      given,
      { goal_id: "goal_42_1", status: "completed" },
      { goal_id: "goal_42_2", status: "completed" },
      { goal_id: "goal_42_3", status: "completed" }
    )
    assert.deepInclude(at(after, "goal_42_0"), { status: "abandoned", progress: 100 })
    assert.strictEqual(at(updated(after, { goal_id: "goal_42_0", status: "active" }), "goal_42_0").status, "completed")
    const refused = addGoal(given, { description: "More", parent_id }, moment)
    assert.isFalse(refused.result.success)
    assert.strictEqual(refused.state, given)
  })

  it("A25: circles are refused, of any length", () => {
    const deep = added(tavern, { description: "Buy nails", parent_id: "goal_42_2" })
    for (const under of ["goal_42_0", "goal_42_2", "goal_42_4"]) {
      assert.match(refusalOf(deep, { goal_id: "goal_42_0", parent_id: under }), /circle/)
    }
  })

  it("F70: a goal moves with its subtasks; both parents are recalculated", () => {
    const half = updated(tavern, { goal_id: "goal_42_1", status: "completed" })
    const more = added(half, { description: "Open the tavern" })
    const moved = updated(more, { goal_id: "goal_42_1", parent_id: "goal_42_4" })
    assert.deepInclude(at(moved, "goal_42_0"), { progress: 0, subtask_ids: ["goal_42_2", "goal_42_3"] })
    assert.deepInclude(at(moved, "goal_42_4"), { progress: 100, status: "completed", subtask_ids: ["goal_42_1"] })
    const root = updated(moved, { goal_id: "goal_42_1", parent_id: null })
    assert.isNull(at(root, "goal_42_1").parent_id)
    assert.deepStrictEqual(at(root, "goal_42_4").subtask_ids, [])
  })

  it("F72: what can not be updated is refused with the reason", () => {
    assert.strictEqual(refusalOf(tavern, { goal_id: "goal_9_9", progress: 1 }), `There is no goal "goal_9_9"`)
    assert.match(refusalOf(tavern, { goal_id: "goal_42_0", progress: 10 }), /follows from its subtasks/)
    assert.match(refusalOf(tavern, { goal_id: "goal_42_0", status: "completed" }), /when all its subtasks are/)
    assert.match(refusalOf(tavern, { goal_id: "goal_42_1" }), /Nothing to update/)
    assert.match(refusalOf(tavern, { goal_id: "goal_42_1", parent_id: "goal_9_9" }), /no goal "goal_9_9"/)
  })

  it("F73: damaged records with a circle end the walk all the same", () => {
    const round: Goals = new Map(
      ["a", "b"].map((id, index, ids) => [
        id,
        { ...at(tavern, "goal_42_1"), id, parent_id: ids[1 - index] ?? null, subtask_ids: [ids[1 - index] ?? ""] }
      ])
    )
    assert.isTrue(updateGoal(round, { goal_id: "a", description: "still here" }).result.success)
  })
})

describe("decomposing", () => {
  const six = ["Draw a plan", "Lay bricks", "Set beams", "Tile the roof", "Paint", "Open"]
  const cases: ReadonlyArray<readonly [string, string]> = [
    ["a bare array", JSON.stringify(six)],
    ["a fenced array with talk around it", `Here you are:\n\`\`\`json\n${JSON.stringify(six)}\n\`\`\`\nGood luck!`],
    ["objects", JSON.stringify(six.map((description, order) => ({ order, description })))],
    ["an object that holds the array", JSON.stringify({ subtasks: six.map((title) => ({ title })) })],
    ["numbered lines", six.map((step, index) => `${index + 1}. ${step}`).join("\n")],
    [
      "numbered lines with talk around them",
      `Steps:\n${six.map((step, i) => `  ${i + 1}) ${step}`).join("\n")}\nDone.`
    ],
    ["bullets", six.map((step) => `- ${step}`).join("\n")]
  ]
  for (const [title, answer] of cases) {
    it(`F74: reads ${title}`, () => assert.deepStrictEqual(readSubtasks(answer), six))
  }

  it("F74 A25: of more than seven the first seven count, fewer than three are an error", () => {
    const nine = Array.from({ length: 9 }, (_, index) => `Step ${index}`)
    assert.deepStrictEqual(readSubtasks(JSON.stringify(nine)), nine.slice(0, 7))
    for (const answer of [
      "",
      "I can not do that.",
      `["a","b"]`,
      `["a","a","a"]`,
      `["a","b",""," "]`,
      "[[",
      "1. only one"
    ]) {
      assert.deepInclude(readSubtasks(answer), { success: false }, answer)
    }
    assert.deepStrictEqual(readSubtasks(`["a","b","c"]`), ["a", "b", "c"])
  })

  it("F74 F71 A25: subtasks stand under the goal, generated, with its priority and the ids of the tick", () => {
    const root = added(none, { description: "Build a complete tavern", priority: "low" })
    const { result, state } = decomposeGoal(root, "goal_42_0", JSON.stringify(six), moment)
    assert.deepInclude(result, { success: true, goal_id: "goal_42_0" })
    assert.deepStrictEqual(
      at(state, "goal_42_0").subtask_ids,
      six.map((_, index) => `goal_42_${index + 1}`)
    )
    for (const [index, description] of six.entries()) {
      assert.deepInclude(at(state, `goal_42_${index + 1}`), {
        description,
        priority: "low",
        auto_generated: true,
        parent_id: "goal_42_0"
      })
    }
  })

  it("F74: an answer without steps, an unknown goal and one that is done change nothing", () => {
    const done = updated(added(none, { description: "Rest" }), { goal_id: "goal_42_0", status: "completed" })
    for (const [goals, id, answer] of [
      [tavern, "goal_42_0", "no"],
      [tavern, "goal_9_9", JSON.stringify(six)],
      [done, "goal_42_0", JSON.stringify(six)]
    ] as const) {
      const { result, state } = decomposeGoal(goals, id, answer, moment)
      assert.isFalse(result.success)
      assert.strictEqual(state, goals)
    }
  })

  it("F74: the question names the goal, what it is part of, and the steps it has", () => {
    const text = decomposeText(tavern, at(tavern, "goal_42_0"))
    assert.include(text, "Goal: Build a complete tavern")
    assert.include(text, "3 to 7")
    assert.include(text, "Lay foundation; Raise walls; Set the roof")
    assert.include(decomposeText(tavern, at(tavern, "goal_42_2")), "part of: Build a complete tavern")
  })
})
