import { assert, describe, it } from "vitest"
import { defineAssistant, defineTool, Fleet, defineFleet } from "../../src/index.ts"
import {
  calls,
  type Fixture,
  fixtureFrom,
  fixtureOf,
  FixtureRefused,
  recordingModel,
  replayFixture,
  scriptedModel,
  testFleet
} from "../../src/testing/index.ts"
import { failureOf } from "../rig.ts"

let ran = 0
const find = defineTool({
  name: "find_berth",
  description: "Finds a berth.",
  run: () => {
    ran++
    return "berth 7"
  }
})
const desk = defineAssistant({ id: "desk", instructions: "You keep the desk.", tools: [find] })

const inFile = (fixture: Fixture): Fixture => fixtureFrom(JSON.stringify(fixture))

const aTick = async (): Promise<Fixture> => {
  const model = scriptedModel(["Good morning.", calls("find_berth"), "Berth 7 is free."])
  await using fleet = await testFleet(desk, { model })
  await fleet.answer("desk", "Hello.")
  await fleet.clock.advance("1h")
  await fleet.answer("desk", "Is there a berth?")
  return inFile(await fixtureOf(fleet, "desk", 2))
}

describe("a fixture of a tick", () => {
  it("R1 R2 R3 goes the same way with no token and no tool, also where another model could be asked", async () => {
    const fixture = await aTick()
    ran = 0
    const alone = await replayFixture(fixture, { fleet: desk })
    assert.deepInclude(alone, {
      isSame: true,
      reused: 2,
      asked: 0,
      before: "Berth 7 is free.",
      after: "Berth 7 is free."
    })
    assert.deepStrictEqual(alone.tokens, { input: 0, output: 0 })
    const model = scriptedModel([])
    const beside = await replayFixture(fixture, { fleet: desk, model })
    assert.deepInclude(beside, { isSame: true, reused: 2, asked: 0 })
    assert.deepStrictEqual([model.requests, ran], [[], 0])
  })

  it("R2 another prompt is asked about, and what it comes to is reported beside what was", async () => {
    const fixture = await aTick()
    const usage = { inputTokens: 50, outputTokens: 5 }
    const model = scriptedModel([
      { ...calls("find_berth"), usage },
      { text: "Aye: berth 7.", usage }
    ])
    const again = await replayFixture(fixture, { fleet: desk, instructions: "You are a pirate.", model })
    assert.deepInclude(again, { isSame: false, reused: 0, asked: 2, after: "Aye: berth 7." })
    assert.deepStrictEqual(again.tokens, { input: 100, output: 10 })
    assert.includeMembers(again.comparison?.differs.map(({ what }) => what) ?? [], ["reply"])
    assert.include(model.requests[0]?.text, "You are a pirate.")
    assert.include(model.requests[1]?.last, "berth 7")
  })

  it("R2 the same words to another model are another request, and so is everything where all is asked", async () => {
    const fixture = await aTick()
    const other = await replayFixture(fixture, { fleet: desk, model: "offline" })
    assert.deepInclude({ asked: other.asked > 0, reused: other.reused }, { asked: true, reused: 0 })
    const model = scriptedModel(["Ask again."])
    const all = await replayFixture(fixture, { fleet: desk, model, asks: "all" })
    assert.deepInclude(all, { asked: 1, reused: 0, after: "Ask again.", isSame: false })
  })

  it("R2 without a model to ask, a changed request is refused and shows as a difference", async () => {
    const again = await replayFixture(await aTick(), { fleet: desk, instructions: "You are a pirate." })
    assert.deepInclude(again, { isSame: false, reused: 0, asked: 0 })
    assert.match(JSON.stringify(again.comparison?.differs), /no model was named to ask/)
  })

  it("is made of a plain fleet of production too", async () => {
    const model = scriptedModel(["Good morning."])
    await using fleet = await Fleet.open({ data: ":memory:", model, fleet: defineFleet({ assistants: [desk] }) })
    await fleet.answer("desk", "Hello.")
    assert.deepInclude(await replayFixture(await fixtureOf(fleet, "desk", 1), { fleet: desk }), {
      isSame: true,
      reused: 1
    })
  })
})

describe("a fixture of a night", () => {
  it("R4 is made of recorded calls: the same model costs nothing, another one is asked", async () => {
    const small = defineAssistant({ id: "desk", instructions: "You keep the desk." })
    await using fleet = await testFleet(small, { model: "offline" })
    await fleet.answer("desk", "My name is Ann and I sail the Aurora out of Bergen.")
    await fleet.sleep("desk")
    await fleet.idle()
    const fixture = inFile(await fixtureOf(fleet, "desk", 2))
    assert.strictEqual(fixture.kind, "dream")
    const same = await replayFixture(fixture, { model: "offline" })
    assert.deepInclude(same, { isSame: true, asked: 0 })
    assert.isAbove(same.reused, 0)
    assert.include(same.before, "Bergen")
    const model = scriptedModel(() => "[]")
    const other = await replayFixture(fixture, { model })
    assert.deepInclude(other, { isSame: false, reused: 0, asked: same.reused })
  })

  it("R4 a compaction of a fleet of production is recorded by its model", async () => {
    const model = await recordingModel("offline")
    const small = defineAssistant({
      id: "desk",
      instructions: "You keep the desk.",
      compaction: { compactPreserveWindow: 2 }
    })
    await using fleet = await Fleet.open({ data: ":memory:", model, fleet: defineFleet({ assistants: [small] }) })
    for (let each = 0; each < 6; each++) await fleet.answer("desk", `Ship ${each} lies at berth ${each}.`)
    await fleet.compactions.run("desk")
    await fleet.idle()
    const fixture = inFile(await fixtureOf(fleet, "desk", { compaction: 6 }, model))
    assert.strictEqual(fixture.kind, "compaction")
    const again = await replayFixture(fixture, { model: "offline" })
    assert.deepInclude(again, { isSame: true, asked: 0 })
    assert.isAbove(again.reused, 0)
    const refused = await failureOf(fixtureOf(fleet, "desk", { compaction: 6 }))
    assert.instanceOf(refused, FixtureRefused)
    assert.include(refused.message, "not kept in the ledger")
    await model.close()
  })

  it("what is no fixture is refused in a sentence", async () => {
    for (const wrong of ["{", "7", { v: 2 }, { v: 1, kind: "night" }, { v: 1, kind: "dream" }]) {
      assert.throws(() => fixtureFrom(wrong), FixtureRefused)
    }
    await using fleet = await testFleet(desk, { model: "offline" })
    assert.include(
      (await failureOf(fixtureOf(fleet, "desk", { compaction: 4 }))).message,
      "had no compaction in tick 4"
    )
    assert.include((await failureOf(fixtureOf(fleet, "desk", 4))).message, "has no tick 4")
    const fixture = await aTick()
    assert.include((await failureOf(replayFixture(fixture))).message, "say `fleet`")
  })
})
