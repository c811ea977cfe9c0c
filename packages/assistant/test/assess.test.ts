import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { assessmentText, assessTask, readAssessment } from "../src/index.ts"
import { RUNS } from "./arbitraries.ts"
import { assessmentLayer, complexityOf, eventClassOf, eventClasses } from "../src/self/assess.ts"

const message = (text: string) => ({ type: "message", text })
const LONG_BUILD =
  "First build the whole pier, then compare every crane. After that repair the quay; finally install the lights. Report it. " +
  "The harbour council has asked for this three times and wants to see the first results before the end of the month, rain or not."

describe("the heuristic assessment", () => {
  const cases: ReadonlyArray<readonly [string, string]> = [
    ["Hello there", "communication"],
    ["Thanks a lot", "communication"],
    ["Build a pier of oak", "building"],
    ["Can you build a pier?", "building"],
    ["Go to the market", "movement"],
    ["Look around the cellar", "observation"],
    ["Where is the captain?", "query"],
    ["Find out who owns the boat", "query"],
    ["Continue with the next goal", "goal_action"],
    ["Hm", "unknown"]
  ]
  for (const [text, expected] of cases) {
    it(`assess: "${text}" is ${expected}`, () => assert.strictEqual(eventClassOf(message(text)), expected))
  }

  it("assess: a timer is work on goals, whatever it is called; a report is nothing by itself", () => {
    assert.strictEqual(eventClassOf({ type: "timer", text: "hello" }), "goal_action")
    assert.strictEqual(eventClassOf({ type: "report", text: "Where?" }), "unknown")
  })

  it("complexity goes from 1 to 5 with length, steps, breadth and sentences", () => {
    assert.strictEqual(complexityOf("Hello"), 1)
    assert.strictEqual(complexityOf("Open the gate, then close it"), 2)
    assert.strictEqual(complexityOf("First open every gate, then close it"), 4)
    assert.strictEqual(complexityOf(LONG_BUILD), 5)
  })

  it("assess: mode and iterations follow the table", () => {
    const row = (text: string, type = "message") => {
      const { complexity, event_class, recommended_iterations, recommended_mode } = assessTask({ type, text })
      return `${complexity} ${event_class} ${recommended_mode} ${recommended_iterations}`
    }
    assert.deepStrictEqual(
      [
        row("Hm"),
        row("Fine, then"),
        row("Fine: first this, then that"),
        row("Fine: first this, then all that"),
        row(LONG_BUILD),
        row("Look at every pier, first the old one, then the new one"),
        row("Go to the market"),
        row("Where is the captain?"),
        row("", "timer")
      ],
      [
        "1 unknown single_action 1",
        "2 unknown single_action 1",
        "3 unknown react_loop 3",
        "4 unknown react_loop 5",
        "5 building react_loop 10",
        "4 observation single_action 1",
        "1 movement single_action 1",
        "1 query react_loop 2",
        "1 goal_action react_loop 3"
      ]
    )
  })

  it("F37: the layer of the pattern carries what is recommended, and the class as a signal", () => {
    assert.deepStrictEqual(assessmentLayer(assessTask(message("Build a pier")), "heuristic", { recent_errors: 1 }), {
      by: "heuristic",
      recommended_iterations: 1,
      recommended_mode: "single_action",
      recommend_confirm_dangerous: true,
      context_signals: { recent_errors: 1, event_class: "building" }
    })
  })

  it("assess: building alone asks for confirmation of dangerous tools", () => {
    assert.isTrue(assessTask(message("Build a pier")).recommend_confirm_dangerous)
    assert.isFalse(assessTask(message("Look around")).recommend_confirm_dangerous)
  })
})

describe("a model's assessment", () => {
  const task = message("Where is the captain?")

  it("assess: has the same schema and is taken as it is when it fits", () => {
    const given = {
      complexity: 4,
      event_class: "building",
      recommended_mode: "react_loop",
      recommended_iterations: 4,
      recommend_confirm_dangerous: false
    }
    assert.deepStrictEqual(readAssessment(`Sure: ${JSON.stringify(given)}`, task), given)
    assert.deepStrictEqual(Object.keys(assessTask(task)), Object.keys(given))
    for (const key of Object.keys(given)) assert.include(assessmentText(task), `"${key}"`)
  })

  it("assess: falls back to the heuristic, whole or part by part", () => {
    const heuristic = assessTask(task)
    for (const answer of [
      "",
      "no idea",
      "[1]",
      "{",
      `{"complexity": 9, "event_class": "war", "recommended_iterations": "many"}`
    ]) {
      assert.deepStrictEqual(readAssessment(answer, task), heuristic)
    }
    assert.deepStrictEqual(readAssessment(`{"complexity": 5, "event_class": "building"}`, task), {
      complexity: 5,
      event_class: "building",
      recommended_mode: "react_loop",
      recommended_iterations: 10,
      recommend_confirm_dangerous: true
    })
  })

  it("assess: a single action is one iteration, whatever the answer says", () => {
    const answer = `{"recommended_mode": "single_action", "recommended_iterations": 7}`
    assert.strictEqual(readAssessment(answer, task).recommended_iterations, 1)
  })

  it("assess: any answer gives an assessment within its ranges", () => {
    const part = fc.oneof(
      fc.integer({ min: -2, max: 12 }),
      fc.string(),
      fc.boolean(),
      fc.constantFrom(...eventClasses, "single_action", "react_loop")
    )
    const anAnswer = fc.oneof(
      fc.string(),
      fc.json(),
      fc
        .record({
          complexity: part,
          event_class: part,
          recommended_mode: part,
          recommended_iterations: part,
          recommend_confirm_dangerous: part
        })
        .map((value) => JSON.stringify(value))
    )
    fc.assert(
      fc.property(anAnswer, fc.string(), (answer, text) => {
        const read = readAssessment(answer, message(text))
        assert.include([1, 2, 3, 4, 5], read.complexity)
        assert.include(eventClasses, read.event_class)
        assert.isTrue(read.recommended_iterations >= 1 && read.recommended_iterations <= 10)
        if (read.recommended_mode === "single_action") assert.strictEqual(read.recommended_iterations, 1)
      }),
      RUNS
    )
  })
})
