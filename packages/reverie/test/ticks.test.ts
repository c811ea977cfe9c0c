import { assert, describe, it } from "@effect/vitest"
import { DEFAULT_TENANT, defined } from "@reverie/protocol"
import { later } from "@reverie/testkit/later"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { coreOf } from "../src/fleet/records.ts"
import { historyIn } from "../src/fleet/watching.ts"
import { defineAssistant, defineFleet, defineTool, Fleet, type PromiseModel, type TickView } from "../src/index.ts"
import { reading } from "../src/opening/profile.ts"
import { aDirectory, calling, openFleet, type Request } from "./rig.ts"

const look = defineTool({
  name: "look",
  description: "Looks.",
  input: { type: "object", properties: { at: { type: "string" } } },
  run: () => "the sea"
})
const burn = defineTool({ name: "burn", description: "Burns.", needsApproval: true, run: () => "burnt" })

/** Every row, page by page. */
const pagesOf = async (fleet: Fleet, id: string, limit: number): Promise<ReadonlyArray<TickView>> => {
  const all: Array<TickView> = []
  let before: number | null = null
  for (let pages = 0; pages < 1_000; pages++) {
    const { next, ticks } = await fleet.history.ticks(id, { limit, ...(before === null ? {} : { before }) })
    assert.isAtMost(ticks.length, limit)
    all.push(...ticks)
    if (next === null) return all
    assert.isBelow(next, before ?? Infinity)
    before = next
  }
  throw new Error("the pages have no end")
}

describe("what a call has cost", () => {
  /** The call of a model of this name, which the fleet and the assistant may give a price. */
  const callBy = async (name: string, options: Omit<Request, "says"> = {}) => {
    const usage = { inputTokens: 1_000, outputTokens: 100 }
    const model: PromiseModel = { name, infer: async () => ({ text: "Berth 7.", usage }) }
    const clerk = defineAssistant({
      id: "clerk",
      instructions: "You assign berths.",
      ...options.assistant
    })
    await using fleet = await Fleet.open({
      data: ":memory:",
      fleet: defineFleet({ assistants: [clerk] }),
      model,
      ...defined({ prices: options.prices })
    })
    await fleet.answer("clerk", "Which berth is free?")
    const { ticks } = await fleet.history.ticks("clerk")
    const { costMicros, unpriced } = ticks[0]?.calls[0] ?? {}
    return defined({ costMicros, unpriced })
  }
  const prices = { inputMicros: 3_000_000, outputMicros: 0 }

  it("P1 is what its model usually costs, unless the fleet or the assistant gives a price", async () => {
    assert.deepStrictEqual(await callBy("gpt-5-mini-2025-08-07"), { costMicros: 450 })
    assert.deepStrictEqual(await callBy("gpt-5-mini", { prices: { "gpt-5": prices } }), {
      costMicros: 3_000
    })
    const own = { inputMicros: 7_000_000, outputMicros: 0 }
    assert.deepStrictEqual(await callBy("gpt-5-mini", { assistant: { prices: own } }), {
      costMicros: 7_000
    })
    assert.deepStrictEqual(await callBy("mine", { prices: { "*": prices } }), {
      costMicros: 3_000
    })
  })

  it("P1 is unpriced where no one knows, and never nothing", async () => {
    assert.deepStrictEqual(await callBy("qwen3"), { unpriced: true })
    assert.deepStrictEqual(await callBy("qwen3", { prices: { "gpt-5": prices } }), {
      unpriced: true
    })
    assert.deepStrictEqual(await callBy("qwen3", { prices: { qwen3: { inputMicros: 0, outputMicros: 0 } } }), {
      costMicros: 0
    })
  })
})

describe("ticks", () => {
  it("V1 V2 tell who asked, what was said, called and answered, and what it cost", async () => {
    await using fleet = await openFleet({
      tools: [look],
      says: [
        {
          text: "I look.",
          calls: [{ tool: "look", arguments: { at: "the harbour" } }],
          usage: { inputTokens: 100, outputTokens: 10, source: "provider" }
        },
        { text: "It is the sea.", usage: { inputTokens: 150, outputTokens: 5, source: "provider" } }
      ],
      prices: { scripted: { inputMicros: 1_000_000, outputMicros: 2_000_000 } }
    })
    await fleet.send("desk", "What is there?", { id: "q-1", from: "ann" })
    await fleet.idle()
    const { next, ticks } = await fleet.history.ticks("desk")
    assert.strictEqual(next, null)
    const [tick, ...others] = ticks
    assert.deepStrictEqual(others, [])
    assert.ok(tick)
    assert.deepInclude(tick, {
      kind: "tick",
      tick: 1,
      from: "ann",
      envelope: "q-1",
      type: "message",
      text: "What is there?",
      outcome: "answered",
      iterations: 2,
      reply: "It is the sea.",
      commits: { from: 2, to: 5 },
      steps: []
    })
    assert.isAtLeast(tick.waitMs ?? -1, 0)
    assert.isAtLeast(tick.endedAt ?? 0, tick.beganAt)
    assert.isAbove(tick.notices, 4)
    assert.deepStrictEqual(
      tick.calls.map(({ costMicros, iteration, model, ok, text }) => ({ costMicros, iteration, model, ok, text })),
      [
        { costMicros: 120, iteration: 1, model: "scripted", ok: true, text: "I look." },
        { costMicros: 160, iteration: 2, model: "scripted", ok: true, text: "It is the sea." }
      ]
    )
    assert.deepInclude(tick.tools[0], {
      call: "1.1.0",
      tool: "look",
      ok: true,
      arguments: '{"at":"the harbour"}',
      result: "the sea"
    })
    assert.deepStrictEqual(
      tick.states.map(({ state }) => state),
      ["awake.thinking.inferring", "awake.acting.running", "awake.thinking.inferring", "awake.idle"]
    )
    assert.deepStrictEqual(JSON.parse(JSON.stringify(ticks)), ticks)
  })

  it("V2 a call that waits for a person is pending, one that was denied is not ok; the tick is open until then", async () => {
    await using fleet = await openFleet({ tools: [burn], says: [calling("burn"), { text: "Then not." }] })
    await fleet.send("desk", "Burn it.")
    await fleet.idle()
    const [open] = (await fleet.history.ticks("desk")).ticks
    assert.ok(open)
    assert.deepInclude(open.tools[0], { tool: "burn", ok: false, pending: true })
    assert.strictEqual(open.endedAt, undefined)
    assert.strictEqual(open.outcome, undefined)
    const [asked] = await fleet.approvals.list("desk")
    await fleet.deny("desk", asked?.approval ?? "")
    await fleet.idle()
    const [ended] = (await fleet.history.ticks("desk")).ticks
    assert.ok(ended)
    assert.deepInclude(ended.tools[0], { tool: "burn", ok: false })
    assert.notProperty(ended.tools[0], "pending")
    assert.match(ended.tools[0]?.result ?? "", /denied/i)
    assert.strictEqual(ended.reply, "Then not.")
  })

  it("S3 dreams, compactions and orders between ticks are rows of their own, whatever the size of the pages", async () => {
    const settings = { sleepMs: 3_600_000, compactSleepRatio: 0 }
    await using fleet = await openFleet({ assistant: { settings } })
    for (let n = 1; n <= 30; n++) await fleet.send("desk", `Hello ${n}.`, { id: `m-${n}` })
    await fleet.idle()
    await fleet.sleep("desk", { id: "night" })
    await fleet.idle()
    await fleet.wake("desk", "the day begins")
    await fleet.idle()
    await fleet.halt("desk", "a look")
    await fleet.idle()
    await fleet.resume("desk")
    await fleet.idle()
    await fleet.send("desk", "And now?", { id: "m-31" })
    await fleet.idle()
    const all = await pagesOf(fleet, "desk", 100)
    assert.deepStrictEqual(
      all.slice(0, 6).map(({ kind, type = "", text = "" }) => [kind, type, text]),
      [
        ["tick", "message", "And now?"],
        ["order", "resume", ""],
        ["order", "halt", "a look"],
        ["compaction", "", ""],
        ["dream", "sleep", ""],
        ["tick", "message", "Hello 30."]
      ]
    )
    assert.strictEqual(all.length, 35)
    const [, , , compaction, dream] = all
    assert.deepStrictEqual([...new Set(compaction?.steps.map(({ kind }) => kind))], ["compact"])
    assert.includeMembers(dream?.steps.map(({ name }) => name) ?? [], ["dream consolidating", "dream pruning"])
    assert.isAtLeast(dream?.endedAt ?? 0, compaction?.endedAt ?? Infinity)
    assert.strictEqual(dream?.outcome, "slept")
    const key = ({ commits: { from }, kind }: TickView) => `${kind} ${from}`
    for (const limit of [1, 2, 7, 34]) {
      assert.deepStrictEqual((await pagesOf(fleet, "desk", limit)).map(key), all.map(key), `pages of ${limit}`)
    }
    for (const [index, row] of all.entries()) {
      const older = all[index + 1]
      if (older !== undefined) assert.isBelow(older.commits.to, row.commits.from)
    }
  })

  it("a list tells the beginnings of texts, a tick that is opened the whole, and neither cuts a character in two", async () => {
    const long = `${"x".repeat(499)}😀${"y".repeat(150_000)}`
    await using fleet = await openFleet({ says: [{ text: long }] })
    await fleet.send("desk", long)
    await fleet.idle()
    const [listed] = (await fleet.history.ticks("desk")).ticks
    assert.ok(listed)
    assert.strictEqual(listed.text, "x".repeat(499))
    assert.strictEqual(listed.reply, "x".repeat(499))
    const opened = await fleet.history.tick("desk", 1)
    assert.ok(opened)
    assert.strictEqual(opened.reply, long.slice(0, 100_000))
    assert.strictEqual(opened.text, long.slice(0, 100_000))
    assert.strictEqual(await fleet.history.tick("desk", 2), undefined)
    assert.strictEqual(await fleet.history.tick("desk", 0), undefined)
    assert.deepStrictEqual(await fleet.history.ticks("nobody"), { ticks: [], next: null })
  })

  it("T2 the newest page of a long life reads no more than that of a short one", async () => {
    const data = aDirectory()
    await using fleet = await openFleet({ data, durability: "normal" })
    for (let n = 0; n < 400; n++) await fleet.send("desk", `Hello ${n}.`)
    await fleet.idle()
    const store = ManagedRuntime.make(reading(data))
    later(() => store.dispose())
    const core = coreOf((effect) => store.runPromise(effect), DEFAULT_TENANT)
    let read = 0
    const history = historyIn({
      ...core,
      entries: async (id, from, limit) => {
        const rows = await core.entries(id, from, limit)
        read += rows.length
        return rows
      }
    })
    assert.strictEqual((await history.ticks("desk", { limit: 20 })).ticks.length, 20)
    assert.isAbove(read, 0)
    assert.isAtMost(read, 200)
    const page = await history.ticks("desk", { limit: 20, before: 402 })
    assert.strictEqual(page.ticks[0]?.tick, 200)
  })
})
