import { assert, describe, it } from "@effect/vitest"
import { firstOf, type Model, ModelUnavailable } from "@reverie/model"
import type { Notice } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { live, type LifeOptions } from "./rig.ts"
import { modelUp } from "../src/outages/outage-book.ts"
import {
  assertUnharmed,
  crowd,
  isAllAnswered,
  MINUTE_MILLIS,
  outageOf,
  sayAll,
  serverOf,
  type ServerOptions
} from "./servers-away.ts"

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
    const north = awayFor(NORTH, 20 * MINUTE_MILLIS, { coolDownMs: 30_000 })
    const south = awayFor(SOUTH, 10 * MINUTE_MILLIS, { coolDownMs: 30_000 })
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
        coolDownMs: 30 * MINUTE_MILLIS
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
