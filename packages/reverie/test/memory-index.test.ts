import { assert, describe, it } from "@effect/vitest"
import { hashedEmbedder } from "@reverie/testkit"
import { later } from "@reverie/testkit/later"
import { contractIfThere, startQdrantServer } from "@reverie/testkit/qdrant-server"
import { describeIndex, FleetReader, type RecallChoice } from "../src/index.ts"
import { aDirectory, openFleet } from "./rig.ts"

const qdrant = async () => {
  const server = await startQdrantServer({ contract: contractIfThere() })
  later(async () => {
    await server.close()
    assert.deepStrictEqual(server.faults, [])
  })
  return server
}

const indexes: Readonly<Record<string, () => Promise<RecallChoice>>> = {
  sqlite: async () => "embedded",
  qdrant: async () => ({ url: (await qdrant()).url })
}

describe("what an index tells of itself", () => {
  it.each(Object.keys(indexes))("is how much it holds, of which model, and what it lacks: %s", async (kind) => {
    const recall = await indexes[kind]?.()
    const { embedder } = hashedEmbedder(8)
    const data = aDirectory()
    await using fleet = await openFleet({ data, embedder, says: [{ text: "Noted." }], ...(recall && { recall }) })
    const empty = await fleet.memory.index.status()
    assert.deepStrictEqual([empty.kind, empty.state, empty.memories, empty.lag.entries], [kind, "green", 0, 0])
    await fleet.send("desk", "The ferry leaves at nine.", { from: "Ann" })
    await fleet.sleep("desk")
    await fleet.idle()
    await fleet.memory.index.catchUp()
    const told = await fleet.memory.index.status()
    assert.deepStrictEqual(
      [told.lag, told.lagMs, told.embedder?.dimensions],
      [{ entries: 0, assistants: 0 }, undefined, 8]
    )
    assert.isAbove(told.memories ?? 0, 0)
    assert.isAbove(told.vectors ?? 0, 0)
    assert.match(describeIndex(told), new RegExp(`^${kind} is green, \\d+ memor.*vectors? of .*, nothing is missing$`))
  })

  it("says of one in PostgreSQL where its vectors are compared, once it has some", () => {
    const lag = { entries: 0, assistants: 0 }
    const embedder = { id: "north", dimensions: 4 }
    const sentence = (told: Parameters<typeof describeIndex>[0]) => describeIndex({ vectors: 2, ...told })
    const end = "nothing is missing"
    assert.strictEqual(
      sentence({ lag, embedder, compared: "database" }),
      `2 vectors of north, compared by pgvector, ${end}`
    )
    assert.strictEqual(
      sentence({ lag, embedder, compared: "process" }),
      `2 vectors of north, compared in the process, ${end}`
    )
    assert.strictEqual(sentence({ lag, compared: "process" }), end)
  })

  it("L an index that was lost lacks everything, and tells since when", async () => {
    const server = await qdrant()
    await using fleet = await openFleet({
      data: aDirectory(),
      recall: { url: server.url },
      says: [{ text: "Noted." }]
    })
    await fleet.send("desk", "The ferry leaves at nine.", { from: "Ann" })
    await fleet.idle()
    await fleet.memory.recall("desk", "ferry")
    await fetch(`${server.url}/collections/reverie-2`, { method: "DELETE" })
    await fleet.memory.index.status().catch(() => undefined)
    const { lag, lagMs = -1, memories } = await fleet.memory.index.status()
    assert.deepStrictEqual([memories, lag.assistants], [0, 1])
    assert.isAbove(lag.entries, 1)
    assert.isAtLeast(lagMs, 0)
    assert.strictEqual(
      describeIndex({ lag, lagMs: 9_400 }),
      `${lag.entries} entries of 1 assistant not taken in yet, the oldest for 9 s`
    )
    const { assistants, entries } = await fleet.memory.index.catchUp()
    // The other one of the fleet was only created.
    assert.deepStrictEqual([assistants, entries], [2, lag.entries + 1])
    assert.strictEqual((await fleet.memory.index.status()).lag.entries, 0)
    server.tell({ status: "yellow" })
    assert.match(describeIndex(await fleet.memory.index.status()), /^qdrant is yellow, /)
  })

  it("a reader beside the fleet tells the same of a data directory", async () => {
    const data = aDirectory()
    {
      await using fleet = await openFleet({ data, says: [{ text: "Noted." }] })
      await fleet.send("desk", "The ferry leaves at nine.", { from: "Ann" })
      await fleet.idle()
      await fleet.memory.recall("desk", "ferry")
    }
    await using peek = await FleetReader.open(data)
    const { kind, lag } = await peek.memory.index.status()
    assert.deepStrictEqual([kind, lag.entries], ["sqlite", 0])
    assert.deepStrictEqual(await peek.memory.index.snapshots(), [])
  })
})

describe("a snapshot of the index", () => {
  it("M2 is put back, and what was said and who was erased since is made up from the ledger", async () => {
    const { url } = await qdrant()
    const kept = async () => {
      const body = JSON.stringify({ limit: 1_000, with_payload: true })
      return (await fetch(`${url}/collections/reverie/points/scroll`, { method: "POST", body })).text()
    }
    await using fleet = await openFleet({ data: aDirectory(), recall: { url }, says: [{ text: "Noted." }] })
    await fleet.send("desk", "The ferry leaves at nine.", { from: "Ann" })
    await fleet.send("clerk", "The anchor lies in the shed.", { from: "Ann" })
    await fleet.idle()
    await fleet.memory.index.catchUp()
    const { name } = await fleet.memory.index.snapshot()
    assert.deepStrictEqual(
      (await fleet.memory.index.snapshots()).map((each) => each.name),
      [name]
    )
    await fleet.send("desk", "The lantern is red.", { from: "Ann" })
    await fleet.idle()
    assert.include(await kept(), "anchor")
    await fleet.forget({ assistant: "clerk" })
    const { entries, erased, snapshot } = await fleet.memory.index.restore(name)
    assert.deepStrictEqual([snapshot, erased], [name, 0])
    assert.isAbove(entries, 0)
    const found = await fleet.memory.recall("desk", "What of the lantern and the ferry?")
    assert.isUndefined(found.degraded)
    const texts = found.hits.map(({ entry }) => entry.text)
    assert.includeMembers(texts, ["The ferry leaves at nine.", "The lantern is red."])
    assert.strictEqual((await fleet.memory.index.status()).lag.entries, 0)
    assert.notInclude(await kept(), "anchor")
  })

  it("takes out whom the store does not know when it is brought up to the ledger", async () => {
    const { url } = await qdrant()
    const open = (tenant: string) =>
      openFleet({ data: aDirectory(), recall: { url }, tenant, says: [{ text: "Noted." }] })
    {
      await using gone = await open("tower")
      await gone.send("desk", "The ferry leaves at nine.", { from: "Ann" })
      await gone.idle()
      await gone.memory.index.catchUp()
    }
    await using fleet = await open("harbor")
    const { erased } = await fleet.memory.index.catchUp()
    assert.strictEqual(erased, 2)
    assert.strictEqual((await fleet.memory.index.status()).memories, 0)
  })

  it("is refused in one line where an index keeps none", async () => {
    await using fleet = await openFleet()
    const refused: unknown = await fleet.memory.index.snapshot().catch((error: unknown) => error)
    assert.match((refused as Error).message, /^fleet: snapshots are for an index at a Qdrant server; /)
  })
})
