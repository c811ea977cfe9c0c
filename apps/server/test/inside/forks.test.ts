// Forks by HTTP: the changed words reach the model, several ticks are compared, and the life that they are of stays as it is.

import { defineAssistant, defineFleet, defineTool, type Fleet } from "reverie"
import { runEval, savedEval } from "reverie/testing"
import { scriptedModel, type Script } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { assert, describe, test } from "vitest"
import { asker, type Heard, openFleet, refusalOf } from "./rig.ts"

const look = defineTool({ name: "look", description: "Looks.", run: () => "Berth 7 is free." })

/** Looks, and says what it saw in the manner that it was told. */
const says: Script = ({ messages }) => {
  const event = messages.findLastIndex(({ role }) => role === "user")
  const seen = messages.slice(event).find(({ role }) => role === "tool")
  const style = messages[0]?.content.includes("pirate") === true ? "Aye" : "Yes"
  return Effect.succeed(
    seen === undefined ? { calls: [{ tool: "look", arguments: {} }] } : { text: `${style}: ${seen.content}` }
  )
}

const TICKS = 5
const desk = { id: "desk" }

const rig = async () => {
  const heard: Heard = { audit: [], trouble: [] }
  const fleet = await openFleet({ tenant: "north", tools: [look], says })
  await fleet.forTenant("south").create("desk")
  for (let number = 1; number <= TICKS; number++) await fleet.answer("desk", `Berth, number ${number}?`)
  await fleet.idle()
  return { fleet, heard, ask: asker(fleet, heard) }
}

/** All that the ledger holds of it, the position of the outbox, and what the store says of each assistant. */
const storedOf = async (fleet: Fleet): Promise<string> => {
  const { version = 0 } = (await fleet.inspect("desk")) ?? {}
  assert.isAbove(version, TICKS)
  const rows = await fleet.history.entries("desk", 1, 500)
  assert.strictEqual(rows.length, version)
  return JSON.stringify([rows, await fleet.outbox.end(), await fleet.views(), await fleet.usage({ from: 0 })])
}

describe("forks", () => {
  test("R2 another prompt reaches the model in every tick, and the ledger is byte for byte what it was", async () => {
    const { ask, fleet, heard } = await rig()
    await using _ = fleet
    const before = await storedOf(fleet)
    const replies: Array<readonly [unknown, unknown]> = []
    for (let tick = 1; tick <= TICKS; tick++) {
      const payload = { tick, prompt: "You are a pirate." }
      const { differs, forked, original } = await ask("north", ({ replay }) => replay.fork({ params: desk, payload }))
      replies.push([(original as { reply: string }).reply, (forked as { reply: string }).reply])
      assert.isTrue(differs.some((line) => line.startsWith("reply: ")))
    }
    assert.deepStrictEqual(
      replies,
      Array.from({ length: TICKS }, () => ["Yes: Berth 7 is free.", "Aye: Berth 7 is free."] as const)
    )
    assert.strictEqual(await storedOf(fleet), before)
    assert.isTrue((await fleet.replay.verify("desk")).equal)
    assert.deepStrictEqual(
      heard.audit.map(({ action, outcome, target }) => [action, target, outcome]),
      [1, 2, 3, 4, 5].map((tick) => ["replay.fork", `desk/${tick}`, "done"])
    )
    assert.deepStrictEqual(heard.trouble, [])
  })

  test("a result of one call takes the place of that call's", async () => {
    const { ask, fleet } = await rig()
    await using _ = fleet
    const { calls } = (await ask("north", ({ replay }) => replay.fork({ params: desk, payload: { tick: 2 } })))
      .original as { readonly calls: ReadonlyArray<{ readonly id: string }> }
    const results = [{ call: calls[0]?.id ?? "", tool: "look", content: "All taken." }]
    const forkWith = (stubs: Record<string, string>) =>
      ask("north", ({ replay }) => replay.fork({ params: desk, payload: { tick: 2, results, stubs } }))
    const { forked } = await forkWith({ look: "Never read." })
    assert.strictEqual((forked as { readonly reply: string }).reply, "Yes: All taken.")
  })

  test("T3 a fork begins with what the assistant was told, and its registry key; others see nothing of it", async () => {
    const { ask, fleet } = await rig()
    await using _ = fleet
    const begin = (token: string, tick: number) =>
      ask(token, ({ replay }) => replay.beginning({ params: { ...desk, tick } }))
    const promptKey = "instructions.desk"
    const then = { tick: 5, definition: "desk", instructions: "You are under test.", promptKey }
    assert.deepStrictEqual(await begin("north", 5), then)
    assert.strictEqual(await refusalOf(begin("north", 99)), "NotFound")
    assert.strictEqual(await refusalOf(begin("south", 1)), "NotFound")
    const written = { name: "Desk", text: "You are a pirate.", expected: 0 }
    await ask("north", ({ prompts }) => prompts.write({ params: { key: promptKey }, payload: written }))
    assert.strictEqual(await fleet.answer("desk", "And now?"), "Aye: Berth 7 is free.")
    assert.deepStrictEqual(await begin("north", 5), then)
    assert.strictEqual((await begin("north", 6)).instructions, "You are a pirate.")
    await ask("north", ({ prompts }) => prompts.undo({ params: { key: promptKey }, payload: {} }))
    assert.strictEqual(await fleet.answer("desk", "And now?"), "Yes: Berth 7 is free.")
  })

  test("T1 a case of an eval is run by the loader of `reverie eval`, and making it changes nothing", async () => {
    const { ask, fleet } = await rig()
    await using _ = fleet
    const before = await storedOf(fleet)
    const payload = { tick: 3, prompt: "You are a pirate.", expected: ["Aye", "Berth 7"], expectedTools: ["look"] }
    const saveAs = (token: string) => ask(token, ({ replay }) => replay.evalCase({ params: desk, payload }))
    const line = `${JSON.stringify(await saveAs("north"))}\n`
    assert.strictEqual(await storedOf(fleet), before)
    const instructions = "You are under test."
    const harbour = defineFleet({ assistants: [defineAssistant({ ...desk, instructions, tools: [look] })] })
    const { model } = scriptedModel(says)
    assert.deepInclude(await runEval(savedEval("desk", line, { fleet: harbour, model })), { passed: true })
    const deaf = scriptedModel(() => Effect.succeed({ text: "No." })).model
    assert.deepInclude(await runEval(savedEval("desk", line, { fleet: harbour, model: deaf })), { passed: false })
    assert.strictEqual(await refusalOf(saveAs("north:ro")), "Forbidden")
    assert.strictEqual(await refusalOf(saveAs("south")), "NotFound")
  })
})
