import { afterEach, assert, describe, it } from "@effect/vitest"
import type * as Assistant from "@reverie/assistant"
import { MAX_ATTEMPTS } from "@reverie/runtime"
import { anAddress, anEnvelopeId, inTurn, type MemoryDisk } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { vi } from "vitest"
import { aTool, calling, type Life, live, type LifeOptions } from "./rig.ts"

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
  it("I3 of the tick: a row that can not be read is buried with the reason, and blocks nothing before or behind it", () => {
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
      tools: [aTool("dig", { run: () => Effect.delay(Effect.succeed("dug"), 5_000) })],
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

  it("I3 of the tick: an envelope on which the statechart breaks is buried with what it said, and the next one is handled", () => {
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
      run: (_, { send }) =>
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
    life.post({ type: "sleep", forMillis: 10_000 })
    life.rest()
    life.pass(20_000)
    assert.strictEqual(life.status(), "halted")
    assert.strictEqual(life.entries().filter(({ cause }) => cause.kind === "timer").length, 1)
  })
})

/** Lives one life after the other on the same disk, each until it dies, the last one until it rests. */
const reincarnate = (times: number, options: (life: number) => LifeOptions, begin: (life: Life) => void): Life => {
  let disk: MemoryDisk | undefined
  let startAt: number | undefined
  for (let index = 1; index <= times; index++) {
    const life = live({
      ...options(index),
      ...(disk === undefined ? {} : { disk }),
      ...(startAt === undefined ? {} : { startAt })
    })
    if (index === 1) begin(life)
    life.rest()
    if (index < times && !life.dead) throw new Error(`life ${index} did not die`)
    disk = life.disk
    startAt = life.time.now + 1_000
    if (index === times) return life
  }
  throw new Error("no life was lived")
}

describe("what takes its worker down", () => {
  /** Dies whenever it comes to the point with the message in hand. */
  const deadlyAt = (point: string, times: number) => (index: number) => {
    let life: Life | undefined
    const options: LifeOptions = {
      model: { text: "Fine." },
      faults: {
        at: (at) =>
          Effect.suspend(() => {
            if (at === point && index <= times && life !== undefined) life.dead = true
            return life?.dead === true ? Effect.never : Effect.void
          })
      },
      onBirth: (born) => {
        life = born
      }
    }
    return options
  }

  it.each(["after-claim", "before-commit"])(
    "I3 of the host: an envelope that kills at %s is given up after MAX_ATTEMPTS claims, and what is behind it is handled",
    (point) => {
      const life = reincarnate(MAX_ATTEMPTS + 1, deadlyAt(point, MAX_ATTEMPTS), (first) => {
        first.slip("A deadly one.", { id: "m-1" })
        first.slip("A plain one.", { id: "m-2" })
      })
      assert.deepStrictEqual(
        life.settled().map(({ id, outcome }) => `${id} ${outcome}`),
        ["m-1 dead", "m-2 handled"]
      )
      assert.match(life.deadLetters()[0]?.reason ?? "", new RegExp(`given up after ${MAX_ATTEMPTS + 1} attempts`))
    }
  )

  it("I3 of the host: one attempt less, and it is handled", () => {
    const life = reincarnate(MAX_ATTEMPTS, deadlyAt("before-commit", MAX_ATTEMPTS - 1), (first) => {
      first.slip("A hard one.", { id: "m-1" })
    })
    assert.deepStrictEqual(
      life.settled().map(({ id, outcome }) => `${id} ${outcome}`),
      ["m-1 handled"]
    )
  })

  // The first life commits the arrival of the work before it dies of it; the attempts at the work itself come after.
  it.each(["before-model", "after-model"])(
    "I3 of the host: a model call that kills at %s is given up: its tick fails with the reason, and the next one is handled",
    (point) => {
      const life = reincarnate(MAX_ATTEMPTS + 2, deadlyAt(point, MAX_ATTEMPTS + 1), (first) => {
        first.slip("A deadly one.", { id: "m-1" })
        first.slip("A plain one.", { id: "m-2" })
      })
      assert.deepStrictEqual(
        life.settled().map(({ id, outcome }) => `${id} ${outcome}`),
        ["m-1 dead", "m-2 handled"]
      )
      assert.match(life.deadLetters()[0]?.reason ?? "", /given up after/)
    }
  )

  it("I3 of the host: a tool run that kills is given up: the model is told, and the tick goes on", () => {
    const life = reincarnate(
      MAX_ATTEMPTS + 2,
      (index) => ({
        ...deadlyAt("before-tool", MAX_ATTEMPTS + 1)(index),
        tools: [aTool("dig", { idempotent: true })],
        model: (prompt) =>
          Effect.succeed(prompt.messages.at(-1)?.role === "tool" ? { text: "Enough." } : calling("dig"))
      }),
      (first) => first.slip("Dig.", { id: "m-1" })
    )
    assert.match(life.answerTo("1.1.0"), /Failed: given up after/)
    assert.deepInclude(life.ends()[0], { envelope: "m-1", outcome: "answered", reply: "Enough." })
  })

  it("I3 of the host: what breaks its host without killing the process is given up too, and others work meanwhile", () => {
    const life = live({
      assistants: ["ada", "bo"],
      model: { text: "Fine." },
      faults: {
        at: (point, { assistant }) =>
          point === "before-commit" && assistant === "ada" && attempts++ < MAX_ATTEMPTS
            ? Effect.die(new Error("a bug"))
            : Effect.void
      }
    })
    let attempts = 0
    life.slip("A poisonous one.", { to: "ada", id: "m-1" })
    life.slip("A plain one.", { to: "ada", id: "m-2" })
    life.slip("Another plain one.", { to: "bo", id: "m-3" })
    life.pass(2_000)
    assert.strictEqual(life.ends("bo").length, 1)
    life.rest()
    assert.deepStrictEqual(
      life.settled("ada").map(({ id, outcome }) => `${id} ${outcome}`),
      ["m-1 dead", "m-2 handled"]
    )
    assert.strictEqual(life.failures.length, MAX_ATTEMPTS)
    assert.match(String(life.failures[0]?.[1]), /the work on harbor\/ada broke: a bug/)
  })

  it("I3 of the host: hints without anything to do are no attempts: what comes after any number of them is handled", () => {
    const life = live({ model: { text: "Fine." } })
    life.post({ type: "halt" })
    for (let index = 0; index < 3 * MAX_ATTEMPTS; index++) {
      life.say("Not yet.", { id: `m-${index}` })
      life.pass(10_000)
    }
    life.post({ type: "resume" }, { id: "r-1" })
    life.rest()
    assert.deepStrictEqual(
      life.settled().filter(({ outcome }) => outcome !== "handled"),
      []
    )
    assert.strictEqual(life.ends().length, 3 * MAX_ATTEMPTS)
  })
})
