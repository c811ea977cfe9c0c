import { assert, describe, it } from "@effect/vitest"
import { jobDone, jobFailed } from "../src/index.ts"
import { ANSWER, asking, BROKEN, DONE, failure, message, PENDING, Rig, sleep, stored } from "./rig.ts"

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

describe("failures that no one waits for", () => {
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

  it("calls I4: a second end of a call, or the end of one that was refused, changes nothing", () => {
    const ada = new Rig({ maxIterations: 9 }).hear(message("m1", { settings: { confirmDangerous: false } }))
    ada.ends("infer", asking("safe_chain", "dangerous", "dangerous")).ends("tool.0", BROKEN)
    for (const end of ["tool.0", "tool.2", "tool.3"]) {
      assert.isTrue(ada.hear(jobDone(end, DONE)).ignored, end)
      assert.isTrue(ada.hear(jobFailed(end, {})).ignored, end)
    }
    assert.deepStrictEqual(
      ada.context.calls.map(({ phase }) => phase),
      ["failed", "running", "refused"]
    )
  })

  it("machine I4: a tool job that breaks ends its call, and the model learns of it", () => {
    const ada = new Rig().hear(message("m1")).ends("infer", asking("safe_chain"))
    ada.fails("tool.0", { message: "the worker broke" })
    assert.strictEqual(ada.status, "awake.thinking.inferring")
    assert.deepStrictEqual(ada.refusals(), ["0: The call broke; whether it took effect is unknown."])
  })
})

describe("halted", () => {
  it("machine I2: receives control alone; mail and replies wait", () => {
    const ada = new Rig().hear({ type: "halt", reason: "fire drill" })
    assert.deepStrictEqual([ada.status, ada.receives], ["halted", ["control"]])
    assert.isTrue(ada.hear({ type: "halt", reason: "again" }).ignored)
    assert.strictEqual(ada.context.haltReason, "fire drill")
    assert.strictEqual(ada.hear({ type: "resume" }).status, "awake.idle")
    assert.isTrue(ada.hear({ type: "resume" }).ignored)
  })

  it("machine I3, I4: tools that run are stopped and told as interrupted; the tick goes on after resume", () => {
    const ada = new Rig().hear(message("m1")).ends("infer", asking("safe_chain", "safe_chain")).ends("tool.1", DONE)
    ada.hear({ type: "halt", reason: "fire drill" })
    assert.strictEqual(ada.status, "halted")
    assert.deepStrictEqual([ada.jobs.size, ada.context.envelope], [0, "m1"])
    assert.deepInclude(ada.commands, { _tag: "StopJob", name: "tool.0" })
    assert.deepStrictEqual(ada.refusals(), [
      "0: The assistant was halted while this call was open; whether it took effect is unknown."
    ])
    ada.hear({ type: "resume" })
    assert.strictEqual(ada.status, "awake.thinking.inferring")
    assert.deepInclude(ada.context, { envelope: "m1", iteration: 2 })
  })

  it("machine I4: a model call that runs is stopped, and made again after resume", () => {
    const ada = new Rig().hear(message("m1")).hear({ type: "halt", reason: "fire drill" })
    assert.deepStrictEqual([ada.status, ada.jobs.size], ["halted", 0])
    ada.hear({ type: "resume" })
    assert.deepStrictEqual([ada.status, [...ada.jobs.keys()]], ["awake.thinking.inferring", ["infer"]])
    assert.strictEqual(ada.context.iteration, 1)
  })

  it("a person is asked again, and a report still awaited, after resume", () => {
    const ada = new Rig().hear(message("m1")).ends("infer", asking("async_required", "dangerous"))
    ada.ends("tool.0", PENDING).hear({ type: "halt", reason: "fire drill" })
    assert.deepStrictEqual([ada.refusals(), ada.timers.size], [[], 0])
    ada.hear({ type: "resume" })
    assert.deepStrictEqual([ada.status, ada.emitted().length, ada.timers.size], ["awake.awaitingApproval", 1, 1])
    assert.strictEqual(ada.hear({ type: "approval", decision: "denied" }).status, "awake.awaitingReports")
    assert.deepStrictEqual(ada.hear({ type: "report" }).actions("answerReport"), [{ index: 0 }])
  })

  it("a dream is stopped; after resume the assistant is awake", () => {
    const ada = new Rig().hear(sleep("s1")).hear({ type: "halt", reason: "fire drill" })
    assert.deepStrictEqual([ada.status, ada.jobs.size, ada.context.envelope], ["halted", 0, null])
    assert.strictEqual(ada.hear({ type: "resume" }).status, "awake.idle")
  })

  it("context I1: a reason is kept short, no matter who wrote it", () => {
    const long = "\u0001".repeat(20_000)
    const ordered = new Rig().hear({ type: "halt", reason: long })
    assert.strictEqual(ordered.context.haltReason, `${long.slice(0, 199)}…`)
    const stopped = new Rig().hear(message("m1")).fails("infer", failure("stop", { reason: long }))
    assert.strictEqual(stopped.status, "halted")
    assert.isBelow(JSON.stringify(stored(stopped.decoded)).length, 8_192)
    assert.strictEqual(new Rig().hear({ type: "halt", reason: "fire drill" }).context.haltReason, "fire drill")
  })
})

describe("stopped", () => {
  const stop = (tick: number) => ({ type: "stop", tick })

  it("machine I3, I4: a model call that runs is stopped, its tick ends as stopped, and the next message is heard", () => {
    const ada = new Rig().hear(message("m1")).hear(stop(1))
    assert.deepStrictEqual([ada.status, ada.jobs.size, ada.context.envelope], ["awake.idle", 0, null])
    assert.deepStrictEqual(ada.actions("endTick"), [{ outcome: "stopped", reason: "A person stopped it." }])
    assert.deepInclude(ada.commands, { _tag: "StopJob", name: "infer" })
    assert.strictEqual(ada.hear(message("m2")).status, "awake.thinking.inferring")
  })

  it("machine I3: tools that run are stopped, and what was open has no result", () => {
    const ada = new Rig().hear(message("m1")).ends("infer", asking("safe_chain", "safe_chain")).ends("tool.1", DONE)
    ada.hear(stop(1))
    assert.deepStrictEqual([ada.status, ada.jobs.size], ["awake.idle", 0])
    assert.deepStrictEqual(ada.refusals(), [
      "0: A person stopped the turn while this call was open; whether it took effect is unknown."
    ])
  })

  it("machine I4: also one that waits for a person, is parked, or is halted; a halted assistant stays halted", () => {
    const asks = new Rig().hear(message("m1")).ends("infer", asking("dangerous")).hear(stop(1))
    assert.deepStrictEqual([asks.status, asks.timers.size], ["awake.idle", 0])
    assert.deepStrictEqual(asks.refusals(), ["0: A person stopped the turn before this call was approved."])
    const parked = new Rig().hear(message("m1")).fails("infer", failure("park")).hear(stop(1))
    assert.deepStrictEqual([parked.status, parked.timers.size], ["awake.idle", 0])
    const halted = new Rig().hear(message("m1")).hear({ type: "halt", reason: "drill" }).hear(stop(1))
    assert.deepStrictEqual([halted.status, halted.context.envelope], ["halted", null])
    assert.lengthOf(halted.actions("endTick"), 1)
    assert.strictEqual(halted.hear({ type: "resume" }).status, "awake.idle")
  })

  it("a stop of another tick, and one at rest or in a dream, changes nothing", () => {
    const ada = new Rig().hear(message("m1")).hear(stop(2))
    assert.isTrue(ada.ignored)
    assert.strictEqual(ada.status, "awake.thinking.inferring")
    ada.hear(stop(1)).hear(stop(1))
    assert.isTrue(ada.ignored)
    ada.hear(message("m2")).hear(stop(1))
    assert.deepStrictEqual([ada.ignored, ada.status, ada.context.tick], [true, "awake.thinking.inferring", 2])
    const sleeper = new Rig().hear(sleep("s1")).hear(stop(1))
    assert.isTrue(sleeper.ignored)
  })
})

describe("retired with a tick in hand", () => {
  it("machine I4: also out of a halt", () => {
    const ada = new Rig().hear(message("m1")).fails("infer", failure("stop")).hear({ type: "retire" })
    assert.strictEqual(ada.status, "retired")
    assert.deepStrictEqual(ada.actions("endTick"), [{ outcome: "failed", reason: "The assistant was retired." }])
  })

  it("at rest there is no tick to end", () => {
    assert.deepStrictEqual(new Rig().hear({ type: "retire" }).commands, [])
  })

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
