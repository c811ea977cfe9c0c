import { assert, describe, it } from "@effect/vitest"
import { blockTools, defineAssistant, defineFleet, exportFleet, Fleet } from "../src/index.ts"
import { calls, type ModelRequest, scriptedModel } from "../src/testing/index.ts"
import { aDirectory, filesWith } from "./rig.ts"

const desk = defineAssistant({
  id: "desk",
  instructions: "You keep the harbour book.",
  tools: [...blockTools],
  blocks: [{ label: "board", type: "core", content: "Nothing yet." }]
})

/** What it writes for whom: no one has said these words. */
const WRITTEN: Readonly<Record<string, string>> = {
  "The crate.": " Quagmire crate came in.",
  "The fog.": " Fog comes tomorrow.",
  "The paint.": " Berth seven is painted."
}

const open = (data: string): Promise<Fleet> => {
  const says = ({ last, purpose }: ModelRequest) => {
    if (purpose !== "tick") return
    const text = WRITTEN[last]
    return text === undefined ? "Aye." : calls("block_edit", { block: "board", action: "append", text })
  }
  return Fleet.open({ data, model: scriptedModel(says), fleet: defineFleet({ assistants: [desk] }) })
}

const boardOf = async (fleet: Fleet) => await fleet.blocks.find("desk", "board")

describe("forgetting in blocks", () => {
  for (const what of ["person", "message"] as const) {
    it(`B1 of a ${what} goes what its turn wrote into a block of several; what others wrote stays`, async () => {
      const data = aDirectory()
      const fleet = await open(data)
      for (const [from, text] of [
        ["zed", "The crate."],
        ["ann", "The fog."],
        ["bob", "The paint."]
      ] as const) {
        await fleet.answer("desk", text, { from })
      }
      const block = (await boardOf(fleet))?.id ?? ""
      await fleet.blocks.edit(block, { op: "append_text", text: " So it is." }, { by: "eve" })
      assert.include((await fleet.blocks.read(block)).text, "Quagmire")
      assert.isNotEmpty(filesWith(data, "Quagmire"))
      const request = what === "person" ? { person: "Zed" } : { assistant: "desk", messages: ["m/2/0"] }
      const tried = await fleet.forget(request, { dryRun: true })
      assert.deepStrictEqual((await fleet.forget(request)).gone, tried.gone)
      const left = "Nothing yet. Fog comes tomorrow. Berth seven is painted. So it is."
      const text = async (fleetNow: Fleet, version?: number) =>
        (await fleetNow.blocks.read(block, ...(version === undefined ? [] : [version]))).text
          .replaceAll(/ +/g, " ")
          .trim()
      assert.strictEqual(await text(fleet), left)
      assert.strictEqual(await text(fleet, 2), "Nothing yet.")
      assert.strictEqual(await text(fleet, 3), "Nothing yet. Fog comes tomorrow.")
      assert.deepStrictEqual(filesWith(data, "Quagmire"), [])
      assert.deepStrictEqual((await fleet.forget(request)).gone, {})
      await fleet.blocks.edit(block, { op: "append_text", text: " And so on." }, { by: "eve" })
      await fleet.blocks.undo(block)
      assert.strictEqual(await text(fleet), left)
      assert.isTrue((await fleet.replay.verify("desk")).equal)
      await fleet.close()
      const again = await open(data)
      assert.strictEqual(await text(again), left)
      assert.lengthOf(await again.blocks.versions(block), 7)
      await again.close()
      assert.deepStrictEqual(filesWith(data, "Quagmire"), [])
      assert.notInclude((await Array.fromAsync(exportFleet({ from: { data } }))).join("\n"), "Quagmire")
    })
  }

  it("B1 sentences go out of texts, fields, items and logs of a block, and the rest stays", async () => {
    const data = aDirectory()
    const fleet = await open(data)
    const told = "The Quagmire gate is open."
    await fleet.answer("desk", told, { from: "zed" })
    const sections = [
      { name: "note", schema: { kind: "text" } },
      {
        name: "who",
        schema: {
          kind: "map",
          fields: [
            { name: "a", type: "text" },
            { name: "b", type: "list" }
          ]
        }
      },
      { name: "list", schema: { kind: "list" } },
      {
        name: "log",
        schema: {
          kind: "log",
          displayLimit: 5,
          entrySchema: { timestamp: true, agent: true, fields: [{ name: "t", type: "text" }] }
        }
      }
    ] as const
    const content = {
      note: `Hear: ${told} So it is.`,
      who: { a: told, b: ["one", told] },
      list: ["two", told],
      log: [{ t: told }, { t: "three" }]
    }
    const { block } = await fleet.blocks.create({
      owner: "desk",
      label: "all",
      type: "core",
      schema: { kind: "composite", sections },
      content
    })
    await fleet.blocks.edit(block, { op: "push_item", section: "list", value: "four" }, { message: told })
    await fleet.forget({ person: "zed" })
    const { text } = await fleet.blocks.read(block)
    assert.notInclude(text, "Quagmire")
    for (const kept of ["Hear:", "So it is.", "one", "two", "three", "four"]) assert.include(text, kept)
    assert.deepStrictEqual(filesWith(data, "Quagmire"), [])
    await fleet.blocks.edit(block, { op: "push_item", section: "list", value: "five" })
    assert.include((await fleet.blocks.read(block)).text, "five")
    await fleet.close()
    assert.deepStrictEqual(filesWith(data, "Quagmire"), [])
  })

  it("a block of a definition that went is there again when the fleet is opened again", async () => {
    const data = aDirectory()
    const fleet = await open(data)
    const block = (await boardOf(fleet))?.id ?? ""
    await fleet.blocks.edit(block, { op: "append_text", text: " The kestrel-9713 is late." })
    await fleet.forget({ text: "kestrel-9713" })
    assert.isUndefined(await boardOf(fleet))
    await fleet.close()
    const again = await open(data)
    assert.strictEqual((await boardOf(again))?.text, "Nothing yet.")
    await again.close()
    assert.deepStrictEqual(filesWith(data, "kestrel-9713"), [])
  })
})
