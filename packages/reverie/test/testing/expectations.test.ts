import { AssertionError } from "node:assert/strict"
import { assert, describe, expect, it } from "vitest"
import { defineAssistant, defineFleet, defineTool } from "../../src/index.ts"
import {
  calls,
  differenceOf,
  expectApprovals,
  expectCostAtMost,
  expectFacts,
  expectRecall,
  expectRequest,
  expectToolCalls,
  matchers,
  type ReverieMatchers,
  scriptedModel,
  testFleet
} from "../../src/testing/index.ts"
import { failureOf } from "../rig.ts"

declare module "vitest" {
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown> extends ReverieMatchers {}
}

const find = defineTool({
  name: "find_berth",
  description: "Finds a berth.",
  input: { type: "object", properties: { ship: { type: "string" } } },
  run: () => ({ berth: 7, note: "x".repeat(2_000) })
})
const wire = defineTool({
  name: "wire",
  description: "Wires money.",
  needsApproval: true,
  input: { type: "object", properties: { amount: { type: "number" } } },
  run: () => "wired"
})

const desk = defineAssistant({ id: "desk", instructions: "You keep the desk.", tools: [find, wire] })
const priced = defineFleet({ assistants: [desk], prices: { "*": { inputMicros: 1_000_000, outputMicros: 2_000_000 } } })

const lived = async () => {
  const model = scriptedModel([
    calls("find_berth", { ship: "Aurora" }),
    { text: "Berth 7.", usage: { inputTokens: 100, outputTokens: 10 } },
    calls("wire", { amount: 5 })
  ])
  const fleet = await testFleet(priced, { model })
  await fleet.answer("desk", "Where does the Aurora lie?", { from: "ann" })
  await fleet.send("desk", "Pay for it.", { from: "ann" })
  await fleet.idle()
  return { fleet, model }
}

const refusal = async (promise: Promise<unknown> | (() => unknown)): Promise<string> => {
  const failure = await failureOf(typeof promise === "function" ? (async () => promise())() : promise)
  assert.instanceOf(failure, AssertionError)
  assert.property(failure, "actual")
  return failure.message
}

describe("expectations", () => {
  it("E1 on tool calls: which, with what, in which order", async () => {
    const { fleet } = await lived()
    await using _ = fleet
    const made = await expectToolCalls(fleet, "desk", [
      { tool: "find_berth", arguments: { ship: /^Aur/ }, result: /"berth":7/, ok: true },
      { tool: "wire", arguments: { amount: (amount: number) => amount < 10 } }
    ])
    assert.isAbove(made[0]?.result?.length ?? 0, 2_000)
    await expectToolCalls(fleet, "desk", ["wire"], { order: "any-order" })
    await expectToolCalls(fleet, "desk", ["find_berth", "wire"], { order: "in-order" })
    await expectToolCalls(fleet, "desk", ["wire"], { tick: 2 })
    const wrong = await refusal(
      expectToolCalls(fleet, "desk", [{ tool: "find_berth", arguments: { ship: "Borealis" } }, "wire", "wire"])
    )
    assert.strictEqual(
      wrong,
      [
        "desk called other tools",
        '  ! 1. find_berth({"ship":"Aurora"}): arguments.ship: expected "Borealis", got "Aurora"',
        '    2. wire({"amount":5})',
        "  - 3. wire was not called"
      ].join("\n")
    )
    assert.include(
      await refusal(expectToolCalls(fleet, "desk", ["find_berth"])),
      '+ 2. wire({"amount":5}) was not expected'
    )
    const order = { order: "in-order" } as const
    assert.include(
      await refusal(expectToolCalls(fleet, "desk", ["wire", "find_berth"], order)),
      "find_berth was not called in this order"
    )
    assert.include(
      await refusal(expectToolCalls(fleet, "desk", ["wire", "wire"], { order: "any-order" })),
      "- wire was not called"
    )
  })

  it("E1 on approvals, on what the model was shown, and on cost", async () => {
    const { fleet, model } = await lived()
    await using _ = fleet
    const [asked] = await expectApprovals(fleet, "desk", [{ tool: "wire", arguments: { amount: 5 } }])
    assert.strictEqual(asked?.tool, "wire")
    assert.include(await refusal(expectApprovals(fleet, "desk", [])), '+ 1. wire({"amount":5}) was not expected')
    expectRequest(model.requests[0], {
      shows: ["You keep the desk.", /Aurora/],
      hides: ["Borealis"],
      offers: ["wire"],
      purpose: "tick"
    })
    const shown = await refusal(() =>
      expectRequest(fleet.modelCalls[0], {
        shows: ["Borealis"],
        hides: [/Aurora/],
        offers: ["sing"],
        withholds: ["wire"]
      })
    )
    for (const line of [
      '- "Borealis" is not shown',
      "+ /Aurora/ is shown",
      "- the tool sing is not offered",
      "+ the tool wire is offered"
    ]) {
      assert.include(shown, line)
    }
    assert.include(await refusal(() => expectRequest(model.requests[9], {})), "there was no such call")
    await expectCostAtMost(fleet, "desk", { modelCalls: 3, tokens: 114, costMicros: 126 })
    const cost = await refusal(expectCostAtMost(fleet, "desk", { modelCalls: 2, tokens: 113, costMicros: 126 }))
    assert.include(cost, "+ modelCalls: 3 of at most 2")
    assert.include(cost, "+ tokens: 114 of at most 113")
    assert.include(cost, "  costMicros: 126 of at most 126")
  })

  it("E1 on what it knows and recalls after a night", async () => {
    await using fleet = await testFleet(desk, { model: "offline" })
    await fleet.answer("desk", "My name is Ann and I sail the Aurora out of Bergen.", { from: "ann" })
    await fleet.sleep("desk")
    await fleet.idle()
    const [fact] = await expectFacts(fleet, "desk", [{ text: /Bergen/, origin: { name: "ann" } }])
    assert.include(fact?.text, "Aurora")
    await expectRecall(fleet, "desk", "Where does Ann sail?", ["Bergen", /Aurora/])
    assert.include(await refusal(expectFacts(fleet, "desk", ["Bergen", "Oslo"])), '- "Oslo" is not known')
    assert.include(await refusal(expectFacts(fleet, "desk", [{ text: /Bergen/, state: "retired" }])), "is not known")
    assert.include(await refusal(expectRecall(fleet, "desk", "Where?", ["Oslo"])), '- "Oslo" is not recalled')
  })

  it("the matchers say the same, and can be turned round", async () => {
    expect.extend(matchers)
    const { fleet } = await lived()
    await using _ = fleet
    await expect(fleet).toCallTools("desk", ["find_berth", "wire"])
    await expect(fleet).not.toCallTools("desk", ["wire"])
    const failure = await failureOf(expect(fleet).toCallTools("desk", ["wire"]))
    assert.include(failure.message, "desk called other tools")
    assert.deepInclude(await matchers.toCallTools(fleet, "desk", ["find_berth", "wire"]), { pass: true })
  })
})

describe("likeness", () => {
  it("L1 a wish speaks of what it names, and lists have the same length", () => {
    assert.strictEqual(differenceOf({ a: 1, b: [1, { c: "x" }] }, { b: [1, { c: /x/ }] }), undefined)
    assert.strictEqual(differenceOf({ b: [1, { c: "x" }] }, { b: [1, { c: "y" }] }), 'b.1.c: expected "y", got "x"')
    assert.strictEqual(differenceOf([1], [1, 2]), "expected [1,2], got [1]")
    assert.strictEqual(differenceOf({}, { a: undefined }), undefined)
    assert.strictEqual(differenceOf({}, { a: null }), "a: expected null, got undefined")
    assert.strictEqual(
      differenceOf(7, (n: number) => n > 8),
      "expected (n) => n > 8, got 7"
    )
    assert.strictEqual(differenceOf({}, { toString: /./ })?.startsWith("toString: expected"), true)
    const sticky = /a/g
    assert.deepStrictEqual([differenceOf("a", sticky), differenceOf("a", sticky)], [undefined, undefined])
  })
})
