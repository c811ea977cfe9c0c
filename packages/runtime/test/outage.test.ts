import { assert, describe, it } from "@effect/vitest"
import { contextOf, restore } from "@reverie/assistant"
import {
  CallWithheld,
  firstOf,
  type Model,
  type ModelError,
  ModelParked,
  ModelUnavailable,
  type Prompt,
  type Reply
} from "@reverie/model"
import type { Notice } from "@reverie/protocol"

import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Result from "effect/Result"
import { type Life, live, type LifeOptions } from "./rig.ts"
import { modelUp } from "../src/outages/outage-book.ts"

const SERVER = "models.example:8443"
const MINUTE_MILLIS = 60_000

const down = new ModelUnavailable({ provider: SERVER, kind: "network", message: "ECONNREFUSED" })

const reply = (text = "Here."): Reply => ({
  text,
  calls: [],
  finish: "stop",
  usage: { inputTokens: 1, outputTokens: 1, source: "counted" },
  model: "scripted"
})

interface Call {
  readonly at: number
  readonly who: string
}

interface ServerOptions {
  /** SERVER when not said. */
  readonly name?: string
  /** Why a call of this moment fails; undefined when it is answered. */
  readonly failing: (at: number, prompt: Prompt) => ModelError | undefined
  /** With a circuit: after a failure calls are withheld for so long, and one tries at a time. */
  readonly coolDownMillis?: number
  readonly thinkMillis?: number
}

/** The assistant whose prompt this is: what it was told last names it. */
const whoIn = ({ messages }: Prompt): string =>
  messages.findLast(({ role }) => role === "user")?.content.slice(0, 4) ?? ""

/** A server that is away when it is asked to be, and what reached it. */
const serverOf = ({ coolDownMillis, failing, name = SERVER, thinkMillis = 20 }: ServerOptions) => {
  const calls: Array<Call> = []
  let openUntil = 0
  let trying = 0
  let most = 0
  const withheldMillis = () =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      if (coolDownMillis === undefined || openUntil === 0) return 0
      return now < openUntil ? openUntil - now : trying > 0 ? coolDownMillis : 0
    })
  const model: Model["Service"] = {
    serves: { provider: "example", model: "scripted", server: name },
    infer: Effect.fnUntraced(function* (prompt) {
      const retryAfterMillis = yield* withheldMillis()
      if (retryAfterMillis > 0) return yield* new CallWithheld({ provider: name, message: "shut", retryAfterMillis })
      const at = yield* Clock.currentTimeMillis
      calls.push({ at, who: whoIn(prompt) })
      most = Math.max(most, openUntil === 0 ? 0 : ++trying)
      yield* Effect.sleep(thinkMillis)
      trying = 0
      const error = failing(yield* Clock.currentTimeMillis, prompt)
      openUntil = error === undefined || coolDownMillis === undefined ? 0 : at + thinkMillis + coolDownMillis
      return error === undefined ? reply() : yield* error
    }),
    ...(coolDownMillis === undefined
      ? {}
      : { circuit: { withheldMillis, tryNow: Effect.sync(() => (openUntil = Math.min(openUntil, 1))) } })
  }
  return { model, calls, mostTries: () => most }
}

const crowd = (count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, at) => `a-${String(at).padStart(2, "0")}`)

const sayAll = (life: Life, all: ReadonlyArray<string>): void => {
  for (const to of all) life.say(to, { to })
}

const isAllAnswered = (life: Life, all: ReadonlyArray<string>) => () =>
  all.every((name) => life.ends(name).some(({ outcome }) => outcome === "answered"))

const outageOf = (life: Life, name: string) => contextOf(Result.getOrThrow(restore(life.snapshot(name)))).outage

/** Everything that went wrong. */
const assertUnharmed = (life: Life, all: ReadonlyArray<string>): void => {
  assert.isEmpty(life.deadLetters())
  for (const name of all) {
    assert.isFalse(
      life.entries(name).some(({ status }) => status === "halted"),
      `${name} was halted`
    )
    assert.strictEqual(life.ends(name).length, 1)
  }
}

/** A crowd whose server is away for a while. */
const away = (
  forMillis: number,
  options: Partial<ServerOptions> & { readonly life?: LifeOptions; readonly count?: number } = {}
) => {
  const { count = 30, life: more = {}, ...rest } = options
  const all = crowd(count)
  const START = 1_800_000_000_000
  const server = serverOf({ failing: (at) => (at < START + forMillis ? down : undefined), ...rest })
  const life = live({ assistants: all, model: server.model, startAt: START, ...more })
  return { all, life, start: START, ...server }
}

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
    const { all, calls, life, mostTries } = away(10 * MINUTE_MILLIS, { coolDownMillis: 30_000 })
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
    const { all, life, start } = away(10 * MINUTE_MILLIS, { coolDownMillis: 30_000, count: 3 })
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
    const before = away(10 * MINUTE_MILLIS, { coolDownMillis: 30_000, life: { worker: { idleMs: 0 } } })
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
      coolDownMillis: 30_000,
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
    const before = away(10 * MINUTE_MILLIS, { coolDownMillis: 30_000 })
    sayAll(before.life, before.all)
    before.life.pass(9 * MINUTE_MILLIS)
    const server = serverOf({ failing: () => down, coolDownMillis: 30_000 })
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
        retryAfterMillis: 20 * MINUTE_MILLIS,
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
    const here = serverOf({ failing: () => (isBack.here ? undefined : down), coolDownMillis: 30_000 })
    const there = serverOf({ failing: () => (isBack.there ? undefined : down), coolDownMillis: 30_000 })
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
    const dead = serverOf({ failing: () => down, coolDownMillis: 30_000 })
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
    const { all, calls, life } = away(10 * MINUTE_MILLIS, { count: 2, coolDownMillis: 30_000 })
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

describe("outages of several servers", () => {
  const START = 1_800_000_000_000
  const NORTH = "north.example:1"
  const SOUTH = "south.example:1"
  const downAt = (provider: string) => new ModelUnavailable({ provider, kind: "network", message: "ECONNREFUSED" })
  const awayFor = (name: string, millis: number, options: Partial<ServerOptions> = {}) =>
    serverOf({ name, failing: (at) => (at < START + millis ? downAt(name) : undefined), ...options })

  /** Half of a crowd asks the one model, half of it the other. */
  const divided = (north: Model["Service"], south: Model["Service"], options: LifeOptions = {}) => {
    const all = crowd(12)
    const [ofNorth, ofSouth] = [all.slice(0, 6), all.slice(6)]
    const choosing: Model["Service"] = north
    const life = live({
      assistants: all,
      model: choosing,
      startAt: START,
      find: (name) => {
        const { definition } = life
        return name === definition.name ? definition : { ...definition, name, modelFor: { answer: south } }
      },
      ofDefinition: (name) => (ofSouth.includes(name) ? "southerner" : undefined),
      ...options
    })
    return { all, life, ofNorth, ofSouth }
  }

  it("B1 B3 an answer of one server wakes no one who waits for another", () => {
    const north = awayFor(NORTH, 60 * MINUTE_MILLIS)
    const south = awayFor(SOUTH, 5 * MINUTE_MILLIS)
    const { all, life, ofNorth, ofSouth } = divided(north.model, south.model)
    sayAll(life, all)
    life.until(isAllAnswered(life, ofSouth))
    const answeredAt = life.time.now
    const before = north.calls.length
    // Two answers of the south a second, for ten minutes.
    for (let round = 0; round < 100; round++) {
      for (const to of ofSouth) life.say(to, { to })
      life.pass(6_000)
    }
    const tries = north.calls.length - before
    const minutes = (life.time.now - answeredAt) / MINUTE_MILLIS
    assert.isAtLeast(tries, minutes)
    assert.isAtMost(
      tries,
      2 * minutes + 6 * (minutes / 2.5) + 2,
      "one that tries each half minute, and their own pauses"
    )
    for (const name of ofNorth) assert.strictEqual(outageOf(life, name)?.sooner, "try", "the server answered no one")
    life.until(isAllAnswered(life, ofNorth))
    assertUnharmed(life, ofNorth)
  })

  it("R1 R2 each server is tried by one of its own, and its first answer wakes all of them", () => {
    const north = awayFor(NORTH, 20 * MINUTE_MILLIS, { coolDownMillis: 30_000 })
    const south = awayFor(SOUTH, 10 * MINUTE_MILLIS, { coolDownMillis: 30_000 })
    const { all, life, ofNorth, ofSouth } = divided(north.model, south.model)
    sayAll(life, all)
    for (const [names, server, millis] of [
      [ofSouth, south, 10 * MINUTE_MILLIS],
      [ofNorth, north, 20 * MINUTE_MILLIS]
    ] as const) {
      life.until(isAllAnswered(life, names))
      const first = server.calls.find(({ at }) => at >= START + millis - 20)?.at ?? 0
      assert.isBelow(life.time.now - first, 3_000)
      assert.isBelow(life.time.now - START - millis, 34_000)
      assert.strictEqual(server.mostTries(), 1)
    }
    assertUnharmed(life, all)
    for (const server of [NORTH, SOUTH]) {
      assert.strictEqual(Effect.runSync(Metric.value(Metric.withAttributes(modelUp, { server }))).value, 1)
    }
  })

  it("B3 one that waits for several is woken by whichever answers first", () => {
    const north = awayFor(NORTH, 60 * MINUTE_MILLIS)
    const south = awayFor(SOUTH, 10 * MINUTE_MILLIS)
    const all = crowd(8)
    const life = live({ assistants: all, model: firstOf([north.model, south.model]), startAt: START })
    sayAll(life, all)
    life.pass(5 * MINUTE_MILLIS)
    assert.deepInclude(outageOf(life, "a-00"), { server: NORTH, others: [SOUTH] })
    assert.deepInclude(life.told("emitted").find(({ event }) => event.type === "model-away")?.event, {
      server: NORTH,
      others: [SOUTH]
    })
    life.until(isAllAnswered(life, all))
    assert.isBelow(life.time.now - START - 10 * MINUTE_MILLIS, 34_000)
    assert.isAtMost(life.time.now - START, 20 * MINUTE_MILLIS)
    assertUnharmed(life, all)
  })

  it("B4 a process that starts anew knows for which server each waits", () => {
    const before = divided(awayFor(NORTH, Infinity).model, awayFor(SOUTH, Infinity).model, { worker: { idleMs: 0 } })
    sayAll(before.life, before.all)
    before.life.pass(9 * MINUTE_MILLIS)
    const north = awayFor(NORTH, Infinity)
    const south = serverOf({ name: SOUTH, failing: () => undefined })
    const { life, ofSouth } = divided(north.model, south.model, {
      disk: before.life.disk,
      startAt: before.life.time.now
    })
    life.until(isAllAnswered(life, ofSouth))
    assert.isBelow(life.time.now - before.life.time.now, 4_000)
    assert.isAtMost(north.calls.length, 1)
  })

  it("R1 what another process was answered by one server lets no one try another", () => {
    const isBack: Record<string, boolean> = { [NORTH]: false, [SOUTH]: false }
    const here = (name: string) =>
      serverOf({
        name,
        failing: () => (isBack[name] === true ? undefined : downAt(name)),
        coolDownMillis: 30 * MINUTE_MILLIS
      })
    const [north, south] = [here(NORTH), here(SOUTH)]
    const { all, life, ofNorth, ofSouth } = divided(north.model, south.model, {
      worker: { isOneOfMany: true, idleMs: 0 }
    })
    sayAll(life, all)
    life.pass(MINUTE_MILLIS)
    isBack[NORTH] = isBack[SOUTH] = true
    const tries = north.calls.length
    life.hub.tell({
      type: "model-replied",
      at: life.time.now + 1,
      iteration: 1,
      text: "",
      calls: [],
      tick: 1,
      address: life.address("z"),
      server: SOUTH
    } satisfies Notice)
    const began = life.time.now
    life.until(isAllAnswered(life, ofSouth))
    assert.isBelow(life.time.now - began, 5_000)
    assert.strictEqual(north.calls.length, tries)
    for (const name of ofNorth) assert.strictEqual(life.status(name), "awake.thinking.parked")
  })
})
