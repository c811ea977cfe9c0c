// Forgetting in a life that has lost a segment: the rest is forgotten, and what became of the segment is said. The same of what a policy
// deletes.

import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "vitest"
import { defineAssistant, defineFleet, Fleet, type Retention } from "../src/index.ts"
import { aDirectory, failureOf, filesWith } from "./rig.ts"

const WORD = "kestrel-9713"

const openAt = (data: string, directory: string, retention: Retention = { archiveAfter: 10 }) =>
  Fleet.open({
    data,
    segments: { directory },
    fleet: defineFleet({
      assistants: [defineAssistant({ id: "desk", instructions: "You listen.", retention })]
    })
  })

const says = async (fleet: Fleet, from: number, to: number, text: (each: number) => string) => {
  for (let each = from; each < to; each++)
    await fleet.send("desk", text(each), { id: `m-${each}`, from: each % 2 ? "ann" : "bob" })
  await fleet.idle()
}

const segmentsIn = (directory: string): ReadonlyArray<string> =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

/** A life in one segment, with the word in it and behind it. */
const lived = async () => {
  const [data, directory] = [aDirectory(), aDirectory()]
  const fleet = await openAt(data, directory)
  await says(fleet, 0, 40, (each) => (each === 3 ? `The harbour code is ${WORD}.` : `Ship ${each} came to the pier.`))
  await fleet.vacuum()
  await says(fleet, 40, 44, (each) => (each === 41 ? `Was it ${WORD}?` : `The heron ${each} sat on the buoy.`))
  await fleet.close()
  const [file = ""] = segmentsIn(directory)
  const bytes = readFileSync(file)
  return { bytes, data, directory, file }
}

const damage = (bytes: Uint8Array) => bytes.map((byte, index) => (index === 60 ? byte ^ 1 : byte))

describe("forgetting where a segment is lost", () => {
  it(
    "L2 one is missing: the rest goes, the receipt names it, and put back it is forgotten, too",
    { timeout: 60_000 },
    async () => {
      const { bytes, data, directory, file } = await lived()
      rmSync(file)
      const fleet = await openAt(data, directory)
      const receipt = await fleet.forget({ text: WORD })
      assert.isAbove(receipt.gone["entry"] ?? 0, 0)
      const [lost] = receipt.unread ?? []
      assert.deepInclude(lost, { assistant: "desk", from: 1, state: "missing", comesBack: true })
      assert.include(file, lost?.segment ?? "none")
      assert.deepStrictEqual(filesWith(data, WORD), [])
      const { unknown = [], ...verdict } = await fleet.replay.verify("desk")
      assert.deepInclude(verdict, { equal: false, mismatches: [], differences: [], commits: 0 })
      assert.match(unknown[0]?.why ?? "", /is missing in/)
      assert.strictEqual(unknown[0]?.from, 1)
      assert.isNotEmpty((await fleet.memory.recall("desk", "heron buoy", { kinds: ["message"] })).hits)
      assert.deepStrictEqual((await fleet.forget({ text: WORD })).unread, receipt.unread)
      writeFileSync(file, bytes)
      const again = await fleet.forget({ text: WORD })
      assert.isAbove(again.gone["entry"] ?? 0, 0)
      assert.isUndefined(again.unread)
      assert.isTrue((await fleet.replay.verify("desk")).equal)
      assert.notInclude(JSON.stringify(await fleet.history.entries("desk", 1, 1_000)), WORD)
      await fleet.close()
    }
  )

  it(
    "L2 one is damaged: it goes where it may hold what is forgotten, and else it stays",
    { timeout: 60_000 },
    async () => {
      const { bytes, data, directory, file } = await lived()
      writeFileSync(file, damage(bytes))
      const fleet = await openAt(data, directory)
      const trial = await fleet.forget({ person: "ann" }, { dryRun: true })
      assert.deepInclude(trial.unread?.[0], { state: "removed", comesBack: true })
      const entries = await fleet.history.entries("desk", (trial.unread?.[0]?.to ?? 0) + 1, 1_000)
      const late = { messages: [`m/${entries.at(-2)?.entry.no}/0`], assistant: "desk" }
      assert.deepInclude((await fleet.forget(late)).unread?.[0], { state: "damaged", comesBack: true })
      assert.include(segmentsIn(directory), file)
      const since = entries[0]?.entry.at ?? 0
      assert.deepInclude((await fleet.forget({ since })).unread?.[0], { state: "removed", comesBack: true })
      assert.notInclude(segmentsIn(directory), file)
      assert.deepInclude((await fleet.forget({ since })).unread?.[0], { state: "missing", comesBack: true })
      await fleet.close()
    }
  )

  it("L1 all of an assistant: nothing of it is read again, whatever is put back", { timeout: 60_000 }, async () => {
    const { data, directory, file } = await lived()
    rmSync(dirname(file), { recursive: true })
    const fleet = await openAt(data, directory)
    const receipt = await fleet.forget({ assistant: "desk" })
    assert.deepInclude(receipt.unread?.[0], { state: "missing", comesBack: false })
    assert.isTrue((await fleet.replay.verify("desk")).equal)
    assert.deepStrictEqual((await fleet.vacuum()).segments?.missing ?? [], [])
    await fleet.close()
    assert.deepStrictEqual(filesWith(data, WORD), [])
  })

  it("L3 no place is named: nothing is forgotten instead", { timeout: 60_000 }, async () => {
    const { data } = await lived()
    const fleet = await Fleet.open({
      data,
      fleet: defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "You listen." })] })
    })
    assert.match(String(await failureOf(fleet.forget({ assistant: "desk" }))), /say `segments` or REVERIE_SEGMENTS/)
    await fleet.close()
  })
})

describe("a policy that deletes where a segment is lost", () => {
  it.each([
    ["missing", () => undefined],
    ["damaged", damage]
  ] as const)(
    "T5 one is %s: the rest loses its words, recall finds none of either, and what is put back is deleted",
    { timeout: 60_000 },
    async (_, change) => {
      const { bytes, data, directory, file } = await lived()
      const found = async (fleet: Fleet, words: string) =>
        (await fleet.memory.recall("desk", words, { kinds: ["message"], limit: 100 })).hits.map(
          ({ entry }) => entry.text
        )
      const before = await openAt(data, directory)
      assert.include((await found(before, `${WORD} harbour code`)).join(), "The harbour code")
      await before.close()
      const changed = change(bytes)
      if (changed === undefined) rmSync(file)
      else writeFileSync(file, changed)
      const policy: Retention = { archiveAfter: false, deleteAfter: 2 }
      const fleet = await openAt(data, directory, policy)
      assert.include((await found(fleet, `${WORD} harbour code`)).join(), "The harbour code")
      const { deleted } = await fleet.vacuum()
      assert.isAbove(deleted.entries, 0)
      assert.notInclude(segmentsIn(directory), file)
      assert.notMatch((await found(fleet, `${WORD} harbour code`)).join(), /harbour code|kestrel/)
      assert.include((await found(fleet, "heron buoy")).join(), "The heron 43")
      await says(fleet, 44, 46, (each) => `The tide ${each} was high.`)
      const next = await fleet.vacuum()
      assert.isAbove(next.deleted.entries, 0)
      assert.isTrue((await fleet.replay.verify("desk")).differences.length === 0)
      writeFileSync(file, bytes)
      const last = await fleet.vacuum()
      assert.isAbove(last.deleted.entries, deleted.entries)
      assert.isTrue((await fleet.replay.verify("desk")).equal)
      assert.notInclude(JSON.stringify(await fleet.history.entries("desk", 1, 1_000)), WORD)
      assert.notMatch((await found(fleet, `${WORD} harbour code`)).join(), /harbour code|kestrel/)
      await fleet.close()
      assert.deepStrictEqual(filesWith(data, WORD), [])
      assert.deepStrictEqual(filesWith(directory, WORD), [])
    }
  )
})
