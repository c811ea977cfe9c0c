import { assert, describe, it } from "@effect/vitest"
import { ANSWER, asking, DONE, message, MISSHAPEN, REFUSED, Rig } from "./rig.ts"

describe("machine A6: an answer that has not the form it must have", () => {
  it("is asked for again twice, then the tick ends as misshapen", () => {
    const ada = new Rig().hear(message("m1"))
    for (const repairs of [1, 2]) {
      ada.ends("infer", MISSHAPEN)
      assert.strictEqual(ada.status, "awake.thinking.inferring")
      assert.deepInclude(ada.context, { repairs, iteration: repairs + 1, envelope: "m1", errors: 0 })
      assert.isEmpty(ada.actions("endTick"))
    }
    ada.ends("infer", MISSHAPEN)
    assert.strictEqual(ada.status, "awake.idle")
    assert.deepStrictEqual(ada.actions("endTick"), [{ outcome: "misshapen" }])
    assert.strictEqual(ada.hear(message("m2")).context.repairs, 0)
  })

  it("is an answer as soon as it fits", () => {
    const ada = new Rig().hear(message("m1")).ends("infer", MISSHAPEN).ends("infer", ANSWER)
    assert.strictEqual(ada.status, "awake.idle")
    assert.deepStrictEqual(ada.actions("endTick"), [{ outcome: "answered" }])
  })

  it("tools go on between two tries, and no try begins beyond the model calls of a tick", () => {
    const ada = new Rig({ maxIterations: 3 }).hear(message("m1")).ends("infer", MISSHAPEN)
    assert.strictEqual(ada.ends("infer", asking("safe_chain")).status, "awake.acting.running")
    ada.ends("tool.0", DONE)
    assert.deepInclude(ada.context, { repairs: 1, iteration: 3 })
    assert.deepStrictEqual(ada.ends("infer", MISSHAPEN).actions("endTick"), [{ outcome: "misshapen" }])

    const single = new Rig({ multiAction: false }).hear(message("m1")).ends("infer", MISSHAPEN)
    assert.deepStrictEqual(single.actions("endTick"), [{ outcome: "misshapen" }])
  })

  it("what pressed while the model was asked counts for the try, and a spent budget ends it", () => {
    const pressed = { ...MISSHAPEN, restriction: { maxIterations: 1 } }
    const ada = new Rig().hear(message("m1")).ends("infer", pressed)
    assert.deepStrictEqual(ada.actions("endTick"), [{ outcome: "misshapen" }])

    const poor = new Rig({ budgetCalls: 1 }).hear(message("m1"))
    poor.ends("infer", { ...MISSHAPEN, used: { tokens: 10, costMicros: 0, calls: 1 } })
    assert.strictEqual(poor.status, "awake.idle")
    assert.deepInclude(poor.actions("endTick")[0] as object, { outcome: "cut" })
  })
})

describe("machine A6: an answer that a hook refused", () => {
  it("is asked for again twice, then the tick ends as refused", () => {
    const ada = new Rig().hear(message("m1"))
    for (const repairs of [1, 2]) assert.deepInclude(ada.ends("infer", REFUSED).context, { repairs, errors: 0 })
    ada.ends("infer", REFUSED)
    assert.strictEqual(ada.status, "awake.idle")
    assert.deepStrictEqual(ada.actions("endTick"), [{ outcome: "refused" }])
  })

  it("shares its tries with those that have not the form they must have", () => {
    const ada = new Rig().hear(message("m1")).ends("infer", REFUSED).ends("infer", MISSHAPEN).ends("infer", REFUSED)
    assert.deepStrictEqual(ada.actions("endTick"), [{ outcome: "refused" }])
  })
})

describe("machine A3: a prompt that a hook refused", () => {
  it("ends its tick as failed, however often, and counts as no error of the assistant", () => {
    const ada = new Rig({ maxErrors: 1 })
    for (const id of ["m1", "m2", "m3"]) {
      ada.hear(message(id)).fails("infer", { recovery: "tell-owner", limited: true, reason: "HookRefused: Closed." })
      assert.strictEqual(ada.status, "awake.idle")
      assert.deepStrictEqual(ada.actions("endTick"), [{ outcome: "failed", reason: "HookRefused: Closed." }])
      assert.deepInclude(ada.context, { errors: 0, modelFailures: 0, tries: 0 })
    }
  })
})
