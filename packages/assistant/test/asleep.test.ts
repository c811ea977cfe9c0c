import { assert, describe, it } from "@effect/vitest"
import { compactionPhases, dreamOperations } from "../src/index.ts"
import { ANSWER, at, compact, failure, message, Rig, skipped, sleep, timer, unfinished, worked } from "./rig.ts"

const MAIL_WAITS = { tokenRatio: 0, mailWaiting: true }

/** Through all operations, each of them skipped. */
const dreamt = (ada: Rig, last = worked()): Rig => {
  for (const operation of dreamOperations) ada.ends("dream", operation === "pruning" ? last : skipped())
  return ada
}

describe("dreaming", () => {
  it("an order to sleep ends at once as a tick, and the dream takes its course to rest", () => {
    const ada = new Rig({ sleepMs: 70_000 }).hear(sleep("s1"))
    assert.deepStrictEqual(ada.actions("endTick"), [{ outcome: "slept" }])
    assert.deepInclude(ada.context, { envelope: null, tick: 1 })
    for (const operation of dreamOperations) {
      assert.strictEqual(ada.status, `dreaming.${operation}`)
      assert.deepStrictEqual([...ada.jobs], [["dream", { src: "dream", input: { operation } }]])
      assert.deepStrictEqual(ada.receives, ["control", "reply"])
      ada.ends("dream", worked())
    }
    assert.strictEqual(ada.status, "dreaming.resting")
    assert.deepStrictEqual(ada.receives, ["control", "reply", "mail"])
    assert.deepStrictEqual(
      [...ada.timers.values()].map(({ delayMillis }) => delayMillis),
      [70_000]
    )
    assert.strictEqual(ada.due().status, "awake.idle")
  })

  it("sleeps as long as it was told", () => {
    const ada = dreamt(new Rig().hear(sleep("s1", { forMs: 1_234 })))
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

  it("machine D1: an operation that fails leads on to the next", () => {
    const ada = new Rig().hear(sleep("s1"))
    for (const operation of dreamOperations) {
      assert.strictEqual(ada.status, `dreaming.${operation}`)
      ada.fails("dream", failure("retry"))
    }
    assert.strictEqual(ada.status, "dreaming.resting")
  })

  it("machine D2: who wakes it waits until the operation at hand has ended, well or not", () => {
    const ada = new Rig().hear(sleep("s1")).ends("dream", worked()).hear({ type: "wake" })
    assert.strictEqual(ada.status, "dreaming.linking")
    assert.deepStrictEqual([...ada.jobs.keys()], ["dream"])
    assert.strictEqual(ada.ends("dream", worked()).status, "awake.idle")
    assert.isFalse(ada.context.wakeWanted)

    const failing = new Rig().hear(sleep("s1")).hear({ type: "wake" }).fails("dream", failure("retry"))
    assert.deepStrictEqual([failing.status, failing.context.wakeWanted], ["awake.idle", false])
  })

  it("machine D2: mail that waits wakes it at the next boundary", () => {
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

  it("machine D4: an operation that has more to do is another job, and the next one begins to count anew", () => {
    const ada = new Rig().hear(sleep("s1"))
    assert.deepStrictEqual(rounds(ada), ["dreaming.consolidating", 0])
    assert.deepStrictEqual(rounds(ada.ends("dream", unfinished())), ["dreaming.consolidating", 1])
    assert.deepStrictEqual([...ada.jobs.keys()], ["dream"])
    assert.deepStrictEqual(rounds(ada.ends("dream", unfinished())), ["dreaming.consolidating", 2])
    assert.deepStrictEqual(rounds(ada.ends("dream", worked())), ["dreaming.linking", 0])
    assert.deepStrictEqual(rounds(ada.ends("dream", unfinished())), ["dreaming.linking", 1])
    assert.deepStrictEqual(rounds(ada.fails("dream", failure("retry"))), ["dreaming.profiling", 0])
  })

  it("machine D5: with a pace a pause lies between two steps, and the dream goes on where it was", () => {
    const ada = new Rig({ sleepTickMs: 60_000 }).hear(sleep("s1")).ends("dream", unfinished())
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

  it("machine D5: anyone who comes in a pause is heard at once", () => {
    const paused = () => new Rig({ sleepTickMs: 60_000 }).hear(sleep("s1")).ends("dream", worked())
    assert.deepStrictEqual(paused().receives, ["control", "reply", "mail"])
    assert.strictEqual(paused().hear(message("m1")).status, "awake.thinking.inferring")
    assert.strictEqual(paused().hear(timer("t1")).status, "awake.thinking.inferring")
    assert.strictEqual(paused().hear({ type: "wake" }).status, "awake.idle")
  })

  it("machine D2: the sleep ends when it was to end, after the step at hand", () => {
    const asleep = () => new Rig().hear(sleep("s1", { forMs: 10_000, at: 1_000 }))
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

  it("machine D2: compacting the history does not make the night longer", () => {
    const ada = new Rig({ compactEnabled: true }).hear(sleep("s1", { forMs: 10_000, at: 1_000 }))
    for (const _ of dreamOperations) ada.ends("dream", { ...worked(at(0.9)), at: 2_000 })
    for (const _ of compactionPhases) ada.ends("compact", { ...worked(), at: 5_000 })
    assert.strictEqual(ada.status, "dreaming.resting")
    assert.deepStrictEqual(
      [...ada.timers.values()].map(({ delayMillis }) => delayMillis),
      [6_000]
    )
  })

  it("machine D4: a phase of compaction that has more to do is another job", () => {
    const ada = new Rig({ compactEnabled: true }).hear(message("m1", { signals: at(0.8) }))
    assert.deepStrictEqual(rounds(ada.ends("compact", unfinished(at(0.8)))), ["compacting.extracting", 1])
    assert.deepStrictEqual(rounds(ada.ends("compact", worked(at(0.8)))), ["compacting.summarizing", 0])
  })
})

describe("compaction as the last act of a dream", () => {
  const compacting = () => dreamt(new Rig({ compactEnabled: true }).hear(sleep("s1")), worked(at(0.7)))

  it("machine D3: runs its phases and goes back to rest", () => {
    const ada = compacting()
    for (const phase of compactionPhases) {
      assert.strictEqual(ada.status, `compacting.${phase}`)
      assert.deepStrictEqual([...ada.jobs], [["compact", { src: "compact", input: { phase } }]])
      ada.ends("compact", worked())
    }
    assert.strictEqual(ada.status, "dreaming.resting")
  })

  it("machine D3: a failed extraction does not keep the summary from being written (A18)", () => {
    const ada = compacting().fails("compact", failure("retry"))
    assert.strictEqual(ada.status, "compacting.summarizing")
    assert.strictEqual(ada.ends("compact", worked()).status, "compacting.replacing")
    assert.strictEqual(ada.fails("compact", failure("retry")).status, "dreaming.resting")
  })

  it("machine D3: goes back when a phase fails or is skipped", () => {
    const unextracted = compacting().fails("compact", failure("retry"))
    assert.strictEqual(unextracted.fails("compact", failure("retry")).status, "dreaming.resting")
    const late = compacting()
      .ends("compact", worked())
      .ends("compact", skipped(at(0.9)))
    assert.strictEqual(late.status, "dreaming.resting")
  })

  it("machine D2: who wakes it waits for it", () => {
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
  const rested = (forMs = 100_000) => {
    const ada = new Rig().hear(sleep("s1", { forMs, at: 1_000 }))
    for (const _ of dreamOperations) ada.ends("dream", { ...worked(), at: 2_000 })
    return ada
  }
  const paused = () =>
    new Rig({ sleepTickMs: 60_000 }).hear(sleep("s1", { forMs: 900_000, at: 1_000 })).ends("dream", worked())
  const left = (ada: Rig) => [...ada.timers.values()].map(({ delayMillis }) => delayMillis)

  it("machine D6: awake it begins whatever the ratio, is no tick, and leads back to idle without a thought", () => {
    const ada = new Rig().hear(message("m1")).ends("infer", ANSWER).hear(compact(5_000))
    for (const phase of compactionPhases) {
      assert.strictEqual(ada.status, `compacting.${phase}`)
      assert.deepStrictEqual([...ada.jobs], [["compact", { src: "compact", input: { phase } }]])
      assert.deepStrictEqual(ada.receives, ["control", "reply"])
      ada.ends("compact", worked())
    }
    assert.deepStrictEqual([ada.status, ada.jobs.size], ["awake.idle", 0])
    assert.deepInclude(ada.context, { envelope: null, tick: 1 })
  })

  it("machine D6: at rest it leads back to rest, and the night is no longer for it", () => {
    const ada = rested().hear(compact(50_000))
    assert.deepStrictEqual([ada.status, ada.timers.size], ["compacting.extracting", 0])
    for (const _ of compactionPhases) ada.ends("compact", { ...worked(), at: 60_000 })
    assert.deepStrictEqual([ada.status, left(ada)], ["dreaming.resting", [41_000]])
    const failed = rested().hear(compact(50_000)).fails("compact", failure("retry")).fails("compact", failure("retry"))
    assert.deepStrictEqual([failed.status, left(failed)], ["dreaming.resting", [51_000]])
  })

  it("machine D6: in a pause it leads back to the pause, and the dream goes on in the same night", () => {
    const ada = paused().hear(compact(2_000))
    for (const _ of compactionPhases) ada.ends("compact", worked())
    assert.deepStrictEqual([ada.status, left(ada), ada.context.tick], ["dreaming.pausing", [60_000], 1])
    assert.strictEqual(ada.due().status, "dreaming.linking")
  })

  it("machine D2 D6: who wakes it meanwhile waits for it, wherever it came from", () => {
    for (const from of [rested(), paused()]) {
      from.hear(compact(2_000)).hear({ type: "wake" })
      assert.strictEqual(from.status, "compacting.extracting")
      assert.deepStrictEqual([from.ends("compact", skipped()).status, from.context.wakeWanted], ["awake.idle", false])
    }
    const idle = new Rig().hear(compact()).hear({ type: "wake" }).ends("compact", skipped())
    assert.deepStrictEqual([idle.status, idle.context.wakeWanted], ["awake.idle", false])
  })

  it("machine D3 D6: failed or skipped it goes back all the same", () => {
    const ends = [
      new Rig().hear(compact()).ends("compact", skipped(at(0.9))),
      new Rig().hear(compact()).fails("compact", failure("retry")).fails("compact", failure("retry"))
    ]
    for (const ada of ends) assert.strictEqual(ada.status, "awake.idle")
  })

  it("machine D6: it means nothing where compaction is switched off", () => {
    for (const compactEnabled of [true, false]) {
      assert.strictEqual(new Rig({ compactEnabled }).hear(compact()).ignored, !compactEnabled)
    }
  })

  it("machine D6: a halt cuts it off, and the next tick is an ordinary one", () => {
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
    assert.deepStrictEqual(ada.receives, ["control", "reply"])
    for (const _ of compactionPhases) ada.ends("compact", worked())
    assert.strictEqual(ada.status, "awake.thinking.inferring")
    assert.deepInclude(ada.context, { envelope: "m1", iteration: 1 })
    assert.strictEqual(ada.ends("infer", ANSWER).status, "awake.idle")
  })

  it("machine D3: skipped, it leads to the same thought, however full the window", () => {
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
