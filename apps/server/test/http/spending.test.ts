// Spending: use over time and budgets by HTTP.

import { assert, describe, it } from "@effect/vitest"
import { defineAssistant, defineFleet, Fleet } from "reverie"
import { openServer } from "../../src/index.ts"
import { budgetsOf } from "../../src/board/budgets.ts"
import type { Row } from "../../src/board/row.ts"
import { aPath, askAt, assertFailure, bearer, type Loose, SECRETS, tokens } from "./rig.ts"

const HOUR = 3_600_000

const opened = async (data: string) => {
  const assistants = ["desk", "pier"].map((id) => defineAssistant({ id, instructions: "You greet." }))
  const fleet = await Fleet.open({
    data,
    tenant: "north",
    model: "offline",
    tenants: { north: { callsPerDay: 1_000 } },
    fleet: defineFleet({ assistants })
  })
  const server = await openServer({ fleet, role: "all", tokens, onTrouble: () => {} })
  const ask = async (path: string, init: object = {}) =>
    askAt(server.port, path, { headers: bearer(SECRETS.north), ...init })
  const put = (path: string, body: object) =>
    ask(path, {
      method: "PUT",
      headers: { ...bearer(SECRETS.north), "content-type": "application/json" },
      body: JSON.stringify(body)
    })
  const close = async () => {
    await server.close()
    await fleet.close()
  }
  return { fleet, ask, put, close }
}

const sumOf = (points: ReadonlyArray<Loose>, name: string): number =>
  points.reduce((all, point) => all + point[name], 0)

describe("activity", () => {
  it("V1 is what each used in the last 24 hours, hour by hour, and the same after a restart", async () => {
    const data = aPath()
    const first = await opened(data)
    for (const id of ["desk", "pier", "pier"]) await first.fleet.answer(id, "Hello.")
    const told = async ({ ask }: typeof first) => (await ask("/v1/activity?ids=pier,desk,pier,no-one")).json
    const { from, items } = await told(first)
    assert.strictEqual(from % HOUR, 0)
    assert.isTrue(Date.now() - from < 24 * HOUR && Date.now() - from > 22 * HOUR)
    assert.deepStrictEqual(
      items.map(({ id, tokens }: Loose) => [id, tokens.length]),
      [
        ["pier", 24],
        ["desk", 24],
        ["no-one", 24]
      ]
    )
    const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((all, each) => all + each, 0)
    for (const { id, tokens } of items) {
      const used = id === "no-one" ? 0 : (await first.ask(`/v1/usage?assistant=${id}`)).json.total.tokens
      assert.strictEqual(sum(tokens), used)
      // All of it was just now, on the hour at most an hour ago.
      assert.strictEqual(sum(tokens.slice(-2)), used)
    }
    assertFailure(await first.ask("/v1/activity?ids="), 400, "Malformed")
    assertFailure(
      await first.ask(`/v1/activity?ids=${Array.from({ length: 101 }, () => "a").join(",")}`),
      400,
      "Malformed"
    )
    assertFailure(await first.ask("/v1/activity?ids=a%20b"), 400, "Malformed")
    await first.close()
    const second = await opened(data)
    assert.deepStrictEqual(
      (await told(second)).items.map(({ tokens }: Loose) => sum(tokens)),
      items.map(({ tokens }: Loose) => sum(tokens))
    )
    await second.close()
  })
})

describe("use over time", () => {
  it("S1 its points come to its rows and to the sums without them, of each kind, and after a restart", async () => {
    const data = aPath()
    const first = await opened(data)
    for (const id of ["desk", "pier", "pier"]) await first.fleet.answer(id, "Hello.")
    const told = async ({ ask }: typeof first) => {
      const plain = (await ask("/v1/usage")).json
      const pages: Array<Loose> = []
      for (const by of ["assistant", "model", "purpose"]) {
        for (const step of ["hour", "day"]) {
          const page = (await ask(`/v1/usage?by=${by}&step=${step}&order=greatest`)).json
          assert.deepStrictEqual(page.total, plain.total)
          assert.strictEqual(page.series.step, step)
          for (const row of [...page.items, { ...page.total, points: page.series.points }])
            for (const name of ["calls", "tokens", "costMicros", "unpricedCalls"])
              assert.strictEqual(sumOf(row.points, name), row[name], `${by} ${step} ${name}`)
          pages.push(page)
        }
      }
      return pages
    }
    const before = await told(first)
    assert.deepStrictEqual(
      before[0]?.items.map(({ calls, key }: Loose) => [key, calls]),
      [
        ["pier", 2],
        ["desk", 1]
      ]
    )
    assert.strictEqual((await first.ask("/v1/usage?model=none+of+them")).json.total.calls, 0)
    assert.strictEqual((await first.ask("/v1/usage?purpose=answer&by=model")).json.total.calls, 3)
    assertFailure(await first.ask("/v1/usage?step=minute"), 400, "Malformed")
    assertFailure(await first.ask("/v1/usage?purpose=fun"), 400, "Malformed")
    await first.close()
    const second = await opened(data)
    assert.deepStrictEqual(await told(second), before)
    await second.close()
  })
})

describe("budgets", () => {
  it("are set, listed with what is used up, and audited; limits of the tenant stand beside them", async () => {
    const { ask, close, fleet, put } = await opened(aPath())
    await fleet.answer("desk", "Hello.")
    assert.deepInclude((await ask("/v1/budgets")).json, { items: [], matched: 0 })
    assert.strictEqual(
      (await put("/v1/assistants/desk/budget", { calls: 4, tokens: 1_000_000 })).json.outcome,
      "accepted"
    )
    await fleet.idle()
    await fleet.answer("desk", "Hello again.")
    const { items, matched, tenant } = (await ask("/v1/budgets")).json
    assert.deepStrictEqual([matched, tenant.limits, tenant.inDay.calls], [1, { callsPerDay: 1_000 }, 2])
    const [desk] = items
    assert.deepInclude(desk, {
      assistant: "desk",
      share: 0.25,
      granted: { calls: 4, tokens: 1_000_000, costMicros: null }
    })
    assert.deepInclude(desk.spent, { calls: 1 })
    assert.deepInclude(desk.day, { calls: 2 })
    assert.isAbove(desk.endsAt, Date.now())
    assert.deepInclude((await ask("/v1/audit")).json.items[0], {
      action: "assistants.setBudget",
      target: "tokens 1000000, calls 4 for desk",
      outcome: "done"
    })
    await put("/v1/assistants/desk/budget", { calls: null, tokens: null })
    await fleet.idle()
    assert.strictEqual((await ask("/v1/budgets")).json.matched, 0)
    assertFailure(await put("/v1/assistants/none/budget", { calls: 1 }), 404, "NotFound")
    assertFailure(await put("/v1/assistants/desk/budget", { calls: -1 }), 400, "Malformed")
    await fleet.retire("desk")
    await fleet.idle()
    assertFailure(await put("/v1/assistants/desk/budget", { calls: 1 }), 409, "Conflict")
    await close()
  })

  it("limits are set by a token of the deployment's own tenant, for any; audited, and as they were after a restart", async () => {
    const data = aPath()
    const first = await opened(data)
    await first.fleet.answer("desk", "Hello.")
    const set = (await first.put("/v1/limits", { callsPerDay: 2, concurrentCalls: 3 })).json
    assert.deepInclude(set, {
      defined: { callsPerDay: 1_000 },
      set: { callsPerDay: 2, concurrentCalls: 3 },
      limits: set.set
    })
    assert.strictEqual(set.inDay.calls, 1)
    assert.deepStrictEqual((await first.ask("/v1/budgets")).json.tenant, set)
    assert.deepInclude((await first.ask("/v1/audit")).json.items[0], {
      action: "assistants.setLimits",
      target: "callsPerDay 2, concurrentCalls 3",
      outcome: "done"
    })
    const south = { headers: { ...bearer(SECRETS.south), "content-type": "application/json" } }
    const asSouth = (body: object) => first.ask("/v1/limits", { ...south, method: "PUT", body: JSON.stringify(body) })
    assertFailure(await asSouth({ callsPerDay: 9_000 }), 403, "Forbidden")
    assertFailure(await asSouth({ callsPerDay: 9_000, tenant: "north" }), 403, "Forbidden")
    assert.deepInclude((await first.put("/v1/limits", { callsPerDay: 7, tenant: "south" })).json.set, {
      callsPerDay: 7
    })
    assert.deepStrictEqual((await first.ask("/v1/budgets", south)).json.tenant.limits, { callsPerDay: 7 })
    for (const wrong of [
      { callsPerDay: -1 },
      { callsPerDay: 1.5 },
      { weight: 1 },
      { callsPerDay: 1, tenant: "no one" }
    ]) {
      assertFailure(await first.put("/v1/limits", wrong), 400, "Malformed")
    }
    await first.close()
    const second = await opened(data)
    assert.deepStrictEqual((await second.ask("/v1/budgets")).json.tenant.limits, set.limits)
    const back = (await second.put("/v1/limits", { callsPerDay: null, concurrentCalls: null })).json
    assert.deepStrictEqual([back.set, back.limits], [{}, { callsPerDay: 1_000 }])
    await second.close()
  })

  it("who waits for a limit goes on within seconds of the order that raises it", { timeout: 30_000 }, async () => {
    const { ask, close, fleet, put } = await opened(aPath())
    const stateOf = async () => (await ask("/v1/assistants/pier")).json.state
    const until = async (state: string) => {
      const late = Date.now() + 8_000
      while ((await stateOf()) !== state && Date.now() < late) await new Promise((done) => setTimeout(done, 20))
      assert.strictEqual(await stateOf(), state)
    }
    await put("/v1/limits", { callsPerDay: 1 })
    await fleet.answer("desk", "Hello.")
    await fleet.send("pier", "Hello.")
    await until("awake.thinking.parked")
    await put("/v1/limits", { callsPerDay: 2 })
    await until("awake.idle")
    assert.strictEqual((await ask("/v1/budgets")).json.tenant.inDay.calls, 2)
    await close()
  })

  it("B1 the most used up stand first, and a forecast goes on at the pace of the last day", () => {
    const now = 500 * HOUR + HOUR / 2
    const amount = (calls: number) => ({ calls, tokens: 0, costMicros: 0 })
    const row = (id: string, granted: number, spent: number, day: number) =>
      ({
        id,
        class: "idle",
        budget: {
          granted: { calls: granted, tokens: null, costMicros: null },
          spent: amount(spent),
          reserved: amount(0)
        },
        day: { ...amount(day), unpricedCalls: 0 }
      }) as unknown as Row
    const { items, matched } = budgetsOf(
      [row("a", 100, 53, 47), row("b", 10, 10, 0), row("c", 0, 0, 0), row("d", 10, 1, 0)],
      now,
      3
    )
    assert.deepStrictEqual(
      [matched, items.map(({ assistant, share }) => [assistant, share])],
      [
        4,
        [
          ["b", 1],
          ["c", 1],
          ["a", 0.53]
        ]
      ]
    )
    // 47 calls in 23.5 hours are 2 an hour: the 47 that are left last as long.
    assert.strictEqual(items[2]?.endsAt, now + 23.5 * HOUR)
    assert.isNull(items[0]?.endsAt ?? null)
  })
})
