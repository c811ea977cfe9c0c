import { assert, describe, it } from "@effect/vitest"
import { Ending } from "@reverie/runtime"
import { inTurn, type Store } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { aTool, calling, type Life, live, type LifeOptions } from "./rig.ts"

/** A life that a person may ask to end, and one of the same disk after it. */
const office = (options: LifeOptions = {}) => {
  const begun: Array<string> = []
  const slow = (name: string, over = {}) =>
    aTool(name, {
      effect: () =>
        Effect.andThen(
          Effect.sync(() => begun.push(name)),
          Effect.delay(Effect.succeed(`${name} done`), 3_000)
        ),
      ...over
    })
  const model = inTurn(calling("pay", "tell"), calling("pay"), { text: "Paid." })
  const life = live({ idle: true, tools: [slow("pay"), slow("tell", { idempotent: true })], model, ...options })
  return { begun, life }
}

/** Ends a worker as a fleet does: it is asked, and interrupted when it rests or the time is over. */
const ended = (life: Life, worker: Fiber.Fiber<never, unknown>, ending: Ending, graceMillis: number) => {
  const asked = life.time.now
  const closing = life.fork(Effect.timeoutOption(ending.ask, graceMillis).pipe(Effect.andThen(Fiber.interrupt(worker))))
  life.until(() => closing.pollUnsafe() !== undefined)
  return life.time.now - asked
}

const holders = (life: Life) => life.disk.resident(life.address())?.lease

describe("a worker that is asked to end", () => {
  it("E1 E3 lets running tools end, commits what they gave, and begins no model call and no message; the next one goes on", () => {
    const { begun, life } = office()
    const ending = new Ending()
    const worker = life.work({}, undefined, ending)
    life.say("Pay.", { id: "m-1" })
    life.until(() => begun.length === 2)
    life.say("And then?", { id: "m-2" })
    life.pass(800)
    assert.isBelow(ended(life, worker, ending, 20_000), 3_000)
    assert.deepStrictEqual(life.toolTexts(), ["pay done", "tell done"])
    assert.strictEqual(life.scripted.prompts.length, 1)
    assert.deepStrictEqual(life.ends(), [])
    assert.isUndefined(holders(life))
    life.work()
    life.rest()
    assert.deepStrictEqual(life.toolTexts(), ["pay done", "tell done", "pay done"])
    assert.deepStrictEqual(
      life.ends().map(({ envelope, reply }) => [envelope, reply]),
      [
        ["m-1", "Paid."],
        ["m-2", "Paid."]
      ]
    )
  })

  it("E2 lets a running model call end, and runs the tools that it asks for", () => {
    const { begun, life } = office({
      model: (_, call) => Effect.delay(Effect.succeed(call === 1 ? calling("pay") : { text: "Paid." }), 1_000)
    })
    const ending = new Ending()
    const worker = life.work({}, undefined, ending)
    life.say("Pay.")
    life.until(() => life.scripted.prompts.length === 1)
    ended(life, worker, ending, 20_000)
    assert.deepStrictEqual(begun, ["pay"])
    assert.deepStrictEqual(life.toolTexts(), ["pay done"])
    assert.strictEqual(life.scripted.prompts.length, 1)
  })

  it("E3 makes a model call that a budget counts: left open it would be told of as cut off, and paid twice", () => {
    const { begun, life } = office({ settings: { budgetCalls: 4 } })
    const ending = new Ending()
    const worker = life.work({}, undefined, ending)
    life.say("Pay.", { id: "m-1" })
    life.until(() => begun.length === 2)
    ended(life, worker, ending, 20_000)
    assert.strictEqual(life.scripted.prompts.length, 3)
    assert.deepStrictEqual(
      life.ends().map(({ outcome }) => outcome),
      ["answered"]
    )
  })

  it("cuts off what does not end in time, and the model does not read of a crash", () => {
    const { begun, life } = office()
    const ending = new Ending()
    const worker = life.work({}, undefined, ending)
    life.say("Pay.")
    life.until(() => begun.length === 2)
    assert.strictEqual(ended(life, worker, ending, 1_000), 1_000)
    life.work()
    life.until(() => life.toolTexts().length === 2)
    const cut =
      'The call of "pay" was cut off when its process was stopped; whether it took effect is unknown. ' +
      "Do not assume either; check before repeating it."
    assert.deepStrictEqual(life.toolTexts(), [cut, "tell done"])
  })

  it("E1 rests at once where nothing runs, and claims nothing of what waits", () => {
    const claims: Array<string> = []
    const seen = (store: Store): Store => ({
      ...store,
      mailbox: {
        ...store.mailbox,
        claim: (request) =>
          Effect.tap(store.mailbox.claim(request), ({ claim }) =>
            Effect.sync(() => claims.push(claim.address.assistant))
          )
      }
    })
    const { life } = office({ assistants: ["ada", "bo"], model: { text: "Yes." } })
    const ending = new Ending()
    const worker = life.work({ concurrency: 1 }, seen, ending)
    life.say("Hello.")
    life.rest()
    const before = claims.length
    const asking = life.fork(ending.ask)
    life.until(() => asking.pollUnsafe() !== undefined)
    life.say("Hello.", { to: "bo" })
    life.pass(5_000)
    assert.strictEqual(claims.length, before)
    life.run(Fiber.interrupt(worker))
  })
})
