import { DEFAULT_SCHEDULE } from "@reverie/assistant"
import { assert, describe, it } from "@effect/vitest"
import { LedgerUnavailable } from "@reverie/ledger"
import { StateUnreadable } from "@reverie/mailbox"
import { anAddress } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { aTool, calling, live } from "./rig.ts"

const fullDisk = new LedgerUnavailable({ operation: "commit", message: "no space is left" })

const names = (count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, index) => `a-${String(index).padStart(3, "0")}`)

describe("a worker", () => {
  it("I1 of the hosts: one assistant has one host, however many wake-ups come for it", () => {
    const claims: Array<number> = []
    const life = live({
      model: { text: "Here." },
      store: (store) => ({
        ...store,
        mailbox: {
          ...store.mailbox,
          claim: (request) =>
            Effect.tap(store.mailbox.claim(request), ({ claim }) => Effect.sync(() => claims.push(claim.epoch)))
        }
      })
    })
    for (let index = 0; index < 20; index++) life.say(`message ${index}`)
    life.rest()
    assert.deepStrictEqual(claims, [1])
    assert.strictEqual(life.ends().length, 20)
  })

  it("the mailbox is read once for each wake-up, and what comes meanwhile is heard", () => {
    let reads = 0
    const life = live({
      model: { text: "Here." },
      store: (store) => ({
        ...store,
        mailbox: {
          ...store.mailbox,
          pending: (address, lanes, limit) =>
            Effect.andThen(
              Effect.sync(() => void reads++),
              store.mailbox.pending(address, lanes, limit)
            )
        }
      })
    })
    life.say("Good morning.")
    life.until(() => life.ends().length === 1)
    assert.strictEqual(reads, 1)
    life.say("And a good day.")
    life.until(() => life.ends().length === 2)
    assert.strictEqual(reads, 2)
    // More than a page holds.
    for (let index = 0; index < 20; index++) life.say(`message ${index}`)
    life.rest()
    assert.strictEqual(life.ends().length, 22)
  })

  it("I1 no more assistants work at once than it may run", () => {
    const all = names(12)
    let atOnce = 0
    let most = 0
    const life = live({
      assistants: all,
      worker: { concurrency: 3 },
      model: () =>
        Effect.gen(function* () {
          most = Math.max(most, ++atOnce)
          yield* Effect.sleep(1_000)
          atOnce--
          return { text: "Done." }
        })
    })
    for (const to of all) life.say("Work.", { to })
    life.rest()
    assert.strictEqual(most, 3)
    for (const name of all) assert.strictEqual(life.ends(name).length, 1)
  })

  it("I1 what a crash left open is taken up within the bound too", () => {
    const all = names(12)
    let atOnce = 0
    let most = 0
    const model = () =>
      Effect.gen(function* () {
        most = Math.max(most, ++atOnce)
        yield* Effect.sleep(1_000)
        atOnce--
        return { text: "Done." }
      })
    const first = live({ assistants: all, worker: { concurrency: 12 }, model })
    for (const to of all) first.say("Work.", { to })
    first.until(() => all.every((name) => first.status(name) === "awake.thinking.inferring"))
    most = 0
    atOnce = 0
    const second = live({ disk: first.disk, startAt: first.time.now, worker: { concurrency: 3 }, model })
    second.rest()
    assert.strictEqual(most, 3)
    for (const name of all) assert.strictEqual(second.ends(name).length, 1)
  })

  it("I2 a wake-up that was lost is found by the sweep", () => {
    const life = live({ model: { text: "Found." }, worker: { sweepMs: 2_000 } })
    life.pass(100)
    const sentAt = life.time.now
    life.slip("Can you hear me?")
    life.rest()
    assert.strictEqual(life.ends().length, 1)
    assert.isAtMost((life.entries().at(-1)?.at ?? 0) - sentAt, 2_000)
  })

  it("I2 what is due stays within reach of the sweep behind any number that can not be hosted here", () => {
    const lost = names(300)
    const life = live({
      assistants: [...lost, "zoe"],
      model: { text: "Found." },
      idle: true,
      find: (name) => (name === "gone" ? undefined : life.definition)
    })
    for (const name of lost) {
      const resident = life.disk.resident(anAddress(name))
      if (resident !== undefined) resident.state = { ...resident.state, definition: "gone" }
      life.slip("Anyone?", { to: name })
    }
    life.pass(1)
    life.slip("And you?", { to: "zoe" })
    life.work()
    life.pass(10_000)
    assert.strictEqual(life.ends("zoe").length, 1)
    assert.strictEqual(life.failures.length, 300)
  })

  it("I2 I4 of the hosts: an assistant whose definition is missing is reported once, keeps its mail, and hurts no one else", () => {
    const known = new Set(["tester"])
    const life = live({
      assistants: ["ada", "bo"],
      model: { text: "Here." },
      find: (name) => (known.has(name) ? life.definition : undefined)
    })
    const ada = life.disk.resident(anAddress("ada"))
    if (ada !== undefined) ada.state = { ...ada.state, definition: "gone" }
    // More than any bound on attempts: none of this is the fault of what waits.
    for (let index = 0; index < 15; index++) {
      life.say(`question ${index}`, { to: "ada", id: `q-${index}` })
      life.pass(5_000)
    }
    life.say("Hello?", { to: "bo" })
    life.pass(5_000)
    assert.strictEqual(life.ends("bo").length, 1)
    assert.deepStrictEqual(
      life.failures.map(([name, { _tag }]) => `${name} ${_tag}`),
      ["ada DefinitionMissing"]
    )
    known.add("gone")
    life.say("And now?", { to: "ada", id: "q-15" })
    life.rest()
    assert.deepStrictEqual(
      life.settled("ada").map(({ id, outcome }) => `${id} ${outcome}`),
      Array.from({ length: 16 }, (_, index) => `q-${index} handled`)
    )
  })

  it("I2 of the hosts: a snapshot that does not fit stops its assistant alone", () => {
    const life = live({ assistants: ["ada", "bo"], model: { text: "Here." } })
    const ada = life.disk.resident(anAddress("ada"))
    if (ada !== undefined) ada.state = { ...ada.state, snapshot: { status: "strange" } }
    life.say("Hello?", { to: "ada" })
    life.say("Hello?", { to: "bo" })
    life.pass(60_000)
    assert.strictEqual(life.ends("bo").length, 1)
    assert.deepStrictEqual(
      life.failures.map(([name, { _tag }]) => `${name} ${_tag}`),
      ["ada SnapshotUnfit"]
    )
    assert.deepStrictEqual(life.settled("ada"), [])
  })

  it("I2 of the hosts: a state that can not be read stops its assistant alone", () => {
    const life = live({
      assistants: ["ada", "bo"],
      model: { text: "Here." },
      store: (store) => ({
        ...store,
        mailbox: {
          ...store.mailbox,
          claim: (request) =>
            request.address.assistant === "ada"
              ? Effect.fail(new StateUnreadable({ address: request.address, problem: "a newer Reverie wrote it" }))
              : store.mailbox.claim(request)
        }
      })
    })
    life.say("Hello?", { to: "ada" })
    life.say("Hello?", { to: "bo" })
    life.pass(60_000)
    assert.strictEqual(life.ends("bo").length, 1)
    assert.deepStrictEqual(
      life.failures.map(([name, { message }]) => `${name}: ${message}`),
      ["ada: the state of harbor/ada can not be read: a newer Reverie wrote it"]
    )
  })

  it("I2 of the hosts: a host that breaks is reported and hosted again; anyone who learns of it may break too", () => {
    let breaks = 2
    const life = live({
      assistants: ["ada", "bo"],
      model: { text: "Here." },
      onFailure: () => {
        throw new Error("the listener breaks as well")
      },
      store: (store) => ({
        ...store,
        ledger: {
          ...store.ledger,
          recent: (address, most, since) =>
            address.assistant === "ada" && breaks-- > 0
              ? Effect.die(new Error("a bug"))
              : store.ledger.recent(address, most, since)
        }
      })
    })
    life.say("Hello?", { to: "ada" })
    life.say("Hello?", { to: "bo" })
    life.rest()
    assert.strictEqual(life.ends("bo").length, 1)
    assert.strictEqual(life.ends("ada").length, 1)
    assert.match(String(life.failures[0]?.[1]), /a bug/)
    assert.strictEqual(life.failures.length, 2)
  })

  it("I3 a store that can not be written ends the worker, with the reason", () => {
    const life = live({ idle: true, model: { text: "Here." } })
    const worker = life.work({}, (store) => ({
      ...store,
      ledger: { ...store.ledger, commit: () => Effect.fail(fullDisk) }
    }))
    life.slip("Hello?")
    const exit = life.run(Fiber.await(worker))
    assert.include(String(exit), "no space is left")
    assert.strictEqual(life.disk.resident(anAddress())?.lease, undefined)
  })

  it("I3 a store that fails and recovers ends one lease session, and no one else's; what was asked is done in the next", () => {
    const passing = new LedgerUnavailable({ operation: "commit", message: "connection reset", isPassing: true })
    let failures = 0
    const life = live({ idle: true, assistants: ["ada", "bo"], model: { text: "Here." } })
    const worker = life.work({}, (store) => ({
      ...store,
      ledger: {
        ...store.ledger,
        commit: (claim, commit) =>
          Effect.suspend(() =>
            claim.address.assistant === "ada" && failures++ === 0
              ? Effect.fail(passing)
              : store.ledger.commit(claim, commit)
          )
      }
    }))
    for (const to of ["ada", "bo"]) life.say("Hello?", { to })
    life.rest()
    assert.deepStrictEqual([life.ends("ada").length, life.ends("bo").length], [1, 1])
    assert.isUndefined(worker.pollUnsafe())
    assert.deepStrictEqual(
      life.failures.map(([name, { _tag }]) => `${name} ${_tag}`),
      ["ada LedgerUnavailable"]
    )
  })

  it("I3 I5 of the lease session: interrupted, it lets go of every claim and leaves everything for the next one", () => {
    const life = live({ idle: true, tools: [aTool("dig", { effect: () => Effect.never })], model: calling("dig") })
    const worker = life.work()
    life.say("Dig.")
    life.until(() => life.status() === "awake.acting.running")
    life.run(Fiber.interrupt(worker))
    assert.deepStrictEqual(life.done, ["ada"])
    assert.strictEqual(life.disk.resident(anAddress())?.lease, undefined)
    assert.strictEqual(life.disk.resident(anAddress())?.state.jobs.length, 1)
  })

  it("I4 of the lease session: an assistant that is let go with a timer set leaves a wake-up for it, one without leaves none", () => {
    const sleep = { ...DEFAULT_SCHEDULE, enabled: true }
    const life = live({ definition: { sleep }, model: { text: "Here." }, worker: { idleMs: 0 } })
    life.say("Hello?")
    life.rest()
    const [timer] = life.disk.resident(anAddress())?.state.timers ?? []
    assert.deepStrictEqual(life.later.at(-1), ["ada", timer?.dueAt ?? 0])
    const other = live({ model: { text: "Here." }, worker: { idleMs: 0 } })
    other.say("Hello?")
    other.rest()
    assert.deepStrictEqual(other.later, [])
  })

  it("I3 of the hosts: a wake-up is done when the lease session has ended; one refused by a holder is given again for the lease's end", () => {
    const life = live({ idle: true, model: () => Effect.delay(Effect.succeed({ text: "Here." }), 5_000) })
    const request = { address: anAddress(), worker: "holder", leaseMillis: 20_000 }
    const { claim } = life.run(life.store.mailbox.claim(request))
    life.work({ worker: "other", idleMs: 0 })
    life.say("Hello?")
    life.until(() => life.done.length === 1)
    assert.deepStrictEqual(life.later, [["ada", claim.leaseUntil]])
    life.until(() => life.status() === "awake.thinking.inferring")
    life.say("And?")
    assert.strictEqual(life.done.length, 1)
    life.rest()
    life.until(() => life.done.length === 2)
    assert.strictEqual(life.ends().length, 2)
  })

  it("I2 of the host: an order that waits at a take-over is heard before an open job runs once more", () => {
    let runs = 0
    const dig = aTool("dig", {
      idempotent: true,
      effect: () =>
        Effect.suspend(() => {
          runs++
          return Effect.never
        })
    })
    const life = live({ idle: true, tools: [dig], model: calling("dig") })
    const first = life.work()
    life.slip("Dig.")
    life.until(() => runs === 1)
    life.run(Fiber.interrupt(first))
    life.post({ type: "halt", reason: "enough" })
    life.work({ worker: "worker-2" })
    life.until(() => life.status() === "halted")
    assert.strictEqual(runs, 1)
  })

  it("I2 one of many workers leaves to wake-ups what it has no free turn for, and takes it up when it has", () => {
    const all = names(12)
    const claims: Array<string> = []
    const life = live({
      idle: true,
      assistants: all,
      model: () => Effect.delay(Effect.succeed({ text: "Here." }), 10_000)
    })
    life.work({ isOneOfMany: true, concurrency: 4, idleMs: 0 }, (store) => ({
      ...store,
      mailbox: {
        ...store.mailbox,
        due: (limit, until) =>
          Effect.tap(store.mailbox.due(limit, until), () =>
            // A look ahead takes up no one.
            Effect.sync(() => (until === undefined ? claims.push(String(limit)) : 0))
          )
      }
    }))
    for (const to of all) life.slip("Hello?", { to })
    life.rest()
    for (const name of all) assert.strictEqual(life.ends(name).length, 1)
    assert.isAtMost(Math.max(...claims.map(Number)), 4)
  })
})
