import { assert, describe, it } from "@effect/vitest"
import { type Notice, noticesOf } from "@reverie/protocol"
import { anAddress, anEntry, inTurn } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { aTool, calling, live } from "./rig.ts"

const inShort = (notice: Notice): string => {
  switch (notice.type) {
    case "state-changed":
      return `state ${notice.status}`
    case "tick-started":
      return `started ${notice.envelope} by ${notice.from}: ${notice.text}`
    case "model-replied":
      return `replied ${notice.iteration}: ${notice.text}[${notice.calls.map(({ id, tool }) => `${id} ${tool}`).join()}]`
    case "tool-finished":
      return `tool ${notice.call} ${notice.tool} ${notice.ok ? "ok" : "failed"}: ${notice.content}`
    case "tick-ended":
      return `ended ${notice.envelope} ${notice.outcome} after ${notice.iterations}: ${notice.reply}`
    case "envelope-settled":
      return `settled ${notice.envelope} ${notice.outcome}`
    case "part":
      return `part of ${notice.envelope}: ${notice.iteration} ${JSON.stringify(Object.values(notice.piece))}`
    default:
      return notice.type
  }
}

describe("notices", () => {
  it("I1 of the tick: one tick is reported in order, each fact once, after its commit", () => {
    const life = live({ tools: [aTool("look")], model: inTurn({ text: "Hm.", ...calling("look") }, { text: "Seen." }) })
    life.say("Look.", { id: "m-1", from: "kim" })
    life.rest()
    assert.deepStrictEqual(life.notices.map(inShort), [
      "started m-1 by kim: Look.",
      "state awake.thinking.inferring",
      'part of m-1: 1 ["text","Hm."]',
      'part of m-1: 1 ["call","1.1.0","look"]',
      'part of m-1: 1 ["arguments","1.1.0","{}"]',
      "replied 1: Hm.[1.1.0 look]",
      "state awake.acting.running",
      "tool 1.1.0 look ok: look done",
      "state awake.thinking.inferring",
      'part of m-1: 2 ["text","Seen."]',
      "replied 2: Seen.[]",
      "state awake.idle",
      "ended m-1 answered after 2: Seen.",
      "settled m-1 handled"
    ])
  })

  it("durable notices are what the outbox holds, with its positions; parts stand nowhere", () => {
    const life = live({ tools: [aTool("look")], model: inTurn(calling("look"), { text: "Seen." }) })
    life.say("Look.")
    life.rest()
    const replayed = life.disk.outbox
      .filter(({ entry }) => entry.cause.kind !== "creation")
      .flatMap(({ address, entry, seq }) => noticesOf(address, seq, entry))
    assert.deepStrictEqual(
      life.notices.filter(({ type }) => type !== "part"),
      replayed
    )
    assert.isTrue(life.told("part").every(({ seq }) => seq === undefined))
  })

  it("I2 without a listener no part is asked for", () => {
    const asked: Array<boolean> = []
    const life = live({
      quiet: true,
      model: {
        infer: (prompt, options) =>
          Effect.sync(() => {
            asked.push(options?.onText !== undefined)
            return {
              text: prompt.callPrefix,
              calls: [],
              finish: "stop",
              usage: { inputTokens: 1, outputTokens: 1, source: "counted" },
              model: "own"
            }
          })
      }
    })
    life.say("One.")
    life.rest()
    const stop = life.hub.listen(() => {})
    life.say("Two.")
    life.rest()
    stop()
    life.say("Three.")
    life.rest()
    assert.deepStrictEqual(asked, [false, true, false])
  })

  it("I1 a listener that throws hurts neither the other listeners nor the tick", () => {
    const life = live({ quiet: true, model: { text: "Here." } })
    const heard: Array<string> = []
    life.hub.listen(() => {
      throw new Error("the screen is broken")
    })
    life.hub.listen(({ type }) => heard.push(type))
    life.say("Hello?")
    life.rest()
    assert.deepInclude(life.ends()[0], { reply: "Here." })
    assert.include(heard, "part")
    assert.include(heard, "tick-ended")
    assert.deepStrictEqual(life.failures, [])
  })

  it("I1 a commit that was refused is reported to no one", () => {
    const life = live({
      model: { text: "Here." },
      faults: {
        at: (point) =>
          Effect.sync(() => {
            const resident = life.disk.resident(anAddress())
            // Another worker takes over between the decision and its commit.
            if (point === "before-commit" && resident?.epoch === 1) resident.epoch++
          })
      }
    })
    life.say("Hello?", { id: "m-1" })
    life.rest()
    assert.strictEqual(life.told("tick-started").length, 1)
    assert.strictEqual(life.told("tick-ended").length, 1)
    assert.isTrue(
      life
        .entries()
        .slice(1)
        .every(({ epoch }) => epoch === 3)
    )
  })

  it("a dream names the facts of its own night, once each, and the first of many", () => {
    const fact = (key: string, text: string) => ({ kind: "fact" as const, key, value: { text } })
    const learnt = (operation: string, records: ReadonlyArray<ReturnType<typeof fact>>) => {
      const step = { id: "9/dream", kind: "dream" as const, name: `dream ${operation}`, ok: true, elapsedMs: 1 }
      const notices = noticesOf(anAddress(), 1, anEntry({ tick: 9, step, records }))
      return notices.flatMap((each) =>
        each.type === "step-finished" ? [[each.learnt, each.learntCount] as const] : []
      )
    }
    const night = [fact("fact_9_0", "The pilot is Nora."), fact("fact_4_1", "Birch leaves at six.")]
    assert.deepStrictEqual(learnt("consolidating", night), [[["The pilot is Nora."], undefined]])
    assert.deepStrictEqual(learnt("linking", night), [[undefined, undefined]])
    assert.deepStrictEqual(learnt("consolidating", night.slice(1)), [[undefined, undefined]])
    const many = Array.from({ length: 20 }, (_, at) => fact(`fact_9_${at}`, `Berth ${at} is free.`))
    const [[told, count] = []] = learnt("consolidating", many)
    assert.deepStrictEqual([told?.length, told?.[0], count], [8, "Berth 0 is free.", 20])
  })

  it("what waits for a person or is held back is not learnt: a dream names it for itself", () => {
    const step = { id: "9/dream", kind: "dream" as const, name: "dream consolidating", ok: true, elapsedMs: 1 }
    const fact = (at: number, state: string) => {
      return { kind: "fact" as const, key: `fact_9_${at}`, value: { text: `Berth ${at} is free.`, state } }
    }
    const ofNight = (records: ReadonlyArray<ReturnType<typeof fact>>) =>
      noticesOf(anAddress(), 1, anEntry({ tick: 9, step, records })).find(({ type }) => type === "step-finished")
    const mixed = ofNight([fact(0, "active"), fact(1, "proposed")])
    assert.deepInclude(mixed, { learnt: ["Berth 0 is free."], waiting: ["Berth 1 is free."] })
    const held = ofNight([fact(0, "active"), fact(1, "quarantined"), fact(2, "proposed")])
    assert.deepInclude(held, {
      learnt: ["Berth 0 is free."],
      heldBack: ["Berth 1 is free."],
      waiting: ["Berth 2 is free."]
    })
    const all = ofNight(Array.from({ length: 12 }, (_, at) => fact(at, "proposed")))
    assert.notProperty(all, "learnt")
    assert.deepInclude(all, { waiting: Array.from({ length: 8 }, (_, at) => `Berth ${at} is free.`), waitingCount: 12 })
  })
})
