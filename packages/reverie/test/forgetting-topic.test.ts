import { assert, describe, it } from "@effect/vitest"
import {
  defineAssistant,
  defineFleet,
  EnvelopeInvalid,
  exportFleet,
  Fleet,
  memoryTools,
  selfTools
} from "../src/index.ts"
import { aDirectory, failureOf, filesWith, openFleet } from "./rig.ts"

const desk = defineAssistant({
  id: "desk",
  instructions: "You keep the harbour book.",
  tools: [...selfTools, ...memoryTools]
})

const open = (data: string): Promise<Fleet> =>
  Fleet.open({ data, fleet: defineFleet({ assistants: [desk] }), model: "offline" })

const told = [
  ["ann", "The wedding of my sister is at Quillandra in Lisbon."],
  ["ben", "My brother Otto has a red lantern in Lisbon."],
  ["ann", "I like walnuts. Weddings bore me."],
  ["ben", "Did you know that Lisbon holds zephyrine weddings in May?"]
] as const

const live = async (fleet: Fleet): Promise<void> => {
  for (const [from, text] of told) await fleet.answer("desk", text, { from })
  const { block } = await fleet.blocks.create({
    owner: "desk",
    label: "notes",
    type: "core",
    content: "They marry: a wedding, at Lisbon, with kestrels."
  })
  await fleet.blocks.edit(block, { op: "set_text", text: "Nothing of it any more." })
  await fleet.sleep("desk")
  await fleet.idle()
}

const exported = async (data: string): Promise<string> => {
  let text = ""
  for await (const line of exportFleet({ from: { data } })) text += `${line}\n`
  return text
}

describe("forgetting a topic", () => {
  it("lists what says it first, then takes it with what was learnt of it; what says a part of it stays", async () => {
    const data = aDirectory()
    const fleet = await open(data)
    await live(fleet)
    const canaries = ["Quillandra", "zephyrine", "kestrels"]
    for (const canary of canaries) assert.isNotEmpty(filesWith(data, canary), canary)
    const before = await fleet.inspect("desk")
    const tried = await fleet.forget({ topic: "the Wedding in LISBON" }, { dryRun: true })
    assert.containsAllKeys(tried.found?.counts ?? {}, ["message", "fact", "block-version"])
    assert.isAtLeast(tried.found?.counts["message"] ?? 0, 2)
    const heard = tried.found?.samples.map(({ text }) => text) ?? []
    assert.include(heard, told[0][1])
    assert.isEmpty(heard.filter((text) => /Otto|walnuts/.test(text)))
    for (const canary of canaries) assert.isNotEmpty(filesWith(data, canary), canary)
    const { found, gone } = await fleet.forget({ topic: "the Wedding in LISBON" })
    assert.deepStrictEqual([gone, found], [tried.gone, undefined])
    for (const canary of canaries) assert.deepStrictEqual(filesWith(data, canary), [], canary)
    for (const kept of ["Otto", "walnuts"]) assert.isNotEmpty(filesWith(data, kept), kept)
    const facts = (await fleet.memory.facts("desk")).map(({ text }) => text)
    assert.isNotEmpty(facts.filter((fact) => /Otto/.test(fact)))
    assert.isEmpty(facts.filter((fact) => /wedding/i.test(fact) && /Lisbon/.test(fact)))
    assert.strictEqual((await fleet.inspect("desk"))?.version, before?.version)
    assert.isTrue((await fleet.replay.verify("desk")).equal)
    const again = await fleet.forget({ topic: "wedding Lisbon" }, { dryRun: true })
    assert.deepStrictEqual([again.gone, again.found?.counts], [{}, {}])
    await fleet.answer("desk", "Good morning.", { from: "ann" })
    assert.isTrue((await fleet.replay.verify("desk")).equal)
    await fleet.close()
    for (const canary of canaries) assert.deepStrictEqual(filesWith(data, canary), [], canary)
    assert.notMatch(await exported(data), /Quillandra|zephyrine|kestrels/)
  })

  it("W2 what is remembered and says it goes whole, also where no message of a person said it", async () => {
    const data = aDirectory()
    const fleet = await open(data)
    await fleet.memory.addFact("desk", "The archive stands in Quornhaven.", { from: "ann" })
    await fleet.memory.addFact("desk", "The pilot is Nora.", { from: "ann" })
    await fleet.idle()
    assert.strictEqual((await fleet.memory.facts("desk")).length, 2)
    await fleet.forget({ topic: "Quornhaven" })
    assert.deepStrictEqual(
      (await fleet.memory.facts("desk")).map(({ text }) => text),
      ["The pilot is Nora."]
    )
    assert.isTrue((await fleet.replay.verify("desk")).equal)
    await fleet.close()
    assert.deepStrictEqual(filesWith(data, "Quornhaven"), [])
  })

  it("of words that name things of the store too nothing breaks", async () => {
    const data = aDirectory()
    const fleet = await open(data)
    await live(fleet)
    for (const topic of ["dream", "message", "pruning", "content", "desk"]) {
      await fleet.forget({ topic })
      assert.isTrue((await fleet.replay.verify("desk")).equal, topic)
      await fleet.answer("desk", "And how is the weather?", { from: "ben" })
    }
    assert.isNotEmpty(filesWith(data, "Otto"))
    await fleet.close()
  })

  it("refuses words that say nothing", async () => {
    await using fleet = await openFleet()
    for (const topic of ["", "  ", "what was it of", "?!"]) {
      assert.instanceOf(await failureOf(fleet.forget({ topic })), EnvelopeInvalid, topic)
    }
  })
})
