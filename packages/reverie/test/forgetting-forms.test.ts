import { assert, describe, it } from "@effect/vitest"
import { defineAssistant, defineFleet, defineTool, EnvelopeInvalid, Fleet, type Forgettable } from "../src/index.ts"
import { aDirectory, calling, failureOf, filesWith, openFleet } from "./rig.ts"

const desk = defineAssistant({ id: "desk", instructions: "You keep the harbour book." })

const open = (data: string): Promise<Fleet> =>
  Fleet.open({ data, model: "offline", fleet: defineFleet({ assistants: [desk] }) })

const forms = ["NFC", "NFD"] as const

describe("forgetting letters that are composed or not", () => {
  for (const stored of forms) {
    for (const asked of forms.filter((form) => form !== stored)) {
      for (const way of ["text", "person", "topic"] as const) {
        it(`C1 a ${way} in ${asked} is what was said in ${stored}`, async () => {
          const data = aDirectory()
          await using fleet = await open(data)
          const from = "ren\u00e9".normalize(stored)
          await fleet.answer("desk", "Caf\u00e9 Noir is my bar.".normalize(stored), { from })
          await fleet.answer("desk", "I live in Bergen.", { from: "ann" })
          await fleet.sleep("desk")
          await fleet.idle()
          const words = "Caf\u00e9 Noir".normalize(stored)
          assert.isNotEmpty(filesWith(data, words))
          const ways: Readonly<Record<typeof way, Forgettable>> = {
            text: { text: "caf\u00e9 noir".normalize(asked) },
            person: { person: "Ren\u00e9".normalize(asked) },
            topic: { topic: "Caf\u00e9 Noir".normalize(asked) }
          }
          const tried = await fleet.forget(ways[way], { dryRun: true })
          const { gone } = await fleet.forget(ways[way])
          assert.deepStrictEqual(gone, tried.gone)
          assert.isAbove(gone["entry"] ?? 0, 0)
          assert.isEmpty(filesWith(data, words))
          if (way === "person") assert.isEmpty(filesWith(data, from))
          const facts = (await fleet.memory.facts("desk")).map(({ text }) => text)
          assert.deepStrictEqual(facts, ["ann lives in Bergen"])
          assert.isTrue((await fleet.replay.verify("desk")).equal)
          assert.deepStrictEqual((await fleet.forget(ways[way])).gone, {})
        })
      }
    }
  }
})

describe("forgetting a text that memory has made another one of", () => {
  const told = [
    ["line one Grumblex\nline two Frobozz", "Grumblex\nline two"],
    ["line one Grumblex\r\n\tline two Frobozz", "Grumblex line two"],
    ["tab\tsepa\u0007rated\u0007 Bellringer", "\tseparated\u0007 Bell"],
    ["One Wei\u00dfwurst-\u00c4quator please", "WEISSWURST-\u00e4quator"]
  ] as const

  for (const [said, text] of told) {
    it(`C3 ${JSON.stringify(text)} is in ${JSON.stringify(said)}, and in all that was learnt of it`, async () => {
      const data = aDirectory()
      await using fleet = await open(data)
      await fleet.answer("desk", said, { from: "zed" })
      await fleet.answer("desk", "I live in Bergen.", { from: "ann" })
      await fleet.sleep("desk")
      await fleet.idle()
      const tried = await fleet.forget({ text }, { dryRun: true })
      assert.isNotEmpty(tried.found?.samples)
      await fleet.forget({ text })
      for (const word of ["Grumblex", "Bell", "wurst"]) assert.deepStrictEqual(filesWith(data, word), [], word)
      const facts = (await fleet.memory.facts("desk")).map((each) => each.text)
      assert.deepStrictEqual(facts, ["ann lives in Bergen"])
      assert.isTrue((await fleet.replay.verify("desk")).equal)
      assert.deepStrictEqual((await fleet.forget({ text })).gone, {})
    })
  }

  it("C3 a text with an end of a line goes from the JSON that a tool gave back", async () => {
    const data = aDirectory()
    const run = () => ({ found: ['She said: "Grumblex\nline two"', "Frobozz"] })
    const tools = [defineTool({ name: "look", description: "Looks.", run })]
    await using fleet = await openFleet({ data, tools, says: [calling("look"), { text: "Aye." }] })
    await fleet.answer("desk", "Look.", { from: "ann" })
    assert.isNotEmpty(filesWith(data, "Grumblex"))
    await fleet.forget({ text: '"Grumblex\nline' })
    assert.deepStrictEqual(filesWith(data, "Grumblex"), [])
    assert.isTrue((await fleet.replay.verify("desk")).equal)
  })

  it("C3 a text of which too little is left is refused", async () => {
    await using fleet = await open(":memory:")
    for (const text of ["a\u0007\u0000\u0007b", "a \n\t b", "\u200b\u200b\u200b\u200b"])
      assert.instanceOf(await failureOf(fleet.forget({ text })), EnvelopeInvalid, JSON.stringify(text))
  })
})
