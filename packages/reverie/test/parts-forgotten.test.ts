// Bytes that a message refers to, while the last one that referred to the same is forgotten: they are kept before, and stay.

import { createHash } from "node:crypto"
import * as Effect from "effect/Effect"
import { assert, describe, test } from "vitest"
import { defineAssistant, defineFleet, defineTool, Fleet, type GivenPart, type PromiseModel } from "../src/index.ts"

const PLAN = new TextEncoder().encode("%PDF-1.4\n")
const digest = createHash("sha256").update(PLAN).digest("hex")
const plan: GivenPart = { type: "file", data: PLAN, mediaType: "application/pdf", name: "plan.pdf" }

const model: PromiseModel = {
  name: "looker",
  infer: async ({ messages }) =>
    messages.at(-1)?.content.includes("Look.") === true ? { calls: [{ tool: "look" }] } : "Seen."
}

/** A fleet of two, and what is done once at a point of its work. */
const opened = async (point: string) => {
  let once = Effect.void
  const look = defineTool({
    name: "look",
    description: "Looks.",
    run: () => {
      once = forgetAnn
      return { text: "A plan.", parts: [plan] }
    }
  })
  const assistants = ["desk", "clerk"].map((id) =>
    defineAssistant({ id, instructions: "You are under test.", tools: [look] })
  )
  const at = (reached: string) => (reached === point ? Effect.suspend(() => once) : Effect.void)
  const fleet = await Fleet.open({ data: ":memory:", model, fleet: defineFleet({ assistants }), faults: { at } })
  const forgetAnn = Effect.promise(async () => {
    once = Effect.void
    await fleet.forget({ person: "ann" })
    assert.isUndefined(await fleet.blob(digest))
  })
  await fleet.send("clerk", "Our plan.", { from: "ann", parts: [plan] })
  await fleet.idle()
  const arm = () => {
    once = forgetAnn
  }
  return { arm, fleet }
}

describe("bytes that someone else refers to no more", () => {
  test("stay for a message that is about to be accepted, and go with it", async () => {
    const { arm, fleet } = await opened("before-accept")
    arm()
    await fleet.send("desk", "Our plan.", { from: "ben", parts: [plan] })
    assert.deepStrictEqual(await fleet.blob(digest), PLAN)
    await fleet.idle()
    await fleet.forget({ person: "ben" })
    assert.isUndefined(await fleet.blob(digest))
    await fleet.close()
  })

  test("stay for what a tool has given and is about to be written", async () => {
    const { fleet } = await opened("before-commit")
    await fleet.send("desk", "Look.", { from: "ben" })
    await fleet.idle()
    assert.deepStrictEqual(await fleet.blob(digest), PLAN)
    await fleet.close()
  })
})
