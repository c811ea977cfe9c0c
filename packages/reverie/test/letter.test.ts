// A letter whose form is wrong is refused in words, and in none of the schema that found it.

import { assert, describe, test } from "vitest"
import { defineAssistant, EnvelopeInvalid } from "../src/index.ts"
import { testFleet } from "../src/testing/index.ts"

describe("a letter", () => {
  test("L1 names the field as its writer knows it, and what it must be", async () => {
    const fleet = await testFleet(defineAssistant({ id: "desk", instructions: "You listen." }), { model: "offline" })
    const said = async (sent: Promise<unknown>): Promise<string> => {
      const error: unknown = await sent.catch((failure: unknown) => failure)
      assert.instanceOf(error, EnvelopeInvalid)
      return (error as Error).message
    }
    const name = "the name of the assistant must have 1 to 128 letters, digits and . _ : @ # + -"
    assert.strictEqual(await said(fleet.send("no such name!", "Hello.")), name)
    assert.strictEqual(await said(fleet.send("", "Hello.")), name)
    assert.strictEqual(await said(fleet.post("desk", { type: "delegate", task: "  " })), "task must not be empty")
    assert.match(
      await said(fleet.post("desk", { type: "remind", reminder: "a b" })),
      /^reminder must have 1 to 64 letters, digits and \. _ -/
    )
    await fleet.close()
  })
})
