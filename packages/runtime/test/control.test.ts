import { assert, describe, it } from "@effect/vitest"
import { contextOf, restore } from "@reverie/assistant"
import { WakeQueue } from "@reverie/mailbox"
import { anAddress, anEnvelope, inTurn } from "@reverie/testkit"

import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Result from "effect/Result"
import { aTool, calling, live } from "./rig.ts"
import { lateResults } from "../src/commit/tick.ts"

const countLate = (): number => Effect.runSync(Metric.value(lateResults)).count

describe("halt and resume", () => {
  it("a halt while a tool runs aborts its signal; the model learns that no one knows how far it got", () => {
    let signal: AbortSignal | undefined
    const dig = aTool("dig", {
      effect: (_, run) => {
        signal = run.signal
        return Effect.never
      }
    })
    const life = live({ tools: [dig], model: inTurn(calling("dig"), { text: "Where was I?" }) })
    life.say("Dig.", { id: "m-1" })
    life.pass(1_000)
    assert.isFalse(signal?.aborted)
    const began = life.time.now
    life.post({ type: "halt", reason: "a pipe" }, { id: "h-1" })
    life.pass(1)
    assert.strictEqual(life.status(), "halted")
    assert.isTrue(signal?.aborted)
    assert.isBelow(life.time.now - began, 100)
    assert.match(life.answerTo("1.1.0"), /halted while this call was open; whether it took effect is unknown/)
    assert.deepStrictEqual(life.disk.resident(anAddress())?.state.jobs, [])
    life.post({ type: "resume" })
    life.rest()
    assert.deepInclude(life.ends()[0], { envelope: "m-1", outcome: "answered", reply: "Where was I?" })
    assert.strictEqual(life.entries().at(-1)?.tick, 1)
  })

  it("a stop ends the tick it names: the tool is aborted, no model call follows, and the next message is answered", () => {
    let signal: AbortSignal | undefined
    const dig = aTool("dig", {
      effect: (_, run) => {
        signal = run.signal
        return Effect.never
      }
    })
    const life = live({ tools: [dig], model: inTurn(calling("dig"), { text: "Here." }) })
    life.say("Dig.", { id: "m-1" })
    life.say("And now?", { id: "m-2" })
    life.pass(1_000)
    assert.isFalse(signal?.aborted)
    assert.strictEqual(life.scripted.prompts.length, 1)
    life.post({ type: "stop", tick: 1 }, { id: "s-1" })
    life.rest()
    assert.isTrue(signal?.aborted)
    assert.match(life.answerTo("1.1.0"), /stopped the turn while this call was open/)
    assert.deepStrictEqual(
      life.ends().map(({ envelope, outcome, reply }) => [envelope, outcome, reply]),
      [
        ["m-1", "stopped", ""],
        ["m-2", "answered", "Here."]
      ]
    )
    assert.strictEqual(life.scripted.prompts.length, 2)
    assert.deepStrictEqual(
      life.settled().map(({ id, outcome }) => [id, outcome]),
      [
        ["m-1", "handled"],
        ["s-1", "handled"],
        ["m-2", "handled"]
      ]
    )
    // It comes too late, twice: the tick it names is over.
    life.say("Still there?", { id: "m-3" })
    life.post({ type: "stop", tick: 1 }, { id: "s-2" })
    life.rest()
    assert.deepInclude(life.settled()[3], {
      id: "s-2",
      outcome: "ignored",
      reason: "tick 1 is not in progress: there is nothing to stop"
    })
    assert.deepInclude(life.ends()[2], { envelope: "m-3", outcome: "answered" })
  })

  it("a stop that was accepted before the process died is heard before the jobs it stops run once more", () => {
    let runs = 0
    const dig = aTool("dig", {
      effect: () =>
        Effect.andThen(
          Effect.sync(() => void runs++),
          Effect.never
        )
    })
    const first = live({ tools: [dig], model: calling("dig") })
    first.say("Dig.", { id: "m-1" })
    first.pass(1_000)
    assert.strictEqual(runs, 1)
    first.run(first.store.mailbox.accept(anEnvelope({ id: "s-1", event: { type: "stop", tick: 1 } })))
    const second = live({ disk: first.disk, startAt: first.time.now + 60_000, tools: [dig], model: { text: "Here." } })
    second.rest()
    assert.strictEqual(runs, 1)
    assert.strictEqual(second.scripted.prompts.length, 0)
    assert.deepInclude(second.ends()[0], { envelope: "m-1", outcome: "stopped" })
  })

  it("I1 a halt is heard before mail that came earlier, and what it halts waits", () => {
    const life = live({
      tools: [aTool("look", { effect: () => Effect.delay(Effect.succeed("seen"), 5_000) })],
      model: inTurn(calling("look"), { text: "Done." }, { text: "Done again." })
    })
    life.say("Look.", { id: "m-1" })
    life.say("And again.", { id: "m-2" })
    life.pass(4_000)
    life.post({ type: "halt" }, { id: "h-1" })
    life.pass(10_000)
    assert.strictEqual(life.status(), "halted")
    assert.deepStrictEqual(
      life.settled().map(({ id }) => id),
      ["h-1"]
    )
    assert.strictEqual(life.scripted.prompts.length, 1)
    life.post({ type: "resume" })
    life.rest()
    assert.deepStrictEqual(
      life.ends().map(({ envelope }) => envelope),
      ["m-1", "m-2"]
    )
  })

  it("I2 a result that is ready when its job is stopped is late: dropped, counted, and nowhere in the record", () => {
    const before = countLate()
    const after = (millis: number) => ({ effect: () => Effect.delay(Effect.succeed("seen"), millis) })
    let held = false
    const life = live({
      tools: [aTool("look", after(1_000)), aTool("listen", after(1_500))],
      model: inTurn(calling("look", "listen"), { text: "Done." }),
      // The first result is being written while the second one and the order come in.
      faults: {
        at: (point) =>
          Effect.suspend(() => {
            if (point !== "before-commit" || life.status() !== "awake.acting.running" || held) return Effect.void
            held = true
            return Effect.sleep(1_000)
          })
      }
    })
    life.say("Look and listen.")
    life.pass(1_700)
    assert.isTrue(held)
    // As when the one who accepted it died before it could fence: the order alone stops the work.
    life.run(life.store.mailbox.accept(anEnvelope({ id: "h-1", event: { type: "halt" } })))
    life.run(
      Effect.provide(
        WakeQueue.use((queue) => queue.wake(anAddress(), "order")),
        life.services()
      )
    )
    life.pass(1_000)
    assert.strictEqual(life.status(), "halted")
    assert.strictEqual(life.answerTo("1.1.0"), "seen")
    assert.match(life.answerTo("1.1.1"), /halted/)
    assert.strictEqual(countLate(), before + 1)
    life.post({ type: "resume" })
    life.rest()
    assert.strictEqual(life.toolTexts().length, 2)
    assert.deepInclude(life.ends()[0], { outcome: "answered", reply: "Done." })
  })

  it("halted, mail waits for ever, a second halt changes nothing, and the first reason stands", () => {
    const life = live({ model: { text: "Here." } })
    life.post({ type: "halt", reason: "first" })
    life.post({ type: "halt", reason: "second" }, { id: "h-2" })
    life.say("Hello?")
    life.pass(3_600_000)
    assert.strictEqual(life.status(), "halted")
    assert.strictEqual(life.scripted.prompts.length, 0)
    assert.deepInclude(life.settled()[1], { id: "h-2", outcome: "ignored" })
    assert.strictEqual(contextOf(Result.getOrThrow(restore(life.snapshot()))).haltReason, "first")
    life.post({ type: "resume" })
    life.rest()
    assert.deepInclude(life.ends()[0], { reply: "Here." })
  })

  it("a resume that no one needs is ignored with a reason", () => {
    const life = live()
    life.post({ type: "resume" }, { id: "r-1" })
    life.rest()
    assert.deepStrictEqual(life.settled(), [
      { id: "r-1", outcome: "ignored", reason: "resume means nothing in awake.idle" }
    ])
  })
})

describe("retirement", () => {
  it("ends the tick in hand as failed and buries what waits in every lane, each with its reason, at once", () => {
    const life = live({ tools: [aTool("dig", { effect: () => Effect.never })], model: calling("dig") })
    life.say("Dig.", { id: "m-1" })
    for (let index = 2; index <= 20; index++) life.say("Dig more.", { id: `m-${index}` })
    life.until(() => life.status() === "awake.acting.running")
    life.post({ type: "report", outcome: "reported", content: "nothing" }, { id: "r-1" })
    life.pass(100)
    const began = life.time.now
    life.post({ type: "retire" }, { id: "bye" })
    life.rest()
    assert.strictEqual(life.status(), "retired")
    assert.isBelow(life.time.now - began, 1_000)
    const outcomes = new Map(life.settled().map(({ id, outcome }) => [id, outcome]))
    assert.strictEqual(outcomes.size, life.settled().length)
    assert.strictEqual(outcomes.get("bye"), "handled")
    assert.deepStrictEqual(
      [...outcomes].filter(([, outcome]) => outcome === "dead").map(([id]) => id),
      ["m-1", "r-1", ...Array.from({ length: 19 }, (_, index) => `m-${index + 2}`)]
    )
    assert.deepInclude(life.deadLetters()[0], { envelope: "m-1", reason: "The assistant was retired." })
    assert.deepInclude(life.deadLetters()[1], { envelope: "r-1", reason: "the assistant has retired" })
    assert.throws(() => life.say("Anyone?"), /there is no assistant harbor\/ada, or it has retired/)
  })

  it("what waits is dead-lettered also when the worker dies before it came to that", () => {
    const first = live({
      model: { text: "Here." },
      faults: {
        at: (point) =>
          Effect.suspend(() => {
            if (point === "after-commit" && first.status() === "retired") first.dead = true
            return first.dead ? Effect.never : Effect.void
          })
      }
    })
    first.post({ type: "halt" })
    first.say("Still there?", { id: "m-1" })
    first.pass(10)
    first.post({ type: "retire" }, { id: "bye" })
    first.until(() => first.dead)
    assert.strictEqual(first.deadLetters().length, 0)
    const second = live({ disk: first.disk, startAt: first.time.now })
    second.rest()
    assert.deepStrictEqual(
      second.deadLetters().map(({ envelope, reason }) => `${envelope}: ${reason}`),
      ["m-1: the assistant has retired"]
    )
  })
})

describe("sleep", () => {
  const dream = ["consolidating", "linking", "profiling", "reflecting", "pruning"]

  it("a sleep is noted, dreams through steps that visibly have nothing to do, rests, and ends by itself", () => {
    const life = live({ model: { text: "Awake." } })
    const began = life.time.now
    life.post({ type: "sleep", forMs: 600_000 }, { id: "s-1" })
    life.rest()
    assert.strictEqual(life.status(), "dreaming.resting")
    assert.deepStrictEqual(life.ends(), [{ envelope: "s-1", outcome: "slept", iterations: 0, reply: "" }])
    assert.deepStrictEqual(
      life.told("step-skipped").map(({ reason, step }) => [step, reason]),
      [
        ["dream consolidating", "nothing has been lived through since the last dream"],
        ["dream linking", "there are no new facts"],
        ["dream profiling", "nothing new was heard of anybody"],
        ["dream reflecting", "not enough has gathered since the last reflection"]
      ]
    )
    assert.deepStrictEqual(
      life.told("step-finished").map(({ ok, step }) => [step, ok]),
      ["dream pruning", "dream pruning", "dream pruning"].map((step) => [step, true])
    )
    life.until(() => life.status() === "awake.idle")
    assert.strictEqual(life.entries().at(-1)?.at, began + 600_000)
    assert.strictEqual(life.entries().at(-1)?.cause.kind, "timer")
  })

  it("a message wakes who rests, and is answered", () => {
    const life = live({ model: { text: "Yes?" } })
    life.post({ type: "sleep" })
    life.rest()
    life.say("Psst.", { id: "m-1" })
    life.rest()
    assert.strictEqual(life.status(), "awake.idle")
    assert.deepInclude(life.ends()[1], { envelope: "m-1", outcome: "answered", reply: "Yes?" })
    assert.deepStrictEqual(life.disk.resident(anAddress())?.state.timers, [])
  })

  it("mail that arrives during a dream waits for the step at hand, then ends the dream", () => {
    let held = false
    const life = live({
      model: { text: "Yes?" },
      faults: {
        at: (point) =>
          Effect.suspend(() => {
            if (point !== "before-commit" || life.status() !== "dreaming.linking" || held) return Effect.void
            held = true
            return Effect.sleep(5_000)
          })
      }
    })
    life.post({ type: "sleep" })
    life.until(() => held)
    life.say("Psst.", { id: "m-1" })
    life.rest()
    assert.deepInclude(life.ends()[1], { envelope: "m-1", outcome: "answered" })
    assert.deepStrictEqual(
      life.told("step-skipped").map(({ step }) => step),
      dream.slice(0, 3).map((operation) => `dream ${operation}`)
    )
  })

  it("an order to wake ends a rest without a tick", () => {
    const life = live()
    life.post({ type: "sleep" })
    life.rest()
    life.post({ type: "wake" }, { id: "w-1" })
    life.rest()
    assert.strictEqual(life.status(), "awake.idle")
    assert.deepInclude(life.settled()[1], { id: "w-1", outcome: "handled" })
    assert.strictEqual(life.entries().at(-1)?.tick, 1)
  })
})

describe("compaction and assessment", () => {
  it("a context that is too full is compacted before anything else of the tick, visibly skipped, and the tick goes on", () => {
    const life = live({
      settings: { compactEnabled: true, compactEmergencyRatio: 0.5 },
      definition: { maxContextTokens: 200, reservedResponseTokens: 20 },
      model: inTurn({ text: "x".repeat(500) }, { text: "Short." })
    })
    life.say("Tell me everything.", { id: "m-1" })
    life.say("And briefly?", { id: "m-2" })
    life.rest()
    assert.deepStrictEqual(
      life.told("step-skipped").map(({ step }) => step),
      ["compact extracting"]
    )
    assert.deepInclude(life.ends()[1], { envelope: "m-2", outcome: "answered", reply: "Short." })
  })

  it("F37 F42 where the task is weighed, small talk gets one action and a chain of steps a loop", () => {
    const settings = { assessTask: true }
    const tools = [aTool("look")]
    const chat = live({ settings, tools, model: calling("look") })
    chat.say("Hello, good morning!")
    chat.rest()
    assert.deepStrictEqual(
      chat.told("step-finished").map(({ step }) => step),
      ["assess"]
    )
    assert.deepInclude(chat.ends()[0], { outcome: "max-iterations", iterations: 1 })
    const work = live({ settings, tools, model: calling("look") })
    work.say("First plan all the goals of the project, then compare every one of them, and after that write each down.")
    work.rest()
    assert.deepInclude(work.ends()[0], { outcome: "max-iterations", iterations: 5 })
  })

  it("F37 a model that weighs the task can only narrow what the settings allow, and nonsense leaves the heuristic", () => {
    const settings = { assessTask: true, maxIterations: 3 }
    const tools = [aTool("look")]
    const definition = { assessWith: "model" } as const
    const verdict = (iterations: number) =>
      JSON.stringify({
        complexity: 5,
        event_class: "goal_action",
        recommended_mode: "react_loop",
        recommended_iterations: iterations
      })
    const iterationsAfter = (text: string) => {
      const life = live({ settings, tools, definition, model: inTurn({ text }, calling("look")) })
      life.say("Plan all the goals, then compare every one of them, and after that write each down.")
      life.rest()
      return life.ends()[0]?.iterations
    }
    assert.deepStrictEqual(
      [2, 3, 9].map((iterations) => iterationsAfter(verdict(iterations))),
      [2, 3, 3]
    )
    assert.strictEqual(iterationsAfter("I would rather not say."), 3)
  })

  it("I1 changed settings are taken up with the next tick", () => {
    const first = live({ tools: [aTool("look")], settings: { maxIterations: 2 }, model: calling("look") })
    first.say("Look.")
    first.rest()
    const second = live({
      disk: first.disk,
      startAt: first.time.now,
      tools: [aTool("look")],
      settings: { maxIterations: 4 },
      model: calling("look")
    })
    second.say("Look again.", { id: "m-2" })
    second.rest()
    assert.deepStrictEqual(
      second.ends().map(({ iterations }) => iterations),
      [2, 4]
    )
  })
})
