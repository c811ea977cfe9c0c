import { assert, describe, it } from "@effect/vitest"
import { arrive, creationOf } from "@reverie/runtime"
import { anAddress, anEnvelope } from "@reverie/testkit"
import { atLength } from "@reverie/testkit/length"
import * as Effect from "effect/Effect"
import { live } from "./rig.ts"

const ASSISTANTS = Array.from({ length: 100 }, (_, index) => `a-${String(index).padStart(3, "0")}`)
const EACH = 10
const CONCURRENCY = 4
const SEEDS = atLength([1], [1, 2, 3])

/** The ends of ticks in the order of their commits, as names of assistants. */
const endsInOrder = (life: ReturnType<typeof live>): ReadonlyArray<string> =>
  life.disk.outbox.flatMap(({ address, entry }) => (entry.tickEnd === undefined ? [] : [address.assistant]))

describe("fairness", () => {
  it.each(SEEDS)("I4 of the host: of 100 busy assistants at concurrency 4 no one starves (seed %i)", (seed) => {
    const life = live({
      seed,
      assistants: ASSISTANTS,
      worker: { concurrency: CONCURRENCY },
      model: () => Effect.delay(Effect.succeed({ text: "Done." }), 100)
    })
    for (let index = 0; index < EACH; index++) {
      for (const to of ASSISTANTS) life.slip("Work.", { to })
    }
    life.rest()
    const order = endsInOrder(life)
    assert.strictEqual(order.length, ASSISTANTS.length * EACH)
    // While everybody still has work, shares differ by a tick or two, those at work included.
    const half = order.slice(0, order.length / 2)
    const shares = ASSISTANTS.map((name) => half.filter((each) => each === name).length)
    assert.isAtLeast(Math.min(...shares), EACH / 2 - 2)
    assert.isAtMost(Math.max(...shares), EACH / 2 + 2)
  })

  it("I4 of the host: an assistant that is never out of work does not keep the others from theirs", () => {
    let questions = 0
    const life = live({
      assistants: ["glutton", "ada"],
      worker: { concurrency: 1 },
      model: (prompt) =>
        Effect.suspend(() => {
          // Each answer to the glutton brings the next question before it is written down.
          const isGlutton = prompt.messages.some(({ content }) => content === "More!")
          if (isGlutton && ++questions < 60) life.postLater("More!", "glutton")
          return Effect.delay(Effect.succeed({ text: "Done." }), 1_000)
        })
    })
    life.say("More!", { to: "glutton" })
    life.pass(5_500)
    const sentAt = life.time.now
    life.say("A word?", { to: "ada" })
    life.until(() => life.ends("ada").length === 1)
    assert.isAtMost((life.entries("ada").at(-1)?.at ?? Infinity) - sentAt, 3_000)
    assert.isAtLeast(life.ends("glutton").length, 5)
  })

  it("R2 of the turns: a tenant with a hundred busy assistants does not keep another one's single question waiting", () => {
    const life = live({
      assistants: ASSISTANTS,
      worker: { concurrency: CONCURRENCY },
      model: () => Effect.delay(Effect.succeed({ text: "Done." }), 1_000)
    })
    const bo = anAddress("bo", "tower")
    life.run(Effect.flatMap(creationOf(bo, life.definition), (creation) => life.store.ledger.create(creation)))
    for (const to of ASSISTANTS) life.say("Work.", { to })
    life.pass(1_500)
    const sentAt = life.time.now
    life.run(Effect.provide(arrive(anEnvelope({ to: bo })), life.services()))
    life.until(() => life.disk.resident(bo)?.entries.some(({ entry }) => entry.tickEnd !== undefined) === true)
    // What is under way ends first, and then it is its turn.
    assert.isAtMost(life.time.now - sentAt, 2_100)
    assert.isAbove(ASSISTANTS.filter((name) => life.ends(name).length === 0).length, 80)
  })
})
