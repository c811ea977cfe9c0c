import { assert, describe, it } from "@effect/vitest"
import { type FaultPoint, faultPoints } from "@reverie/runtime"
import { anAddress } from "@reverie/testkit"
import type { Tool } from "@reverie/tools"
import * as Effect from "effect/Effect"
import { aTool, calling, type Life, live, type LifeOptions } from "./rig.ts"
import { dying } from "./dying.ts"

/** What outlives every crash besides the disk: the world on which tools leave their mark. */
interface Outside {
  readonly marks: Array<string>
  modelCalls: number
}

const outside = (): Outside => ({ marks: [], modelCalls: 0 })

/** Leaves a mark under its key, then takes a while to answer. */
const marking = (name: string, world: Outside, over: Partial<Tool> = {}): Tool =>
  aTool(name, {
    effect: (_, { key, send }) =>
      Effect.sync(() => {
        world.marks.push(`${name} ${key}`)
        if (name === "pass") send("bo", "a word from ada")
      }).pipe(Effect.andThen(Effect.delay(Effect.succeed(`${name} done`), 500))),
    ...over
  })

const fleet = (world: Outside, over: Partial<Tool> = { idempotent: true }): LifeOptions => ({
  assistants: ["ada", "bo"],
  tools: [marking("look", world, over), marking("pass", world, over)],
  model: (prompt) =>
    Effect.suspend(() => {
      world.modelCalls++
      const results = prompt.messages.slice(prompt.messages.findLastIndex(({ role }) => role === "user"))
      const made = results.filter(({ role }) => role === "tool").length
      const isPerson = prompt.messages.some(({ content }) => content === "Go.")
      const line = !isPerson
        ? { text: "Noted." }
        : made === 0
          ? calling("look")
          : made === 1
            ? calling("pass")
            : { text: "Done." }
      return Effect.delay(Effect.succeed(line), 300)
    })
})

interface Death {
  readonly point: FaultPoint
  /** At which passing of the point. */
  readonly passing: number
}

/** A person who repeats what was not acknowledged. Answers false when the life ended. */
const insist = (life: Life): boolean => {
  const sent = life.trySay("Go.", { id: "m-1", to: "ada" })
  if (sent) life.rest()
  return !life.dead
}

/** Everything on record that says what happened, without when and under which claim. */
const recordOf = (life: Life) =>
  ["ada", "bo"].map((name) => ({
    name,
    status: life.status(name),
    snapshot: life.snapshot(name),
    jobs: life.disk.resident(anAddress(name))?.state.jobs,
    entries: life.entries(name).map(({ cause, event, messages, no, sends = [], settled = [], step, tickEnd }) => ({
      no,
      cause,
      event,
      settled,
      tickEnd,
      step: step?.name,
      sends: sends.map(({ id }) => id),
      messages: messages.map(({ call, content, role }) => [role, content, call])
    }))
  }))

const undisturbed = (() => {
  const world = outside()
  const passings = new Map<FaultPoint, number>()
  const life = live({
    ...fleet(world),
    faults: {
      at: (point) =>
        Effect.sync(() => {
          passings.set(point, (passings.get(point) ?? 0) + 1)
        })
    }
  })
  assert.isTrue(insist(life))
  return { record: recordOf(life), world, passings }
})()

const liveAgain = (world: Outside, before: Life, worker: string, over?: Partial<Tool>): Life => {
  const life = live({
    ...fleet(world, over),
    disk: before.disk,
    assistants: ["ada", "bo"],
    startAt: before.time.now,
    worker: { worker },
    seed: 7
  })
  assert.isTrue(insist(life))
  return life
}

/** Every moment between two durable steps of the undisturbed course. */
const deaths = faultPoints.flatMap((point) =>
  Array.from({ length: undisturbed.passings.get(point) ?? 0 }, (_, index): Death => ({ point, passing: index + 1 }))
)

describe("after a crash", () => {
  it("the undisturbed course passes every fault point, and has nothing to do twice", () => {
    assert.deepStrictEqual([...undisturbed.passings.keys()].toSorted(), [...faultPoints].toSorted())
    assert.deepStrictEqual(undisturbed.world.marks, ["look harbor/ada/1.1.0", "pass harbor/ada/1.2.0"])
    assert.strictEqual(undisturbed.world.modelCalls, 4)
    assert.deepStrictEqual(
      undisturbed.record.map(({ entries }) => entries.length),
      [7, 3]
    )
  })

  it.each(deaths)("started again after $point (passing $passing), the record is the same", (death) => {
    const world = outside()
    const first = live({ ...fleet(world), ...dying(death.point, death.passing) })
    assert.isFalse(insist(first))
    const second = liveAgain(world, first, "worker-1")
    assert.deepStrictEqual(recordOf(second), undisturbed.record)
    // What was marked twice was marked under the same key.
    assert.deepStrictEqual([...new Set(world.marks)], undisturbed.world.marks)
    assert.isAtMost(world.marks.length, undisturbed.world.marks.length + 1)
    // Each of the two assistants may have had one call open.
    assert.isAtMost(world.modelCalls, undisturbed.world.modelCalls + 2)
  })

  it.each(deaths)("taken over by another worker after $point (passing $passing), the record is the same", (death) => {
    const world = outside()
    const first = live({ ...fleet(world), ...dying(death.point, death.passing) })
    assert.isFalse(insist(first))
    const second = liveAgain(world, first, "worker-2")
    assert.deepStrictEqual(recordOf(second), undisturbed.record)
    assert.deepStrictEqual([...new Set(world.marks)], undisturbed.world.marks)
  })

  it.each(deaths)("a death at every $point from passing $passing on brings nothing but delay", (death) => {
    const world = outside()
    let life = live({ ...fleet(world), ...dying(death.point, death.passing) })
    for (let index = 0; index < 100 && !insist(life); index++) {
      // One passing more each time, so that no single step is ever given up as deadly.
      const next = { ...death, passing: death.passing + (index % 3) }
      life = live({
        ...fleet(world),
        ...dying(next.point, next.passing),
        disk: life.disk,
        assistants: ["ada", "bo"],
        startAt: life.time.now + 1_000
      })
    }
    assert.isFalse(life.dead)
    assert.deepStrictEqual(recordOf(life), undisturbed.record)
    assert.deepStrictEqual([...new Set(world.marks)], undisturbed.world.marks)
  })

  it("I1 of the tool job: one that is not idempotent, open at the crash, is reported interrupted and never run again", () => {
    const world = outside()
    const first = live({ ...fleet(world, { idempotent: false }), ...dying("after-tool", 1) })
    assert.isFalse(insist(first))
    assert.strictEqual(world.marks.length, 1)
    const second = liveAgain(world, first, "worker-1", { idempotent: false })
    assert.strictEqual(world.marks.filter((mark) => mark.startsWith("look")).length, 1)
    assert.match(second.answerTo("1.1.0", "ada"), /started before a crash; whether it took effect is unknown/)
    const step = second.entries("ada").find((entry) => entry.step?.name === "look")?.step
    assert.deepInclude(step?.detail, { failure: "interrupted" })
    assert.deepInclude(second.ends("ada")[0], { envelope: "m-1", outcome: "answered", reply: "Done." })
  })

  it("I1 of the tool job: one that is idempotent runs again under the same key, and answers once", () => {
    const world = outside()
    const first = live({ ...fleet(world), ...dying("after-tool", 1) })
    assert.isFalse(insist(first))
    const second = liveAgain(world, first, "worker-1")
    const looks = world.marks.filter((mark) => mark.startsWith("look"))
    assert.deepStrictEqual(looks, ["look harbor/ada/1.1.0", "look harbor/ada/1.1.0"])
    assert.strictEqual(second.answerTo("1.1.0", "ada"), "look done")
  })

  it("a reply that was committed is not asked for again, one that was not is", () => {
    const committed = outside()
    // The second commit of ada's tick is the one that holds the first reply.
    const first = live({ ...fleet(committed), ...dying("after-commit", 2) })
    assert.isFalse(insist(first))
    liveAgain(committed, first, "worker-1")
    assert.strictEqual(committed.modelCalls, undisturbed.world.modelCalls)
    const lost = outside()
    const other = live({ ...fleet(lost), ...dying("before-commit", 2) })
    assert.isFalse(insist(other))
    liveAgain(lost, other, "worker-1")
    assert.strictEqual(lost.modelCalls, undisturbed.world.modelCalls + 1)
  })
})
