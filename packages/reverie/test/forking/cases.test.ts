// Ticks as cases of an eval, and single calls of a fork that are answered otherwise.

import { assert, describe, test } from "@effect/vitest"
import type { Script } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { defineAssistant, defineFleet, defineTool, Fleet } from "../../src/index.ts"
import { runEval, savedEval, scriptedModel as testModel } from "../../src/testing/index.ts"
import { scriptedModel } from "@reverie/testkit"

const look = defineTool({ name: "look", description: "Looks.", run: () => "Berth 7 is free." })
const fleetOf = (instructions: string) =>
  defineFleet({ assistants: [defineAssistant({ id: "desk", instructions, tools: [look] })] })

const call = { tool: "look", arguments: {} }
/** Looks twice, then says how it was told to. */
const says: Script = ({ messages }) => {
  const results = messages.filter(({ role }) => role === "tool")
  const style = messages[0]?.content.includes("pirate") === true ? "Aye" : "Yes"
  return Effect.succeed(
    results.length < 2
      ? { calls: [call] }
      : {
          text: `${style}: ${results.map(({ content }) => content).join(" ")}`,
          usage: { inputTokens: 9, outputTokens: 2, source: "counted" }
        }
  )
}

const open = () =>
  Fleet.open({ fleet: fleetOf("You keep the desk."), data: ":memory:", model: scriptedModel(says).model })

/** Everything that was ever committed, as it is stored. */
const lifeOf = async (fleet: Fleet) =>
  JSON.stringify([await fleet.history.entries("desk", 1, 500), await fleet.outbox.end(), await fleet.views()])

describe("a fork", () => {
  test("A3 a stub of one call answers that call of that tool alone", async () => {
    await using fleet = await open()
    await fleet.answer("desk", "Is there a berth?")
    const before = await lifeOf(fleet)
    const { original } = await fleet.replay.fork({ assistant: "desk", tick: 1 })
    const second = original.calls[1]?.id ?? ""
    const fork = (stub: { readonly tool: string; readonly call: string }) =>
      fleet.replay.fork({ assistant: "desk", tick: 1, stubs: [{ ...stub, content: "Nothing is free." }] })
    const { forked } = await fork({ tool: "look", call: second })
    assert.deepStrictEqual(
      forked.calls.map(({ answeredBy, result }) => [result, answeredBy]),
      [
        ["Berth 7 is free.", "recorded"],
        ["Nothing is free.", "stub"]
      ]
    )
    assert.strictEqual(forked.reply, "Yes: Berth 7 is free. Nothing is free.")
    assert.deepStrictEqual((await fork({ tool: "ask", call: second })).differs, [])
    assert.strictEqual(await lifeOf(fleet), before)
  })
})

test("a fork costs what the ledger charges: by the prices that the fleet was opened with, else those of the definition", async () => {
  const price = { inputMicros: 1_000_000, outputMicros: 2_000_000 }
  const spentIn = async (options: object, own: object) => {
    const desk = defineAssistant({ id: "desk", instructions: "You keep the desk.", tools: [look], ...own })
    const { model } = scriptedModel(says)
    await using fleet = await Fleet.open({
      fleet: defineFleet({ assistants: [desk] }),
      data: ":memory:",
      model,
      ...options
    })
    await fleet.answer("desk", "Is there a berth?")
    const { forked, original } = await fleet.replay.fork({ assistant: "desk", tick: 1 })
    return [original.costMicros, forked.costMicros, (await fleet.history.usage("desk", 0)).costMicros]
  }
  const byFleet = await spentIn({ prices: { "*": price } }, {})
  assert.isAbove(byFleet[0] ?? 0, 12)
  assert.strictEqual(new Set(byFleet).size, 1)
  assert.deepStrictEqual(await spentIn({}, { prices: price }), byFleet)
})

describe("a tick as a case of an eval", () => {
  const saved = async () => {
    await using fleet = await open()
    await fleet.answer("desk", "Is there a berth?")
    const before = await lifeOf(fleet)
    const asThen = await fleet.replay.evalCase({ assistant: "desk", tick: 1 })
    const told = { instructions: "You are a pirate.", stubs: [{ tool: "look", content: "Berth 9." }] }
    const expected = { expected: ["Aye", "Berth 9"], expectedTools: ["look", "look"] }
    const other = await fleet.replay.evalCase({ assistant: "desk", tick: 1, name: "pirate", ...told, ...expected })
    assert.strictEqual(await lifeOf(fleet), before)
    return { asThen, other }
  }

  test("T1 the line of a file is run by the loader of evals: as then it passes without a model", async () => {
    const { asThen, other } = await saved()
    const text = `${JSON.stringify(asThen)}\n${JSON.stringify(other)}\n`
    const alone = await runEval(
      savedEval("desk", `${JSON.stringify(asThen)}\n`, { fleet: fleetOf("You keep the desk.") })
    )
    assert.deepInclude(alone, { passed: true, score: 1 })
    assert.deepStrictEqual(
      alone.cases[0]?.scores.map(({ scorer }) => scorer),
      ["unchangedWhereNothingIsExpected"]
    )
    const both = await runEval(
      savedEval("desk", text, { fleet: fleetOf("You keep the desk."), model: scriptedModel(says).model })
    )
    assert.deepStrictEqual(
      both.cases.map(({ name, passed }) => [name, passed]),
      [
        ["desk tick 1", true],
        ["pirate", true]
      ]
    )
    assert.strictEqual(both.cases[1]?.output, "Aye: Berth 9. Berth 9.")
  })

  test("a definition that says something else fails it, and so does a model that is not there", async () => {
    const { asThen, other } = await saved()
    const fleet = fleetOf("You say no.")
    const changed = await runEval(savedEval("desk", JSON.stringify(asThen), { fleet, model: testModel(["No."]) }))
    assert.deepInclude(changed, { passed: false })
    assert.strictEqual(changed.cases[0]?.output, "No.")
    const unasked = await runEval(savedEval("desk", JSON.stringify(other), { fleet }))
    assert.deepInclude(unasked, { passed: false })
  })
})
