import { afterEach, assert, describe, it } from "@effect/vitest"
import type * as Assistant from "@reverie/assistant"
import { type Json, ownKinds } from "@reverie/protocol"
import { anAddress, anEnvelopeId, inTurn } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { vi } from "vitest"
import { aTool, calling, type Life, type LifeOptions, live } from "./rig.ts"

/** Types of machine events on which the statechart is made to throw. */
const fatal = vi.hoisted(() => ({ types: new Set<string>() }))

vi.mock("@reverie/assistant", async (load) => {
  const actual = await load<typeof Assistant>()
  return {
    ...actual,
    decide: (before: Assistant.Decoded, event: Assistant.Input): Assistant.Decision => {
      if (fatal.types.delete(event.type)) throw new TypeError("a guard was not prepared for this")
      return actual.decide(before, event)
    }
  }
})

afterEach(() => fatal.types.clear())

describe("what can not be handled", () => {
  it("I3 of the tick: a row that can not be read is dead-lettered with the reason, and blocks nothing before or behind it", () => {
    const life = live({ idle: true, model: inTurn({ text: "one" }, { text: "three" }) })
    life.say("First.", { id: "m-1" })
    life.disk.plantUnreadable(anAddress(), "mail", anEnvelopeId("m-2"), "it was written by a newer Reverie")
    life.say("Third.", { id: "m-3" })
    life.disk.plantUnreadable(anAddress(), "control", anEnvelopeId("c-1"), "broken JSON")
    life.work()
    life.rest()
    assert.deepStrictEqual(
      life.settled().map(({ id, outcome, reason }) => [id, outcome, reason]),
      [
        ["c-1", "dead", "broken JSON"],
        ["m-1", "handled", undefined],
        ["m-2", "dead", "it was written by a newer Reverie"],
        ["m-3", "handled", undefined]
      ]
    )
    assert.deepStrictEqual(
      life.ends().map(({ reply }) => reply),
      ["one", "three"]
    )
    assert.strictEqual(life.status(), "awake.idle")
  })

  it("I3 of the tick: an unreadable row does not disturb the tick in whose middle it is found", () => {
    const life = live({
      tools: [aTool("dig", { effect: () => Effect.delay(Effect.succeed("dug"), 5_000) })],
      model: inTurn(calling("dig"), { text: "Done." })
    })
    life.say("Dig.", { id: "m-1" })
    life.pass(1_000)
    life.disk.plantUnreadable(anAddress(), "control", anEnvelopeId("c-1"), "broken JSON")
    life.say("Anyone?", { id: "m-2" })
    life.rest()
    assert.deepStrictEqual(
      life.settled().map(({ id, outcome }) => `${id} ${outcome}`),
      ["c-1 dead", "m-1 handled", "m-2 handled"]
    )
    assert.strictEqual(life.answerTo("1.1.0"), "dug")
  })

  it("I3 of the tick: an envelope on which the statechart breaks is dead-lettered with what it said, and the next one is handled", () => {
    fatal.types.add("message")
    const life = live({ model: { text: "Fine." } })
    life.say("A strange one.", { id: "m-1" })
    life.say("A plain one.", { id: "m-2" })
    life.rest()
    assert.deepStrictEqual(life.settled()[0], {
      id: "m-1",
      outcome: "dead",
      reason: "the statechart broke on message: a guard was not prepared for this"
    })
    assert.deepInclude(life.ends()[0], { envelope: "m-2", outcome: "answered", reply: "Fine." })
    assert.deepStrictEqual(
      life.messages().map(({ content }) => content),
      ["A plain one.", "Fine."]
    )
  })

  it("I3 of the tick: a reply on which the statechart breaks halts: nothing of it is on record, and resume asks again", () => {
    fatal.types.add("xstate.done.actor.infer")
    const life = live({ tools: [aTool("look")], model: inTurn(calling("look"), { text: "Once more." }) })
    life.say("Hello?", { id: "m-1" })
    life.rest()
    assert.strictEqual(life.status(), "halted")
    assert.match(JSON.stringify(life.snapshot()), /the statechart broke on xstate.done.actor.infer/)
    assert.deepStrictEqual(
      life.messages().map(({ role }) => role),
      ["user"]
    )
    life.post({ type: "resume" })
    life.rest()
    assert.deepInclude(life.ends()[0], { envelope: "m-1", outcome: "answered", reply: "Once more." })
  })

  it("I3 of the tick: a result on which the statechart breaks halts: the call is answered once, by what is known of it", () => {
    fatal.types.add("xstate.done.actor.tool.0")
    const tell = aTool("tell", {
      effect: (_, { send }) =>
        Effect.sync(() => {
          send("ada", "a word to myself")
          return "told"
        })
    })
    const life = live({ tools: [tell], model: inTurn(calling("tell"), { text: "And now?" }) })
    life.say("Tell.", { id: "m-1" })
    life.rest()
    assert.strictEqual(life.status(), "halted")
    assert.match(life.answerTo("1.1.0"), /whether it took effect is unknown/)
    assert.strictEqual(life.entries().flatMap(({ sends = [] }) => sends).length, 0)
    life.post({ type: "resume" })
    life.rest()
    assert.deepInclude(life.ends()[0], { envelope: "m-1", outcome: "answered", reply: "And now?" })
  })

  it("I3 of the tick: a timer on which the statechart breaks halts, and does not fire again", () => {
    fatal.types.add("xstate.after.sleep.assistant.dreaming.resting")
    const life = live()
    life.post({ type: "sleep", forMs: 10_000 })
    life.rest()
    life.pass(20_000)
    assert.strictEqual(life.status(), "halted")
    assert.strictEqual(life.entries().filter(({ cause }) => cause.kind === "timer").length, 1)
  })
})

const KINDS = ownKinds.filter((kind) => kind !== "replies")

const byKey = ([one]: readonly [string, Json], [other]: readonly [string, Json]) => one.localeCompare(other)

/** Answers with the records that the session holds in memory. */
const peek = aTool("peek", {
  usesRecords: true,
  effect: (_, { records }) =>
    Effect.sync(() => JSON.stringify(KINDS.map((kind) => [kind, [...records.read(kind)].toSorted(byKey)])))
})

/** Its records are changed long before it ends. */
const keep = aTool("keep", {
  usesRecords: true,
  effect: (_, { records }) =>
    Effect.sync(() => {
      records.write("session", "kept", "by a run")
      return "kept"
    })
})

const committed = (life: Life): string => {
  const rows = life.run(life.store.ledger.records(life.address(), KINDS))
  const of = (wanted: string) =>
    rows.flatMap(({ key, kind, value }) => (kind === wanted ? [[key, value] as const] : []))
  return JSON.stringify(KINDS.map((kind) => [kind, of(kind).toSorted(byKey)]))
}

/** In memory, as a run sees it at the end of the life, and in the store. */
const bothOf = (life: Life) => {
  life.say("Look.", { id: "look" })
  life.rest()
  return { inMemory: life.toolTexts().at(-1), inStore: committed(life) }
}

const aLife = (options: LifeOptions = {}) =>
  live({ tools: [peek], model: inTurn(calling("peek"), { text: "Seen." }), ...options })

describe("own records in memory are the committed ones", () => {
  it("I3 of own records: an order for a sub-agent on which the statechart breaks leaves no record, in memory or in the store", () => {
    fatal.types.add("delegate")
    const life = aLife()
    life.post({ type: "delegate", task: "Count the ships" }, { id: "order" })
    life.pass(1_000)
    assert.strictEqual(life.settled()[0]?.outcome, "dead")
    const { inMemory, inStore } = bothOf(life)
    assert.notInclude(inStore, "Count the ships")
    assert.strictEqual(inMemory, inStore)
    assert.notInclude(JSON.stringify([life.entries(), life.scripted.prompts[0]]), "Count the ships")
  })

  it("I3 of own records: a run that was stopped after it had changed records has changed none of them", () => {
    fatal.types.add("xstate.done.actor.tool.1")
    let runs = 0
    const life = aLife({
      tools: [keep, aTool("look", { effect: () => Effect.delay(Effect.succeed("seen"), 1_000) }), peek],
      model: inTurn(calling("keep", "look"), calling("peek"), { text: "Seen." }),
      faults: { at: (point) => (point === "after-tool" && runs++ === 0 ? Effect.sleep(2_000) : Effect.void) }
    })
    life.say("Keep and look.")
    life.pass(3_000)
    assert.strictEqual(life.status(), "halted")
    life.post({ type: "resume" })
    life.rest()
    assert.notInclude(committed(life), "by a run")
    assert.strictEqual(life.answerTo("1.2.0"), committed(life))
  })
})

describe("what is no poison", () => {
  it("B1 wake-ups without anything to do make nothing suspect: what comes after any number of them is handled", () => {
    const life = live({ model: { text: "Fine." } })
    life.post({ type: "halt" })
    for (let index = 0; index < 30; index++) {
      life.say("Not yet.", { id: `m-${index}` })
      life.pass(10_000)
    }
    life.post({ type: "resume" }, { id: "r-1" })
    life.rest()
    assert.deepStrictEqual(
      life.settled().filter(({ outcome }) => outcome !== "handled"),
      []
    )
    assert.strictEqual(life.ends().length, 30)
  })
})
