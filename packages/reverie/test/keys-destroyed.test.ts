// An older backup beside the keys of now: who was forgotten meanwhile is closed, and the others are as they were.

import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Script } from "@reverie/testkit"
import { backup, BlockUnreadable, defineAssistant, defineFleet, restore } from "../src/index.ts"
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
  for (const id of ["desk", "clerk"]) await first.send(id, "The Aurora comes.")
  await first.idle()
  const [block] = await first.blocks.list("desk")
  await backup({ data, to: copy })
  await first.forget({ assistant: "desk" })
  await first.close()
  await restore({ from: copy, data, force: true })
  return { data, block: block?.id ?? "" }
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
})
