import { assert, describe, it } from "@effect/vitest"
import { contextOf, restore } from "@reverie/assistant"
import { MailboxUnavailable, WakeQueue } from "@reverie/mailbox"
import { arrive } from "@reverie/runtime"
import { anAddress, anEnvelope, inTurn, type Store } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { aTool, calling, type Life, live, type LifeOptions } from "./rig.ts"

/** A halt that comes in through another process: no one here is given a wake-up. */
const haltElsewhere = (life: Life, store: Store = life.store, id = "h-1"): void => {
  const silent = { wake: () => Effect.void, wakeAt: () => Effect.void, take: Effect.never, redact: () => Effect.void }
  const envelope = anEnvelope({ id, event: { type: "halt", reason: "enough" } })
  life.run(Effect.provide(Effect.provideService(arrive(envelope), WakeQueue, silent), life.services(store)))
}

/** A store that notes whose commits were refused. */
const noting =
  (fenced: Array<string>, worker: string) =>
  (store: Store): Store => ({
    ...store,
    ledger: {
      ...store.ledger,
      commit: (claim, commit) =>
        Effect.tapError(store.ledger.commit(claim, commit), ({ _tag }) =>
          Effect.sync(() => fenced.push(`${worker} ${_tag}`))
        )
    }
  })

const tickInHand = (life: Life) => contextOf(Result.getOrThrow(restore(life.snapshot()))).envelope

const digger = (options: LifeOptions = {}) => {
  const dug: Array<string> = []
  const life = live({
    idle: true,
    tools: [aTool("dig", { effect: (_, { key }) => Effect.sync(() => `dug ${dug.push(key)}`) })],
    ...options
  })
  return { dug, life }
}

describe("the kill switch", () => {
  it("I2 a halt while a model call is under way elsewhere: the holder's commit is refused, and what it called does not run", () => {
    const fenced: Array<string> = []
    const { dug, life } = digger({
      model: (_, call) =>
        call === 1
          ? Effect.delay(Effect.succeed(calling("dig")), 5_000)
          : Effect.succeed(call === 2 ? calling("dig") : { text: "Done." })
    })
    life.work({ worker: "holder", leaseMs: 60_000 }, noting(fenced, "holder"))
    life.slip("Dig.", { id: "m-1" })
    life.until(() => life.scripted.prompts.length === 1)
    life.pass(1_000)
    haltElsewhere(life)
    life.work({ worker: "other", leaseMs: 60_000 }, noting(fenced, "other"))
    life.pass(2_000)
    // The other one has heard the order; the holder still waits for the model.
    assert.strictEqual(life.status(), "halted")
    assert.deepStrictEqual(fenced, [])
    const halted = JSON.stringify(life.entries())
    life.pass(10_000)
    assert.deepStrictEqual(fenced, ["holder CommitFenced"])
    assert.strictEqual(JSON.stringify(life.entries()), halted)
    assert.deepStrictEqual(dug, [])
    assert.strictEqual(tickInHand(life), "m-1")
    life.post({ type: "resume" })
    life.rest()
    assert.deepInclude(life.ends()[0], { envelope: "m-1", outcome: "answered", reply: "Done." })
    assert.strictEqual(dug.length, 1)
  })

  it("without the fence the holder would have written, and run what it was told to: what these tests see", () => {
    const { dug, life } = digger({
      model: inTurn(calling("dig"), { text: "Done." }),
      faults: { at: (point) => (point === "before-tool" ? Effect.sleep(5_000) : Effect.void) }
    })
    life.work({ worker: "holder", leaseMs: 60_000 })
    life.slip("Dig.", { id: "m-1" })
    life.until(() => life.status() === "awake.acting.running")
    const before = life.entries().length
    haltElsewhere(life, { ...life.store, mailbox: { ...life.store.mailbox, fence: () => Effect.void } })
    life.pass(6_000)
    assert.strictEqual(dug.length, 1)
    assert.isAbove(life.entries().length, before)
  })

  it.each(["safe_chain", "dangerous"] as const)(
    "I2 of the tool job: a call that had not begun is not begun any more (%s)",
    (category) => {
      const fenced: Array<string> = []
      const dug: Array<string> = []
      const idempotent = category === "dangerous"
      const { life } = digger({
        settings: { confirmDangerous: false },
        tools: [
          aTool("dig", { category, idempotent, effect: (_, { key }) => Effect.sync(() => `dug ${dug.push(key)}`) })
        ],
        model: inTurn(calling("dig"), { text: "Done." }),
        faults: { at: (point) => (point === "before-tool" ? Effect.sleep(5_000) : Effect.void) }
      })
      life.work({ worker: "holder", leaseMs: 60_000 }, noting(fenced, "holder"))
      life.slip("Dig.", { id: "m-1" })
      life.until(() => life.status() === "awake.acting.running")
      haltElsewhere(life)
      const before = JSON.stringify(life.entries())
      life.work({ worker: "other", leaseMs: 60_000 })
      life.pass(2_000)
      assert.strictEqual(life.status(), "halted")
      assert.notStrictEqual(JSON.stringify(life.entries()), before)
      life.pass(10_000)
      assert.deepStrictEqual(dug, [])
      assert.deepStrictEqual(fenced, ["holder CommitFenced"])
      assert.match(life.answerTo("1.1.0"), /halted while this call was open/)
    }
  )

  it("I2 of the lease session: in one process a busy assistant is halted at once, and no one learns of trouble", () => {
    let signal: AbortSignal | undefined
    const life = live({
      tools: [
        aTool("dig", {
          effect: (_, run) => {
            signal = run.signal
            return Effect.never
          }
        })
      ],
      model: inTurn(calling("dig"), { text: "Where was I?" })
    })
    life.say("Dig.", { id: "m-1" })
    life.until(() => signal !== undefined)
    life.post({ type: "halt" })
    life.pass(1)
    assert.isTrue(signal?.aborted)
    assert.strictEqual(life.status(), "halted")
    assert.deepStrictEqual(life.failures, [])
  })

  it("I2 of the lease session: an assistant that lingers at rest is halted at once too, again and again, without trouble", () => {
    const life = live({ model: { text: "Here." } })
    life.say("Hello?")
    life.rest()
    for (let round = 1; round <= 3; round++) {
      life.post({ type: "halt" }, { id: `h-${round}` })
      life.pass(1)
      assert.strictEqual(life.status(), "halted")
      life.post({ type: "resume" }, { id: `r-${round}` })
      life.pass(1)
      assert.strictEqual(life.status(), "awake.idle")
    }
    assert.deepStrictEqual(life.failures, [])
  })

  it("a halt that was accepted before fences no one again", () => {
    const { life } = digger({ model: { text: "Here." } })
    haltElsewhere(life)
    const epoch = life.disk.resident(anAddress())?.epoch
    haltElsewhere(life)
    assert.strictEqual(life.disk.resident(anAddress())?.epoch, epoch)
    assert.isAbove(epoch ?? 0, 0)
  })

  it.each(["halt", "wake"] as const)(
    "no one waits for ever at the front door: a wake-up that hangs can be given up (%s)",
    (type) => {
      const { life } = digger()
      const hanging = {
        wake: () => Effect.never,
        wakeAt: () => Effect.void,
        take: Effect.never,
        redact: () => Effect.void
      }
      const envelope = anEnvelope({ id: "e-1", event: { type } })
      const arriving = Effect.provideService(arrive(envelope), WakeQueue, hanging)
      const given = life.run(Effect.timeoutOption(Effect.provide(arriving, life.services()), 1_000))
      assert.strictEqual(given._tag, "None")
      assert.strictEqual(life.disk.resident(anAddress())?.mail[type === "halt" ? "control" : "reply"].length, 1)
    }
  )

  it("I2 when no one can be fenced the wake-up is given all the same, and the one who ordered it learns of it", () => {
    const { life } = digger()
    const { mailbox } = life.store
    const failing = {
      ...mailbox,
      fence: () => Effect.fail(new MailboxUnavailable({ operation: "fence", message: "gone" }))
    }
    const wakeUps: Array<string> = []
    const queue = {
      wake: () => Effect.sync(() => void wakeUps.push("hint")),
      wakeAt: () => Effect.void,
      take: Effect.never,
      redact: () => Effect.void
    }
    const arriving = Effect.provideService(arrive(anEnvelope({ event: { type: "halt" } })), WakeQueue, queue)
    const services = life.services({ ...life.store, mailbox: failing })
    const outcome = life.run(Effect.result(Effect.provide(arriving, services)))
    assert.isTrue(Result.isFailure(outcome))
    assert.deepStrictEqual(wakeUps, ["hint"])
  })
})
