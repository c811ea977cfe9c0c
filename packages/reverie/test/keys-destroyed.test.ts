// An older backup beside the keys of now: who was forgotten meanwhile is closed, and the others are as they were.

import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Script } from "@reverie/testkit"
import { copyFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { backup, BlockUnreadable, defineAssistant, defineFleet, restore, rotateKeys } from "../src/index.ts"
import { aDirectory, failureOf, openFleet } from "./rig.ts"

const says: Script = () => Effect.succeed({ text: "Noted." })

const turned = (bytes: Uint8Array) => Promise.resolve(Uint8Array.from(bytes, (byte) => byte ^ 0x5a))
const encryption = { key: { wrap: turned, unwrap: turned } }

const board = { label: "board", type: "core", description: "The notice board.", content: "Fog until noon." } as const
const fleet = defineFleet({
  assistants: ["desk", "clerk"].map((id) =>
    defineAssistant({ id, instructions: "You are under test.", blocks: [board] })
  )
})

/** A directory as it was before the desk was forgotten, with the keys of after. */
const asBefore = async () => {
  const [data, copy] = [aDirectory(), aDirectory()]
  const first = await openFleet({ data, says, encryption, fleet })
  for (const id of ["desk", "clerk"]) {
    const data = Buffer.from(`attached of ${id}`).toString("base64")
    await first.send(id, "The Aurora comes.", { parts: [{ type: "file", mediaType: "text/plain", data }] })
  }
  await first.idle()
  const [block] = await first.blocks.list("desk")
  await backup({ data, to: copy })
  const former = join(data, "..", "keys-of-then.db")
  copyFileSync(join(data, "keys.db"), former)
  await first.forget({ assistant: "desk" })
  await first.close()
  await restore({ from: copy, data, force: true })
  return { data, former, block: block?.id ?? "" }
}

describe("data keys that are destroyed", () => {
  it("I4 blocks of who was forgotten hide no block of another, and the fleet that defines both opens", async () => {
    const { block, data } = await asBefore()
    await using again = await openFleet({ data, says, encryption, fleet })
    assert.deepStrictEqual(
      (await again.blocks.list()).map(({ owner }) => owner),
      ["clerk"]
    )
    assert.deepStrictEqual(await again.blocks.list("desk"), [])
    assert.lengthOf(await again.blocks.list("clerk"), 1)
    assert.instanceOf(await failureOf(again.blocks.load(block)), BlockUnreadable)
    assert.strictEqual(await again.answer("clerk", "Hi."), "Noted.")
    assert.isTrue((await again.replay.verify("clerk")).equal)
  })

  it("P5 who can not be read is forgotten whole: by name, and with everything", async () => {
    for (const what of [{ assistant: "desk" }, { everything: true }] as const) {
      const { data } = await asBefore()
      const again = await openFleet({ data, says, encryption, fleet })
      const receipt = await again.forget(what)
      assert.strictEqual(receipt.assistants, "everything" in what ? 2 : 1)
      const { state } = (await again.inspect("desk")) ?? {}
      assert.strictEqual(state?.status, "retired")
      assert.isTrue((await again.replay.verify("desk")).equal)
      assert.isTrue((await again.replay.verify("clerk")).equal)
      assert.lengthOf((await again.history.ticks("desk")).ticks, 0)
      await again.close()
      const database = new DatabaseSync(join(data, "reverie.db"), { readOnly: true })
      const count = (table: string) => Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"])
      // What the clerk was sent is in use, and what the desk was sent is not.
      assert.strictEqual(count("blobs"), "everything" in what ? 0 : 1)
      assert.strictEqual(count("blocks"), "everything" in what ? 0 : 1)
      database.close()
    }
  })

  it("Z2 other data keys leave what does not open as it is: the keys that open it may be put back", async () => {
    const { data, former } = await asBefore()
    await rotateKeys({ data, encryption, renew: true })
    copyFileSync(former, join(data, "keys.db"))
    await using again = await openFleet({ data, says, encryption, fleet })
    assert.isTrue((await again.replay.verify("desk")).equal)
    assert.lengthOf(await again.blocks.list("desk"), 1)
  })

  it("P5 U1 its segments go with it", async () => {
    const retention = { archiveAfter: 10, deleteAfter: 200 }
    const old = defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "You listen.", retention })] })
    const [data, copy] = [aDirectory(), aDirectory()]
    const first = await openFleet({ data, says, encryption, fleet: old })
    for (let each = 0; each < 40; each++) await first.send("desk", `Ship ${each} came in.`, { id: `m-${each}` })
    await first.idle()
    await first.vacuum()
    await backup({ data, to: copy })
    await first.forget({ assistant: "desk" })
    await first.close()
    await restore({ from: copy, data, force: true })
    const rowsIn = (table: string): number => {
      const database = new DatabaseSync(join(data, "reverie.db"), { readOnly: true })
      const count = Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"])
      database.close()
      return count
    }
    assert.isAbove(rowsIn("segments"), 0)
    const again = await openFleet({ data, says, encryption, fleet: old })
    await again.forget({ assistant: "desk" })
    assert.isTrue((await again.replay.verify("desk")).equal)
    await again.close()
    assert.strictEqual(rowsIn("segments"), 0)
  })
})
