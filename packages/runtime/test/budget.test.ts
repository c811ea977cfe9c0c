import { assert, describe, it } from "@effect/vitest"
import { MemoryDisk } from "@reverie/testkit"
import { delegateTools } from "@reverie/tools"
import * as Effect from "effect/Effect"
import { acting, CHILD, contextIn, delegate, isChild, office, reported, said, sound } from "./office.ts"
import { aTool } from "./rig.ts"

describe("the budget of a sub-agent", () => {
  it("a call that has no room is not sent: the tick ends as cut, with what there is, and never as completed", () => {
    const look = {
      calls: [{ tool: "look" }],
      usage: { inputTokens: 700, outputTokens: 100, source: "provider" }
    } as const
    const life = office({ model: acting([delegate({ task: "Look for ever", calls: 3 }), said("ok")], [look]) })
    life.say("Go")
    life.rest()
    assert.strictEqual(life.scripted.prompts.filter(isChild).length, 3)
    assert.deepInclude(life.ends(CHILD)[0], { outcome: "cut" })
    assert.deepInclude(reported(life), { success: false, end: "cut" })
    assert.match(String(reported(life)["summary"]), /look done[^]*\[Cut/)
    // Told once that little is left, before the end.
    const told = life.scripted.prompts.filter(({ messages }) =>
      messages.some(({ content }) => content.startsWith("[budget]"))
    )
    assert.isAtMost(told.length, 1)
    sound(life)
  })

  it("a soft threshold warns the model, once", () => {
    const look = {
      calls: [{ tool: "look" }],
      usage: { inputTokens: 10, outputTokens: 10, source: "provider" }
    } as const
    const life = office({
      model: acting([delegate({ task: "Look", calls: 5 }), said("ok")], [look])
    })
    life.say("Go")
    life.rest()
    const child = life.scripted.prompts.filter(isChild)
    const warned = child.map(({ messages }) => messages.some(({ content }) => content.startsWith("[budget]")))
    assert.deepStrictEqual(warned, [false, false, false, false, true])
  })

  it("what a reply may have is bounded by what was reserved", () => {
    const life = office({ model: acting([delegate({ task: "x", tokens: 4_000 }), said("ok")], [said("done")]) })
    life.say("Go")
    life.rest()
    const prompt = life.scripted.prompts.find(isChild)
    assert.isAtMost(prompt?.maxOutputTokens ?? Infinity, 1_000)
  })

  it("M2 a prompt that the grant has no room for is cut, not failed: nothing is sent", () => {
    const life = office({
      tools: [...delegateTools, aTool("look", { effect: () => Effect.succeed("word ".repeat(3_000)) })],
      model: acting([delegate({ task: "x", tokens: 1_000 }), said("ok")], [{ calls: [{ tool: "look" }] }])
    })
    life.say("Go")
    life.rest()
    assert.deepInclude(reported(life), { success: false, end: "cut" })
    sound(life)
  })
})

describe("an assistant with a budget of its own", () => {
  it("its tick is cut when the budget is used up, and the envelope is handled", () => {
    const look = {
      calls: [{ tool: "look" }],
      usage: { inputTokens: 10, outputTokens: 10, source: "provider" }
    } as const
    const life = office({ settings: { budgetCalls: 2 }, model: () => Effect.succeed(look) })
    life.say("Go")
    life.rest()
    assert.deepInclude(life.ends()[0], { outcome: "cut", iterations: 3 })
    assert.strictEqual(life.settled()[0]?.outcome, "handled")
    life.say("And again")
    life.rest()
    assert.strictEqual(life.scripted.prompts.length, 2)
    sound(life)
  })

  it("M3 a model call that a crash cut off counts whole, and is made anew", () => {
    const disk = new MemoryDisk()
    const settings = { budgetTokens: 20_000, budgetCalls: 3 }
    const first = office({ disk, settings, model: () => Effect.never })
    first.say("Go")
    first.until(() => first.status() === "awake.thinking.inferring")
    first.pass(10)
    const second = office({ disk, settings, model: () => Effect.succeed(said("ok")), startAt: first.time.now + 60_000 })
    second.rest()
    assert.deepInclude(second.ends()[0], { outcome: "answered" })
    assert.deepStrictEqual(contextIn(second).account?.spent, { tokens: 5_350, costMicros: 0, calls: 2 })
  })
})
