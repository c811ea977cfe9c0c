import { assert, describe, it } from "@effect/vitest"
import { at, failure, message, Rig, worked } from "./rig.ts"

describe("compaction in an emergency", () => {
  it("machine I5: comes before the task is weighed, and the task is weighed afterwards", () => {
    const ada = new Rig({ compactEnabled: true, assessTask: true }).hear(message("m1", { signals: at(0.8) }))
    assert.strictEqual(ada.status, "compacting.extracting")
    ada
      .ends("compact", worked(at(0.8)))
      .ends("compact", worked(at(0.8)))
      .ends("compact", worked(at(0.3)))
    assert.strictEqual(ada.status, "awake.assessing.weighing")
    ada.ends("assess", { restriction: { maxIterations: 1 } })
    assert.strictEqual(ada.status, "awake.thinking.inferring")
    assert.deepStrictEqual(ada.context.restriction, { maxIterations: 1 })
  })

  it("machine I5: a halt does not get a tick past it", () => {
    const ada = new Rig({ compactEnabled: true })
      .hear(message("m1", { signals: at(0.9) }))
      .hear({ type: "halt", reason: "fire drill" })
      .hear({ type: "resume" })
    assert.strictEqual(ada.status, "compacting.extracting")
    assert.strictEqual(ada.context.envelope, "m1")
    ada.fails("compact", failure("retry"))
    assert.strictEqual(ada.status, "awake.thinking.inferring")
    assert.strictEqual(ada.context.iteration, 1)
  })
})
