import { assert, describe, it } from "@effect/vitest"
import { callId, type InferFailure } from "../src/index.ts"
import { ANSWER, asking, away, BROKEN, DONE, failure, message, PENDING, Rig, timer } from "./rig.ts"

describe("a tick", () => {
  it("a message is answered", () => {
    const ada = new Rig()
    assert.strictEqual(ada.status, "awake.idle")
    assert.deepStrictEqual(ada.receives, ["control", "reply", "mail"])

    ada.hear(message("m1"))
    assert.strictEqual(ada.status, "awake.thinking.inferring")
    assert.deepStrictEqual(ada.commands, [{ _tag: "StartJob", name: "infer", src: "infer", input: {} }])
    assert.deepStrictEqual(ada.receives, ["control", "reply"])
    assert.deepInclude(ada.context, { envelope: "m1", tick: 1, iteration: 1 })

    ada.ends("infer", ANSWER)
    assert.strictEqual(ada.status, "awake.idle")
    assert.deepStrictEqual(ada.actions("endTick"), [{ outcome: "answered" }])
    assert.strictEqual(ada.context.envelope, null)
    assert.strictEqual(ada.hear(timer("t1")).context.tick, 2)
  })

  it("tools run side by side, and their results lead to the next thought", () => {
    const ada = new Rig().hear(message("m1")).ends("infer", asking("safe_chain", "safe_chain"))
    assert.strictEqual(ada.status, "awake.acting.running")
    assert.deepStrictEqual(
      [...ada.jobs],
      [
        ["tool.0", { src: "tool", input: { index: 0 } }],
        ["tool.1", { src: "tool", input: { index: 1 } }]
      ]
    )
    assert.strictEqual(ada.ends("tool.1", DONE).status, "awake.acting.running")
    assert.strictEqual(ada.ends("tool.0", BROKEN).status, "awake.thinking.inferring")
    assert.strictEqual(ada.context.iteration, 2)
    assert.strictEqual(ada.ends("infer", ANSWER).status, "awake.idle")
  })

  it("machine A2: the last iteration's calls still run, then the tick ends", () => {
    const ada = new Rig({ maxIterations: 2 })
      .hear(message("m1"))
      .ends("infer", asking("safe_chain"))
      .ends("tool.0", DONE)
      .ends("infer", asking("safe_chain"))
    assert.strictEqual(ada.status, "awake.acting.running")
    ada.ends("tool.0", DONE)
    assert.strictEqual(ada.status, "awake.idle")
    assert.deepStrictEqual(ada.actions("endTick"), [{ outcome: "max-iterations" }])
  })

  it("an assistant of single actions makes one call and stops", () => {
    const ada = new Rig({ multiAction: false }).hear(message("m1")).ends("infer", asking("safe_chain", "safe_chain"))
    assert.deepStrictEqual(ada.refusals(), ["1: Only one tool call is allowed in this tick."])
    assert.deepStrictEqual(ada.ends("tool.0", DONE).actions("endTick"), [{ outcome: "max-iterations" }])
  })

  it("a task that is weighed first gets no more than the weighing leaves it", () => {
    const ada = new Rig({ assessTask: true }).hear(message("m1"))
    assert.strictEqual(ada.status, "awake.assessing.weighing")
    ada.ends("assess", { restriction: { categories: ["safe_chain"], maxIterations: 1 } })
    ada.ends("infer", asking("safe_chain", "dangerous"))
    assert.deepStrictEqual(ada.refusals(), ["1: Tools of the category dangerous are not allowed in this tick."])
    assert.deepStrictEqual(ada.ends("tool.0", DONE).actions("endTick"), [{ outcome: "max-iterations" }])
    assert.deepStrictEqual(ada.hear(message("m2")).context.restriction, {})

    const unweighed = new Rig({ assessTask: true }).hear(message("m1")).fails("assess", {})
    assert.strictEqual(unweighed.status, "awake.thinking.inferring")
  })

  it("a definition that has changed takes effect with the next tick", () => {
    const ada = new Rig().hear(message("m1", { settings: { maxIterations: 1 } })).ends("infer", asking("safe_chain"))
    assert.deepStrictEqual(ada.ends("tool.0", DONE).actions("endTick"), [{ outcome: "max-iterations" }])
  })
})

describe("terminal calls", () => {
  it("a terminal call that worked ends the tick", () => {
    const ada = new Rig().hear(message("m1")).ends("infer", asking("terminal", "safe_chain")).ends("tool.0", DONE)
    assert.strictEqual(ada.status, "awake.acting.running")
    ada.ends("tool.1", DONE)
    assert.strictEqual(ada.status, "awake.idle")
    assert.deepStrictEqual(ada.actions("endTick"), [{ outcome: "terminal" }])
  })

  it("a terminal call goes on with the loop where the definition says so", () => {
    const ada = new Rig({ terminalEndsLoop: false }).hear(message("m1")).ends("infer", asking("terminal"))
    assert.strictEqual(ada.ends("tool.0", DONE).status, "awake.thinking.inferring")
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

describe("dangerous calls", () => {
  const asked = () => new Rig({ approvalMs: 5_000 }).hear(message("m1")).ends("infer", asking("dangerous"))

  it("calls I3: wait for a person, and run once approved", () => {
    const ada = asked()
    assert.strictEqual(ada.status, "awake.awaitingApproval")
    assert.strictEqual(ada.jobs.size, 0)
    assert.deepStrictEqual(ada.emitted(), [
      { type: "approval-asked", approval: "approval-0", tool: "dangerous", call: "1.1.0", withinMs: 5_000 }
    ])
    assert.deepStrictEqual(
      [...ada.timers.values()].map(({ delayMillis }) => delayMillis),
      [5_000]
    )

    ada.hear({ type: "approval", decision: "approved", approval: "approval-1" })
    assert.isTrue(ada.ignored, "an approval of another call")

    ada.hear({ type: "approval", decision: "approved", approval: "approval-0" })
    assert.strictEqual(ada.status, "awake.acting.running")
    assert.deepStrictEqual([...ada.jobs.keys()], ["tool.0"])
    assert.strictEqual(ada.timers.size, 0)
    assert.strictEqual(ada.ends("tool.0", DONE).status, "awake.thinking.inferring")
  })

  it("are refused when denied", () => {
    const ada = asked().hear({ type: "approval", decision: "denied" })
    assert.strictEqual(ada.status, "awake.thinking.inferring")
    assert.deepStrictEqual(ada.refusals(), ["0: A person denied this call."])
  })

  it("are refused when no one decides in time", () => {
    const ada = asked().due()
    assert.strictEqual(ada.status, "awake.thinking.inferring")
    assert.deepStrictEqual(ada.refusals(), ["0: Nobody approved this call in time."])
    assert.isTrue(ada.hear({ type: "approval", decision: "approved" }).ignored)
  })

  it("calls I1: one a tick, also in a later iteration", () => {
    const ada = new Rig({ confirmDangerous: false }).hear(message("m1")).ends("infer", asking("dangerous", "dangerous"))
    const reason = "Only one dangerous tool may run in a tick; ask for it again in a later one."
    assert.deepStrictEqual([...ada.jobs.keys()], ["tool.0"])
    assert.deepStrictEqual(ada.refusals(), [`1: ${reason}`])
    ada.ends("tool.0", DONE).ends("infer", asking("dangerous"))
    assert.deepStrictEqual(ada.refusals(), [`0: ${reason}`])
    assert.strictEqual(ada.status, "awake.thinking.inferring")
    ada.ends("infer", ANSWER).hear(message("m2")).ends("infer", asking("dangerous"))
    assert.deepStrictEqual([...ada.jobs.keys()], ["tool.0"])
  })

  it("harmless calls run first, and the person is asked once they have", () => {
    const ada = new Rig().hear(message("m1")).ends("infer", asking("dangerous", "safe_chain"))
    assert.strictEqual(ada.status, "awake.acting.running")
    assert.deepStrictEqual(ada.emitted(), [])
    ada.ends("tool.1", DONE)
    assert.strictEqual(ada.status, "awake.awaitingApproval")
    assert.strictEqual(ada.emitted().length, 1)
  })
})

describe("calls that are answered later", () => {
  it("the tick waits for the report", () => {
    const ada = new Rig({ reportMs: 9_000 }).hear(message("m1")).ends("infer", asking("async_required"))
    ada.ends("tool.0", PENDING)
    assert.strictEqual(ada.status, "awake.awaitingReports")
    assert.deepStrictEqual(
      [...ada.timers.values()].map(({ delayMillis }) => delayMillis),
      [9_000]
    )
    assert.isTrue(ada.hear({ type: "report", call: "1.1.7" }).ignored, "a report for another call")
    assert.isTrue(ada.hear({ type: "report", tool: "other" }).ignored, "a report for another tool")
    ada.hear({ type: "report", call: callId(1, 1, 0) })
    assert.deepStrictEqual(ada.actions("answerReport"), [{ index: 0 }])
    assert.strictEqual(ada.status, "awake.thinking.inferring")
  })

  it("a report that comes before its call is known to wait for it stays in the mailbox until then", () => {
    const ada = new Rig().hear(message("m1")).ends("infer", asking("async_required", "safe_chain"))
    assert.deepStrictEqual(ada.receives, ["control"])
    ada.ends("tool.0", PENDING)
    assert.strictEqual(ada.status, "awake.acting.running")
    assert.deepStrictEqual(ada.receives, ["control"])
    ada.ends("tool.1", DONE)
    assert.deepStrictEqual([ada.status, ada.receives], ["awake.awaitingReports", ["control", "reply"]])
    assert.strictEqual(ada.hear({ type: "report", call: "1.1.0" }).status, "awake.thinking.inferring")
  })

  it("several are awaited together; without a name the oldest is meant", () => {
    const ada = new Rig().hear(message("m1")).ends("infer", asking("async_required", "async_required"))
    ada.ends("tool.0", PENDING).ends("tool.1", PENDING)
    assert.deepStrictEqual(ada.hear({ type: "report" }).actions("answerReport"), [{ index: 0 }])
    assert.strictEqual(ada.status, "awake.awaitingReports")
    assert.deepStrictEqual(ada.hear({ type: "report", tool: "async_required" }).actions("answerReport"), [{ index: 1 }])
    assert.strictEqual(ada.status, "awake.thinking.inferring")
  })

  it("a report is heard while a person is still asked", () => {
    const ada = new Rig().hear(message("m1")).ends("infer", asking("async_required", "dangerous"))
    ada.ends("tool.0", PENDING)
    assert.strictEqual(ada.status, "awake.awaitingApproval")
    assert.deepStrictEqual(ada.hear({ type: "report" }).actions("answerReport"), [{ index: 0 }])
    assert.strictEqual(ada.status, "awake.awaitingApproval")
    ada.hear({ type: "approval", decision: "denied" })
    assert.strictEqual(ada.status, "awake.thinking.inferring")
  })

  it("one that does not come in time is given up", () => {
    const ada = new Rig().hear(message("m1")).ends("infer", asking("async_required")).ends("tool.0", PENDING).due()
    assert.deepStrictEqual(ada.refusals(), ["0: Its report did not come in time."])
    assert.strictEqual(ada.status, "awake.thinking.inferring")
    assert.isTrue(ada.hear({ type: "report", call: "1.1.0" }).ignored)
  })
})

describe("machine A3: a model call that fails for a reason of its own", () => {
  const pauses = (ada: Rig) => [...ada.timers.values()].map(({ delayMillis }) => delayMillis)

  it("is tried again after a pause that doubles up to its limit", () => {
    const ada = new Rig({ parkMinMs: 1_000, parkMaxMs: 3_000 }).hear(message("m1"))
    for (const pause of [1_000, 2_000, 3_000, 3_000]) {
      ada.fails("infer", failure("retry"))
      assert.strictEqual(ada.status, "awake.thinking.parked")
      assert.deepStrictEqual(pauses(ada), [pause])
      assert.deepStrictEqual(ada.emitted(), [])
      ada.due()
      assert.strictEqual(ada.status, "awake.thinking.inferring")
    }
    assert.deepInclude(ada.context, { envelope: "m1", iteration: 1, tries: 4 })
    assert.deepInclude(ada.ends("infer", ANSWER).context, { envelope: null, tries: 0, errors: 0 })
  })

  it("ends the tick as failed at the fifth try; the next one is heard, and has five of its own", () => {
    const ada = new Rig().hear(message("m1"))
    for (let attempt = 1; attempt <= 4; attempt++) ada.fails("infer", failure("retry")).due()
    ada.fails("infer", failure("retry"))
    assert.strictEqual(ada.status, "awake.idle")
    assert.deepStrictEqual(ada.actions("endTick"), [{ outcome: "failed", reason: "the model says retry" }])
    assert.deepInclude(ada.context, { errors: 1, tries: 0 })
    ada.hear(message("m2")).fails("infer", failure("retry"))
    assert.strictEqual(ada.status, "awake.thinking.parked")
    assert.deepStrictEqual(pauses(ada), [1_000])
  })

  it("is no call that a limit held back: that waits until there is room, and counts nothing", () => {
    const ada = new Rig({ maxErrors: 1 }).hear(message("m1"))
    for (let attempt = 1; attempt <= 9; attempt++) {
      ada.fails("infer", failure("park", { limited: true, retryAfterMs: 7_000 }))
      assert.deepStrictEqual(pauses(ada), [7_000])
      ada.due()
    }
    assert.deepInclude(ada.context, { errors: 0, tries: 0, outage: null })
    ada.fails("infer", failure("tell-owner", { limited: true }))
    assert.deepStrictEqual([ada.status, ada.context.errors], ["awake.idle", 0], "no limit will ever leave room for it")
  })

  it("halts the assistant with the fifth tick in a row that failed; resume begins to count anew", () => {
    const ada = new Rig()
    for (let tick = 1; tick <= 4; tick++) ada.hear(message(`m${tick}`)).fails("infer", failure("tell-owner"))
    assert.deepInclude(ada.context, { errors: 4, envelope: null })
    ada.hear(message("m5")).fails("infer", failure("tell-owner"))
    assert.strictEqual(ada.status, "halted")
    assert.deepInclude(ada.context, { haltReason: "the model says tell-owner", errors: 5, envelope: null })
    assert.deepStrictEqual(ada.actions("endTick"), [{ outcome: "failed", reason: "the model says tell-owner" }])
    ada.hear({ type: "resume" })
    assert.strictEqual(ada.status, "awake.idle")
    assert.deepInclude(ada.context, { errors: 0, haltReason: null })
  })

  it("any success starts the count of failed ticks anew", () => {
    const ada = new Rig()
    for (let tick = 1; tick <= 4; tick++) ada.hear(message(`m${tick}`)).fails("infer", failure("tell-owner"))
    ada.hear(message("m5")).ends("infer", asking("safe_chain"))
    assert.strictEqual(ada.context.errors, 0)
    ada.ends("tool.0", DONE).fails("infer", failure("tell-owner")).hear(message("m6"))
    assert.deepInclude(ada.context, { errors: 1, tries: 0 })
  })

  it("halts at once when a person must act, with the tick in hand; resume takes it up", () => {
    const ada = new Rig().hear(message("m1")).fails("infer", failure("stop"))
    assert.strictEqual(ada.status, "halted")
    assert.deepInclude(ada.context, { envelope: "m1", haltReason: "the model says stop" })
    assert.deepStrictEqual(ada.actions("endTick"), [])
    ada.hear({ type: "resume" })
    assert.strictEqual(ada.status, "awake.thinking.inferring")
    assert.deepInclude(ada.context, { envelope: "m1", haltReason: null, iteration: 1 })
  })

  it("ends the tick as failed when this very prompt can not be answered; the next one is heard", () => {
    const ada = new Rig().hear(message("m1")).fails("infer", failure("tell-owner"))
    assert.strictEqual(ada.status, "awake.idle")
    assert.deepStrictEqual(ada.actions("endTick"), [{ outcome: "failed", reason: "the model says tell-owner" }])
    assert.strictEqual(ada.hear(message("m2")).status, "awake.thinking.inferring")
  })

  it("ends the tick and halts when such a prompt was the last error allowed", () => {
    const ada = new Rig({ maxErrors: 1 }).hear(message("m1")).fails("infer", failure("retry"))
    assert.strictEqual(ada.status, "halted")
    assert.deepStrictEqual(ada.actions("endTick"), [{ outcome: "failed", reason: "the model says retry" }])
    assert.strictEqual(ada.hear({ type: "resume" }).status, "awake.idle")
  })
})

describe("machine A3: an outage of the model", () => {
  const pauses = (ada: Rig) => [...ada.timers.values()].map(({ delayMillis }) => delayMillis)

  it("outage O1, O2: is waited for with pauses that double to five minutes, for days, and nothing is counted", () => {
    const ada = new Rig({ maxErrors: 1 }).hear(message("m1"))
    const waited: Array<number> = []
    for (let attempt = 1; attempt <= 1_000; attempt++) {
      ada.fails("infer", away(attempt * 1_000))
      assert.strictEqual(ada.status, "awake.thinking.parked")
      waited.push(...pauses(ada))
      ada.due()
    }
    assert.deepStrictEqual(
      waited.slice(0, 10),
      [1, 2, 4, 8, 16, 32, 64, 128, 256, 300].map((each) => each * 1_000)
    )
    assert.isTrue(waited.slice(9).every((pause) => pause === 300_000))
    assert.deepInclude(ada.context, { envelope: "m1", tick: 1, iteration: 1, errors: 0, tries: 0 })
    assert.deepInclude(ada.context.outage, { server: "127.0.0.1:9", since: 1_000, at: 1_000_000, tries: 1_000 })
    ada.ends("infer", ANSWER)
    assert.deepStrictEqual(ada.actions("endTick"), [{ outcome: "answered" }])
    assert.isNull(ada.context.outage)
  })

  it("is reported when the wait begins, with the server and the reason, and not again", () => {
    const ada = new Rig().hear(message("m1")).fails("infer", away())
    assert.deepStrictEqual(ada.emitted(), [
      {
        type: "model-away",
        server: "127.0.0.1:9",
        reason: "ModelUnavailable: ECONNREFUSED",
        withinMs: 1_000
      }
    ])
    assert.deepStrictEqual(ada.due().fails("infer", away()).emitted(), [])
  })

  it("outage O2: is not tried again before the time that was named", () => {
    const named = (more: Partial<InferFailure>) =>
      pauses(new Rig().hear(message("m1")).fails("infer", away(1_000, { spread: 0.5 }, more)))
    assert.deepStrictEqual(named({ retryAfterMs: 3_600_000 }), [3_600_250])
    assert.deepStrictEqual(named({ retryAfterMs: 3 }), [750])
    assert.deepStrictEqual(named({}), [750])
  })

  it("outage O4: others' success ends the pause, but for a named time, and a server that answers all others", () => {
    const ada = new Rig().hear(message("m1")).fails("infer", away(1_000, { named: "one" }))
    assert.strictEqual(ada.context.outage?.sooner, "never")
    ada.due().fails("infer", away(1_500, { named: "all" }))
    assert.strictEqual(ada.context.outage?.sooner, "answer")
    ada.due().fails("infer", away(2_000))
    assert.strictEqual(ada.context.outage?.sooner, "try")
    const sooner = [3, 4, 5, 6].map((second) => {
      ada.due().fails("infer", away(second * 1_000, { alone: true }))
      return ada.context.outage?.sooner
    })
    assert.deepStrictEqual(sooner, ["try", "try", "never", "never"])
  })

  it("between failures of the call itself changes nothing about how often that is tried", () => {
    const ada = new Rig({ maxErrors: 3 }).hear(message("m1"))
    ada.fails("infer", failure("retry")).due().fails("infer", away()).due().fails("infer", failure("retry")).due()
    assert.deepInclude(ada.context, { tries: 2, errors: 0 })
    assert.strictEqual(ada.fails("infer", failure("retry")).status, "awake.idle")
  })

  it("keeps a long reason short", () => {
    const ada = new Rig().hear(message("m1")).fails("infer", away(1_000, {}, { reason: "x".repeat(5_000) }))
    assert.strictEqual(ada.context.outage?.reason.length, 200)
  })

  it("a person can halt what waits, and resume it: it begins to wait anew", () => {
    const ada = new Rig().hear(message("m1")).fails("infer", away()).due().fails("infer", away())
    ada.hear({ type: "halt", reason: "enough" })
    assert.strictEqual(ada.timers.size, 0)
    ada.hear({ type: "resume" })
    assert.strictEqual(ada.status, "awake.thinking.inferring")
    assert.deepStrictEqual(pauses(ada.fails("infer", away())), [1_000])
  })
})
