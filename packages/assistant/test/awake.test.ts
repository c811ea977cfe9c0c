import { assert, describe, it } from "@effect/vitest"
import { asking, BROKEN, DONE, message, PENDING, Rig } from "./rig.ts"

describe("terminal calls", () => {
  it("a terminal call that worked ends the tick", () => {
    const ada = new Rig().hear(message("m1")).ends("infer", asking("terminal")).ends("tool.0", DONE)
    assert.strictEqual(ada.status, "awake.idle")
    assert.deepStrictEqual(ada.actions("endTick"), [{ outcome: "terminal" }])
  })

  it("a terminal call that did not work leaves the loop open: the model may correct it", () => {
    const failed = new Rig().hear(message("m1")).ends("infer", asking("terminal")).ends("tool.0", BROKEN)
    assert.strictEqual(failed.status, "awake.thinking.inferring")

    const broke = new Rig().hear(message("m1")).ends("infer", asking("terminal")).fails("tool.0", {})
    assert.strictEqual(broke.status, "awake.thinking.inferring")

    const expired = new Rig().hear(message("m1")).ends("infer", asking("terminal")).ends("tool.0", PENDING).due()
    assert.strictEqual(expired.status, "awake.thinking.inferring")

    const halted = new Rig()
      .hear(message("m1"))
      .ends("infer", asking("terminal"))
      .hear({ type: "halt", reason: "fire drill" })
      .hear({ type: "resume" })
    assert.strictEqual(halted.status, "awake.thinking.inferring")
  })
})
