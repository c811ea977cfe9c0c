import * as Effect from "effect/Effect"
import { assert, describe, test } from "vitest"
import {
  BudgetRefused,
  defineAssistant,
  defineFleet,
  exportFleet,
  FleetDefinitionInvalid,
  importFleet
} from "../src/index.ts"
import { aDirectory, failureOf, openFleet } from "./rig.ts"

const WAIT = { timeout: 60_000 }

const until = async (holds: () => Promise<boolean>): Promise<void> => {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10))
}

const statusOf = async (fleet: Awaited<ReturnType<typeof openFleet>>, name: string) =>
  (await fleet.inspect(name))?.state.status

describe("limits of a tenant", () => {
  test(
    "a call beyond the limit is not sent; the assistant waits for the next window and is not halted",
    WAIT,
    async () => {
      let calls = 0
      await using fleet = await openFleet({
        tenants: { default: { callsPerDay: 1 }, other: { callsPerDay: 0 } },
        says: [{ text: "Good morning." }],
        onNotice: ({ type }) => {
          if (type === "model-replied") calls++
        }
      })
      assert.strictEqual(await fleet.answer("desk", "Hello?"), "Good morning.")
      await fleet.send("clerk", "Hello?")
      await until(async () => (await statusOf(fleet, "clerk")) === "awake.thinking.parked")
      assert.strictEqual(calls, 1)
      const [timer] = (await fleet.inspect("clerk"))?.state.timers ?? []
      // The end of the day, and the moment it took to write that down.
      assert.isBelow((timer?.dueAt ?? -1) % 86_400_000, 60_000)
    }
  )

  test(
    "they are kept in the store: another process of the same deployment goes on with what is left",
    WAIT,
    async () => {
      const data = aDirectory()
      const tenants = { default: { callsPerDay: 1 } }
      {
        await using first = await openFleet({ data, tenants })
        await first.answer("desk", "Hello?")
      }
      await using second = await openFleet({ data, tenants })
      await second.send("clerk", "Hello?")
      await until(async () => (await statusOf(second, "clerk")) === "awake.thinking.parked")
    }
  )

  test(
    "what is set holds from the next call on and after a restart, in the place of the program's, until it is taken back",
    WAIT,
    async () => {
      const data = aDirectory()
      const tenants = { default: { callsPerDay: 1 } }
      {
        await using fleet = await openFleet({ data, tenants, says: () => Effect.succeed({ text: "Good morning." }) })
        await fleet.answer("desk", "One.")
        await fleet.send("clerk", "Two.")
        await until(async () => (await statusOf(fleet, "clerk")) === "awake.thinking.parked")
        const { defined, limits, set } = await fleet.monitor.setLimits({ callsPerDay: 4, concurrentCalls: 9 })
        assert.deepStrictEqual(
          [defined, set, limits],
          [{ callsPerDay: 1 }, { callsPerDay: 4, concurrentCalls: 9 }, { callsPerDay: 4, concurrentCalls: 9 }]
        )
        await until(async () => (await statusOf(fleet, "clerk")) === "awake.idle")
        assert.deepStrictEqual((await fleet.monitor.limits()).inDay.calls, 2)
      }
      await using fleet = await openFleet({ data, tenants, says: () => Effect.succeed({ text: "Good morning." }) })
      assert.deepStrictEqual((await fleet.monitor.limits()).limits, { callsPerDay: 4, concurrentCalls: 9 })
      await fleet.answer("desk", "Three.")
      assert.deepStrictEqual((await fleet.forTenant("other").monitor.limits()).limits, {})
      const { limits } = await fleet.monitor.setLimits({ callsPerDay: null, concurrentCalls: null })
      assert.deepStrictEqual(limits, { callsPerDay: 1 })
      await fleet.send("desk", "Four.")
      await until(async () => (await statusOf(fleet, "desk")) === "awake.thinking.parked")
    }
  )

  test(
    "who is parked goes on by itself when its limit is raised, and no other tenant's does; a lower one wakes no one",
    WAIT,
    async () => {
      await using fleet = await openFleet({
        tenants: { default: { callsPerDay: 1 }, other: { callsPerDay: 1 } },
        says: () => Effect.succeed({ text: "Good morning." })
      })
      const other = fleet.forTenant("other")
      for (const each of [fleet, other]) {
        for (const id of ["desk", "clerk"]) await each.create(id)
        await each.answer("desk", "One.")
        await each.send("clerk", "Two.")
        await until(async () => (await each.inspect("clerk"))?.state.status === "awake.thinking.parked")
      }
      const commits = async (each: typeof other) => (await each.inspect("clerk"))?.version
      const [own, others] = [await commits(fleet), await commits(other)]
      await fleet.monitor.setLimits({ callsPerDay: 0 })
      assert.strictEqual(await commits(fleet), own)
      await fleet.monitor.setLimits({ callsPerDay: 2 })
      await until(async () => (await statusOf(fleet, "clerk")) === "awake.idle")
      assert.strictEqual((await fleet.history.ticks("clerk")).ticks[0]?.outcome, "answered")
      assert.isTrue((await fleet.replay.verify("clerk")).equal)
      assert.strictEqual(await commits(other), others)
    }
  )

  test("what was set goes along with an export, and what is set in the new place stays", WAIT, async () => {
    const [from, into] = [aDirectory(), aDirectory()]
    {
      await using fleet = await openFleet({ data: from })
      await fleet.answer("desk", "One.")
      await fleet.monitor.setLimits({ callsPerDay: 4 })
      await fleet.forTenant("south").monitor.setLimits({ tokensPerDay: 9 })
    }
    await importFleet({ into: { data: into }, source: () => exportFleet({ from: { data: from } }) })
    await using fleet = await openFleet({ data: into, tenants: { default: { callsPerDay: 1 } } })
    const { inDay, limits } = await fleet.monitor.limits()
    assert.deepStrictEqual([limits, inDay.calls], [{ callsPerDay: 4 }, 0])
    assert.deepStrictEqual((await fleet.forTenant("south").monitor.limits()).set, { tokensPerDay: 9 })
  })

  test(
    "a tenant that the program does not limit is limited while it runs; what is no limit is refused",
    WAIT,
    async () => {
      await using fleet = await openFleet({ says: () => Effect.succeed({ text: "Good morning." }) })
      await fleet.answer("desk", "One.")
      await fleet.monitor.setLimits({ callsPerDay: 0 })
      await fleet.send("desk", "Two.")
      await fleet.idle()
      assert.deepStrictEqual(
        (await fleet.history.ticks("desk")).ticks.map(({ outcome }) => outcome),
        ["failed", "answered"]
      )
      for (const wrong of [{ callsPerDay: -1 }, { callsPerDay: 1.5 }, { weight: 2 }, { callsPerHour: 1 }]) {
        assert.instanceOf(await failureOf(fleet.monitor.setLimits(wrong as object)), BudgetRefused)
      }
      assert.deepStrictEqual((await fleet.monitor.limits()).set, { callsPerDay: 0 })
      assert.isTrue((await fleet.replay.verify("desk")).equal)
    }
  )

  test("wrong terms are refused at once, in the definition and in the options", async () => {
    const assistants = [defineAssistant({ id: "desk", instructions: "You are under test." })]
    const wrong = [
      [{ tenants: { a: { callsPerMinute: -1 } } }, /the callsPerMinute of the tenant "a" must be a whole number/],
      [{ tenants: { a: { tokensPerDay: 1.5 } } }, /tokensPerDay/],
      [{ tenants: { a: { weight: 0 } } }, /weight of the tenant "a" must be at least 1/],
      [{ tenants: { a: { callsPerHour: 1 } as object } }, /unknown limit "callsPerHour"/],
      [{ prices: { "*": { inputMicros: 1, outputMicros: Number.NaN } } }, /the price of "\*" needs whole numbers/],
      [{ prices: { "*": { inputMicros: 1, cachedInputMicros: -1, outputMicros: 1 } } }, /as cachedInputMicros, or none/]
    ] as const
    for (const [terms, says] of wrong) {
      assert.throws(() => defineFleet({ assistants, ...terms }), says)
      const opening = await openFleet(terms).catch((failure: unknown) => failure)
      assert.instanceOf(opening, FleetDefinitionInvalid)
    }
  })
})

describe("orders for all of a tenant", () => {
  test("haltAll stops everybody, resumeAll lets them go on, and a message in between waits", WAIT, async () => {
    await using fleet = await openFleet({ says: [{ text: "Good morning." }] })
    assert.strictEqual(await fleet.haltAll("enough"), 2)
    await fleet.send("desk", "Hello?", { id: "m-1" })
    await until(
      async () => (await statusOf(fleet, "desk")) === "halted" && (await statusOf(fleet, "clerk")) === "halted"
    )
    assert.strictEqual(await fleet.resumeAll(), 2)
    await fleet.idle()
    assert.strictEqual(await statusOf(fleet, "clerk"), "awake.idle")
    assert.strictEqual(await fleet.answer("desk", "And now?"), "Good morning.")
    assert.strictEqual(await fleet.resumeAll(), 0)
  })
})
