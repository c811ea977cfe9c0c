// A message that is forgotten while it waits is settled, and no model is asked about it.

import { assert, describe, it } from "@effect/vitest"
import { later } from "@reverie/testkit/later"
import { defineTool, type Fleet } from "../src/index.ts"
import { aDirectory, calling, failureOf, gate, heard, openFleet, type Request } from "./rig.ts"

const SECRET = "kestrel-9713"
/** One pixel. */
const PNG = new Uint8Array(
  Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64"
  )
)
const WHY = "the message was forgotten before it was heard"

/** A desk that is halted, and what its model is asked. */
const halted = async (options: Request = {}) => {
  const { prompts, says } = heard()
  const fleet = await openFleet({ data: aDirectory(), says, ...options })
  later(() => fleet.close())
  await fleet.answer("desk", "Good morning.", { from: "bob" })
  await fleet.halt("desk", "For the day.")
  await fleet.idle()
  const asked = () => prompts.length - 1
  return { asked, fleet }
}

const settledOf = (fleet: Fleet) => {
  const told: Array<readonly [string, string | undefined]> = []
  later(fleet.on("envelope-settled", ({ outcome, reason }) => void told.push([outcome, reason])))
  return told
}

const resumed = async (fleet: Fleet): Promise<void> => {
  await fleet.resume("desk")
  await fleet.idle()
}

describe("a message that is forgotten while it waits", () => {
  it("is settled with the reason, whether its words or its person went, and no model is asked", async () => {
    for (const what of [{ text: SECRET }, { person: "ann" }]) {
      const { asked, fleet } = await halted()
      await fleet.send("desk", `The word is ${SECRET}.`, { from: "ann" })
      await fleet.send("desk", "Are you there?", { from: "bob" })
      await fleet.forget(what)
      const settled = settledOf(fleet)
      await resumed(fleet)
      assert.deepInclude(settled, ["ignored", WHY])
      assert.strictEqual(asked(), 1)
      assert.isTrue((await fleet.replay.verify("desk")).equal)
      assert.deepStrictEqual(await fleet.deadLetters.list(), [])
    }
  })

  it("also with an image, or where it was nothing else", async () => {
    for (const text of [`The word is ${SECRET}.`, ""]) {
      const { asked, fleet } = await halted()
      await fleet.send("desk", text, { from: "ann", parts: [{ type: "image", mediaType: "image/png", data: PNG }] })
      await fleet.forget({ person: "ann" })
      const settled = settledOf(fleet)
      await resumed(fleet)
      assert.deepInclude(settled, ["ignored", WHY])
      assert.strictEqual(asked(), 0)
    }
  })

  it("no hook is asked either", async () => {
    const seen: Array<string> = []
    const { fleet } = await halted({
      assistant: { hooks: { onMessage: ({ text }: { readonly text: string }) => void seen.push(text) } } as never
    })
    await fleet.send("desk", `The word is ${SECRET}.`, { from: "ann" })
    await fleet.forget({ text: SECRET })
    await resumed(fleet)
    assert.deepStrictEqual(seen, ["Good morning."])
  })

  it("who waits for the answer learns it", async () => {
    const [begun, goes] = [gate(), gate()]
    const hold = defineTool({
      name: "hold",
      description: "Holds on.",
      run: async () => {
        begun.open()
        await goes.passed
        return "done"
      }
    })
    const fleet = await openFleet({ data: aDirectory(), says: [calling("hold"), { text: "Done." }], tools: [hold] })
    later(() => fleet.close())
    const first = fleet.answer("desk", "Hold on.", { from: "bob" })
    await begun.passed
    const second = failureOf(fleet.answer("desk", `The word is ${SECRET}.`, { from: "ann" }))
    while ((await fleet.inspect("desk"))?.waiting !== 1) await new Promise((go) => setImmediate(go))
    const forgetting = fleet.forget({ text: SECRET })
    goes.open()
    await Promise.allSettled([first, forgetting])
    assert.strictEqual((await second).message, `desk could not answer: ${WHY}`)
  })

  it("M1 an assistant that waits for the answer gets one, and it says why there is none", async () => {
    const { prompts, says } = heard()
    const { fleet } = await halted({ says })
    const message = { type: "message", text: `The word is ${SECRET}.`, wantsAnswer: true } as const
    await fleet.post("desk", message, { from: "assistant:clerk" })
    await fleet.forget({ text: SECRET })
    await resumed(fleet)
    const [, told] = prompts
    assert.lengthOf(prompts, 2)
    assert.include(told?.messages.at(-1)?.content, WHY)
  })
})
