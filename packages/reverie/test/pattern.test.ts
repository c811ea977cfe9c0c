// Pattern: what a tick may do, as a running fleet tells it: each part with the layer that decided it.

import * as Schema from "effect/Schema"
import { assert, describe, test } from "vitest"
import { defineTool, type Fleet, selfTools } from "../src/index.ts"
import { calling, openFleet } from "./rig.ts"

interface Pattern {
  readonly mode: string
  readonly max_iterations: number
  readonly multi_tool_enabled: boolean
  readonly source_layers: Readonly<Record<string, string>>
  readonly context_signals: Readonly<Record<string, unknown>>
}

const patternOf = async (fleet: Fleet, tick: number, iteration = 1): Promise<Pattern> => {
  const report = await fleet.history.contextReport("desk", { tick, iteration })
  assert.isDefined(report?.pattern)
  return report?.pattern as unknown as Pattern
}

const look = defineTool({ name: "look", description: "Looks.", run: () => "Two ships." })
const fails = defineTool({
  name: "dig",
  description: "Digs.",
  run: () => {
    throw new Error("the ground is frozen")
  }
})
const read = defineTool({
  name: "read",
  description: "Reads.",
  input: Schema.Struct({}),
  run: () => "A line of the harbour book. ".repeat(300)
})

describe("the pattern of a tick", () => {
  test("F45 F117 every message has a class and its pattern; nothing that narrows nothing is named", async () => {
    await using fleet = await openFleet({ tools: selfTools })
    await fleet.answer("desk", "Hello")
    const { context_signals, max_iterations, mode, source_layers } = await patternOf(fleet, 1)
    assert.deepStrictEqual([mode, max_iterations], ["react_loop", 5])
    assert.deepStrictEqual(source_layers, {
      mode: "context",
      max_iterations: "static",
      multi_tool_enabled: "allowed",
      event_class: "allowed"
    })
    assert.deepInclude(context_signals, { event_class: "communication", token_pressure: "normal", recent_errors: 0 })
    assert.notProperty(context_signals, "goal_urgency")
  })

  test("F42 F46 an assessment that narrowed is named for what it narrowed", async () => {
    await using fleet = await openFleet({ assistant: { settings: { assessTask: true } } })
    await fleet.answer("desk", "Look around.")
    const { context_signals, max_iterations, mode, multi_tool_enabled, source_layers } = await patternOf(fleet, 1)
    assert.deepStrictEqual([mode, max_iterations, multi_tool_enabled], ["single_action", 1, false])
    const by = "assessment"
    assert.deepInclude(source_layers, { mode: by, max_iterations: by, multi_tool_enabled: by })
    assert.strictEqual(context_signals["event_class"], "observation")
    await fleet.answer("desk", "Good morning to you.")
    const greeted = await patternOf(fleet, 2)
    assert.deepInclude(greeted.context_signals, { event_class: "communication" })
    assert.strictEqual(greeted.mode, "single_action")
  })

  test("F44 the most urgent goal that is open is carried along", async () => {
    const goal = { tool: "add_goal", arguments: { description: "Count the ships.", priority: "high" } }
    await using fleet = await openFleet({ tools: selfTools, says: [{ calls: [goal] }, { text: "Done." }] })
    await fleet.answer("desk", "Set a goal.")
    await fleet.answer("desk", "And now?")
    assert.strictEqual((await patternOf(fleet, 2)).context_signals["goal_urgency"], "high")
  })

  test("F40 F41 F116 failures of tools count in a row across ticks, and end with a success of their kind", async () => {
    const says = [
      calling("dig"),
      { text: "It failed." },
      calling("dig"),
      { text: "It failed again." },
      calling("dig"),
      { text: "And again." },
      calling("look"),
      { text: "It is all right." }
    ]
    await using fleet = await openFleet({ tools: [fails, look], says })
    for (const tick of [1, 2, 3]) {
      await fleet.answer("desk", "Dig.")
      assert.strictEqual((await patternOf(fleet, tick)).context_signals["recent_errors"], tick - 1)
    }
    const { max_iterations, source_layers } = await patternOf(fleet, 3)
    assert.strictEqual(max_iterations, 2)
    assert.strictEqual(source_layers["max_iterations"], "signal:recent_errors")
    // Three: one action, which succeeds.
    await fleet.answer("desk", "Look.").catch(() => undefined)
    const pressed = await patternOf(fleet, 4)
    assert.deepInclude(pressed, { mode: "single_action", max_iterations: 1 })
    assert.strictEqual(pressed.source_layers["mode"], "signal:recent_errors")
    await fleet.answer("desk", "And now?")
    const free = await patternOf(fleet, 5)
    assert.deepInclude(free, { mode: "react_loop", max_iterations: 5 })
    assert.strictEqual(free.context_signals["recent_errors"], 0)
  })

  test("F38 F39 pressure that rises inside a tick counts from the next model call, and its source says so", async () => {
    const says = [calling("read"), calling("read"), calling("read", "read"), { text: "Read." }]
    await using fleet = await openFleet({
      tools: [read],
      says,
      assistant: { maxContextTokens: 6_000, settings: { compactEnabled: true } }
    })
    const failure = await fleet.answer("desk", "Read it all.").catch((error: unknown) => error)
    assert.deepInclude(failure, { code: "StepsSpent" })
    const first = await patternOf(fleet, 1, 1)
    assert.deepStrictEqual([first.mode, first.source_layers["mode"]], ["react_loop", "context"])
    const calls = (await fleet.history.entries("desk")).filter(({ entry }) => entry.step?.kind === "infer")
    const last = await patternOf(fleet, 1, calls.length)
    assert.isBelow(calls.length, 5)
    assert.include(["high", "critical"], last.context_signals["token_pressure"])
    assert.strictEqual(last.source_layers["max_iterations"], "signal:token_pressure")
    for (let iteration = 1; iteration <= calls.length; iteration++) {
      const { context_signals, source_layers } = await patternOf(fleet, 1, iteration)
      const isPressed = context_signals["token_pressure"] !== "normal"
      assert.strictEqual(
        source_layers["max_iterations"] === "signal:token_pressure",
        isPressed,
        `iteration ${iteration}`
      )
    }
  })
})
