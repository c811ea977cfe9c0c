import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Ledger } from "@reverie/ledger"
import { NOTHING_USED } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { measured } from "../src/checks/metrics.ts"
import {
  defineAssistant,
  defineFleet,
  Fleet,
  FleetDefinitionInvalid,
  type FleetOptions,
  IdInvalid,
  type PromiseModel
} from "../src/index.ts"
import { aDirectory } from "./rig.ts"

const usage = { inputTokens: 1_000, cachedInputTokens: 800, outputTokens: 100, reasoningTokens: 40 }

const modelOf = (name: string): PromiseModel => ({ name, infer: async () => ({ text: "Berth 7.", usage }) })

const assistants = ["ada", "bob", "cleo"].map((id) => defineAssistant({ id, instructions: "You assign berths." }))

const openAt = (data: string, name: string, inputMicros?: number) =>
  Fleet.open({
    data,
    fleet: defineFleet({ assistants }),
    model: modelOf(name),
    ...(inputMicros === undefined ? {} : { prices: { "*": { inputMicros, outputMicros: 0 } } })
  })

describe("metrics", () => {
  const HOUR = 3_600_000
  const calls = (text: string): number => Number(/^reverie_usage_calls_total\{.*\} (\d+)$/m.exec(text)?.[1])

  it.effect("M2 hours that are over are read once, all of them anew each day, and no call is missed or doubled", () =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      /** One call an hour, up to now. */
      const usage: Ledger["Service"]["usage"] = ({ from = 0, to }) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          asked.push(`${from}-${to ?? ""}`)
          const end = Math.min(to ?? Infinity, Math.floor(now / HOUR) + 1)
          return [{ ...NOTHING_USED, calls: Math.max(0, end - from), key: ["small", "answer"], lastNo: 1 }]
        })
      const totals = Effect.succeed({ accepted: 0, settled: 0, dead: 0, discarded: 0 })
      const ledger = { usage, totals } as unknown as Ledger["Service"]
      const at = (hour: number) =>
        TestClock.setTime(hour * HOUR).pipe(
          Effect.andThen(Effect.provideService(measured, Ledger, ledger)),
          Effect.map(calls)
        )
      assert.strictEqual(yield* at(30), 31)
      assert.strictEqual(yield* at(30.5), 31)
      assert.deepStrictEqual(asked, ["0-29", "29-", "29-"])
      assert.strictEqual(yield* at(33), 34)
      assert.deepStrictEqual(asked.slice(3), ["29-32", "32-"])
      assert.strictEqual(yield* at(49), 50)
      assert.deepStrictEqual(asked.slice(5), ["0-48", "48-"])
    })
  )
})

describe("usage", () => {
  it("U1 is summed by assistant, model and purpose, page by page, with the sum of all", async () => {
    await using fleet = await openAt(":memory:", "qwen3")
    for (const id of ["ada", "bob", "ada", "cleo"]) await fleet.answer(id, "Which berth is free?")
    const one = {
      calls: 1,
      tokens: 1_100,
      inputTokens: 1_000,
      cachedTokens: 800,
      outputTokens: 100,
      reasoningTokens: 40,
      costMicros: 0,
      unpricedCalls: 1
    }
    const whole = await fleet.usage()
    assert.deepStrictEqual(
      whole.rows.map(({ calls, key }) => [key, calls]),
      [
        ["ada", 2],
        ["bob", 1],
        ["cleo", 1]
      ]
    )
    assert.deepStrictEqual(whole.rows[1], { key: "bob", ...one })
    assert.deepInclude(whole.total, { calls: 4, tokens: 4_400, unpricedCalls: 4 })
    const first = await fleet.usage({ limit: 2 })
    assert.deepStrictEqual([first.rows, first.next], [whole.rows.slice(0, 2), "bob"])
    const second = await fleet.usage({ limit: 2, after: "bob" })
    assert.deepStrictEqual([second.rows, second.next, second.total], [whole.rows.slice(2), null, whole.total])
    assert.deepStrictEqual((await fleet.usage({ by: "model", assistant: "bob" })).rows, [{ key: "qwen3", ...one }])
    assert.deepStrictEqual((await fleet.usage({ by: "purpose", assistant: "bob" })).rows, [{ key: "answer", ...one }])
    assert.deepStrictEqual((await fleet.usage({ assistant: "nobody" })).rows, [])
    const failed = await fleet.usage({ assistant: "a/b" }).catch((failure: unknown) => failure)
    assert.instanceOf(failed, IdInvalid)
  })

  it("U1 means whole hours, each known by its beginning", async () => {
    await using fleet = await openAt(":memory:", "qwen3")
    await fleet.answer("ada", "Which berth is free?")
    const { from, rows, to, total } = await fleet.usage({ by: "hour" })
    const [hour] = rows
    const begin = Date.parse(hour?.key ?? "")
    assert.deepStrictEqual([begin % 3_600_000, to, total.calls], [0, null, 1])
    assert.isTrue(begin >= from && begin < from + 24 * 3_600_000)
    assert.strictEqual((await fleet.usage({ from: begin + 1 })).total.calls, 1)
    assert.strictEqual((await fleet.usage({ from: begin + 3_600_000 })).total.calls, 0)
    assert.strictEqual((await fleet.usage({ from: 0, to: begin + 1 })).total.calls, 0)
  })

  it("U1 what a call cost is fixed with its commit, and a later price changes no bill", async () => {
    const data = aDirectory()
    const bill = async (fleet: Fleet) => {
      const { costMicros, unpricedCalls } = (await fleet.usage({ from: 0 })).total
      const { ticks } = await fleet.history.ticks("ada")
      return [costMicros, unpricedCalls, ticks.map(({ calls }) => calls[0]?.costMicros ?? calls[0]?.unpriced)]
    }
    const fleet = await openAt(data, "qwen3", 3_000_000)
    await fleet.answer("ada", "Which berth is free?")
    assert.deepStrictEqual(await bill(fleet), [3_000, 0, [3_000]])
    await fleet.close()
    await using later = await openAt(data, "qwen3")
    await later.answer("ada", "And now?")
    assert.deepStrictEqual(await bill(later), [3_000, 1, [true, 3_000]])
  })

  it("C4 budgets and limits count what was cached at its price", async () => {
    const prices = { "*": { inputMicros: 1_000_000, cachedInputMicros: 100_000, outputMicros: 0 } }
    const desk = defineAssistant({
      id: "desk",
      instructions: "You keep the desk.",
      budget: { tokens: 100_000 }
    })
    await using fleet = await Fleet.open({
      data: ":memory:",
      fleet: defineFleet({ assistants: [desk], tenants: { default: { costMicrosPerDay: 10_000_000 } } }),
      model: modelOf("mine"),
      prices
    })
    await fleet.answer("desk", "Which berth is free?")
    // 200 at the full price, and 800 at a tenth of it.
    const cost = 200 + 80
    assert.strictEqual((await fleet.usage()).total.costMicros, cost)
    assert.deepStrictEqual((await fleet.subAgents.tree("desk"))?.spent, { calls: 1, tokens: 1_100, costMicros: cost })
  })

  it("C5 a budget of cost reserves and settles at one price: of the fleet, of the assistant, or as usual", async () => {
    const opening = (model: string, options: object, prices?: FleetOptions["prices"]) =>
      Fleet.open({
        data: ":memory:",
        fleet: defineFleet({
          assistants: [
            defineAssistant({
              id: "desk",
              instructions: "You keep the desk.",
              budget: { costMicros: 100_000 },
              ...options
            })
          ]
        }),
        model: modelOf(model),
        ...(prices === undefined ? {} : { prices })
      })
    const spentBy = async (fleet: Fleet) => {
      await using open = fleet
      await open.answer("desk", "Which berth is free?")
      const { costMicros } = (await open.usage({ from: 0 })).total
      assert.strictEqual((await open.subAgents.tree("desk"))?.spent?.costMicros, costMicros)
      return costMicros
    }
    // 200 tokens at the full price, 800 out of the cache, and 100 of the reply.
    assert.strictEqual(await spentBy(await opening("gpt-5-mini-2025-08-07", {})), 270)
    const own = { prices: { inputMicros: 500_000, cachedInputMicros: 50_000, outputMicros: 0 } }
    assert.strictEqual(await spentBy(await opening("qwen3", own)), 140)
    const dear = { "*": { inputMicros: 1_000_000, cachedInputMicros: 100_000, outputMicros: 0 } }
    assert.strictEqual(await spentBy(await opening("qwen3", own, dear)), 280)
    const unpriced = await opening("qwen3", {}).catch((error: Error) => error)
    assert.instanceOf(unpriced, FleetDefinitionInvalid)
    assert.match(String(unpriced), /assistant "desk": its budget of costMicros .* no one knows what qwen3 costs/)
  })

  it("an assistant without a budget has spent what the ledger says", async () => {
    await using fleet = await openAt(":memory:", "mine", 1_000_000)
    await fleet.answer("ada", "Which berth is free?")
    assert.deepStrictEqual((await fleet.subAgents.tree("ada"))?.spent, { calls: 1, tokens: 1_100, costMicros: 1_000 })
  })

  it("M2 metrics tell it by model and purpose, and no name of a model breaks their lines", async () => {
    await using fleet = await openAt(":memory:", 'a "b"\n\\', 1_000_000)
    await fleet.answer("ada", "Which berth is free?")
    const metrics = await fleet.monitor.metrics()
    const labels = '{model="a \\"b\\"\\n\\\\",purpose="answer"}'
    for (const [name, value] of [
      ["calls", 1],
      ["input_tokens", 1_000],
      ["cached_tokens", 800],
      ["output_tokens", 100],
      ["reasoning_tokens", 40],
      ["cost_micros", 1_000],
      ["unpriced_calls", 0]
    ] as const) {
      assert.include(metrics, `\nreverie_usage_${name}_total${labels} ${value}\n`)
    }
  })

  it("a row of a model call is written without the names that every call repeats, and read with them", async () => {
    const data = aDirectory()
    {
      await using fleet = await openAt(data, "qwen3")
      await fleet.answer("ada", "Which berth is free?")
      const steps = (await fleet.history.entries("ada", 1, 100)).flatMap(({ entry: { step } }) => step ?? [])
      assert.lengthOf(steps, 1)
      assert.deepInclude(steps[0]?.spent?.[0], { model: "qwen3", calls: 1, inputTokens: 1_000 })
      assert.deepInclude(steps[0]?.detail?.["pattern"], { mode: "react_loop" })
      assert.deepInclude(steps[0]?.detail?.["context"], { context: "tick_event" })
    }
    const database = new DatabaseSync(join(data, "reverie.db"))
    const rows = database.prepare("SELECT body FROM ledger WHERE body LIKE '%qwen3%'").all()
    database.close()
    assert.lengthOf(rows, 1)
    const { step } = JSON.parse(String(rows[0]?.["body"])) as { readonly step: Record<string, Record<string, unknown>> }
    for (const packed of [step["spent"], step["usage"], step["detail"]?.["context"], step["detail"]?.["pattern"]]) {
      assert.isArray(packed)
    }
    for (const name of ["source_layers", "token_pressure", "inputTokens", "leftOut"]) {
      assert.notInclude(JSON.stringify(step), name)
    }
  })
})
