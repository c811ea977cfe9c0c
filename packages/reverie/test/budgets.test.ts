// Budgets that a person sets, and use over time.

import { assert, describe, it } from "@effect/vitest"
import { BudgetRefused, defineAssistant, defineFleet, type Fleet } from "../src/index.ts"
import { scriptedModel, testFleet } from "../src/testing/index.ts"
import { failureOf } from "./rig.ts"

const HOUR = 3_600_000
const desk = (options = {}) => defineAssistant({ id: "desk", instructions: "You keep the desk.", ...options })
const model = scriptedModel(({ last }) => `You said: ${last}`)
const prices = { "*": { inputMicros: 1_000_000, outputMicros: 1_000_000 } }

const budgetOf = async (fleet: Fleet) => (await fleet.views()).find(({ id }) => id === "desk")?.budget

describe("a budget that a person sets", () => {
  it("P3 P5 bounds calls from then on, is raised and lifted, and holds after a restart", async () => {
    await using first = await testFleet(desk(), { model, prices, data: "temporary" })
    await first.answer("desk", "Hello.")
    assert.isUndefined(await budgetOf(first))
    await first.subAgents.setBudget("desk", { calls: 1 })
    await first.idle()
    assert.deepInclude((await budgetOf(first))?.granted, { calls: 1, tokens: null, costMicros: null })
    await first.answer("desk", "Once more.")
    const refused = await failureOf(first.answer("desk", "And again."))
    assert.match(String(refused), /budget/)
    const fleet = await first.restart()
    assert.deepInclude((await budgetOf(fleet))?.granted, { calls: 1 })
    assert.match(String(await failureOf(fleet.answer("desk", "Still?"))), /budget/)
    await fleet.subAgents.setBudget("desk", { calls: 3 })
    await fleet.answer("desk", "Raised.")
    assert.deepInclude((await budgetOf(fleet))?.spent, { calls: 2 })
    await fleet.subAgents.setBudget("desk", { calls: null })
    for (const text of ["a", "b", "c"]) await fleet.answer("desk", text)
    assert.isUndefined(await budgetOf(fleet))
  })

  it("P5 stands in the place of what the definition says, of what it names", async () => {
    await using fleet = await testFleet(desk({ budget: { tokens: 9_000, calls: 50 } }), { model, prices })
    await fleet.subAgents.setBudget("desk", { tokens: 70_000 })
    await fleet.answer("desk", "Hello.")
    assert.deepEqual((await budgetOf(fleet))?.granted, { tokens: 70_000, calls: 50, costMicros: null })
  })

  it("cost is charged afterwards, and when it is used up no call is sent", async () => {
    await using fleet = await testFleet(desk(), { model, prices })
    await fleet.answer("desk", "What does it cost?")
    const { costMicros } = (await fleet.usage()).total
    assert.isAbove(costMicros, 0)
    await fleet.subAgents.setBudget("desk", { costMicros: Math.ceil(costMicros / 2) })
    await fleet.answer("desk", "This one goes beyond it.")
    assert.match(String(await failureOf(fleet.answer("desk", "And this one is not sent."))), /budget/)
    assert.strictEqual((await fleet.usage()).total.calls, 2)
  })

  it("M5 is not spent at night: a dream learns by rules, and asks the model for nothing", async () => {
    await using fleet = await testFleet(desk({ budget: { tokens: 90_000, calls: 50 } }), { model, prices })
    await fleet.send("desk", "I live in Oslo. My cat is called Mia.", { from: "Ana" })
    await fleet.idle()
    const before = fleet.modelCalls.length
    await fleet.sleep("desk")
    await fleet.idle()
    assert.deepStrictEqual(
      (await fleet.memory.facts("desk")).map(({ text }) => text),
      ["Ana lives in Oslo", "Ana's cat is called Mia"]
    )
    assert.strictEqual(fleet.modelCalls.length, before)
    assert.deepInclude((await budgetOf(fleet))?.spent, { calls: before })
  })

  it("is refused of cost that no one could keep, at once and when it is heard", async () => {
    await using fleet = await testFleet(desk(), { model })
    assert.strictEqual((await fleet.subAgents.setBudget("desk", { costMicros: 5 })).outcome, "accepted")
    await fleet.idle()
    assert.isUndefined(await budgetOf(fleet))
    await fleet.answer("desk", "Hello.")
    assert.instanceOf(await failureOf(fleet.subAgents.setBudget("desk", { costMicros: 5 })), BudgetRefused)
    await fleet.retire("desk")
    await fleet.idle()
    assert.instanceOf(await failureOf(fleet.subAgents.setBudget("desk", { calls: 5 })), BudgetRefused)
  })
})

describe("usage over time", () => {
  it("S1 S2 points of hours and of days come to the rows and to the whole, and the greatest stand first", async () => {
    const three = ["desk", "pier", "quay"].map((id) => defineAssistant({ id, instructions: "You keep it." }))
    await using fleet = await testFleet(defineFleet({ assistants: three }), { model, prices })
    for (const [index, id] of ["desk", "pier", "pier", "quay", "pier"].entries()) {
      await fleet.answer(id, `Hello ${index}.`)
      await fleet.clock.advance("20h")
    }
    const from = fleet.clock.now() - 200 * HOUR
    const plain = await fleet.usage({ from })
    for (const step of ["hour", "day"] as const) {
      for (const by of ["assistant", "model", "purpose"] as const) {
        const page = await fleet.usage({ from, by, step, order: "greatest" })
        assert.deepStrictEqual(page.total, plain.total)
        for (const { points = [], ...row } of [...page.rows, { ...page.total, points: page.series?.points }]) {
          const sum = (of: "tokens" | "calls" | "costMicros") => points.reduce((all, point) => all + point[of], 0)
          assert.deepStrictEqual(
            [sum("calls"), sum("tokens"), sum("costMicros")],
            [row.calls, row.tokens, row.costMicros]
          )
          for (const { at } of points) assert.strictEqual(at % (step === "day" ? 24 * HOUR : HOUR), 0)
        }
      }
    }
    const { next, rows, series, total } = await fleet.usage({ from, step: "day", order: "greatest", limit: 1 })
    assert.deepStrictEqual([rows.map(({ key }) => key), next, series?.step], [["pier"], null, "day"])
    assert.deepStrictEqual([rows[0]?.calls, total.calls], [3, 5])
    assert.strictEqual((await fleet.usage({ from: 0, step: "hour" })).series?.step, "day")
    assert.strictEqual((await fleet.usage({ from, purpose: "dream" })).total.calls, 0)
  })
})
