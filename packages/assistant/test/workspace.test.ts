import { assert, describe, it } from "@effect/vitest"
import { addGoal, createProject, type Goals, goalsText, projectsOf, projectText, updateGoal } from "../src/index.ts"

const NOW = Date.UTC(2025, 11, 6, 10, 0, 0)

describe("what a prompt shows of self-management", () => {
  it("F66 F68: the context of the active project, and of others no more than their key", () => {
    const none = projectsOf(new Map(), new Map())
    assert.strictEqual(projectText(none), "")
    const one = createProject(none, { key: "tavern", summary: "Build a tavern", context: "walls 50%" }, NOW).state
    const two = createProject(one, { key: "quest", summary: "Write a quest", context: "three acts" }, NOW).state
    assert.strictEqual(projectText(two), "Active project tavern: Build a tavern\nwalls 50%\nPaused projects: quest")
  })

  it("F70 F73: open goals, the pressing first, each above its subtasks with their state", () => {
    const wanted = [
      { description: "Sell ale", priority: "low" as const },
      { description: "Build a tavern", priority: "high" as const },
      { description: "Lay foundation", parent_id: "goal_1_1" },
      { description: "Raise walls", parent_id: "goal_1_1" },
      { description: "Old plan" },
      { description: "Dig the pit", parent_id: "goal_1_2" }
    ]
    const goals = wanted.reduce<Goals>((state, each) => addGoal(state, each, { tick: 1, now: NOW }).state, new Map())
    const after = updateGoal(updateGoal(goals, { goal_id: "goal_1_5", status: "completed" }).state, {
      goal_id: "goal_1_4",
      status: "abandoned"
    }).state
    assert.strictEqual(
      goalsText(after),
      [
        "- [goal_1_1] Build a tavern (high, 50%)",
        "  - [goal_1_2] Lay foundation (high, completed)",
        "  - [goal_1_3] Raise walls (high, 0%)",
        "- [goal_1_0] Sell ale (low, 0%)"
      ].join("\n")
    )
    assert.strictEqual(goalsText(new Map()), "")
  })
})
