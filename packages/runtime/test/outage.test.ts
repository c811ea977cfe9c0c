import { assert, describe, it } from "@effect/vitest"
import { ModelParked } from "@reverie/model"
import type { Notice } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { live } from "./rig.ts"
import { modelUp } from "../src/outages/outage-book.ts"
import {
  assertUnharmed,
  away,
  crowd,
  down,
  isAllAnswered,
  MINUTE_MILLIS,
  outageOf,
  sayAll,
  SERVER,
  serverOf,
  whoIn
} from "./servers-away.ts"

describe("an outage of the model", () => {
  it("R2 the first answer of anybody wakes all within seconds", () => {
    const { all, calls, life, start } = away(20 * MINUTE_MILLIS)
    sayAll(life, all)
    life.until(isAllAnswered(life, all))
    const first = calls.find(({ at }) => at >= start + 20 * MINUTE_MILLIS - 20)?.at ?? 0
    assert.isBelow(life.time.now - first, 3_000)
    assertUnharmed(life, all)
  })

  it("R1 however long the pauses have grown, someone tries every half minute", () => {
    const { all, calls, life, start } = away(60 * MINUTE_MILLIS, { count: 1 })
    sayAll(life, all)
    life.until(isAllAnswered(life, all))
    assert.isBelow(life.time.now - start - 60 * MINUTE_MILLIS, 31_000)
    assert.isAtMost(calls.length, 130)
  })

  it("a server that is known to be away is sent one call at a time, and what is withheld is no failure of anybody", () => {
    const { all, calls, life, mostTries } = away(10 * MINUTE_MILLIS, { coolDownMs: 30_000 })
    sayAll(life, all)
    life.until(isAllAnswered(life, all))
    assert.strictEqual(mostTries(), 1)
    // All were under way when it went away; from then on one tries every half minute.
    assert.isAtMost(calls.length, all.length + 22 + all.length)
    assertUnharmed(life, all)
    const steps = all.flatMap((name) => life.entries(name).flatMap(({ step }) => (step === undefined ? [] : [step])))
    assert.strictEqual(steps.length, calls.length, "what was never sent is no step")
    assert.strictEqual(life.told("model-failed").length, calls.length - all.length)
  })

  it("is reported once for each that waits, with the server's name and the reason for which nothing is sent", () => {
    const { all, life, start } = away(10 * MINUTE_MILLIS, { coolDownMs: 30_000, count: 3 })
    life.say("a-00", { to: "a-00" })
    life.pass(5_000)
    sayAll(life, ["a-01", "a-02"])
    life.pass(5 * MINUTE_MILLIS)
    const told = life.told("emitted").filter(({ event }) => event.type === "model-away")
    assert.sameDeepMembers(
      told.map(({ address, event }) => [String(address.assistant), event["server"], event["reason"]]),
      all.map((name) => [name, SERVER, "ModelUnavailable: ECONNREFUSED"])
    )
    assert.deepInclude(outageOf(life, "a-01"), { server: SERVER, reason: "ModelUnavailable: ECONNREFUSED" })
    assert.isAtLeast(outageOf(life, "a-01")?.since ?? 0, start)
    const up = Metric.withAttributes(modelUp, { server: SERVER })
    assert.strictEqual(Effect.runSync(Metric.value(up)).value, 0)
    life.until(isAllAnswered(life, all))
    assert.strictEqual(Effect.runSync(Metric.value(up)).value, 1)
  })

  it("B4 a process that starts anew finds those that wait, lets one try at once, and wakes the others", () => {
    const before = away(10 * MINUTE_MILLIS, { coolDownMs: 30_000, life: { worker: { idleMs: 0 } } })
    sayAll(before.life, before.all)
    before.life.pass(9 * MINUTE_MILLIS)
    for (const name of before.all) assert.strictEqual(before.life.status(name), "awake.thinking.parked")
    const server = serverOf({ failing: () => undefined })
    const life = live({
      assistants: before.all,
      model: server.model,
      startAt: before.life.time.now,
      disk: before.life.disk
    })
    life.until(isAllAnswered(life, before.all))
    assert.isBelow(life.time.now - before.life.time.now, 4_000)
    const [first, second] = server.calls
    assert.isBelow((first?.at ?? 0) - before.life.time.now, 100)
    assert.isAtLeast((second?.at ?? 0) - (first?.at ?? 0), 20, "one tries before all are woken")
    assertUnharmed(life, before.all)
  })

  it("B4 it finds those that the process before it still held when it died, as soon as their leases have ended", () => {
    const before = away(10 * MINUTE_MILLIS, {
      coolDownMs: 30_000,
      life: { worker: { idleMs: 60 * MINUTE_MILLIS } }
    })
    sayAll(before.life, before.all)
    before.life.pass(9 * MINUTE_MILLIS)
    const server = serverOf({ failing: () => undefined })
    const options = {
      assistants: before.all,
      model: server.model,
      startAt: before.life.time.now,
      disk: before.life.disk
    }
    const life = live({ ...options, worker: { worker: "worker-2" } })
    life.until(isAllAnswered(life, before.all))
    assert.isBelow(life.time.now - before.life.time.now, 34_000, "leases of the rig last half a minute")
  })

  it("a process that starts anew while it is still away sends one call, not one for each that waits", () => {
    const before = away(10 * MINUTE_MILLIS, { coolDownMs: 30_000 })
    sayAll(before.life, before.all)
    before.life.pass(9 * MINUTE_MILLIS)
    const server = serverOf({ failing: () => down, coolDownMs: 30_000 })
    const life = live({
      assistants: before.all,
      model: server.model,
      startAt: before.life.time.now,
      disk: before.life.disk
    })
    life.pass(25_000)
    assert.strictEqual(server.calls.length, 1)
  })

  it("O4 one whom the server fails while it answers all others is not tried again with every answer", () => {
    const all = crowd(10)
    const server = serverOf({ failing: (_, prompt) => (whoIn(prompt) === "a-00" ? down : undefined) })
    const life = live({ assistants: all, model: server.model })
    life.say("a-00", { to: "a-00" })
    for (let minute = 0; minute < 60; minute++) {
      for (const to of all.slice(1)) life.say(to, { to })
      life.pass(MINUTE_MILLIS)
    }
    const tries = server.calls.filter(({ who }) => who === "a-00").length
    assert.isAtLeast(tries, 15)
    assert.isAtMost(tries, 25)
    assert.strictEqual(outageOf(life, "a-00")?.sooner, "never")
    assert.strictEqual(life.status("a-00"), "awake.thinking.parked")
  })

  it("O4 a time that was named to one is kept, no matter who else is answered; one that was named to all ends with an answer", () => {
    const named = (status: number) => {
      const parked = new ModelParked({
        provider: SERVER,
        message: "later",
        retryAfterMs: 20 * MINUTE_MILLIS,
        status
      })
      let isFirst = true
      const server = serverOf({
        failing: (_, prompt) => {
          const fails = isFirst && whoIn(prompt) === "a-00"
          if (fails) isFirst = false
          return fails ? parked : undefined
        }
      })
      const life = live({ assistants: ["a-00", "a-01"], model: server.model })
      const began = life.time.now
      life.say("a-00", { to: "a-00" })
      life.pass(5 * MINUTE_MILLIS)
      assert.lengthOf(server.calls, 1, "no one tries it out before its time")
      life.say("a-01", { to: "a-01" })
      life.until(isAllAnswered(life, ["a-00"]))
      return life.time.now - began
    }
    assert.isAtLeast(named(429), 20 * MINUTE_MILLIS)
    assert.isBelow(named(503), 5 * MINUTE_MILLIS + 3_000)
  })

  it("R1 R2 what another process was answered ends the outage here", () => {
    const all = crowd(12)
    const isBack = { here: false, there: false }
    const here = serverOf({ failing: () => (isBack.here ? undefined : down), coolDownMs: 30_000 })
    const there = serverOf({ failing: () => (isBack.there ? undefined : down), coolDownMs: 30_000 })
    const lifeHere = live({ assistants: all, model: here.model, worker: { isOneOfMany: true, idleMs: 0 } })
    sayAll(lifeHere, all)
    lifeHere.pass(10 * MINUTE_MILLIS)
    isBack.here = isBack.there = true
    const began = lifeHere.time.now
    assert.isEmpty(there.calls)
    // What the feed tells of the commit of another process.
    lifeHere.hub.tell({
      type: "model-replied",
      at: began + 1,
      iteration: 1,
      text: "",
      calls: [],
      tick: 1,
      address: lifeHere.address("z")
    } satisfies Notice)
    lifeHere.until(isAllAnswered(lifeHere, all))
    assert.isBelow(lifeHere.time.now - began, 5_000)
  })

  it("R2 who waits by the word of a process that died is woken by the one that is answered", () => {
    const all = crowd(6)
    const dead = serverOf({ failing: () => down, coolDownMs: 30_000 })
    const first = live({ assistants: all, model: dead.model, worker: { isOneOfMany: true, idleMs: 0 } })
    sayAll(first, all.slice(1))
    // Another worker begins before anybody waits, and knows of none.
    const server = serverOf({ failing: () => undefined })
    const second = live({
      assistants: all,
      model: server.model,
      disk: first.disk,
      startAt: first.time.now,
      worker: { isOneOfMany: true, idleMs: 0, worker: "worker-2", concurrency: 0 }
    })
    second.pass(10)
    first.pass(8 * MINUTE_MILLIS)
    const third = live({
      assistants: all,
      model: server.model,
      disk: first.disk,
      startAt: first.time.now,
      worker: { isOneOfMany: true, idleMs: 0, worker: "worker-3" }
    })
    third.until(isAllAnswered(third, all.slice(1)))
    assert.isBelow(third.time.now - first.time.now, 5_000)
  })

  it("a halt ends the wait, resume tries at once, and a retirement leaves no one waiting", () => {
    const { all, calls, life } = away(10 * MINUTE_MILLIS, { count: 2, coolDownMs: 30_000 })
    sayAll(life, all)
    life.pass(2 * MINUTE_MILLIS)
    life.post({ type: "halt", reason: "enough" }, { to: "a-00" })
    life.post({ type: "retire" }, { to: "a-01" })
    life.pass(1_000)
    const before = calls.length
    life.pass(5 * MINUTE_MILLIS)
    assert.strictEqual(calls.length, before, "no one waits, so no one tries")
    life.post({ type: "resume" }, { to: "a-00" })
    life.until(isAllAnswered(life, ["a-00"]))
    assert.strictEqual(life.status("a-01"), "retired")
  })
})
