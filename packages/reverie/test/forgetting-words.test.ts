// Words of the store itself: where no one has said one nothing of it is forgotten, and where someone has nothing breaks.

import { isDeepStrictEqual } from "node:util"
import { type Bundle, type BundleHead, type BundlePart, isHead, readPart, withoutText } from "@reverie/ledger"
import { atLength } from "@reverie/testkit/length"
import * as Result from "effect/Result"
import { assert, describe, test } from "vitest"
import { blockTools, defineAssistant, defineFleet, exportFleet, Fleet, memoryTools, selfTools } from "../src/index.ts"
import { calls, scriptedModel } from "../src/testing/index.ts"
import { aDirectory, filesWith } from "./rig.ts"

const assistants = ["desk", "clerk"].map((id) =>
  defineAssistant({
    id,
    instructions: "You keep the harbour book.",
    tools: [...selfTools, ...memoryTools, ...blockTools],
    blocks: [{ label: "board", type: "core", description: "The harbour board.", content: "Berth 4 is free." }]
  })
)

/** A message `do:TOOL {…}` has the tool called. */
const doing = () =>
  scriptedModel(({ last, purpose }) => {
    if (purpose !== "tick") return undefined
    const [, tool, given] = /^do:(\w+) (\{.*\})$/s.exec(last) ?? []
    return tool === undefined ? "Aye." : calls(tool, JSON.parse(given ?? "{}") as never)
  })

const open = (data: string): Promise<Fleet> => Fleet.open({ data, model: doing(), fleet: defineFleet({ assistants }) })

const told: ReadonlyArray<readonly [from: string, text: string]> = [
  ["ann", "I live in Quillandra and I have a parrot."],
  ["ben", "My brother Otto has a red lantern."],
  ["ann", 'do:add_journal_entry {"content":"Ann confided obsidian-77.","importance":8}'],
  [
    "ann",
    'do:store_memory {"text":"The vault is garnet-3131.","tags":["zed-vault"],"metadata":{"mine-31":"feldspar"}}'
  ],
  ["ann", 'do:update_entity_observation {"entity":"Otto","observation":"Otto limps since malachite-5."}'],
  ["ben", 'do:set_reminder {"name":"tourmaline-ring","note":"Ring Otto of peridot-12.","in_minutes":600}'],
  ["ben", 'do:add_goal {"description":"Sell the chrysolite-44 ring.","priority":"high"}'],
  ["ben", 'do:create_project {"key":"amazonite-8","summary":"Amazonite-8 trade","context":"Otto wants it"}'],
  ["ben", 'do:add_session_memory {"kind":"fact","content":"Ben prefers tanzanite-21."}'],
  ["ann", 'do:block_edit {"block":"board","action":"append","text":" Otto: kunzite-31."}'],
  ["ann", 'do:recall_memories {"query":"parrot vault"}'],
  ["ann", 'do:send_message {"to":"clerk","text":"Otto is late."}'],
  ["person", "Who has a red lantern?"]
]

const CANARIES = [
  "quillandra",
  "obsidian-77",
  "garnet-3131",
  "zed-vault",
  "mine-31",
  "feldspar",
  "malachite-5",
  "tourmaline-ring",
  "peridot-12",
  "chrysolite-44",
  "amazonite-8",
  "tanzanite-21",
  "kunzite-31",
  "walrus-reason"
]

const live = async (fleet: Fleet): Promise<void> => {
  for (const [from, text] of told) await fleet.answer("desk", text, { from })
  await fleet.memory.addFact("desk", "The pilot is Nora.", { from: "ann" })
  await fleet.sleep("desk")
  await fleet.idle()
  await fleet.wake("desk")
  await fleet.answer("desk", "What has Otto, the brother of Ben?", { from: "ann" })
  await fleet.halt("desk", `walrus-reason ${"and so on ".repeat(25)}`, { from: "ben" })
  await fleet.idle()
}

const rowsOf = async (data: string): Promise<unknown> =>
  (await Array.fromAsync(exportFleet({ from: { data } }))).flatMap((line) =>
    line.trim() === "" ? [] : [JSON.parse(line)]
  )

const SHORT = 40
const MIN = 4

/** The names of all members, and all short texts. */
const vocabularyOf = (rows: unknown): ReadonlySet<string> => {
  const found = new Set<string>()
  const walk = (value: unknown): void => {
    if (typeof value === "string" && value.length <= SHORT) found.add(value.toLowerCase())
    if (typeof value !== "object" || value === null) return
    for (const [name, inner] of Object.entries(value)) {
      if (!Array.isArray(value)) found.add(name.toLowerCase())
      walk(inner)
    }
  }
  walk(rows)
  return new Set([...found].filter((word) => word.trim().length >= MIN))
}

/** Sentences of anyone, Reverie among them. */
const sentencesOf = (rows: unknown): ReadonlyArray<string> => {
  if (Array.isArray(rows)) return rows.flatMap(sentencesOf)
  if (typeof rows === "string")
    return /\s/.test(rows) && !/^(?:dream|memory) [a-z]+$/.test(rows) ? [rows.toLowerCase()] : []
  return typeof rows === "object" && rows !== null ? sentencesOf(Object.values(rows)) : []
}

/** A row says more than one of Reverie's own words where one of these is in it. */
const NAMED = [...CANARIES, "ann", "ben", "otto", "nora", "board", "pilot", "parrot", "aye"]

/** Words that stand as names of members, of lists or in ids, and that no one has said; of ids that differ in a number alone the first. */
const unsaidOf = (rows: unknown): ReadonlyArray<string> => {
  const said = sentencesOf(rows)
  const forms = new Map([...vocabularyOf(rows)].toReversed().map((word) => [word.replaceAll(/\d+/g, "0"), word]))
  return [...forms.values()].filter(
    (word) => !said.some((each) => each.includes(word)) && !NAMED.some((name) => word.includes(name))
  )
}

const bundlesOf = (rows: unknown): ReadonlyArray<Bundle> => {
  const lives: Array<{ head: BundleHead; parts: Array<BundlePart> }> = []
  for (const row of rows as ReadonlyArray<unknown>) {
    const part = Result.getOrUndefined(readPart(row))
    if (part === undefined) continue
    if (isHead(part)) lives.push({ head: part, parts: [] })
    else lives.at(-1)?.parts.push(part)
  }
  return lives
}

const isFine = async (fleet: Fleet, word: string): Promise<void> => {
  for (const id of ["desk", "clerk"]) assert.isTrue((await fleet.replay.verify(id)).equal, `${id} without ${word}`)
  assert.isDefined(await fleet.inspect("desk"), word)
  await fleet.memory.facts("desk")
  await fleet.memory.profiles("desk")
  await fleet.history.ticks("desk")
}

describe("forgetting words of the store itself", () => {
  test("R1-R3 nothing goes of a word that no one has said", { timeout: 120_000 }, async () => {
    const data = aDirectory()
    const fleet = await open(data)
    await live(fleet)
    const rows = await rowsOf(data)
    await fleet.close()
    const lives = bundlesOf(rows)
    assert.lengthOf(lives, 3)
    const words = unsaidOf(rows)
    assert.isAbove(words.length, 200)
    const changed = words.filter((word) => lives.some((life) => !isDeepStrictEqual(withoutText(word)(life), life)))
    assert.deepStrictEqual(changed, [])
  })

  test("a life holds without any word of it, and goes on", { timeout: 300_000 }, async () => {
    const data = aDirectory()
    const fleet = await open(data)
    await live(fleet)
    const words = [...vocabularyOf(await rowsOf(data))].toSorted()
    const every = atLength(24, 2)
    await fleet.resume("desk")
    await fleet.idle()
    for (const word of ["message", "model", "name", "person", "active", "time", "text", "role", "content", "fact"]) {
      await fleet.answer("desk", `The ${word} of the harbour is here.`, { from: "ben" })
      await fleet.forget({ text: word })
      await isFine(fleet, word)
    }
    for (const [index, word] of words.entries()) {
      if (index % every !== 0) continue
      await fleet.forget({ text: word })
      await isFine(fleet, word)
    }
    assert.strictEqual(await fleet.answer("desk", "Are you there?", { from: "ben" }), "Aye.")
    await isFine(fleet, "all of them")
    await fleet.close()
  })

  test("no byte is left of what was said, told, decided, kept or named", { timeout: 120_000 }, async () => {
    const data = aDirectory()
    const fleet = await open(data)
    await live(fleet)
    for (const canary of CANARIES) {
      const written = [canary, `${canary[0]?.toUpperCase()}${canary.slice(1)}`]
      const stands = () => written.flatMap((each) => filesWith(data, each))
      assert.isNotEmpty(stands(), canary)
      const tried = await fleet.forget({ text: canary }, { dryRun: true })
      assert.isAbove(tried.assistants, 0, canary)
      const shown = tried.found?.samples.map(({ text }) => text.toLowerCase()) ?? []
      if (canary !== "walrus-reason")
        assert.isTrue(
          shown.some((text) => text.includes(canary)),
          canary
        )
      await fleet.forget({ text: canary })
      assert.deepStrictEqual(stands(), [], canary)
      await isFine(fleet, canary)
    }
    await fleet.resume("desk")
    await fleet.idle()
    await fleet.answer("desk", "Good morning.", { from: "ann" })
    await isFine(fleet, "the canaries")
    await fleet.close()
  })
})
