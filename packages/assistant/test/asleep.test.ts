import { assert, describe, it } from "@effect/vitest"
import { compactionPhases, dreamOperations, mayWait, waitOf } from "../src/index.ts"
import { ANSWER, at, away, compact, failure, message, Rig, skipped, sleep, timer, unfinished, worked } from "./rig.ts"

const MAIL_WAITS = { tokenRatio: 0, mailWaiting: true }

/** Through all operations, each of them skipped. */
const dreamt = (ada: Rig, last = worked()): Rig => {
  for (const operation of dreamOperations) ada.ends("dream", operation === "pruning" ? last : skipped())
  return ada
}

describe("dreaming", () => {
  it("an order to sleep ends at once as a tick, and the dream takes its course to rest", () => {
    const ada = new Rig({ sleepMillis: 70_000 }).hear(sleep("s1"))
    assert.deepStrictEqual(ada.actions("endTick"), [{ outcome: "slept" }])
    assert.deepInclude(ada.context, { envelope: null, tick: 1 })
    for (const operation of dreamOperations) {
      assert.strictEqual(ada.status, `dreaming.${operation}`)
      assert.deepStrictEqual([...ada.jobs], [["dream", { src: "dream", input: { operation } }]])
      assert.deepStrictEqual(ada.hears, ["control", "reply"])
      ada.ends("dream", worked())
    }
    assert.strictEqual(ada.status, "dreaming.resting")
    assert.deepStrictEqual(ada.hears, ["control", "reply", "mail"])
    assert.deepStrictEqual(
      [...ada.timers.values()].map(({ delayMillis }) => delayMillis),
      [70_000]
    )
    assert.strictEqual(ada.due().status, "awake.idle")
  })

  it("sleeps as long as it was told", () => {
    const ada = dreamt(new Rig().hear(sleep("s1", { forMillis: 1_234 })))
    assert.deepStrictEqual(
      [...ada.timers.values()].map(({ delayMillis }) => delayMillis),
      [1_234]
    )
  })

  it("a message or a timer at rest starts a tick, a wake order none", () => {
    for (const mail of [message("m1"), timer("t1")]) {
      const ada = dreamt(new Rig().hear(sleep("s1"))).hear(mail)
      assert.strictEqual(ada.status, "awake.thinking.inferring")
      assert.deepInclude(ada.context, { tick: 2, iteration: 1 })
      assert.strictEqual(ada.timers.size, 0)
    }
    const woken = dreamt(new Rig().hear(sleep("s1"))).hear({ type: "wake" })
    assert.deepStrictEqual([woken.status, woken.timers.size, woken.actions("endTick")], ["awake.idle", 0, []])
  })

  it("asleep I1: an operation that fails leads on to the next", () => {
    const ada = new Rig().hear(sleep("s1"))
    for (const operation of dreamOperations) {
      assert.strictEqual(ada.status, `dreaming.${operation}`)
      ada.fails("dream", failure("retry"))
    }
    assert.strictEqual(ada.status, "dreaming.resting")
  })

  it("asleep I2: who wakes it waits until the operation at hand has ended, well or not", () => {
    const ada = new Rig().hear(sleep("s1")).ends("dream", worked()).hear({ type: "wake" })
    assert.strictEqual(ada.status, "dreaming.linking")
    assert.deepStrictEqual([...ada.jobs.keys()], ["dream"])
    assert.strictEqual(ada.ends("dream", worked()).status, "awake.idle")
    assert.isFalse(ada.context.wakeWanted)

    const failing = new Rig().hear(sleep("s1")).hear({ type: "wake" }).fails("dream", failure("retry"))
    assert.deepStrictEqual([failing.status, failing.context.wakeWanted], ["awake.idle", false])
  })

  it("asleep I2: mail that waits wakes it at the next boundary", () => {
    const ada = new Rig().hear(sleep("s1")).ends("dream", worked(MAIL_WAITS))
    assert.strictEqual(ada.status, "awake.idle")
    assert.strictEqual(ada.hear(message("m1")).status, "awake.thinking.inferring")
  })

  it("a dream that was cut off does not wake the next sleep", () => {
    const ada = new Rig().hear(sleep("s1")).hear({ type: "wake" }).hear({ type: "halt", reason: "fire drill" })
    ada.hear({ type: "resume" }).hear(sleep("s2")).ends("dream", worked())
    assert.strictEqual(ada.status, "dreaming.linking")
  })
})

describe("dreaming in steps", () => {
  const rounds = (rig: Rig) => [rig.status, rig.context.round]

  it("asleep I4: an operation that has more to do is another job, and the next one begins to count anew", () => {
    const ada = new Rig().hear(sleep("s1"))
    assert.deepStrictEqual(rounds(ada), ["dreaming.consolidating", 0])
    assert.deepStrictEqual(rounds(ada.ends("dream", unfinished())), ["dreaming.consolidating", 1])
    assert.deepStrictEqual([...ada.jobs.keys()], ["dream"])
    assert.deepStrictEqual(rounds(ada.ends("dream", unfinished())), ["dreaming.consolidating", 2])
    assert.deepStrictEqual(rounds(ada.ends("dream", worked())), ["dreaming.linking", 0])
    assert.deepStrictEqual(rounds(ada.ends("dream", unfinished())), ["dreaming.linking", 1])
    assert.deepStrictEqual(rounds(ada.fails("dream", failure("retry"))), ["dreaming.profiling", 0])
  })

  it("asleep I5: with a pace a pause lies between two steps, and the dream goes on where it was", () => {
    const ada = new Rig({ sleepTickMillis: 60_000 }).hear(sleep("s1")).ends("dream", unfinished())
    assert.strictEqual(ada.status, "dreaming.pausing")
    assert.deepStrictEqual(
      [...ada.timers.values()].map(({ delayMillis }) => delayMillis),
      [60_000]
    )
    assert.deepStrictEqual(rounds(ada.due()), ["dreaming.consolidating", 1])
    for (const operation of dreamOperations) {
      assert.strictEqual(ada.status, `dreaming.${operation}`)
      assert.strictEqual(ada.ends("dream", worked()).status, "dreaming.pausing")
      ada.due()
    }
    assert.strictEqual(ada.status, "dreaming.resting")
  })

  it("asleep I5: whoever comes in a pause is heard at once", () => {
    const paused = () => new Rig({ sleepTickMillis: 60_000 }).hear(sleep("s1")).ends("dream", worked())
    assert.deepStrictEqual(paused().hears, ["control", "reply", "mail"])
    assert.strictEqual(paused().hear(message("m1")).status, "awake.thinking.inferring")
    assert.strictEqual(paused().hear(timer("t1")).status, "awake.thinking.inferring")
    assert.strictEqual(paused().hear({ type: "wake" }).status, "awake.idle")
  })

  it("asleep I2: the sleep ends when it was to end, after the step at hand", () => {
    const asleep = () => new Rig().hear(sleep("s1", { forMillis: 10_000, at: 1_000 }))
    const over = asleep().ends("dream", { ...worked(), at: 11_000 })
    assert.strictEqual(over.status, "awake.idle")
    const early = asleep()
    for (const [index] of dreamOperations.entries()) early.ends("dream", { ...worked(), at: 1_000 + index * 1_000 })
    assert.strictEqual(early.status, "dreaming.resting")
    assert.deepStrictEqual(
      [...early.timers.values()].map(({ delayMillis }) => delayMillis),
      [6_000]
    )
  })

  it("asleep I2: folding the history does not make the night longer", () => {
    const ada = new Rig({ compactEnabled: true }).hear(sleep("s1", { forMillis: 10_000, at: 1_000 }))
    for (const _ of dreamOperations) ada.ends("dream", { ...worked(at(0.9)), at: 2_000 })
    for (const _ of compactionPhases) ada.ends("compact", { ...worked(), at: 5_000 })
    assert.strictEqual(ada.status, "dreaming.resting")
    assert.deepStrictEqual(
      [...ada.timers.values()].map(({ delayMillis }) => delayMillis),
      [6_000]
    )
  })

  it("asleep I4: a phase of compaction that has more to do is another job", () => {
    const ada = new Rig({ compactEnabled: true }).hear(message("m1", { signals: at(0.8) }))
    assert.deepStrictEqual(rounds(ada.ends("compact", unfinished(at(0.8)))), ["compacting.extracting", 1])
    assert.deepStrictEqual(rounds(ada.ends("compact", worked(at(0.8)))), ["compacting.summarizing", 0])
  })
})

describe("compaction as the last act of a dream", () => {
  const compacting = () => dreamt(new Rig({ compactEnabled: true }).hear(sleep("s1")), worked(at(0.7)))

  it("asleep I3: runs its phases and goes back to rest", () => {
    const ada = compacting()
    for (const phase of compactionPhases) {
      assert.strictEqual(ada.status, `compacting.${phase}`)
      assert.deepStrictEqual([...ada.jobs], [["compact", { src: "compact", input: { phase } }]])
      ada.ends("compact", worked())
    }
    assert.strictEqual(ada.status, "dreaming.resting")
  })

  it("asleep I3: a failed extraction does not keep the summary from being written (A18)", () => {
    const ada = compacting().fails("compact", failure("retry"))
    assert.strictEqual(ada.status, "compacting.summarizing")
    assert.strictEqual(ada.ends("compact", worked()).status, "compacting.replacing")
    assert.strictEqual(ada.fails("compact", failure("retry")).status, "dreaming.resting")
  })

  it("asleep I3: goes back when a phase fails or is skipped", () => {
    const unextracted = compacting().fails("compact", failure("retry"))
    assert.strictEqual(unextracted.fails("compact", failure("retry")).status, "dreaming.resting")
    const late = compacting()
      .ends("compact", worked())
      .ends("compact", skipped(at(0.9)))
    assert.strictEqual(late.status, "dreaming.resting")
  })

  it("asleep I2: who wakes it waits for it", () => {
    const ada = compacting().hear({ type: "wake" })
    assert.strictEqual(ada.status, "compacting.extracting")
    assert.deepStrictEqual([ada.ends("compact", skipped()).status, ada.context.wakeWanted], ["awake.idle", false])
  })

  it("is left out below the ratio, and where it is switched off", () => {
    const below = dreamt(new Rig({ compactEnabled: true }).hear(sleep("s1")), worked(at(0.69)))
    assert.strictEqual(below.status, "dreaming.resting")
    assert.strictEqual(
      dreamt(new Rig({ compactEnabled: false }).hear(sleep("s1")), worked(at(1.2))).status,
      "dreaming.resting"
    )
  })
})

describe("compaction by order", () => {
  const rested = (forMillis = 100_000) => {
    const ada = new Rig().hear(sleep("s1", { forMillis, at: 1_000 }))
    for (const _ of dreamOperations) ada.ends("dream", { ...worked(), at: 2_000 })
    return ada
  }
  const paused = () =>
    new Rig({ sleepTickMillis: 60_000 }).hear(sleep("s1", { forMillis: 900_000, at: 1_000 })).ends("dream", worked())
  const left = (ada: Rig) => [...ada.timers.values()].map(({ delayMillis }) => delayMillis)

  it("asleep I6: awake it begins whatever the ratio, is no tick, and leads back to idle without a thought", () => {
    const ada = new Rig().hear(message("m1")).ends("infer", ANSWER).hear(compact(5_000))
    for (const phase of compactionPhases) {
      assert.strictEqual(ada.status, `compacting.${phase}`)
      assert.deepStrictEqual([...ada.jobs], [["compact", { src: "compact", input: { phase } }]])
      assert.deepStrictEqual(ada.hears, ["control", "reply"])
      ada.ends("compact", worked())
    }
    assert.deepStrictEqual([ada.status, ada.jobs.size], ["awake.idle", 0])
    assert.deepInclude(ada.context, { envelope: null, tick: 1 })
  })

  it("asleep I6: at rest it leads back to rest, and the night is no longer for it", () => {
    const ada = rested().hear(compact(50_000))
    assert.deepStrictEqual([ada.status, ada.timers.size], ["compacting.extracting", 0])
    for (const _ of compactionPhases) ada.ends("compact", { ...worked(), at: 60_000 })
    assert.deepStrictEqual([ada.status, left(ada)], ["dreaming.resting", [41_000]])
    const failed = rested().hear(compact(50_000)).fails("compact", failure("retry")).fails("compact", failure("retry"))
    assert.deepStrictEqual([failed.status, left(failed)], ["dreaming.resting", [51_000]])
  })

  it("asleep I6: in a pause it leads back to the pause, and the dream goes on in the same night", () => {
    const ada = paused().hear(compact(2_000))
    for (const _ of compactionPhases) ada.ends("compact", worked())
    assert.deepStrictEqual([ada.status, left(ada), ada.context.tick], ["dreaming.pausing", [60_000], 1])
    assert.strictEqual(ada.due().status, "dreaming.linking")
  })

  it("asleep I2 I6: who wakes it meanwhile waits for it, wherever it came from", () => {
    for (const from of [rested(), paused()]) {
      from.hear(compact(2_000)).hear({ type: "wake" })
      assert.strictEqual(from.status, "compacting.extracting")
      assert.deepStrictEqual([from.ends("compact", skipped()).status, from.context.wakeWanted], ["awake.idle", false])
    }
    const idle = new Rig().hear(compact()).hear({ type: "wake" }).ends("compact", skipped())
    assert.deepStrictEqual([idle.status, idle.context.wakeWanted], ["awake.idle", false])
  })

  it("asleep I3 I6: failed or skipped it goes back all the same", () => {
    const ends = [
      new Rig().hear(compact()).ends("compact", skipped(at(0.9))),
      new Rig().hear(compact()).fails("compact", failure("retry")).fails("compact", failure("retry"))
    ]
    for (const ada of ends) assert.strictEqual(ada.status, "awake.idle")
  })

  it("asleep I6: it means nothing where compaction is switched off", () => {
    for (const compactEnabled of [true, false]) {
      assert.strictEqual(new Rig({ compactEnabled }).hear(compact()).ignored, !compactEnabled)
    }
  })

  it("asleep I6: a halt cuts it off, and the next tick is an ordinary one", () => {
    const ada = new Rig().hear(compact()).hear({ type: "halt", reason: "fire drill" }).hear({ type: "resume" })
    assert.strictEqual(ada.status, "awake.idle")
    ada.hear(message("m1", { signals: at(0.8) }))
    for (const _ of compactionPhases) ada.ends("compact", worked())
    assert.strictEqual(ada.status, "awake.thinking.inferring")
  })
})

describe("compaction in an emergency", () => {
  it("machine I5: comes before anything else of the tick, which then goes on", () => {
    const ada = new Rig({ compactEnabled: true }).hear(message("m1", { signals: at(0.8) }))
    assert.strictEqual(ada.status, "compacting.extracting")
    assert.deepInclude(ada.context, { envelope: "m1", iteration: 0, compactingFrom: "awake" })
    assert.deepStrictEqual(ada.hears, ["control", "reply"])
    for (const _ of compactionPhases) ada.ends("compact", worked())
    assert.strictEqual(ada.status, "awake.thinking.inferring")
    assert.deepInclude(ada.context, { envelope: "m1", iteration: 1 })
    assert.strictEqual(ada.ends("infer", ANSWER).status, "awake.idle")
  })

  it("asleep I3: skipped, it leads to the same thought, however full the window", () => {
    const ada = new Rig({ compactEnabled: true }).hear(message("m1", { signals: at(1.2) }))
    assert.strictEqual(ada.ends("compact", skipped(at(1.2))).status, "awake.thinking.inferring")
  })

  it("is left out below the ratio, and where it is switched off", () => {
    const below = new Rig({ compactEnabled: true }).hear(message("m1", { signals: at(0.79) }))
    assert.strictEqual(below.status, "awake.thinking.inferring")
    assert.strictEqual(
      new Rig({ compactEnabled: false }).hear(message("m1", { signals: at(1.2) })).status,
      "awake.thinking.inferring"
    )
  })

  it("machine I5: comes before the task is weighed, and the task is weighed afterwards", () => {
    const ada = new Rig({ compactEnabled: true, assessTask: true }).hear(message("m1", { signals: at(0.8) }))
    assert.strictEqual(ada.status, "compacting.extracting")
    for (const _ of compactionPhases) ada.ends("compact", worked())
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
    ada.fails("compact", failure("retry")).fails("compact", failure("retry"))
    assert.strictEqual(ada.status, "awake.thinking.inferring")
    assert.strictEqual(ada.context.iteration, 1)
  })
})

describe("waiting", () => {
  it("is told with the timer that ends it, in every state that waits for a model, and in no other", () => {
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
    assert.isUndefined(waitOf(new Rig({ sleepTickMillis: 5 }).hear(sleep("s1")).ends("dream", worked()).decoded))
    assert.isFalse(mayWait("awake.idle"))
  })
})

describe("asleep I7: an outage of the model", () => {
  const pauses = (ada: Rig) => [...ada.timers.values()].map(({ delayMillis }) => delayMillis)

  it("a dream pauses, and goes on with the very step that the model was missing for", () => {
    const ada = new Rig().hear(sleep("s1", { forMillis: 3_600_000, at: 1_000 })).ends("dream", worked())
    for (const pause of [1_000, 2_000, 4_000]) {
      ada.fails("dream", away(5_000))
      assert.deepStrictEqual([ada.status, ada.hears.includes("mail")], ["dreaming.pausing", true])
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

  it("whoever comes in such a pause is heard at once, and the outage is not theirs", () => {
    const asleep = () => new Rig().hear(sleep("s1")).fails("dream", away()).due().fails("dream", away())
    const woken = asleep().hear(message("m1"))
    assert.deepStrictEqual([woken.status, woken.context.outage], ["awake.thinking.inferring", null])
    assert.deepStrictEqual(pauses(woken.fails("infer", away())), [1_000])
    const roused = asleep().hear({ type: "wake" })
    assert.deepStrictEqual([roused.status, roused.context.outage], ["awake.idle", null])
  })

  it("an outage that outlasts the sleep ends it, and the next sleep dreams from the beginning", () => {
    const ada = new Rig().hear(sleep("s1", { forMillis: 60_000, at: 1_000 })).ends("dream", worked())
    ada.fails("dream", away(60_999)).due().fails("dream", away(61_000))
    assert.deepStrictEqual([ada.status, ada.context.outage], ["awake.idle", null])
    assert.strictEqual(ada.hear(sleep("s2")).status, "dreaming.consolidating")
  })

  it("where dreams are paced, the pause is the longer of the two", () => {
    const ada = new Rig({ sleepTickMillis: 3_000, parkMinMillis: 2_000 }).hear(sleep("s1"))
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
      assert.deepStrictEqual([ada.status, ada.hears], ["compacting.parked", ["control", "reply"]])
      assert.deepStrictEqual(pauses(ada), [1_000])
      assert.deepStrictEqual(ada.emitted(), [
        { type: "model-away", server: "127.0.0.1:9", reason: "ModelUnavailable: ECONNREFUSED", withinMillis: 1_000 }
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
