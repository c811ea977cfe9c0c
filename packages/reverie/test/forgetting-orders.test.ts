import { assert, describe, it } from "@effect/vitest"
import { defineAssistant, defineFleet, exportFleet, Fleet } from "../src/index.ts"
import { attributesOf, night, said, textsOf } from "./forgetting-desk.ts"
import { aDirectory, filesWith } from "./rig.ts"

const desk = defineAssistant({ id: "desk", instructions: "You keep the harbour book." })

const open = (data: string, assistant = desk): Promise<Fleet> =>
  Fleet.open({ data, fleet: defineFleet({ assistants: [assistant] }), model: "offline" })

const exported = async (data: string): Promise<string> =>
  (await Array.fromAsync(exportFleet({ from: { data } }))).join("\n")

describe("what was ordered about a person", () => {
  const words = ["Qwertyburg", "sodapopple", "wombatting", "marzipanic", "Zonkville", "avierzz"]

  it("K7 goes with the person, no matter who ordered it: facts, profiles, reasons, and what became of it", async () => {
    const data = aDirectory()
    const fleet = await open(data)
    await said(fleet, "bob", "I live in Oslo.")
    await said(fleet, "xavierzz", "My name is Xavierzz. I live in Zonkville. I like walnuts.")
    await night(fleet)
    const facts = await fleet.memory.facts("desk")
    const factOf = (word: string) => facts.find(({ text }) => text.includes(word))?.id ?? ""
    await fleet.memory.correctFact("desk", factOf("Zonkville"), "Xavierzz lives in Qwertyburg.")
    await fleet.memory.retireFact("desk", factOf("walnuts"), { reason: "Nothing but wombatting." })
    await fleet.memory.addAttribute("desk", "xavierzz", "Likes sodapopple.")
    await fleet.memory.addAttribute("desk", "Xavierzz", "Likes sodapopple.")
    await fleet.memory.addAttribute("desk", "bob", "Keeps bees.")
    const [dream] = await fleet.memory.dreams("desk")
    const undone = { items: [`fact/${factOf("name")}`], reason: "All of it was marzipanic." }
    await fleet.memory.undoDream("desk", dream?.id ?? "", undone)
    await fleet.idle()
    for (const word of words) assert.include(await exported(data), word)
    const tried = await fleet.forget({ person: "Xavierzz" }, { dryRun: true })
    assert.deepStrictEqual((await fleet.forget({ person: "Xavierzz" })).gone, tried.gone)
    for (const word of words) {
      assert.notInclude(await exported(data), word)
      assert.deepStrictEqual(filesWith(data, word), [], word)
    }
    assert.deepStrictEqual(await textsOf(fleet), ["bob lives in Oslo"])
    assert.include((await attributesOf(fleet, "bob")) ?? [], "Keeps bees.")
    assert.include(await exported(data), "written: bob/")
    assert.isTrue((await fleet.replay.verify("desk")).equal)
    assert.deepStrictEqual((await fleet.forget({ person: "xavierzz" })).gone, {})
    await said(fleet, "bob", "Good morning.")
    await fleet.close()
  })

  it("K7 goes with the person where it still waits, and makes no memory afterwards", async () => {
    const data = aDirectory()
    const fleet = await open(data)
    await said(fleet, "xavierzz", "I live in Zonkville.")
    await fleet.halt("desk", "For the day.")
    await fleet.idle()
    await fleet.memory.addAttribute("desk", "xavierzz", "Likes sodapopple.")
    await fleet.memory.addFact("desk", "The marzipanic quay is closed.", { from: "xavierzz" })
    await fleet.forget({ person: "xavierzz" })
    for (const word of words) assert.deepStrictEqual(filesWith(data, word), [], word)
    await fleet.resume("desk")
    await fleet.idle()
    assert.deepStrictEqual(await textsOf(fleet), [])
    assert.deepStrictEqual(await fleet.memory.profiles("desk"), [])
    await fleet.close()
  })

  it("K7 goes with the person, after the mail was deleted: what became of an order names it no more", async () => {
    const data = aDirectory()
    const fleet = await open(data, { ...desk, retention: { deleteAfter: 1 } })
    await said(fleet, "xavierzz", "I live in Zonkville.")
    await night(fleet)
    await fleet.memory.addAttribute("desk", "xavierzz", "Likes sodapopple.")
    for (const each of [0, 1, 2]) await said(fleet, "bob", `Ship ${each} came in.`)
    assert.isAbove((await fleet.vacuum()).deleted.entries, 5)
    assert.include(await exported(data), "written: xavierzz/")
    await fleet.forget({ person: "xavierzz" })
    for (const word of words) assert.notInclude(await exported(data), word)
    assert.deepStrictEqual((await fleet.forget({ person: "xavierzz" })).gone, {})
    assert.isTrue((await fleet.replay.verify("desk")).equal)
    await fleet.close()
  })

  it("K7 goes with a message: why a fact of it was retired. What an operator added stays, with its order", async () => {
    const data = aDirectory()
    const fleet = await open(data)
    await said(fleet, "bob", "I live in Zonkville.")
    await night(fleet)
    const [fact] = await fleet.memory.facts("desk")
    await fleet.memory.retireFact("desk", fact?.id ?? "", { reason: "Nothing but wombatting." })
    await fleet.memory.addFact("desk", "The quay is closed.")
    await fleet.idle()
    await fleet.forget({ assistant: "desk", messages: ["m/2/0"] })
    assert.deepStrictEqual(filesWith(data, "wombatting"), [])
    assert.deepStrictEqual(await textsOf(fleet), ["The quay is closed."])
    assert.include(await exported(data), '"type":"writeFact","text":"The quay is closed."')
    assert.isTrue((await fleet.replay.verify("desk")).equal)
    await fleet.close()
  })
})
