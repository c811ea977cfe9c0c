import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import type { Script } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import {
  backup,
  encrypt,
  exportFleet,
  defineAssistant,
  defineFleet,
  type Fleet,
  importFleet,
  restore,
  rotateKeys,
  StoreSealed,
  UnreadableRecord
} from "../src/index.ts"
import { aDirectory, failureOf, filesWith, openFleet } from "./rig.ts"

const CANARY = "kestrel-9713"
const NAME = "Ophelia Quillfeather"

/** A service that wraps by turning bits: what it is given is nothing that it keeps. */
const service = (mask: number) => {
  const turned = (bytes: Uint8Array) => Promise.resolve(Uint8Array.from(bytes, (byte) => byte ^ mask))
  return { key: { wrap: turned, unwrap: turned } }
}

const encryption = service(0x5a)

const says: Script = () => Effect.succeed({ text: `I shall remember ${CANARY}.` })

/** Lets a desk hear, say, keep and dream of a text in every way there is. */
const live = async (fleet: Fleet): Promise<void> => {
  await fleet.send("desk", `The code of ${NAME} is ${CANARY}. ${NAME} lives in Ghent.`, { id: "m-1", from: NAME })
  await fleet.send("clerk", `Tell no one about ${CANARY}.`, {
    id: "m-2",
    parts: [{ type: "file", mediaType: "text/plain", data: Buffer.from(`attached ${CANARY}`).toString("base64") }]
  })
  await fleet.idle()
  const block = await fleet.blocks.create({ owner: "desk", label: "notes", type: "core", content: `Says ${CANARY}.` })
  await fleet.blocks.edit(block.block, { op: "set_text", text: `Said ${CANARY} again.` })
  await fleet.sleep("desk")
  await fleet.idle()
}

const found = async (fleet: Fleet, text: string): Promise<ReadonlyArray<string>> =>
  (await fleet.memory.recall("desk", text, { limit: 5 })).hits.map(({ entry }) => entry.text)

/** Files in which something stands in the clear; those of the directory itself, and those that are kept beside it. */
const inTheClear = (folder: string): ReadonlyArray<string> =>
  [CANARY, NAME, "Ghent", "attached"].flatMap((text) => filesWith(folder, text))

describe("encryption at rest", () => {
  it("S3 of a backup of before, who was forgotten meanwhile can not be read, and the others work on", async () => {
    const [data, copy] = [aDirectory(), aDirectory()]
    const fleet = await openFleet({ data, says, encryption })
    for (const id of ["desk", "clerk"]) await fleet.send(id, `The code is ${CANARY}.`)
    await fleet.idle()
    await backup({ data, to: copy })
    await fleet.forget({ assistant: "clerk" })
    await fleet.close()
    const { lacking } = await restore({ from: copy, data, force: true })
    assert.deepStrictEqual(lacking, { assistants: ["default/clerk"], isAll: false })
    const bare = aDirectory()
    assert.isTrue((await restore({ from: copy, data: bare })).lacking?.isAll)
    const again = await openFleet({ data, says, encryption })
    assert.include(await again.answer("desk", "What is it?"), CANARY)
    const failure = await failureOf(again.inspect("clerk"))
    assert.instanceOf(failure, UnreadableRecord)
    assert.match(failure.message, /it is sealed, and does not open: .*its key is gone/)
    await again.close()
  })

  it("Z3 an earlier store that a restore keeps in the directory is named, and nothing is encrypted before it is gone", async () => {
    const [data, copy] = [aDirectory(), aDirectory()]
    await using fleet = await openFleet({ data, says })
    await fleet.send("desk", `The code is ${CANARY}.`)
    await fleet.idle()
    await fleet.close()
    await backup({ data, to: copy })
    await restore({ from: copy, data, force: true })
    const failure = await failureOf(encrypt({ data, encryption }))
    assert.instanceOf(failure, StoreSealed)
    const kept = readdirSync(data).find((name) => name.includes("-before-restore-")) ?? ""
    assert.include(failure.message, kept)
    rmSync(join(data, kept), { recursive: true })
    await encrypt({ data, encryption })
    assert.deepStrictEqual(filesWith(data, CANARY), [])
  })

  it("L1 N1 leaves nothing in the clear in any file, while a fleet answers, remembers, dreams, replays, forgets and exports", async () => {
    const data = aDirectory()
    const fleet = await openFleet({ data, says, encryption })
    await live(fleet)
    assert.deepStrictEqual(inTheClear(data), [])
    assert.include((await found(fleet, "the code")).join(), CANARY)
    assert.isTrue((await fleet.replay.verify("desk")).equal)
    await fleet.close()
    assert.deepStrictEqual(inTheClear(data), [])
    const again = await openFleet({ data, says, encryption })
    assert.include((await found(again, "the code")).join(), CANARY)
    assert.isTrue((await again.replay.verify("desk")).equal)
    await again.send("desk", "Go on.", { id: "m-9" })
    await again.idle()
    await again.forget({ text: CANARY })
    assert.notInclude((await found(again, "the code")).join(), CANARY)
    assert.isTrue((await again.replay.verify("desk")).equal)
    await again.close()
  })

  it("L1 records are read in the order of their keys, and found by them, as in the clear", async () => {
    const [clear, sealed] = [
      await openFleet({ data: aDirectory(), says }),
      await openFleet({ data: aDirectory(), says, encryption })
    ]
    const seen = []
    for (const fleet of [clear, sealed]) {
      await live(fleet)
      seen.push({ facts: await fleet.memory.facts("desk"), profiles: await fleet.memory.profiles("desk") })
      await fleet.close()
    }
    assert.deepStrictEqual(seen[0], seen[1])
  })

  it("Z1 Z3 encrypts a directory that was in the clear: nothing of it is left, and everything reads as before", async () => {
    const data = aDirectory()
    const fleet = await openFleet({ data, says })
    await live(fleet)
    const before = await fleet.history.ticks("desk")
    await fleet.close()
    assert.isNotEmpty(inTheClear(data))
    assert.match(
      String(await failureOf(openFleet({ data, says, encryption }))),
      /not encrypted yet; run `reverie encrypt`/
    )
    const { rows } = await encrypt({ data, encryption })
    assert.isAbove(rows, 0)
    assert.deepStrictEqual(inTheClear(data), [])
    assert.match(String(await failureOf(encrypt({ data, encryption }))), /encrypted already/)
    const again = await openFleet({ data, says, encryption })
    assert.deepStrictEqual(await again.history.ticks("desk"), before)
    assert.isTrue((await again.replay.verify("desk")).equal)
    assert.include((await found(again, "the code")).join(), CANARY)
    await again.close()
    assert.deepStrictEqual(inTheClear(data), [])
  })

  it("Z3 what a reader kept in the files, or a process that ended on the way, the next start takes away", async () => {
    const data = aDirectory()
    const fleet = await openFleet({ data, says })
    await live(fleet)
    await fleet.close()
    // Who reads keeps the log from being emptied: so it is too when a process ends before it could.
    const reader = new DatabaseSync(join(data, "reverie.db"), { readOnly: true })
    reader.exec("BEGIN")
    reader.prepare("SELECT count(*) FROM ledger").get()
    assert.match(
      String(await failureOf(encrypt({ data, encryption }))),
      /it is encrypted, and another program reads it/
    )
    assert.isNotEmpty(inTheClear(data))
    reader.close()
    const again = await openFleet({ data, says, encryption })
    assert.deepStrictEqual(inTheClear(data), [])
    assert.isTrue((await again.replay.verify("desk")).equal)
    await again.close()
  })

  it("Z3 an encrypting that was broken off is finished by the next one, which without its key changes nothing", async () => {
    const data = aDirectory()
    const fleet = await openFleet({ data, says })
    await live(fleet)
    await fleet.close()
    const index = readFileSync(join(data, "recall.db"))
    const reader = new DatabaseSync(join(data, "reverie.db"), { readOnly: true })
    reader.exec("BEGIN")
    reader.prepare("SELECT count(*) FROM ledger").get()
    assert.match(String(await failureOf(encrypt({ data, encryption }))), /another program reads it/)
    assert.match(String(await failureOf(encrypt({ data, encryption }))), /another program reads it/)
    reader.close()
    // As of a process that ended before it removed the index.
    writeFileSync(join(data, "recall.db"), index)
    assert.match(String(await failureOf(encrypt({ data, encryption: service(0x11) }))), /does not open its keys/)
    assert.isNotEmpty(inTheClear(data))
    assert.strictEqual((await encrypt({ data, encryption })).rows, 0)
    assert.deepStrictEqual(inTheClear(data), [])
    assert.match(String(await failureOf(encrypt({ data, encryption }))), /encrypted already/)
    const again = await openFleet({ data, says, encryption })
    assert.isTrue((await again.replay.verify("desk")).equal)
    assert.include((await found(again, "the code")).join(), CANARY)
    await again.close()
  })

  it("O1 without its key, with another one, or without its keys it is refused in one line, and nothing changes", async () => {
    const data = aDirectory()
    const fleet = await openFleet({ data, says, encryption })
    await live(fleet)
    await fleet.close()
    const refused = async (options: Parameters<typeof openFleet>[0], words: RegExp) => {
      const error = await failureOf(openFleet({ data, says, ...options }))
      assert.instanceOf(error, StoreSealed)
      assert.match(error.message, words)
      assert.notInclude(error.message, "\n")
    }
    await refused({}, /no key is given; set REVERIE_KEY/)
    await refused(
      { encryption: { key: { env: "REVERIE_NO_SUCH_KEY" } } },
      /REVERIE_NO_SUCH_KEY, which the environment does not set/
    )
    await refused({ encryption: { key: { file: "/no/such/file" } } }, /\/no\/such\/file, which can not be read/)
    await refused({ encryption: service(0x11) }, /does not open its keys/)
    await refused(
      { encryption: { ...encryption, keys: join(data, "elsewhere.db") } },
      /its keys are not there; put .*elsewhere.db back/
    )
    const elsewhere = { data, encryption: { ...encryption, keys: join(data, "elsewhere.db") } }
    for (const verb of [encrypt, rotateKeys]) {
      assert.match(String(await failureOf(verb(elsewhere))), /its keys are not there; put .*elsewhere.db back/)
    }
    assert.isFalse(existsSync(join(data, "elsewhere.db")))
    const again = await openFleet({ data, says, encryption })
    assert.isTrue((await again.replay.verify("desk")).equal)
    await again.close()
  })

  it("S3 K3 a copy from before an assistant was forgotten does not open with the keys of now, whole or in part", async () => {
    const data = aDirectory()
    const fleet = await openFleet({ data, says, encryption })
    await live(fleet)
    const [copied, backed] = [aDirectory(), aDirectory()]
    await backup({ data, to: backed })
    assert.isFalse(existsSync(join(backed, "keys.db")))
    await fleet.forget({ assistant: "desk" })
    assert.isTrue((await fleet.replay.verify("desk")).equal)
    assert.isTrue((await fleet.replay.verify("clerk")).equal)
    await fleet.close()
    await restore({ from: backed, data: copied })
    cpSync(join(data, "keys.db"), join(copied, "keys.db"))
    const fleetOf = defineFleet({ assistants: [defineAssistant({ id: "clerk", instructions: "You are under test." })] })
    const old = await openFleet({ data: copied, says, encryption, fleet: fleetOf })
    assert.instanceOf(await failureOf(old.history.ticks("desk")), UnreadableRecord)
    assert.instanceOf(await failureOf(old.inspect("desk")), UnreadableRecord)
    for (const reading of [() => old.memory.records("desk"), () => found(old, "the code")]) {
      const read = await reading().catch(String)
      assert.notInclude(JSON.stringify(read), CANARY)
    }
    assert.isNotEmpty((await old.history.ticks("clerk")).ticks)
    await old.close()
  })

  it("B6 a backup with its keys is opened elsewhere by the master key alone, and puts its keys in the place of others", async () => {
    const data = aDirectory()
    const [backed, elsewhere] = [aDirectory(), aDirectory()]
    assert.match(String(await failureOf(backup({ data, to: backed, keys: true }))), /no Reverie data/)
    const fleet = await openFleet({ data, says, encryption })
    await live(fleet)
    const { files } = await backup({ data, to: backed, keys: true })
    assert.include(
      files.map(({ name }) => name),
      "keys.db"
    )
    assert.deepStrictEqual(inTheClear(backed), [])
    await fleet.close()
    for (const round of ["first", "in the place of what is there"]) {
      const { former } = await restore({ from: backed, data: elsewhere, force: round !== "first" })
      // The keys of before are kept beside, with what was written ahead of them.
      assert.strictEqual(former !== undefined && existsSync(join(former, "keys.db")), round !== "first")
      const there = await openFleet({ data: elsewhere, says, encryption })
      assert.include((await found(there, "the code")).join(), CANARY, round)
      assert.isTrue((await there.replay.verify("desk")).equal)
      await there.forget({ assistant: "desk" })
      await there.close()
    }
    assert.match(
      String(await failureOf(openFleet({ data: elsewhere, says, encryption: service(0x33) }))),
      /does not open/
    )
    const clear = aDirectory()
    await (await openFleet({ data: clear, says })).close()
    assert.match(
      String(await failureOf(backup({ data: clear, to: aDirectory(), keys: true }))),
      /there are no keys in .*keys\.db/
    )
  })

  it("K4 other keys: the master changes and no row does; with `renew` all rows do, and what was copied with the keys of before is closed", async () => {
    const data = aDirectory()
    const fleet = await openFleet({ data, says, encryption })
    await live(fleet)
    await fleet.close()
    const next = service(0x33)
    const rotated = await rotateKeys({ data, encryption, to: next.key })
    assert.isAbove(rotated.keys, 1)
    assert.strictEqual(rotated.rows, 0)
    assert.match(String(await failureOf(openFleet({ data, says, encryption }))), /does not open its keys/)
    const renewed = await rotateKeys({ data, encryption: next, renew: true })
    assert.isAbove(renewed.rows, 0)
    const again = await openFleet({ data, says, encryption: next })
    assert.isTrue((await again.replay.verify("desk")).equal)
    assert.include((await found(again, "the code")).join(), CANARY)
    await again.close()
    assert.deepStrictEqual(inTheClear(data), [])
  })

  it("S1 what was changed, and what was put in another place, does not open; the others do", async () => {
    const data = aDirectory()
    const fleet = await openFleet({ data, says, encryption })
    await live(fleet)
    await fleet.close()
    const database = new DatabaseSync(join(data, "reverie.db"))
    const key = (id: string) => Number(database.prepare("SELECT key FROM assistants WHERE id = ?").get(id)?.["key"])
    // The first entries of two assistants change places, and a bit of a record is turned.
    const [desk, clerk] = [key("desk"), key("clerk")]
    const entry = (of: number) =>
      database.prepare("SELECT seq, body FROM ledger WHERE assistant = ? AND no = 2").get(of)
    const [mine, theirs] = [entry(desk), entry(clerk)]
    database.prepare("UPDATE ledger SET body = ? WHERE seq = ?").run(theirs?.["body"] ?? null, mine?.["seq"] ?? null)
    database.close()
    const again = await openFleet({ data, says, encryption })
    assert.match(String(await failureOf(again.history.ticks("desk"))), /UnreadableRecord|sealed/)
    assert.isNotEmpty((await again.history.ticks("clerk")).ticks)
    await again.close()
  })

  it("an export is in the clear, and moves into an encrypted directory", async () => {
    const data = aDirectory()
    const fleet = await openFleet({ data, says, encryption })
    await live(fleet)
    const before = await fleet.history.ticks("desk")
    await fleet.close()
    let text = ""
    for await (const line of exportFleet({ from: { data, encryption } })) text += line
    assert.include(text, CANARY)
    const other = aDirectory()
    await importFleet({ into: { data: other, encryption }, source: () => ReadableStream.from([text]) })
    assert.deepStrictEqual(inTheClear(other), [])
    const again = await openFleet({ data: other, says, encryption })
    assert.deepStrictEqual(await again.history.ticks("desk"), before)
    await again.close()
  })

  it("a database of a deployment, and an index at a server, are never said to be encrypted", async () => {
    const deployment = { database: "postgres://nowhere.invalid/reverie" }
    assert.match(
      String(await failureOf(openFleet({ data: undefined as never, deployment, encryption }))),
      /a database is not encrypted by Reverie/
    )
    const recall = { url: "http://nowhere.invalid:6333" }
    assert.match(
      String(await failureOf(openFleet({ data: aDirectory(), recall, encryption }))),
      /an index at a server would hold its texts in the clear/
    )
  })
})
