import { memoryTools } from "reverie"
import * as Effect from "effect/Effect"
import { assert, describe, test } from "vitest"
import { factCache } from "../../src/views/facts.ts"
import { asker, type Heard, openFleet, refusalOf } from "./rig.ts"
import { aFact, HOSTILE, rowsOf, seeded, seeding, seedTool } from "./seed.ts"

const FACTS = 130

const facts = Array.from({ length: FACTS }, (_, number) =>
  aFact(number, {
    ...(number % 10 === 0 ? { state: "quarantined" as const, reason: "poses as an instruction" } : {}),
    ...(number === 7 ? { text: HOSTILE } : {}),
    ...(number === 8 ? { text: "long ".repeat(2_000) } : {})
  })
)
const rows = [
  ...facts.map(rowsOf.fact),
  ...Array.from({ length: 7 }, (_, number) => rowsOf.journal(`entry_${number}`, number, `${number} ${HOSTILE}`))
]

const rig = async (heard?: Heard) => {
  const fleet = await openFleet({
    tenant: "north",
    says: seeding,
    tools: [seedTool(rows)],
    assistant: { blocks: [{ label: "notes", type: "core", description: HOSTILE.slice(0, 50), content: "Notes:" }] }
  })
  await fleet.forTenant("south").create("desk")
  await seeded(fleet)
  return { fleet, ask: asker(fleet, heard) }
}

describe("memory", () => {
  test("M1 the overview counts everything, and facts come page by page, each once, the newest first", async () => {
    const { ask, fleet } = await rig()
    await using _ = fleet
    const overview = await ask("north", ({ memory }) => memory.overview({ params: { id: "desk" } }))
    assert.deepInclude(overview, { facts: FACTS, quarantined: 13, journal: 7, passages: 0, profiles: 0 })
    assert.deepStrictEqual(
      overview.blocks.map(({ label, text }) => [label, text]),
      [["notes", "Notes:"]]
    )
    const seen: Array<string> = []
    const pageAt = (cursor?: string) =>
      ask("north", ({ memory }) =>
        memory.facts({ params: { id: "desk" }, query: { limit: 50, ...(cursor === undefined ? {} : { cursor }) } })
      )
    for (let page = await pageAt(); ; page = await pageAt(page.next)) {
      seen.push(...page.items.map(({ id }) => id))
      if (page.next === null) break
    }
    assert.deepStrictEqual(seen, facts.map(({ id }) => id).toReversed())
  })

  test("M1 a filter and words narrow the facts; hostile texts stay what they were, long ones are cut", async () => {
    const { ask, fleet } = await rig()
    await using _ = fleet
    const asked = (query: { readonly limit: number; readonly state?: "quarantined"; readonly q?: string }) =>
      ask("north", ({ memory }) => memory.facts({ params: { id: "desk" }, query }))
    const held = await asked({ limit: 5, state: "quarantined" })
    assert.deepStrictEqual(
      held.items.map(({ id }) => id),
      ["fact_120", "fact_110", "fact_100", "fact_90", "fact_80"]
    )
    const hostile = await asked({ limit: 5, q: "IGNORE instructions" })
    assert.deepStrictEqual(
      hostile.items.map(({ text }) => text),
      [HOSTILE]
    )
    const [long] = (await asked({ limit: 5, q: "long" })).items
    assert.strictEqual(long?.text.length, 4_000)
    assert.isTrue(long?.text.endsWith("…"))
  })

  test("M2 G1 facts are read once a commit; what was learnt since is shown, and no other tenant's", async () => {
    await using fleet = await openFleet({
      says: [...seeding, ...seeding],
      tools: [seedTool([rowsOf.fact(aFact(1))])]
    })
    await fleet.forTenant("south").create("desk")
    let reads = 0
    const counting = (tenant: string) => {
      const own = fleet.forTenant(tenant)
      const { memory } = own
      const facts = (id: string) => {
        reads++
        return memory.facts(id)
      }
      return Object.defineProperty(own, "memory", { value: { ...memory, facts } })
    }
    const factsOf = factCache()
    const read = async (tenant: string) => {
      const own = counting(tenant)
      return (await factsOf(own, "desk", (await own.inspect("desk"))?.version ?? 0)).length
    }
    assert.deepStrictEqual([await read("default"), await read("default"), reads], [0, 0, 1])
    await seeded(fleet)
    assert.deepStrictEqual([await read("default"), await read("south"), await read("default"), reads], [1, 0, 1, 3])
  })

  test("the journal is a page; a cursor of no one is refused", async () => {
    const { ask, fleet } = await rig()
    await using _ = fleet
    const page = await ask("north", ({ memory }) => memory.journal({ params: { id: "desk" }, query: { limit: 3 } }))
    assert.deepStrictEqual(
      page.items.map(({ key }) => key),
      ["entry_6", "entry_5", "entry_4"]
    )
    assert.deepInclude(page.items[0]?.value, { content: `6 ${HOSTILE}` })
    const cursor = page.next ?? ""
    const rest = await ask("north", ({ memory }) =>
      memory.journal({ params: { id: "desk" }, query: { limit: 50, cursor } })
    )
    assert.deepStrictEqual([rest.items.length, rest.next], [4, null])
    const wrong = ask("north", ({ memory }) =>
      memory.journal({ params: { id: "desk" }, query: { limit: 3, cursor: "'; drop table" } })
    )
    assert.strictEqual(await refusalOf(wrong), "Malformed")
    const { items } = await ask("north", ({ memory }) =>
      memory.profiles({ params: { id: "desk" }, query: { limit: 10 } })
    )
    assert.deepStrictEqual(items, [])
  })

  test("recall says why, and finds what was said", async () => {
    const { ask, fleet } = await rig()
    await using _ = fleet
    const { items } = await ask("north", ({ memory }) =>
      memory.recall({ params: { id: "desk" }, query: { q: "previous instructions", limit: 500 } })
    )
    assert.isNotEmpty(items)
    assert.isTrue(items.some(({ text }) => text === HOSTILE))
    assert.match(items[0]?.because ?? "", /words/)
  })

  test("F92 F119 a passage is recalled with its metadata, and nothing else has any", async () => {
    await using fleet = await openFleet({ tenant: "north", tools: memoryTools })
    const metadata = { berth: 9, source: HOSTILE.slice(0, 60) }
    const kept = JSON.stringify({ text: "Captain Hansen prefers berth nine.", metadata })
    await fleet.answer("desk", `/store_memory ${kept}`)
    await fleet.idle()
    const { items } = await asker(fleet)("north", ({ memory }) =>
      memory.recall({ params: { id: "desk" }, query: { q: "Hansen berth", limit: 50 } })
    )
    const passages = items.filter(({ kind }) => kind === "passage")
    assert.deepStrictEqual(
      passages.map((item) => item.metadata),
      [metadata]
    )
    assert.isTrue(items.filter(({ kind }) => kind !== "passage").every((item) => item.metadata === undefined))
  })

  test("blocks are edited under the name of the token, undone, and kept from other tenants and from lookers", async () => {
    const heard: Heard = { audit: [], trouble: [] }
    const { ask, fleet } = await rig(heard)
    await using _ = fleet
    const [block] = await fleet.blocks.list("desk")
    const params = { block: block?.id ?? "" }
    const edit = (token: string, text: string) =>
      ask(token, ({ memory }) => memory.editBlock({ params, payload: { operation: { op: "set_text", text } } }))
    await edit("north", HOSTILE)
    const shown = await ask("north", ({ memory }) => memory.block({ params, query: {} }))
    assert.include(shown.text, "<script>alert(2)</script>")
    const versions = await ask("north", ({ memory }) => memory.blockVersions({ params, query: { limit: 10 } }))
    assert.deepInclude(versions.items[0], { by: "token of north" })
    assert.strictEqual(await refusalOf(edit("south", "mine")), "NotFound")
    assert.strictEqual(await refusalOf(edit("north:ro", "mine")), "Forbidden")
    await ask("north", ({ memory }) => memory.undoBlock({ params, headers: {} }))
    const undone = await ask("north", ({ memory }) => memory.block({ params, query: {} }))
    assert.strictEqual(undone.text, "Notes:")
    const strange = { op: "constructor", text: "x" } as unknown as { readonly op: "set_text"; readonly text: string }
    const broken = ask("north", ({ memory }) => memory.editBlock({ params, payload: { operation: strange } }))
    assert.notStrictEqual(await refusalOf(broken), "Unexpected")
    const wrong = ask("north", ({ memory }) =>
      memory.editBlock({ params, payload: { operation: { op: "delete_item", index: 3 } } })
    )
    assert.strictEqual(await refusalOf(wrong), "Conflict")
    assert.deepStrictEqual(heard.trouble, [])
    assert.include(
      heard.audit.map(({ action, outcome }) => `${action} ${outcome}`),
      "memory.editBlock refused: NotFound"
    )
  })

  test("a fact is released from quarantine, once, by anyone who may; then it is found, and the replay agrees", async () => {
    const heard: Heard = { audit: [], trouble: [] }
    const { ask, fleet } = await rig(heard)
    await using _ = fleet
    const release = (token: string, fact: string) =>
      ask(token, ({ memory }) => memory.releaseFact({ params: { id: "desk", fact } }))
    assert.strictEqual(await refusalOf(release("north:ro", "fact_10")), "Forbidden")
    assert.strictEqual(await refusalOf(release("north", "fact_none")), "NotFound")
    assert.strictEqual(await refusalOf(release("north", "fact_7")), "Conflict")
    assert.strictEqual(await refusalOf(release("south", "fact_10")), "NotFound")
    const foundOf = async () => {
      const { hits } = await fleet.memory.recall("desk", "Fact number 10", { kinds: ["fact"], limit: 50 })
      return hits.some(({ entry }) => entry.id.endsWith("fact_10"))
    }
    assert.isFalse(await foundOf())
    assert.strictEqual((await release("north", "fact_10")).outcome, "accepted")
    await fleet.idle()
    const held = await ask("north", ({ memory }) =>
      memory.facts({ params: { id: "desk" }, query: { state: "quarantined", limit: 50 } })
    )
    assert.lengthOf(held.items, 12)
    const fact = (await fleet.memory.facts("desk")).find(({ id }) => id === "fact_10")
    assert.deepInclude(fact, { state: "active", linked: false })
    assert.notProperty(fact, "reason")
    assert.isTrue(await foundOf())
    assert.strictEqual(await refusalOf(release("north", "fact_10")), "Conflict")
    assert.deepInclude(await fleet.replay.verify("desk"), { equal: true })
    assert.deepStrictEqual(heard.trouble, [])
  })

  test("a fact is retired with the reason, once, by anyone who may; then it is found no more, and the replay agrees", async () => {
    const heard: Heard = { audit: [], trouble: [] }
    const { ask, fleet } = await rig(heard)
    await using _ = fleet
    const retire = (token: string, fact: string) =>
      ask(token, ({ memory }) => memory.retireFact({ params: { id: "desk", fact }, payload: { reason: "a joke" } }))
    assert.strictEqual(await refusalOf(retire("north:ro", "fact_11")), "Forbidden")
    assert.strictEqual(await refusalOf(retire("north", "fact_none")), "NotFound")
    assert.strictEqual(await refusalOf(retire("south", "fact_11")), "NotFound")
    const foundOf = async () => {
      const { hits } = await fleet.memory.recall("desk", "Fact number 11", { kinds: ["fact"], limit: 50 })
      return hits.some(({ entry }) => entry.id.endsWith("fact_11"))
    }
    assert.isTrue(await foundOf())
    assert.strictEqual((await retire("north", "fact_11")).outcome, "accepted")
    await fleet.idle()
    const fact = (await fleet.memory.facts("desk")).find(({ id }) => id === "fact_11")
    assert.deepInclude(fact, { state: "retired", reason: "a joke" })
    assert.isFalse(await foundOf())
    assert.strictEqual(await refusalOf(retire("north", "fact_11")), "Conflict")
    assert.deepInclude(await fleet.replay.verify("desk"), { equal: true })
    assert.deepStrictEqual(heard.trouble, [])
  })

  test("a profile is edited by anyone who may, in the caller's name: corrected, removed, put back; once for one key", async () => {
    const heard: Heard = { audit: [], trouble: [] }
    const { ask, fleet } = await rig(heard)
    await using _ = fleet
    const write = (token: string, payload: { attribute?: string; text?: string; undo?: boolean }, key?: string) =>
      ask(token, ({ memory }) =>
        memory.writeProfile({
          params: { id: "desk", entity: "nora" },
          headers: key === undefined ? {} : { "idempotency-key": key },
          payload
        })
      )
    const attributes = async () => {
      await fleet.idle()
      const profile = (await fleet.memory.profiles("desk")).find(({ id }) => id === "nora")
      return profile?.attributes.map(({ by, id, text }) => `${id} ${text} ${by}`)
    }
    assert.strictEqual(await refusalOf(write("north:ro", { text: "Swims." })), "Forbidden")
    assert.strictEqual(await refusalOf(write("north", {})), "Malformed")
    assert.strictEqual((await write("north", { text: "Swims." }, "k-1")).outcome, "accepted")
    assert.strictEqual((await write("north", { text: "Swims." }, "k-1")).outcome, "duplicate")
    assert.deepStrictEqual(await attributes(), ["a1 Swims. token of north"])
    assert.strictEqual(await refusalOf(write("north", { attribute: "a9", text: "Dives." })), "NotFound")
    assert.strictEqual(await refusalOf(write("south", { attribute: "a1", text: "Dives." })), "NotFound")
    await write("north", { attribute: "a1", text: "Dives." })
    assert.deepStrictEqual(await attributes(), ["a1 Dives. token of north"])
    await write("north", { attribute: "a1" })
    assert.deepStrictEqual(await attributes(), [])
    const { items } = await ask("north", ({ memory }) =>
      memory.profiles({ params: { id: "desk" }, query: { limit: 9 } })
    )
    assert.deepStrictEqual(
      items.find(({ id }) => id === "nora")?.removed?.map(({ text }) => text),
      ["Dives."]
    )
    await write("north", { attribute: "a1", undo: true })
    assert.deepStrictEqual(await attributes(), ["a1 Dives. token of north"])
    await write("north", { attribute: "a1", undo: true })
    assert.deepStrictEqual(await attributes(), ["a1 Swims. token of north"])
    assert.deepStrictEqual(
      heard.audit.filter(({ outcome }) => outcome === "done").map(({ action, target }) => [action, target])[2],
      ["memory.writeProfile", "desk/nora/a1"]
    )
    assert.deepInclude(await fleet.replay.verify("desk"), { equal: true })
    assert.deepStrictEqual(heard.trouble, [])
  })

  test("a fact is corrected by anyone who may, in the caller's name, and one is added; both are found, and the replay agrees", async () => {
    const heard: Heard = { audit: [], trouble: [] }
    const { ask, fleet } = await rig(heard)
    await using _ = fleet
    const correct = (token: string, fact: string, key?: string) =>
      ask(token, ({ memory }) =>
        memory.correctFact({
          params: { id: "desk", fact },
          headers: key === undefined ? {} : { "idempotency-key": key },
          payload: { text: "The Birch has berth 14." }
        })
      )
    const add = (token: string, text = "The pilot is Nora.") =>
      ask(token, ({ memory }) => memory.addFact({ params: { id: "desk" }, headers: {}, payload: { text } }))
    assert.strictEqual(await refusalOf(correct("north:ro", "fact_11")), "Forbidden")
    assert.strictEqual(await refusalOf(add("north:ro")), "Forbidden")
    assert.strictEqual(await refusalOf(add("north", " ")), "Malformed")
    assert.strictEqual(await refusalOf(correct("north", "fact_none")), "NotFound")
    assert.strictEqual(await refusalOf(correct("south", "fact_11")), "NotFound")
    assert.strictEqual((await correct("north", "fact_11", "k-1")).outcome, "accepted")
    assert.strictEqual((await correct("north", "fact_11", "k-1")).outcome, "duplicate")
    await add("north")
    await fleet.idle()
    const facts = await fleet.memory.facts("desk")
    const written = facts.find(({ text }) => text === "The Birch has berth 14.")
    assert.deepInclude(written, { state: "active", trust: 0.9, origin: { type: "person", name: "token of north" } })
    assert.deepInclude(
      facts.find(({ id }) => id === "fact_11"),
      { state: "superseded", superseded_by: written?.id ?? "" }
    )
    assert.strictEqual(await refusalOf(correct("north", "fact_11")), "Conflict")
    const { hits } = await fleet.memory.recall("desk", "Which berth has the Birch? Who is the pilot?", {
      kinds: ["fact"]
    })
    assert.includeMembers(
      hits.map(({ entry }) => entry.text),
      ["The Birch has berth 14.", "The pilot is Nora."]
    )
    assert.deepInclude(await fleet.replay.verify("desk"), { equal: true })
    assert.deepStrictEqual(heard.trouble, [])
  })

  test("M3 a block that another assistant shares stands at its reader, with whose it is and what it may do there", async () => {
    const { ask, fleet } = await rig()
    await using _ = fleet
    const blocksOf = async (id: string) =>
      (await ask("north", ({ memory }) => memory.overview({ params: { id } }))).blocks.map(
        ({ label, permission, sharedFrom }) => [label, permission, sharedFrom]
      )
    const own = ["notes", "ReadWrite", undefined]
    assert.deepStrictEqual(await blocksOf("clerk"), [own])
    const [block] = await fleet.blocks.list("desk")
    await fleet.blocks.share(block?.id ?? "", "clerk", "ReadOnly")
    assert.deepStrictEqual(await blocksOf("clerk"), [own, ["notes", "ReadOnly", "desk"]])
    assert.deepStrictEqual(await blocksOf("desk"), [own])
    await fleet.blocks.unshare(block?.id ?? "", "clerk")
    assert.deepStrictEqual(await blocksOf("clerk"), [own])
  })

  test("D1 L1 another tenant's assistant of the same name remembers nothing of it; no one is no one", async () => {
    const { ask, fleet } = await rig()
    await using _ = fleet
    const overview = await ask("south", ({ memory }) => memory.overview({ params: { id: "desk" } }))
    assert.deepInclude(overview, { facts: 0, journal: 0 })
    const answers = await ask("south", ({ memory }) =>
      Effect.all([
        memory.facts({ params: { id: "desk" }, query: { limit: 500 } }),
        memory.journal({ params: { id: "desk" }, query: { limit: 500 } }),
        memory.recall({ params: { id: "desk" }, query: { q: "instructions", limit: 100, scope: "fleet" } })
      ])
    )
    for (const { items } of answers) assert.isEmpty(items)
    for (const token of ["north", "south"]) {
      const nobody = ask(token, ({ memory }) =>
        memory.overview({ params: { id: token === "south" ? "clerk" : "none" } })
      )
      assert.strictEqual(await refusalOf(nobody), "NotFound")
    }
  })
})
