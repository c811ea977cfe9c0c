import { assert, describe, it } from "@effect/vitest"
import { jobDone, jobFailed } from "../src/index.ts"
import { ANSWER, asking, DONE, failure, message, PENDING, Rig, stored } from "./rig.ts"

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

describe("failures that nobody waits for", () => {
  it("machine I3: a late failure of a job that is no longer open changes nothing", () => {
    const ada = new Rig()
    for (const job of ["infer", "assess", "dream", "compact", "tool.0"]) {
      ada.hear(jobFailed(job, failure("stop")))
      assert.isTrue(ada.ignored, job)
      assert.strictEqual(ada.status, "awake.idle")
    }
    ada.hear(message("m1"))
    assert.strictEqual(ada.status, "awake.thinking.inferring")
  })

  it("machine I4: a tool job that breaks ends its call, and the model is told", () => {
    const ada = new Rig().hear(message("m1")).ends("infer", asking("safe_chain"))
    ada.fails("tool.0", { message: "the worker broke" })
    assert.strictEqual(ada.status, "awake.thinking.inferring")
    assert.deepStrictEqual(ada.refusals(), ["0: The call broke; whether it took effect is unknown."])
  })
})

describe("halted", () => {
  it("context I1: a reason is kept short, whoever wrote it", () => {
    const long = "\u0001".repeat(20_000)
    const ordered = new Rig().hear({ type: "halt", reason: long })
    assert.strictEqual(ordered.context.haltReason, `${long.slice(0, 199)}…`)
    const stopped = new Rig().hear(message("m1")).fails("infer", failure("stop", { reason: long }))
    assert.strictEqual(stopped.status, "halted")
    assert.isBelow(JSON.stringify(stored(stopped.decoded)).length, 8_192)
    assert.strictEqual(new Rig().hear({ type: "halt", reason: "fire drill" }).context.haltReason, "fire drill")
  })
})

describe("retired with a tick in hand", () => {
  it("machine I4: the tick ends once as failed, and every open call is answered", () => {
    const ada = new Rig()
      .hear(message("m1"))
      .ends("infer", asking("safe_chain", "async_required", "dangerous", "safe_chain"))
      .ends("tool.0", DONE)
      .ends("tool.1", PENDING)
      .hear({ type: "retire" })
    assert.strictEqual(ada.status, "retired")
    assert.deepStrictEqual(ada.actions("endTick"), [{ outcome: "failed", reason: "The assistant was retired." }])
    assert.deepStrictEqual(ada.refusals(), [
      "1: The assistant was retired while this call was open; whether it took effect is unknown.",
      "3: The assistant was retired while this call was open; whether it took effect is unknown.",
      "2: The assistant was retired before this call was approved."
    ])
    assert.strictEqual(ada.context.envelope, null)
    assert.deepStrictEqual([ada.jobs.size, ada.timers.size], [0, 0])
  })
})
