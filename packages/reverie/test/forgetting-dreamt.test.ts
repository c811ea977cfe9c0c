import { assert, describe, it } from "@effect/vitest"
import { defineAssistant, defineFleet, Fleet, memoryTools, selfTools } from "../src/index.ts"
import { calls, type ModelRequest, scriptedModel } from "../src/testing/index.ts"
import { night, said } from "./forgetting-desk.ts"
import { aDirectory, filesWith } from "./rig.ts"

const desk = defineAssistant({
  id: "desk",
  instructions: "You keep the harbour book.",
  tools: [...selfTools, ...memoryTools]
})

type Written = Readonly<{ journal: string; passage: string }>

/** In its first night it writes into its journal and puts a text away, looks at both, and says that nothing is to be learnt. */
const writing = ({ journal, passage }: Written) => {
  let round = 0
  return scriptedModel(({ purpose, text }: ModelRequest) => {
    if (purpose === "tick") return "Aye."
    if (!text.includes("Task: consolidate")) return "[]"
    round++
    if (round === 1) {
      return {
        calls: [
          { tool: "add_journal_entry", arguments: { content: journal, importance: 8 } },
          { tool: "store_memory", arguments: { text: passage } }
        ]
      }
    }
    return round === 2 ? calls("review_journal", {}) : "[]"
  })
}

const open = (data: string, written: Written): Promise<Fleet> =>
  Fleet.open({ data, model: writing(written), fleet: defineFleet({ assistants: [desk] }) })

const WORDS = ["Zobelpelz", "Zobelkiste", "zobelpelz", "zobelkiste"]
const secret: Written = { journal: "She keeps a Zobelpelz upstairs.", passage: "The Zobelkiste of hers is locked." }

/** What it keeps of its own accord. */
const keptOf = async (fleet: Fleet) => {
  const rows = await fleet.memory.records("desk", ["journal", "episode", "passage"])
  return rows.map(({ value }) => JSON.stringify(value)).join("\n")
}

const assertReplays = async (fleet: Fleet): Promise<void> => {
  const { equal, mismatches } = await fleet.replay.verify("desk")
  assert.isTrue(equal, JSON.stringify(mismatches))
}

describe("what a dream wrote by its tools", () => {
  for (const others of [[], ["Herring is fine today.", "The market opens early."]]) {
    it(`D1 D2 goes with a person that it had read, beside ${others.length} messages of another`, async () => {
      const data = aDirectory()
      const fleet = await open(data, secret)
      await said(fleet, "eve", "My fur coat is in the attic.")
      for (const each of others) await said(fleet, "bob", each)
      await night(fleet)
      assert.include(await keptOf(fleet), "Zobelpelz")
      assert.include(await keptOf(fleet), "Zobelkiste")
      await fleet.forget({ person: "eve" })
      assert.notInclude(await keptOf(fleet), "Zobel")
      await assertReplays(fleet)
      assert.deepStrictEqual((await fleet.forget({ person: "eve" })).gone, {})
      const { hits } = await fleet.memory.recall("desk", "Zobelpelz Zobelkiste upstairs locked")
      assert.notInclude(JSON.stringify(hits), "Zobel")
      await fleet.close()
      for (const word of WORDS) assert.isEmpty(filesWith(data, word))
      if (others.length > 0) assert.isNotEmpty(filesWith(data, "Herring"))
    })
  }

  it("D1 goes with one message of a batch", async () => {
    const data = aDirectory()
    const fleet = await open(data, secret)
    await said(fleet, "bob", "Herring is fine today.")
    await said(fleet, "eve", "My fur coat is in the attic.")
    await night(fleet)
    const entries = await fleet.history.entries("desk")
    const found = entries.find(({ entry }) => entry.messages.some(({ content }) => content.includes("fur coat")))
    await fleet.forget({ assistant: "desk", messages: [`m/${found?.entry.no}/0`] })
    await assertReplays(fleet)
    await fleet.close()
    for (const word of WORDS) assert.isEmpty(filesWith(data, word))
  })

  it("S1 stays where someone else said each of its words, without the source that is forgotten", async () => {
    const written = { journal: "The market opens early.", passage: "Herring is fine today." }
    await using fleet = await open(aDirectory(), written)
    await said(fleet, "eve", "My fur coat is in the attic.")
    await said(fleet, "bob", "Herring is fine today.")
    await said(fleet, "bob", "The market opens early.")
    await night(fleet)
    const before = (await fleet.memory.records("desk", ["journal", "passage"])).length
    await fleet.forget({ person: "eve" })
    const rows = await fleet.memory.records("desk", ["journal", "passage"])
    assert.strictEqual(rows.length, before)
    const kept = await keptOf(fleet)
    assert.include(kept, "The market opens early.")
    assert.include(kept, "Herring is fine today.")
    for (const { value } of rows) assert.lengthOf((value as { readonly sources: ReadonlyArray<string> }).sources, 2)
    await assertReplays(fleet)
    assert.deepStrictEqual((await fleet.forget({ person: "eve" })).gone, {})
    await fleet.forget({ person: "bob" })
    assert.notInclude(await keptOf(fleet), "market")
    await assertReplays(fleet)
  })

  it("D1 is left alone where the batch was of others", async () => {
    await using fleet = await open(aDirectory(), secret)
    await said(fleet, "bob", "Herring is fine today.")
    await night(fleet)
    await said(fleet, "eve", "My fur coat is in the attic.")
    await night(fleet)
    await fleet.forget({ person: "eve" })
    assert.include(await keptOf(fleet), "Zobelpelz")
    assert.include(await keptOf(fleet), "Zobelkiste")
    await assertReplays(fleet)
  })
})
