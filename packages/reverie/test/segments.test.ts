// Segments apart: the older part of lives lies in a directory or in a storage of the program, and reads, moves and is forgotten as ever.

import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import {
  backup,
  defineAssistant,
  defineFleet,
  describeIndex,
  encrypt,
  type Encryption,
  exportFleet,
  Fleet,
  FleetReader,
  restore,
  type Retention,
  rotateKeys,
  type SegmentsChoice,
  type SegmentStorage
} from "../src/index.ts"
import { aDirectory, failureOf, filesWith } from "./rig.ts"

const WORD = "kestrel-9713"

const RETENTION: Retention = { archiveAfter: 10, deleteAfter: 200 }

const openWith = (data: string, segments: SegmentsChoice | undefined, retention = RETENTION, encryption?: Encryption) =>
  Fleet.open({
    data,
    fleet: defineFleet({
      assistants: [defineAssistant({ id: "desk", instructions: "You listen.", retention })]
    }),
    ...(segments && { segments }),
    ...(encryption && { encryption })
  })

const live = async (fleet: Fleet, messages: number): Promise<void> => {
  for (let each = 0; each < messages; each++) {
    const text = each === 3 ? `The harbour code is ${WORD}.` : `Ship ${each} came in at the pier ${each % 7}.`
    await fleet.send("desk", text, { id: `m-${each}`, from: "ann" })
  }
  await fleet.idle()
}

const readingsOf = async (fleet: Fleet) => ({
  entries: await fleet.history.entries("desk", 1, 10_000),
  frames: await Array.fromAsync(fleet.replay.frames("desk")),
  verdict: await fleet.replay.verify("desk")
})

const segmentFiles = (directory: string): ReadonlyArray<string> =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

/** A bucket, over the methods that an S3 client has. */
const bucket = () => {
  const objects = new Map<string, Uint8Array>()
  const storage: SegmentStorage = {
    name: "s3://harbor",
    put: (key, bytes) => Promise.resolve(objects.set(key, Uint8Array.from(bytes))),
    get: (key) => Promise.resolve(objects.get(key)),
    remove: (keys) => Promise.resolve(keys.forEach((key) => objects.delete(key))),
    list: (prefix) =>
      Promise.resolve(
        [...objects].flatMap(([key, { length }]) => (key.startsWith(prefix) ? [{ key, bytes: length }] : []))
      )
  }
  return { objects, storage }
}

describe("segments", () => {
  it(
    "S1 R9 older entries lie in the directory, read and replay as before, export, and are forgotten there",
    { timeout: 60_000 },
    async () => {
      const [data, directory] = [aDirectory(), aDirectory()]
      const fleet = await openWith(data, { directory })
      await live(fleet, 40)
      const before = await readingsOf(fleet)
      const report = await fleet.vacuum()
      assert.strictEqual(report.segments?.place, directory)
      assert.strictEqual(report.segments?.segments, segmentFiles(directory).length)
      assert.isAbove(report.segments?.segments ?? 0, 0)
      assert.deepStrictEqual(await readingsOf(fleet), before)
      const exported = await Array.fromAsync(exportFleet({ from: { data, segments: { directory } } }))
      assert.include(exported.join("\n"), WORD)
      const former = segmentFiles(directory)
      await fleet.forget({ text: WORD })
      assert.isTrue((await fleet.replay.verify("desk")).equal)
      assert.deepStrictEqual(
        segmentFiles(directory).filter((file) => former.includes(file)),
        []
      )
      await fleet.close()
      assert.deepStrictEqual(filesWith(data, WORD), [])
    }
  )

  it(
    "a storage of the program holds them, and what it refuses is done the next time",
    { timeout: 60_000 },
    async () => {
      const { objects, storage } = bucket()
      let isDown = true
      const put: SegmentStorage["put"] = (key, bytes) =>
        isDown ? Promise.reject(new Error("403 Forbidden")) : storage.put(key, bytes)
      const fleet = await openWith(aDirectory(), { ...storage, put })
      await live(fleet, 40)
      const before = await readingsOf(fleet)
      assert.match(String(await failureOf(fleet.vacuum())), /s3:\/\/harbor: 403 Forbidden/)
      assert.deepStrictEqual(await readingsOf(fleet), before)
      isDown = false
      assert.deepInclude((await fleet.vacuum()).segments, { place: "s3://harbor", segments: objects.size, missing: [] })
      assert.deepStrictEqual(await readingsOf(fleet), before)
      await fleet.close()
    }
  )

  it(
    "T2 what a deletion that broke off left there is found again, also when the policy keeps it from then on",
    { timeout: 60_000 },
    async () => {
      const { storage } = bucket()
      const [data, put] = [aDirectory(), () => Promise.reject(new Error("403 Forbidden"))]
      const fleet = await openWith(data, { ...storage, put }, { archiveAfter: false, deleteAfter: 20 })
      await live(fleet, 40)
      assert.isNotEmpty((await fleet.memory.recall("desk", WORD, { kinds: ["message"] })).hits)
      assert.match(String(await failureOf(fleet.vacuum())), /403 Forbidden/)
      await fleet.close()
      const kept = await openWith(data, storage, { archiveAfter: false })
      assert.include(JSON.stringify(await kept.history.entries("desk", 1, 100)), WORD)
      assert.isNotEmpty((await kept.memory.recall("desk", WORD, { kinds: ["message"] })).hits)
      await kept.close()
    }
  )

  it.each([true, false])(
    "T2 who asks while it is deleted brings nothing of it back, asked before: %s",
    { timeout: 60_000 },
    async (isKnown) => {
      const { storage } = bucket()
      const data = aDirectory()
      let asked = 0
      const ask = (fleet: Fleet) =>
        fleet.memory.recall("desk", `${WORD} harbour code`, { kinds: ["message"], limit: 100 })
      const fleet: Fleet = await openWith(
        data,
        {
          ...storage,
          put: async (key, bytes) => {
            asked += (await ask(fleet)).hits.length
            await storage.put(key, bytes)
          }
        },
        { archiveAfter: false, deleteAfter: 25 }
      )
      await live(fleet, 20)
      if (isKnown) assert.isNotEmpty((await ask(fleet)).hits)
      assert.isAbove((await fleet.vacuum()).deleted.entries, 0)
      assert.isAbove(asked, 0)
      assert.notInclude(JSON.stringify((await ask(fleet)).hits), WORD)
      await fleet.close()
      assert.deepStrictEqual(filesWith(data, WORD), [])
    }
  )

  it.each(["lost", "of an earlier day"])(
    "I7 an index that is %s while a segment is away lacks what is in it, says so, and has it again once that is back",
    { timeout: 60_000 },
    async (kind) => {
      const [data, directory, away] = [aDirectory(), aDirectory(), aDirectory()]
      const hitsOf = async (fleet: Fleet) => (await fleet.memory.recall("desk", WORD, { kinds: ["message"] })).hits
      const index = join(data, "recall.db")
      mkdirSync(away)
      const first = await openWith(data, { directory })
      await live(first, 2)
      await first.memory.index.catchUp()
      await first.close()
      copyFileSync(index, join(away, "recall.db"))
      const fleet = await openWith(data, { directory })
      await live(fleet, 40)
      await fleet.vacuum()
      assert.isNotEmpty(await hitsOf(fleet))
      await fleet.close()
      const files = segmentFiles(directory)
      files.forEach((file, at) => renameSync(file, join(away, String(at))))
      rmSync(index)
      if (kind !== "lost") copyFileSync(join(away, "recall.db"), index)
      const without = await openWith(data, { directory })
      await without.memory.index.catchUp()
      const { lag, ...told } = await without.memory.index.status()
      assert.isAbove(lag.unread ?? 0, 0)
      assert.match(
        describeIndex({ lag, ...told }),
        /\d+ entries not in it because their segment could not be read, nothing else/
      )
      assert.isEmpty(await hitsOf(without))
      assert.isNotEmpty((await without.memory.recall("desk", "pier", { kinds: ["message"] })).hits)
      await without.close()
      files.forEach((file, at) => renameSync(join(away, String(at)), file))
      const again = await openWith(data, { directory })
      assert.isNotEmpty(await hitsOf(again))
      assert.deepStrictEqual((await again.memory.index.status()).lag, { entries: 0, assistants: 0 })
      await again.close()
    }
  )

  it("one that lacks is named, and a reader without the place says what to give", { timeout: 60_000 }, async () => {
    const [data, directory] = [aDirectory(), aDirectory()]
    const fleet = await openWith(data, { directory })
    await live(fleet, 40)
    await fleet.vacuum()
    const [file = ""] = segmentFiles(directory)
    rmSync(file)
    assert.lengthOf((await fleet.vacuum({ dryRun: true })).segments?.missing ?? [], 1)
    const failure = await failureOf(fleet.history.entries("desk", 1, 5))
    assert.match(String(failure), /segment \S+ is missing in .*put it back/)
    await fleet.close()
    const reader = await FleetReader.open(data)
    assert.deepInclude(await reader.segments(), { place: "no place is given" })
    assert.match(String(await failureOf(reader.history.entries("desk", 1, 5))), /say `segments` or REVERIE_SEGMENTS/)
    await reader[Symbol.asyncDispose]()
  })

  it(
    "a backup takes them along and puts them back; one that does not know where they lie says how many it lacks",
    { timeout: 60_000 },
    async () => {
      const [data, directory, copy, bare] = [aDirectory(), aDirectory(), aDirectory(), aDirectory()]
      const fleet = await openWith(data, { directory })
      await live(fleet, 40)
      await fleet.vacuum()
      const before = await readingsOf(fleet)
      const count = segmentFiles(directory).length
      assert.isUndefined((await backup({ data, to: copy, segments: { directory } })).segmentsLeft)
      assert.strictEqual((await backup({ data, to: bare })).segmentsLeft, count)
      await fleet.close()
      const [again, elsewhere] = [aDirectory(), aDirectory()]
      assert.match(String(await failureOf(restore({ from: copy, data: again }))), /name their place/)
      await restore({ from: copy, data: again, segments: { directory: elsewhere } })
      assert.strictEqual(segmentFiles(elsewhere).length, count)
      const restored = await openWith(again, { directory: elsewhere })
      assert.deepStrictEqual(await readingsOf(restored), before)
      await restored.close()
      const [gone = ""] = segmentFiles(directory)
      rmSync(gone)
      const request = { data, to: copy, segments: { directory }, force: true }
      assert.match(String(await failureOf(backup(request))), /is missing in .*--without-lost/)
      const { segmentsLeft, segmentsLost = [] } = await backup({ ...request, withoutLost: true })
      assert.deepStrictEqual([segmentsLeft, segmentsLost.length], [undefined, 1])
      assert.include(gone, segmentsLost[0] ?? "none")
      const [part, rest] = [aDirectory(), aDirectory()]
      await restore({ from: copy, data: part, segments: { directory: rest } })
      const holed = await openWith(part, { directory: rest })
      assert.deepStrictEqual((await holed.vacuum({ dryRun: true })).segments?.missing, segmentsLost)
      await live(holed, 80)
      assert.isAbove((await holed.vacuum()).archived.entries, 0)
      await holed.close()
    }
  )

  it(
    "a segment that moves on while a backup takes them refuses that backup, and the next one is whole",
    { timeout: 60_000 },
    async () => {
      const [data, to] = [aDirectory(), aDirectory()]
      const { storage } = bucket()
      const fleet = await openWith(data, storage)
      await live(fleet, 40)
      await fleet.vacuum()
      let forgetting: Promise<unknown> | undefined
      const get: SegmentStorage["get"] = async (key) => {
        // The database is copied by now, and refers to what is about to go.
        await (forgetting ??= fleet.forget({ text: WORD }))
        return storage.get(key)
      }
      const { message } = await failureOf(backup({ data, to, segments: { ...storage, get } }))
      assert.match(message, /is missing in .*; it moved on while the backup was made: make it again/)
      assert.isFalse(existsSync(to))
      const before = await readingsOf(fleet)
      assert.isUndefined((await backup({ data, to, segments: { ...storage, get } })).segmentsLeft)
      await fleet.close()
      const again = aDirectory()
      const { objects, storage: elsewhere } = bucket()
      await restore({ from: to, data: again, segments: elsewhere })
      assert.isAbove(objects.size, 0)
      const restored = await openWith(again, elsewhere)
      assert.deepStrictEqual(await readingsOf(restored), before)
      await restored.close()
    }
  )

  it(
    "a directory of a fleet becomes encrypted and is given other keys, and what lies apart with it",
    { timeout: 60_000 },
    async () => {
      const [data, directory, key] = [aDirectory(), aDirectory(), aDirectory()]
      writeFileSync(key, "7".repeat(64))
      const [segments, encryption] = [{ directory }, { key: { file: key } }]
      const fleet = await openWith(data, segments)
      await live(fleet, 60)
      await fleet.vacuum()
      const before = await readingsOf(fleet)
      await fleet.close()
      const clear = segmentFiles(directory)
      assert.isNotEmpty(clear)
      const refused = await failureOf(encrypt({ data, encryption }))
      assert.include(refused.message, "older segments of it lie in a place apart; name that")
      await encrypt({ data, encryption, segments })
      const sealed = segmentFiles(directory)
      assert.deepStrictEqual([clear.filter((file) => sealed.includes(file)), sealed.length], [[], clear.length])
      await rotateKeys({ data, encryption, renew: true, segments })
      const renewed = segmentFiles(directory)
      assert.deepStrictEqual([sealed.filter((file) => renewed.includes(file)), renewed.length], [[], clear.length])
      const again = await openWith(data, segments, RETENTION, encryption)
      assert.deepStrictEqual(await readingsOf(again), before)
      await again.forget({ text: WORD })
      await again.vacuum()
      assert.isTrue((await again.replay.verify("desk")).equal)
      await again.close()
    }
  )

  it("what can be no place is refused by who would write there, before a message is taken", async () => {
    const file = aDirectory()
    writeFileSync(file, "not a directory")
    const data = aDirectory()
    const refused = await failureOf(openWith(data, { directory: file }))
    assert.strictEqual(
      refused.message,
      `segments: ${file} is no directory; name a directory that can be written, or one that is to be made`
    )
    const below = await failureOf(openWith(data, { directory: join(file, "below") }))
    assert.match(below.message, /^segments: ENOTDIR/)
    assert.match(
      (await failureOf(backup({ data, to: aDirectory(), segments: { directory: file } }))).message,
      /no directory/
    )
  })

  it("a choice that is none is refused in one sentence", async () => {
    const open = (segments: unknown) => failureOf(openWith(aDirectory(), segments as SegmentsChoice))
    assert.match(String(await open({ directory: 3 })), /segments must name its directory/)
    assert.match(String(await open({ put: () => undefined })), /segments must be \{ directory: "PATH" \} or an object/)
  })
})
