// Retention: older parts of lives are archived and deleted, and what is read of them afterwards is true.

import { statSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "vitest"
import { defineAssistant, defineFleet, exportFleet, Fleet, FleetReader } from "../src/index.ts"
import { aDirectory, failureOf, filesWith } from "./rig.ts"

const WORD = "kestrel-9713"

const openWith = (data: string, retention?: Parameters<typeof defineAssistant>[0]["retention"]) =>
  Fleet.open({
    data,
    fleet: defineFleet({
      assistants: [defineAssistant({ id: "desk", instructions: "You listen.", ...(retention && { retention }) })]
    })
  })

const live = async (fleet: Fleet, messages: number, from = 0): Promise<void> => {
  for (let each = from; each < from + messages; each++) {
    const text = each === 3 ? `The harbour code is ${WORD}.` : `Ship ${each} came in at the pier ${each % 7}.`
    await fleet.send("desk", text, { id: `m-${each}`, from: "ann" })
  }
  await fleet.idle()
}

const dream = async (fleet: Fleet): Promise<void> => {
  await fleet.sleep("desk")
  await fleet.idle()
}

const segmentsOf = (data: string): ReadonlyArray<{ readonly upTo: number; readonly isDeleted: boolean }> => {
  const database = new DatabaseSync(join(data, "reverie.db"), { readOnly: true })
  const rows = database.prepare("SELECT up_to, deleted_at FROM segments ORDER BY up_to").all()
  database.close()
  return rows.map((row) => ({ upTo: Number(row["up_to"]), isDeleted: row["deleted_at"] !== null }))
}

const readingsOf = async (fleet: Fleet) => ({
  entries: await fleet.history.entries("desk", 1, 10_000),
  ticks: (await fleet.history.ticks("desk")).ticks,
  frames: await Array.fromAsync(fleet.replay.frames("desk")),
  verdict: await fleet.replay.verify("desk"),
  usage: await fleet.usage()
})

describe("retention", () => {
  it(
    "Z1 a dream archives what is older than the policy says; every reading is as before",
    { timeout: 60_000 },
    async () => {
      const data = aDirectory()
      const fleet = await openWith(data, { archiveAfter: 40 })
      await live(fleet, 60)
      const before = await readingsOf(fleet)
      assert.deepStrictEqual(segmentsOf(data), [])
      await dream(fleet)
      const [segment] = segmentsOf(data)
      assert.isAtLeast(segment?.upTo ?? 0, 64)
      const after = await readingsOf(fleet)
      const { length } = before.entries
      assert.deepStrictEqual(after.entries.slice(0, length), before.entries)
      assert.deepStrictEqual(after.frames.slice(0, length), before.frames)
      assert.isTrue(after.verdict.equal)
      assert.deepStrictEqual(await fleet.replay.page("desk", { from: 10, limit: 3 }), {
        frames: before.frames.slice(9, 12),
        next: 13
      })
      await fleet.forget({ text: WORD })
      await fleet.close()
      assert.deepStrictEqual(filesWith(data, WORD), [])
    }
  )

  it("Z5 vacuum archives what is due now, and makes the files smaller", { timeout: 60_000 }, async () => {
    const data = aDirectory()
    const fleet = await openWith(data, { archiveAfter: 10 })
    await live(fleet, 60)
    const before = await readingsOf(fleet)
    const report = await fleet.vacuum()
    assert.deepInclude(report, { assistants: 1, deleted: { entries: 0, envelopes: 0 } })
    assert.strictEqual(report.archived.entries, before.entries.length - 10)
    assert.isBelow(report.bytesAfter, report.bytesBefore)
    assert.deepStrictEqual(await readingsOf(fleet), before)
    assert.deepStrictEqual((await fleet.vacuum()).archived, { entries: 0, envelopes: 0 })
    await fleet.close()
  })

  it("V2 a reader finds what a vacuum would do, by the policies of a definition", { timeout: 60_000 }, async () => {
    const data = aDirectory()
    const definition = defineFleet({
      assistants: [defineAssistant({ id: "desk", instructions: "You listen." })],
      tenants: { default: { retention: { archiveAfter: 10 } } }
    })
    const fleet = await Fleet.open({ data, fleet: definition })
    await live(fleet, 20)
    await using reader = await FleetReader.open(data)
    const { archived, assistants, deleted, dryRun } = await reader.due(definition)
    assert.isAbove(archived.entries, 0)
    assert.deepInclude(await fleet.vacuum({ dryRun: true }), { archived, assistants, deleted, dryRun })
    assert.strictEqual((await reader.due()).archived.entries, 0)
    await fleet.close()
  })

  it("Z5 of a life with its dreams the store keeps at most 2,000 bytes a message", { timeout: 120_000 }, async () => {
    const data = aDirectory()
    const fleet = await openWith(data, { archiveAfter: 20 })
    const messages = 200
    for (let from = 0; from < messages; from += 100) {
      await live(fleet, 100, from)
      await dream(fleet)
    }
    await fleet.vacuum()
    await fleet.close()
    assert.isAtMost(statSync(join(data, "reverie.db")).size / messages, 2_000)
  })

  it(
    "T2 a message that follows does not bring back what was deleted right before it",
    { timeout: 60_000 },
    async () => {
      const data = aDirectory()
      const fleet = await openWith(data, { deleteAfter: 1 })
      await live(fleet, 5)
      assert.isNotEmpty((await fleet.memory.recall("desk", WORD, { kinds: ["message"] })).hits)
      const { deleted } = await fleet.vacuum()
      assert.isAbove(deleted.entries, 0)
      await live(fleet, 1, 5)
      const { hits } = await fleet.memory.recall("desk", `${WORD} harbour code ship`, {
        kinds: ["message"],
        limit: 100
      })
      assert.isNotEmpty(hits)
      assert.notInclude(JSON.stringify(hits), WORD)
      await fleet.close()
      assert.deepStrictEqual(filesWith(data, WORD), [])
    }
  )

  it(
    "Z2 T1 T2 what a policy deletes is said by date, is found no more, and replays; what was learnt of it stays",
    { timeout: 60_000 },
    async () => {
      const data = aDirectory()
      const fleet = await openWith(data, { archiveAfter: 20, deleteAfter: 60 })
      await live(fleet, 60)
      const before = await readingsOf(fleet)
      assert.isNotEmpty((await fleet.memory.recall("desk", WORD, { kinds: ["message"] })).hits)
      const { deleted } = await fleet.vacuum()
      assert.strictEqual(deleted.entries, before.entries.length - 60)
      const after = await readingsOf(fleet)
      assert.deepStrictEqual(after.entries.slice(deleted.entries), before.entries.slice(deleted.entries))
      assert.strictEqual(after.entries.length, before.entries.length)
      assert.deepStrictEqual(after.usage, before.usage)
      assert.isTrue(after.verdict.equal)
      assert.deepStrictEqual(
        after.ticks.map(({ tick, outcome }) => [tick, outcome]),
        before.ticks.map(({ tick, outcome }) => [tick, outcome])
      )
      assert.match(
        String(after.entries[2]?.entry.messages[0]?.content),
        /^\[deleted by retention on \d{4}-\d\d-\d\d\]$/
      )
      const found = await fleet.memory.recall("desk", `${WORD} ship pier`, { kinds: ["message"], limit: 100 })
      const left = found.hits.map(({ entry }) => Number(entry.id.split("/")[1]))
      assert.isNotEmpty(left)
      assert.isTrue(left.every((no) => no > deleted.entries))
      assert.strictEqual((await fleet.send("desk", "again", { id: "m-3", from: "ann" })).outcome, "duplicate")
      await live(fleet, 5, 100)
      assert.isTrue((await fleet.replay.verify("desk")).equal)
      await fleet.close()
      assert.deepStrictEqual(filesWith(data, WORD), [])
      const exported = await Array.fromAsync(exportFleet({ from: { data } }))
      assert.notInclude(exported.join("\n"), WORD)
    }
  )

  it("a policy that is none is refused in one sentence that names it", () => {
    const define = (retention: object) => () => defineAssistant({ id: "desk", instructions: "x", retention })
    assert.throws(
      define({ archiveAfter: "soon" }),
      /retention.archiveAfter must be a number of entries, at least 1, or an age/
    )
    assert.throws(define({ deleteAfter: 0 }), /retention.deleteAfter must be/)
    assert.throws(define({ keep: 3 }), /retention has no "keep"/)
    const fleet = () =>
      defineFleet({
        assistants: [defineAssistant({ id: "desk", instructions: "x" })],
        tenants: { south: { retention: { deleteAfter: "-3d" } } }
      })
    assert.throws(fleet, /the retention of the tenant "south"/)
  })

  it("the policy of a tenant counts for its assistants that have none", { timeout: 60_000 }, async () => {
    const data = aDirectory()
    const fleet = await Fleet.open({
      data,
      fleet: defineFleet({
        assistants: [defineAssistant({ id: "desk", instructions: "You listen." })],
        tenants: { south: { retention: { archiveAfter: 5 } } }
      })
    })
    const south = fleet.forTenant("south")
    await south.create("desk")
    await live(fleet, 10)
    for (let each = 0; each < 10; each++) await south.send("desk", `Ship ${each}.`)
    await south.idle()
    assert.strictEqual((await fleet.vacuum()).archived.entries, 0)
    assert.isAbove((await south.vacuum()).archived.entries, 0)
    await fleet.close()
  })

  it("V3 whose definition the fleet does not have is left as it is, and counted", { timeout: 60_000 }, async () => {
    const data = aDirectory()
    const before = await openWith(data, { archiveAfter: false })
    await live(before, 30)
    await before.close()
    const fleet = await Fleet.open({
      data,
      role: "api",
      fleet: defineFleet({
        assistants: [defineAssistant({ id: "front", instructions: "You listen." })],
        tenants: { default: { retention: { archiveAfter: 1, deleteAfter: 1 } } }
      })
    })
    const nothing = { entries: 0, envelopes: 0 }
    for (const dryRun of [true, false]) {
      assert.deepInclude(await fleet.vacuum({ dryRun }), { archived: nothing, deleted: nothing, left: 1 })
    }
    await fleet.close()
  })

  it("a fork of a tick that was deleted is refused with the date", { timeout: 60_000 }, async () => {
    const fleet = await openWith(aDirectory(), { deleteAfter: 20 })
    await live(fleet, 30)
    await fleet.vacuum()
    const refusal = await failureOf(fleet.replay.source("desk", 2))
    assert.match(String(refusal), /deleted by retention on \d{4}-\d\d-\d\d/)
    await fleet.close()
  })
})
