import { assert, describe, it } from "@effect/vitest"
import { jobDone, jobFailed } from "../src/index.ts"
import { ANSWER, asking, failure, message, Rig } from "./rig.ts"

describe("retired", () => {
  it("machine I2: a retired assistant is brought back by nothing", () => {
    const ada = new Rig().hear({ type: "retire" })
    for (const event of [
      { type: "halt", reason: "again" },
      { type: "resume" },
      { type: "retire" },
      { type: "wake" },
      message("late"),
      jobDone("infer", ANSWER),
      jobFailed("infer", failure("retry"))
    ]) {
      ada.hear(event)
      assert.strictEqual(ada.status, "retired", event.type)
      assert.isTrue(ada.ignored, event.type)
    }
  })
})
