import { assert, describe, it } from "@effect/vitest"
import { contextOf, restore } from "@reverie/assistant"
import type { TenantLimits } from "@reverie/ledger"
import { ModelRefused, ModelUnavailable } from "@reverie/model"

import { anAddress, inTurn, type Line, memoryAllowance, type Script } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Result from "effect/Result"
import { live, type LifeOptions } from "./rig.ts"
import { refusedCalls } from "../src/jobs/limiter.ts"

const MINUTE_MILLIS = 60_000
const DAY_MILLIS = 24 * 60 * MINUTE_MILLIS
/** Half a minute after a full hour. */
const START = Date.UTC(2026, 4, 1, 12, 0, 30)

const tariff = {
  scripted: { inputMicros: 2_000_000, outputMicros: 10_000_000 },
  "*": { inputMicros: 1, outputMicros: 1 }
}

const limited = (limits: TenantLimits, options: LifeOptions = {}) => {
  const allowance = memoryAllowance()
  const times: Array<number> = []
  const timed =
    (script: Script): Script =>
    (prompt, call) =>
      Effect.suspend(() => {
        times.push(life.time.now)
        return script(prompt, call)
      })
  const { model = { text: "Here." }, ...others } = options
  const life = live({
    startAt: START,
    allowance,
    limits: { of: (tenant) => (tenant === "harbor" ? limits : undefined), tariff },
    model: timed(typeof model === "function" ? model : inTurn(model as Line)),
    ...others
  })
  const spent = () => life.run(allowance.look(anAddress().tenant))
  return { allowance, life, spent, times }
}

const refusals = (reason: string): number =>
  Effect.runSync(Metric.value(Metric.withAttributes(refusedCalls, { reason }))).count

const nextMinute = (time: number): number => (Math.floor(time / MINUTE_MILLIS) + 1) * MINUTE_MILLIS

describe("a tenant's limits", () => {
  it("L1 a call beyond the limit is not sent: the tick is parked until the window ends, and goes on by itself", () => {
    const before = refusals("callsPerMinute")
    const { life, times } = limited({ callsPerMinute: 2 })
    for (let index = 1; index <= 3; index++) life.say("Hello?", { id: `m-${index}` })
    life.until(() => life.status() === "awake.thinking.parked")
    assert.strictEqual(times.length, 2)
    assert.strictEqual(refusals("callsPerMinute"), before + 1)
    life.until(() => life.ends().length === 3)
    assert.strictEqual(times[2], nextMinute(START))
    assert.match(
      life.told("model-failed")[0]?.reason ?? "",
      /^CallLimited: the limit callsPerMinute of the tenant harbor leaves no room until 2026-05-01T12:01:00.000Z/
    )
    assert.deepInclude(life.ends()[2], { envelope: "m-3", outcome: "answered", reply: "Here." })
  })

  it("I3 of the chart: no quota halts an assistant, however often it is met, and it counts as no error", () => {
    const right = memoryAllowance()
    let refusals = 20
    const allowance: LifeOptions["allowance"] = {
      ...right,
      reserve: (asking) =>
        Effect.suspend(() =>
          refusals-- > 0
            ? Effect.succeed({ outcome: "refused", limit: "callsPerMinute", until: nextMinute(life.time.now) })
            : right.reserve(asking)
        )
    }
    const { life } = limited({ callsPerMinute: 1 }, { allowance })
    life.say("Hello?", { id: "m-1" })
    let halted = false
    life.until(() => {
      halted ||= life.status() === "halted"
      return life.ends().length === 1
    })
    assert.isFalse(halted)
    assert.strictEqual(life.told("model-failed").length, 20)
    assert.deepInclude(life.ends()[0], { envelope: "m-1", outcome: "answered" })
    assert.strictEqual(contextOf(Result.getOrThrow(restore(life.snapshot()))).errors, 0)
  })

  it("the pause is durable: a worker that starts later goes on with the same tick when its time has come", () => {
    const { allowance, life } = limited({ callsPerDay: 1 })
    life.say("One.", { id: "m-1" })
    life.say("Two.", { id: "m-2" })
    life.until(() => life.status() === "awake.thinking.parked")
    const second = limited({ callsPerDay: 1 }, { disk: life.disk, startAt: life.time.now + 60_000, allowance })
    second.life.until(() => second.life.ends().length === 2)
    assert.deepStrictEqual(second.times, [(Math.floor(START / DAY_MILLIS) + 1) * DAY_MILLIS])
  })

  it("L2 tokens and cost are granted for the most a call may use, and count as they were used", () => {
    const usage = { inputTokens: 20, outputTokens: 3, source: "provider" as const }
    const { life, spent } = limited({ tokensPerDay: 5_000 }, { model: { text: "Here.", usage } })
    life.say("Hello?")
    life.rest()
    assert.deepStrictEqual(spent().inDay, { calls: 1, tokens: 23, costMicros: 70 })
    // What is kept free for a reply bounds it.
    assert.strictEqual(life.scripted.prompts[0]?.maxOutputTokens, 1_000)
  })

  it("L2 a call that alone is larger than a limit ends its tick with the reason, and never halts", () => {
    const { life, times } = limited({ tokensPerDay: 900 })
    for (let index = 1; index <= 7; index++) life.say("Hello?", { id: `m-${index}` })
    life.rest()
    assert.strictEqual(times.length, 0)
    assert.strictEqual(life.status(), "awake.idle")
    assert.strictEqual(life.deadLetters().length, 7)
    assert.match(life.deadLetters()[0]?.reason ?? "", /^CallOverLimit: .*larger than the limit tokensPerDay/)
  })

  it("L2 money: the dearest model of the tariff bounds what a call may cost, its own price what it did", () => {
    const usage = { inputTokens: 100, outputTokens: 10, source: "provider" as const }
    const { life, spent, times } = limited({ costMicrosPerDay: 10_600 }, { model: { text: "Here.", usage } })
    for (let index = 1; index <= 3; index++) life.say("Hello?", { id: `m-${index}` })
    life.until(() => life.status() === "awake.thinking.parked")
    assert.isAtLeast(times.length, 1)
    assert.strictEqual(spent().inDay.costMicros, times.length * 300)
    assert.isAtMost(spent().inDay.costMicros, 10_600)
  })

  it("L3 a call that was halted counts in full, one that no one heard counts no tokens", () => {
    const down = new ModelUnavailable({ provider: "scripted", message: "the line is dead", kind: "network" })
    const lost = new ModelRefused({ provider: "scripted", message: "not such words", kind: "filtered" })
    const cut = new ModelUnavailable({ provider: "scripted", message: "half an answer", kind: "cut" })
    const spentAfter = (model: LifeOptions["model"], act?: (life: ReturnType<typeof live>) => void) => {
      const { life, spent } = limited({ tokensPerDay: 50_000 }, { model: model ?? {}, settings: { parkMinMs: 60_000 } })
      life.say("Hello?")
      life.pass(1_000)
      act?.(life)
      life.pass(1_000)
      const { inDay, underWay } = spent()
      assert.strictEqual(underWay, 0)
      return inDay
    }
    const halted = spentAfter(
      () => Effect.never,
      (life) => life.post({ type: "halt" })
    )
    assert.isAbove(halted.tokens, 1_000)
    assert.deepInclude(spentAfter(inTurn(down)), { calls: 1, tokens: 0 })
    assert.deepInclude(spentAfter(inTurn(lost)), { calls: 1, tokens: 0 })
    assert.isAbove(spentAfter(inTurn(cut)).tokens, 1_000)
  })

  it("G1 two workers and many assistants keep within calls a minute and calls at once", () => {
    const all = Array.from({ length: 12 }, (_, index) => `a-${index}`)
    let atOnce = 0
    let most = 0
    const { life, times } = limited(
      { callsPerMinute: 5, concurrentCalls: 2 },
      {
        assistants: all,
        model: () =>
          Effect.suspend(() => {
            most = Math.max(most, ++atOnce)
            return Effect.ensuring(
              Effect.as(Effect.sleep(4_000), { text: "Done." }),
              Effect.sync(() => atOnce--)
            )
          })
      }
    )
    life.work({ worker: "worker-2" })
    for (const to of all) life.say("Work.", { to })
    life.until(() => all.every((name) => life.ends(name).length === 1))
    assert.strictEqual(most, 2)
    const byMinute = new Map<number, number>()
    for (const time of times) {
      const minute = Math.floor(time / MINUTE_MILLIS)
      byMinute.set(minute, (byMinute.get(minute) ?? 0) + 1)
    }
    assert.strictEqual(times.length, 12)
    assert.strictEqual(Math.max(...byMinute.values()), 5)
  })

  it("L4 a run that crashed counts in full beside the next one, and is under way until its lease ends", () => {
    const { allowance, life } = limited({ tokensPerDay: 100_000, concurrentCalls: 3 }, { model: () => Effect.never })
    life.say("Hello?")
    life.pass(1_000)
    const second = limited(
      { tokensPerDay: 100_000, concurrentCalls: 3 },
      { disk: life.disk, startAt: life.time.now + 60_000, allowance }
    )
    second.life.until(() => second.life.ends().length === 1)
    const { inDay, underWay } = second.life.run(allowance.look(anAddress().tenant))
    assert.strictEqual(inDay.calls, 2)
    assert.isAbove(inDay.tokens, 1_000)
    assert.strictEqual(underWay, 1)
    second.life.pass(10 * MINUTE_MILLIS)
    assert.strictEqual(second.life.run(allowance.look(anAddress().tenant)).underWay, 0)
  })

  it("L1 what is set stands in the place of what the program says: lower from the next call on, and higher", () => {
    const { allowance, life, times } = limited({ callsPerMinute: 5 })
    const set = (changes: Parameters<typeof allowance.limit>[1]) =>
      life.run(allowance.limit(anAddress().tenant, changes))
    life.say("One.", { id: "m-1" })
    life.rest()
    set({ callsPerMinute: 1 })
    life.say("Two.", { id: "m-2" })
    life.until(() => life.status() === "awake.thinking.parked")
    assert.strictEqual(times.length, 1)
    set({ callsPerMinute: 100 })
    life.until(() => life.ends().length === 2)
    for (let index = 3; index < 20; index++) life.say("Hello?", { id: `m-${index}` })
    life.rest()
    assert.strictEqual(life.ends().length, 19)
    set({ callsPerMinute: null })
    assert.deepStrictEqual(life.run(allowance.limits(anAddress().tenant)), {})
  })

  it("L1 a tenant that the program does not limit is held to what is set, and its tokens are counted", () => {
    const { life, spent, times, allowance } = limited({}, { limits: { of: () => undefined, tariff } })
    life.say("One.", { id: "m-1" })
    life.rest()
    assert.strictEqual(spent().inDay.calls, 0)
    life.run(allowance.limit(anAddress().tenant, { tokensPerDay: 900 }))
    life.say("Two.", { id: "m-2" })
    life.rest()
    assert.strictEqual(times.length, 1)
    assert.match(life.deadLetters()[0]?.reason ?? "", /^CallOverLimit: .*larger than the limit tokensPerDay/)
  })

  it("L1 of a tenant without limits nothing is reserved", () => {
    const { life, times } = limited(
      { callsPerDay: 1 },
      {
        tenant: "tower",
        allowance: {
          reserve: () => Effect.die("asked"),
          settle: () => Effect.die("asked"),
          look: () => Effect.die("asked"),
          limit: () => Effect.die("asked"),
          limits: () => Effect.succeed({})
        }
      }
    )
    for (let index = 0; index < 5; index++) life.say("Hello?")
    life.rest()
    assert.strictEqual(times.length, 5)
  })
})
