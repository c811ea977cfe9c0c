// What the assistants of the day remember: a night's facts and profiles, what was compacted and is found all the same, a text
// that was put away, and a board that two of them write on.

import type { Compaction, PlacedMessage } from "reverie"
import { afterAll, assert, beforeAll, describe, test } from "vitest"
import { includesOne, PlayedDay } from "./played-day.ts"

let day: PlayedDay
let compactions: ReadonlyArray<Compaction>
/** What the first night took out of the archivist's sight. */
let compacted: ReadonlyArray<PlacedMessage>

beforeAll(async () => {
  day = await PlayedDay.play()
  compactions = await day.fleet.compactions.list("archivist")
  const [first] = compactions
  compacted = first === undefined ? [] : await day.fleet.compactions.messages("archivist", first)
}, 120_000)

afterAll(() => day.fleet.close())

/** The name under which memory knows the message with these words. */
const messageWith = (words: string): string => {
  const found = compacted.filter(({ message }) => message.content.includes(words))
  assert.strictEqual(found.length, 1, `compacted messages with: ${words}`)
  return found.map(({ place }) => `m/${place.no}/${place.index}`).join("")
}

describe("the archivist's nights", () => {
  test("what was said and written down became facts, each with where it is from", async () => {
    const facts = new Map((await day.fleet.memory.facts("archivist")).map((fact) => [fact.text, fact]))
    const said = facts.get("Jo of the Bonita never lands fish on a Sunday")
    assert.strictEqual(said?.state, "active")
    assert.deepStrictEqual(said?.origin, { type: "person", name: "Jo of the Bonita" })
    assert.include(said?.sources ?? [], messageWith("two cats"))
    const evening = day.tickOf("archivist", "[timer evening]")
    const written = facts.get("The stone barge comes on day 26")
    assert.deepStrictEqual([written?.state, written?.sources], ["active", [`j/entry_${evening}_11`]])
  })

  test("they are known better than before: by what they said, and by what was noticed", async () => {
    const profiles = new Map((await day.fleet.memory.profiles("archivist")).map((profile) => [profile.name, profile]))
    const known = (name: string): Array<string> => profiles.get(name)?.attributes.map(({ text }) => text) ?? []
    assert.sameMembers(known("Jo of the Bonita"), [
      "Jo of the Bonita keeps two cats on board",
      "Jo of the Bonita never lands fish on a Sunday"
    ])
    assert.deepStrictEqual(known("Kestrel"), ["Kestrel always asks for the best berth."])
    assert.strictEqual(profiles.get("Kestrel")?.type, "thing")
  })

  test("F53 F55 the history is compacted: a marker stands for it, and the journal keeps its summary", async () => {
    assert.deepStrictEqual(
      compactions.map(({ before, trigger }) => ({ trigger, after: before.start?.compaction })),
      [
        { trigger: "sleep", after: undefined },
        { trigger: "sleep", after: compactions[0]?.id }
      ]
    )
    for (const { after, before } of compactions) assert.isBelow(after.tokens, before.tokens)
    const start = await day.fleet.compactions.historyStart("archivist")
    assert.strictEqual(start?.compaction, compactions.at(-1)?.id)
    assert.include(start?.marker.content ?? "", "[CONTEXT SUMMARY]")
    const journal = await day.records("archivist", "journal")
    for (const { id } of compactions) assert.deepInclude(journal.get(id), { source_type: "compaction", importance: 7 })
    const states = day.told("state-changed", "archivist").map(({ status }) => status)
    assert.strictEqual(states.filter((status) => status === "compacting.replacing").length, compactions.length)
  })
})

describe("what the archivist remembers", () => {
  test("what was compacted is recalled, and told with the name of the memory", async () => {
    const tick = day.tickOf("archivist", "Please recall")
    const [answer] = day.answers("recall_memories")
    const memories = answer?.["memories"] as ReadonlyArray<{ readonly id: string; readonly text: string }>
    const fact = (await day.fleet.memory.facts("archivist")).find(({ id }) => `f/${id}` === memories[0]?.id)
    assert.strictEqual(fact?.text, "Jo of the Bonita never lands fish on a Sunday")
    assert.include(
      memories.map(({ id }) => id),
      messageWith("two cats")
    )
    includesOne(day.replies("answered", "archivist"), `memories id f/${fact?.id}, kind fact`)
    assert.include(await day.parts("archivist", tick), "semantic_memories", "some of it came to mind by itself")
  })

  test("a text is put away, reported when it is kept, and found again", async () => {
    const passages = await day.fleet.memory.passages("archivist")
    assert.deepStrictEqual(
      passages.map(({ text }) => text),
      ["The key of the archive hangs behind the barometer."]
    )
    includesOne(day.replies("answered", "archivist"), `Id ${passages[0]?.id}`)
    const { hits } = await day.fleet.memory.recall("archivist", "Where does the key of the archive hang?", { limit: 1 })
    assert.deepStrictEqual(
      hits.map(({ entry }) => entry.id),
      [`p/${passages[0]?.id}`]
    )
  })
})

describe("the notice board", () => {
  test("F89 it is shared: two assistants write on it, and each one that has it in view answers from it", async () => {
    const blocks = day.fleet.blocks
    const board = await blocks.find("planner", "board")
    assert.strictEqual(board?.text, "Notices: The north gate is closed on day 23. Bonita has a licence until 2027.")
    assert.deepStrictEqual(board?.shares, [{ with: "*", permission: "Append" }])
    const versions = await blocks.versions(board?.id ?? "")
    assert.deepStrictEqual(
      versions.map(({ by, version }) => `${version} ${by}`),
      ["3 archivist", "2 planner", "1 definition"]
    )
    const shared = day.tickOf("planner", "Share the notice board")
    assert.include(await day.parts("planner", shared), "core_blocks")
    assert.notInclude(await day.parts("desk", day.tickOf("desk", "assign the Birch")), "core_blocks")
    assert.include(await day.parts("desk", day.tickOf("desk", "north gate")), "core_blocks")
    assert.include(
      day.replies("answered", "desk"),
      `My instructions say: "Notices: The north gate is closed on day 23."`
    )
  })
})
