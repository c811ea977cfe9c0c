import { assert, describe, it } from "@effect/vitest"
import type { Json } from "@reverie/protocol"
import * as fc from "fast-check"
import { addGoal, goalChanges, goalPriorities, type Goals, goalsOf, goalStatuses, updateGoal } from "../src/index.ts"
import { RUNS } from "./arbitraries.ts"
import { MAX_SUBTASKS, MIN_SUBTASKS, readSubtasks } from "../src/self/goals/decompose.ts"

const NOW = Date.UTC(2026, 0, 1)

/** A goal by its number among those there are. */
const pick = (goals: Goals, number: number): string => [...goals.keys()][number % Math.max(1, goals.size)] ?? "nobody"

const aStep = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ tick: fc.integer({ min: 1, max: 3 }), parent: fc.option(fc.nat(30)) }).map(
      ({ parent, tick }) =>
        (goals: Goals) =>
          addGoal(
            goals,
            { description: "step", ...(parent === null || goals.size === 0 ? {} : { parent_id: pick(goals, parent) }) },
            { tick, now: NOW }
          )
    )
  },
  {
    weight: 3,
    arbitrary: fc
      .record({
        goal: fc.nat(30),
        update: fc.record(
          {
            status: fc.constantFrom(...goalStatuses),
            progress: fc.integer({ min: 0, max: 100 }),
            priority: fc.constantFrom(...goalPriorities)
          },
          { requiredKeys: [] }
        )
      })
      .map(
        ({ goal, update }) =>
          (goals: Goals) =>
            updateGoal(goals, { goal_id: pick(goals, goal), ...update })
      )
  },
  {
    weight: 1,
    arbitrary: fc.record({ goal: fc.nat(30), under: fc.option(fc.nat(30)) }).map(
      ({ goal, under }) =>
        (goals: Goals) =>
          updateGoal(goals, { goal_id: pick(goals, goal), parent_id: under === null ? null : pick(goals, under) })
    )
  }
)

const walk = (
  steps: ReadonlyArray<(goals: Goals) => ReturnType<typeof addGoal>>,
  check: (before: Goals, after: Goals, success: boolean) => void
) => {
  let goals: Goals = new Map()
  for (const step of steps) {
    const { result, state } = step(goals)
    check(goals, state, result.success)
    goals = state
  }
}

describe("goals, whatever is done with them", () => {
  it("F73 A24 A25: parents are the floored mean of their subtasks, completed exactly when all of these are", () => {
    fc.assert(
      fc.property(fc.array(aStep, { maxLength: 30 }), (steps) => {
        walk(steps, (_, goals) => {
          for (const goal of goals.values()) {
            const subtasks = goal.subtask_ids.map((id) => goals.get(id) ?? assert.fail(`no ${id}`))
            if (goal.status === "completed") assert.strictEqual(goal.progress, 100)
            if (subtasks.length === 0) continue
            const mean = subtasks.reduce((sum, { progress }) => sum + progress, 0) / subtasks.length
            assert.strictEqual(goal.progress, Math.floor(mean))
            if (goal.status === "abandoned") continue
            const all = subtasks.every(({ status }) => status === "completed")
            assert.strictEqual(goal.status, all ? "completed" : "active")
          }
        })
      }),
      RUNS
    )
  })

  it("F70 A25: parents and subtasks name each other, no one is an ancestor of itself, refusals change nothing", () => {
    fc.assert(
      fc.property(fc.array(aStep, { maxLength: 30 }), (steps) => {
        walk(steps, (before, goals, success) => {
          if (!success) assert.strictEqual(goals, before)
          for (const goal of goals.values()) {
            assert.isTrue(goal.parent_id === null || goals.get(goal.parent_id)?.subtask_ids.includes(goal.id) === true)
            for (const id of goal.subtask_ids) assert.strictEqual(goals.get(id)?.parent_id, goal.id)
            assert.strictEqual(new Set(goal.subtask_ids).size, goal.subtask_ids.length)
            let up = goal.parent_id
            for (let steps = 0; up !== null; steps++) {
              assert.isBelow(steps, goals.size, "a circle")
              up = goals.get(up)?.parent_id ?? null
            }
          }
        })
      }),
      RUNS
    )
  })

  it("F71 F70: ids are never used twice, and the records hold the whole state after every change", () => {
    fc.assert(
      fc.property(fc.array(aStep, { maxLength: 30 }), (steps) => {
        const kept = new Map<string, Json>()
        walk(steps, (before, goals) => {
          for (const { key, value } of goalChanges(before, goals)) kept.set(key, value)
          assert.deepStrictEqual(goalsOf(kept), goals)
          assert.isAtLeast(goals.size, before.size)
        })
      }),
      RUNS
    )
  })

  it("F74 A25: any answer gives 3 to 7 steps or a refusal", () => {
    const line = fc.oneof(
      fc.string(),
      fc.string().map((text) => `1. ${text}`),
      fc.string().map((text) => `- ${text}`)
    )
    const anAnswer = fc.oneof(
      fc.array(line, { maxLength: 12 }).map((lines) => lines.join("\n")),
      fc.json(),
      fc.array(fc.string(), { maxLength: 12 }).map((steps) => JSON.stringify(steps))
    )
    fc.assert(
      fc.property(anAnswer, (answer) => {
        const steps = readSubtasks(answer)
        if ("success" in steps) assert.isFalse(steps.success)
        else {
          assert.isAtLeast(steps.length, MIN_SUBTASKS)
          assert.isAtMost(steps.length, MAX_SUBTASKS)
          assert.isTrue(steps.every((step) => step.trim() !== ""))
        }
      }),
      RUNS
    )
  })
})
