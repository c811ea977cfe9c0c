// Forgetting while the index of memories does not answer: nothing goes, and it is said so.

import { assert, describe, it } from "@effect/vitest"
import { RecallUnavailable } from "../src/index.ts"
import { aDirectory, failureOf, openFleet } from "./rig.ts"

describe("forgetting", () => {
  it("P1 without the index nothing is forgotten, and the failure says so and what to do", async () => {
    await using fleet = await openFleet({ data: aDirectory(), recall: { url: "http://127.0.0.1:9" } })
    await fleet.send("desk", "The Aurora comes.")
    await fleet.idle()
    for (const what of [{ assistant: "desk" }, { text: "Aurora" }]) {
      const failure = await failureOf(fleet.forget(what))
      assert.instanceOf(failure, RecallUnavailable)
      assert.match(
        failure.message,
        /^nothing was forgotten, for the index .* does not answer .*; forget again when it does$/
      )
      assert.include(JSON.stringify(await fleet.history.entries("desk")), "Aurora")
    }
  })
})
