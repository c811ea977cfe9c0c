// Waiting for a model that is away, in every state that may.

import { assert, describe, it } from "@effect/vitest"
import { dreamOperations, mayWait, waitOf } from "../src/index.ts"
import { ANSWER, at, away, compact, failure, message, Rig, skipped, sleep, unfinished, worked } from "./rig.ts"

/** Through all operations, each of them skipped. */
const dreamt = (ada: Rig, last = worked()): Rig => {
  for (const operation of dreamOperations) ada.ends("dream", operation === "pruning" ? last : skipped())
  return ada
}

describe("waiting", () => {
  it("is reported with the timer that ends it, in every state that waits for a model, and in no other", () => {
    const waiting = [
      new Rig().hear(message("m1")).fails("infer", away()),
      new Rig().hear(sleep("s1")).fails("dream", away()),
      new Rig().hear(compact()).fails("compact", away())
    ]
    for (const ada of waiting) {
      assert.isTrue(mayWait(ada.status))
      assert.deepStrictEqual([waitOf(ada.decoded)?.timer], [...ada.timers.keys()])
      assert.strictEqual(waitOf(ada.decoded)?.outage.server, "127.0.0.1:9")
      assert.isUndefined(waitOf(ada.due().decoded), "it is tried again")
    }
    assert.isUndefined(waitOf(new Rig().hear(message("m1")).fails("infer", failure("retry")).decoded))
    assert.isUndefined(waitOf(new Rig({ sleepTickMs: 5 }).hear(sleep("s1")).ends("dream", worked()).decoded))
    assert.isFalse(mayWait("awake.idle"))
  })
})

describe("machine D7: an outage of the model", () => {
  const pauses = (ada: Rig) => [...ada.timers.values()].map(({ delayMillis }) => delayMillis)

  it("a dream pauses, and goes on with the very step that the model was missing for", () => {
    const ada = new Rig().hear(sleep("s1", { forMs: 3_600_000, at: 1_000 })).ends("dream", worked())
    for (const pause of [1_000, 2_000, 4_000]) {
      ada.fails("dream", away(5_000))
      assert.deepStrictEqual([ada.status, ada.receives.includes("mail")], ["dreaming.pausing", true])
      assert.deepStrictEqual(pauses(ada), [pause])
      ada.due()
      assert.deepStrictEqual([...ada.jobs], [["dream", { src: "dream", input: { operation: "linking" } }]])
    }
    ada.ends("dream", { ...worked(), at: 20_000 })
    assert.deepStrictEqual([ada.status, ada.context.outage], ["dreaming.profiling", null])
  })

  it("a step of many goes on at the same step", () => {
    const ada = new Rig().hear(sleep("s1")).ends("dream", unfinished()).ends("dream", unfinished())
    ada.fails("dream", away()).due()
    assert.deepStrictEqual([ada.status, ada.context.round], ["dreaming.consolidating", 2])
  })

  it("anyone who comes in such a pause is heard at once, and the outage is not theirs", () => {
    const asleep = () => new Rig().hear(sleep("s1")).fails("dream", away()).due().fails("dream", away())
    const woken = asleep().hear(message("m1"))
    assert.deepStrictEqual([woken.status, woken.context.outage], ["awake.thinking.inferring", null])
    assert.deepStrictEqual(pauses(woken.fails("infer", away())), [1_000])
    const roused = asleep().hear({ type: "wake" })
    assert.deepStrictEqual([roused.status, roused.context.outage], ["awake.idle", null])
  })

  it("an outage that outlasts the sleep ends it, and the next sleep dreams from the beginning", () => {
    const ada = new Rig().hear(sleep("s1", { forMs: 60_000, at: 1_000 })).ends("dream", worked())
    ada.fails("dream", away(60_999)).due().fails("dream", away(61_000))
    assert.deepStrictEqual([ada.status, ada.context.outage], ["awake.idle", null])
    assert.strictEqual(ada.hear(sleep("s2")).status, "dreaming.consolidating")
  })

  it("where dreams are paced, the pause is the longer of the two", () => {
    const ada = new Rig({ sleepTickMs: 3_000, parkMinMs: 2_000 }).hear(sleep("s1"))
    assert.deepStrictEqual(pauses(ada.fails("dream", away())), [3_000])
    assert.deepStrictEqual(pauses(ada.due().fails("dream", away())), [4_000])
    assert.deepStrictEqual(pauses(ada.due().ends("dream", worked())), [3_000])
  })

  it("a compaction waits in the phase that it was in, and its tick behind it", () => {
    for (const [phases, phase] of [
      [0, "extracting"],
      [1, "summarizing"]
    ] as const) {
      const ada = new Rig().hear(message("m1", { signals: at(0.95) }))
      for (let done = 0; done < phases; done++) ada.ends("compact", worked(at(0.95)))
      ada.fails("compact", away())
      assert.deepStrictEqual([ada.status, ada.receives], ["compacting.parked", ["control", "reply"]])
      assert.deepStrictEqual(pauses(ada), [1_000])
      assert.deepStrictEqual(ada.emitted(), [
        { type: "model-away", server: "127.0.0.1:9", reason: "ModelUnavailable: ECONNREFUSED", withinMs: 1_000 }
      ])
      ada.due().fails("compact", away())
      assert.deepStrictEqual([pauses(ada), ada.emitted()], [[2_000], []])
      ada.due()
      assert.deepStrictEqual([...ada.jobs], [["compact", { src: "compact", input: { phase } }]])
      for (let left = phases; left < 3; left++) ada.ends("compact", worked())
      assert.strictEqual(ada.status, "awake.thinking.inferring")
      assert.deepInclude(ada.context, { envelope: "m1", outage: null })
      assert.strictEqual(ada.ends("infer", ANSWER).status, "awake.idle")
    }
  })

  it("who wakes a compaction that waits, waits with it; a halt cuts it off", () => {
    const asleep = () => dreamt(new Rig().hear(sleep("s1")), worked(at(0.9))).fails("compact", away())
    const ada = asleep().hear({ type: "wake" })
    assert.strictEqual(ada.status, "compacting.parked")
    ada.due().fails("compact", failure("tell-owner"))
    assert.strictEqual(ada.status, "compacting.summarizing")
    assert.strictEqual(ada.ends("compact", skipped()).status, "awake.idle")
    const halted = asleep().hear({ type: "halt", reason: "fire drill" })
    assert.deepStrictEqual([halted.timers.size, halted.hear({ type: "resume" }).status], [0, "awake.idle"])
  })

  it("an order to compact in the pause of a dream goes back to the pause", () => {
    const ada = new Rig().hear(sleep("s1")).fails("dream", away()).hear(compact())
    for (let phase = 0; phase < 3; phase++) ada.ends("compact", worked())
    assert.deepStrictEqual([ada.status, ada.due().status], ["dreaming.pausing", "dreaming.consolidating"])
  })
})
