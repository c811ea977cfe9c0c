import { memoryTools, selfTools } from "reverie"
import * as Schema from "effect/Schema"
import { assert, describe, test } from "vitest"
import { DreamReport } from "../../src/api/entry.ts"
import { asker, type Heard, openFleet, refusalOf } from "./rig.ts"
import { aCompaction, HOSTILE, rowsOf, seeded, seeding, seedTool } from "./seed.ts"

const LONG = `${HOSTILE}${"word ".repeat(1_000)}`
const ids = ["compact_a", "compact_b", "compact_c"]
const rows = [
  ...ids.map((id, index) => rowsOf.compaction(aCompaction(id, index, index === 2 ? LONG : "Short."))),
  rowsOf.dream("dream_1", 10),
  rowsOf.dream("dream_2", 20)
]

const rig = async (heard?: Heard) => {
  const fleet = await openFleet({
    tenant: "north",
    says: seeding,
    tools: [seedTool(rows)],
    assistant: { sleep: { enabled: true, startHour: 2, durationHours: 4, timeZone: "UTC" } }
  })
  await fleet.forTenant("south").create("desk")
  await seeded(fleet)
  return { fleet, ask: asker(fleet, heard) }
}

describe("night", () => {
  test("N1 compactions are a page, the newest first, with long texts cut; the one that is opened is whole", async () => {
    const { ask, fleet } = await rig()
    await using _ = fleet
    const params = { id: "desk" }
    const first = await ask("north", ({ night }) => night.compactions({ params, query: { limit: 2 } }))
    assert.deepStrictEqual(
      first.items.map(({ id }) => id),
      ["compact_c", "compact_b"]
    )
    assert.strictEqual(first.items[0]?.summary.length, 300)
    assert.isBelow(JSON.stringify(first).length, LONG.length)
    const cursor = first.next ?? ""
    const rest = await ask("north", ({ night }) => night.compactions({ params, query: { limit: 2, cursor } }))
    assert.deepStrictEqual([rest.items.map(({ id }) => id), rest.next], [["compact_a"], null])
    const { compaction, compacted, outcome } = await ask("north", ({ night }) =>
      night.compaction({ params: { id: "desk", compaction: "compact_c" } })
    )
    assert.strictEqual(compaction.summary, LONG)
    assert.isFalse(compaction.undone)
    assert.deepStrictEqual(
      compacted.map(({ role }) => role),
      ["user", "assistant", "tool", "assistant"]
    )
    assert.strictEqual(compacted[0]?.content, HOSTILE)
    assert.deepInclude(compacted[1]?.calls?.[0], { tool: "seed", arguments: "{}" })
    assert.isTrue(compaction.pairsWhole)
    // The hostile text says 31 and its own names; the summary of this one repeats it, that of another says nothing of it.
    const texts = ({ items }: { readonly items: ReadonlyArray<{ readonly text: string }> }) =>
      items.map(({ text }) => text)
    assert.includeMembers(texts(outcome.inSummary), ["31"])
    const other = await ask("north", ({ night }) =>
      night.compaction({ params: { id: "desk", compaction: "compact_a" } })
    )
    assert.includeMembers(texts(other.outcome.lost), ["31"])
    assert.deepInclude(other.outcome.lost.items[0], { message: "m/2/0" })
    assert.strictEqual(other.outcome.lost.count, other.outcome.lost.items.length)
  })

  test("N1 a compaction is taken back by anyone who may, and only one that is there", async () => {
    const heard: Heard = { audit: [], trouble: [] }
    const { ask, fleet } = await rig(heard)
    await using _ = fleet
    const undoCompaction = (token: string, compaction: string) =>
      ask(token, ({ night }) => night.undoCompaction({ params: { id: "desk", compaction } }))
    assert.strictEqual(await refusalOf(undoCompaction("north", "compact_z")), "NotFound")
    assert.strictEqual(await refusalOf(undoCompaction("south", "compact_a")), "NotFound")
    assert.strictEqual(await refusalOf(undoCompaction("north:ro", "compact_a")), "Forbidden")
    assert.strictEqual((await undoCompaction("north", "compact_a")).outcome, "accepted")
    assert.strictEqual((await undoCompaction("north", "compact_a")).outcome, "duplicate")
    await fleet
      .forTenant("north")
      .idle()
      .catch(() => {})
    const release = (token: string) =>
      ask(token, ({ night }) => night.releaseHistory({ params: { id: "desk" }, headers: {} }))
    const window = (token: string) => ask(token, ({ night }) => night.window({ params: { id: "desk" } }))
    assert.isAbove((await window("north")).tokens, 0)
    assert.strictEqual(await refusalOf(release("north:ro")), "Forbidden")
    assert.strictEqual((await release("north")).outcome, "accepted")
    const drop = (token: string, passage: string) =>
      ask(token, ({ memory }) => memory.deletePassage({ params: { id: "desk", passage } }))
    assert.strictEqual(await refusalOf(drop("north", "passage_none")), "NotFound")
    assert.strictEqual(await refusalOf(drop("north:ro", "passage_none")), "Forbidden")
    assert.deepStrictEqual(heard.trouble, [])
  })

  test("dreams are reported the newest first, with the sleep schedule and the next night", async () => {
    const { ask, fleet } = await rig()
    await using _ = fleet
    const { items, nextAt, schedule } = await ask("north", ({ night }) => night.dreams({ params: { id: "desk" } }))
    assert.deepStrictEqual(
      items.map((item) => Reflect.get(item as object, "id")),
      ["dream_2", "dream_1"]
    )
    assert.isNumber(nextAt)
    assert.deepInclude(schedule, { enabled: true, sleepStartHour: 2 })
    const dream = (token: string, id: string) =>
      ask(token, ({ night }) => night.dream({ params: { id: "desk", dream: id } }))
    const undo = (token: string, id: string) =>
      ask(token, ({ night }) => night.undoDream({ params: { id: "desk", dream: id }, headers: {}, payload: {} }))
    assert.strictEqual(await refusalOf(dream("north", "dream_99")), "NotFound")
    assert.strictEqual(await refusalOf(dream("south", "dream_1")), "NotFound")
    assert.strictEqual(await refusalOf(undo("north", "dream_99")), "NotFound")
    assert.strictEqual(await refusalOf(undo("north:ro", "dream_1")), "Forbidden")
    const other = await ask("south", ({ night }) => night.dreams({ params: { id: "desk" } }))
    assert.deepStrictEqual(other.items, [])
    assert.deepStrictEqual(
      (await ask("south", ({ night }) => night.compactions({ params: { id: "desk" }, query: { limit: 9 } }))).items,
      []
    )
  })

  test("N2 the list of dreams says what waits of each for a person, and calls quiet what its account calls so", async () => {
    const fleet = await openFleet({
      tenant: "north",
      tools: [...memoryTools, ...selfTools],
      assistant: { sleep: { enabled: false, review: "all" } }
    })
    await using _ = fleet
    const ask = asker(fleet)
    const params = { id: "desk" }
    const night = async (...said: ReadonlyArray<string>) => {
      for (const text of said) await fleet.post("desk", { type: "message", text }, { from: "Ann" })
      await fleet.idle()
      await fleet.sleep("desk")
      await fleet.idle()
      await fleet.wake("desk")
      await fleet.idle()
    }
    const listed = async () => {
      const { items } = await ask("north", (api) => api.night.dreams({ params }))
      for (const { id, isQuiet, waiting } of items) {
        const account = await ask("north", (api) => api.night.dream({ params: { ...params, dream: id } }))
        const waits = [...account.learnt, ...account.forgotten].filter((each) => each.waits === true)
        assert.deepStrictEqual([isQuiet, waiting], [account.isQuiet, waits.length], id)
      }
      return items.map(({ isQuiet, waiting }) => [isQuiet, waiting])
    }
    await night("I live in Bergen now.", "I have a dog that is called Rex.")
    await night()
    assert.deepStrictEqual(await listed(), [
      [true, 0],
      [false, 2]
    ])
    await night("I live in Bergen now.")
    assert.deepStrictEqual((await listed())[0], [false, 0], "said again while it waits")
    const dream = (await fleet.memory.dreams("desk")).at(-1)?.id ?? ""
    const [one] = (await fleet.memory.dream("desk", dream))?.learnt ?? []
    const accept = (payload: { readonly items?: ReadonlyArray<string> }) =>
      ask("north", (api) => api.night.acceptDream({ params: { ...params, dream }, headers: {}, payload }))
    const undo = (items: ReadonlyArray<string>) =>
      ask("north", (api) => api.night.undoDream({ params: { ...params, dream }, headers: {}, payload: { items } }))
    for (const order of [accept({ items: [] }), undo([])]) assert.strictEqual(await refusalOf(order), "Malformed")
    for (const order of [accept({ items: ["fact/fact_9_9"] }), undo(["fact/fact_9_9"])]) {
      assert.strictEqual(await refusalOf(order), "NotFound")
    }
    await accept({ items: [one?.item ?? ""] })
    await fleet.idle()
    assert.deepStrictEqual((await listed()).at(-1), [false, 1])
    await accept({})
    await fleet.idle()
    assert.deepStrictEqual((await listed()).at(-1), [false, 0])
  })

  test("N2 a night that an older server tells of, without what waits and whether it is quiet, is read all the same", () => {
    const older = { id: "dream_1", began_at: 1, ended_at: 2, lines: [] }
    const read = Schema.decodeUnknownSync(Schema.toCodecJson(DreamReport))(older)
    assert.deepStrictEqual(read, { ...older, waiting: 0, isQuiet: false })
  })
})
