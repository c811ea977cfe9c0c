import { defineTool, type Fleet, type ReplayFrame } from "reverie"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { assert, describe, test } from "vitest"
import { ReplayWalks } from "../../src/groups/assistant/replay.ts"
import { asker, type Heard, openFleet, refusalOf } from "./rig.ts"
import { HOSTILE } from "./seed.ts"

const look = defineTool({
  name: "look",
  description: "Looks.",
  input: Schema.Struct({ at: Schema.String }),
  run: ({ at }) => `${at} ${"far ".repeat(1_000)}`
})

const TICKS = 12

const rig = async (heard?: Heard) => {
  const fleet = await openFleet({
    tenant: "north",
    tools: [look],
    says: (_, call) =>
      Effect.succeed(
        call % 2 === 1
          ? { text: "Let me see.", calls: [{ tool: "look", arguments: { at: HOSTILE } }] }
          : { text: HOSTILE }
      )
  })
  await fleet.forTenant("south").create("desk")
  for (let number = 1; number <= TICKS; number++) await fleet.answer("desk", `${number} ${HOSTILE}`, { from: "Ann" })
  await fleet.idle()
  return { fleet, ask: asker(fleet, heard) }
}

const desk = { id: "desk" }

describe("timeline", () => {
  test("ticks come page by page, the newest first, each once; the one that is opened has its texts whole", async () => {
    const { ask, fleet } = await rig()
    await using _ = fleet
    const pageAt = (before?: number) =>
      ask("north", ({ timeline }) =>
        timeline.ticks({ params: desk, query: { limit: 5, ...(before === undefined ? {} : { before }) } })
      )
    const seen: Array<number> = []
    for (let page = await pageAt(); ; page = await pageAt(page.next)) {
      seen.push(...page.items.filter(({ kind }) => kind === "tick").map(({ tick }) => tick))
      for (const { tools } of page.items) for (const { result = "" } of tools) assert.isAtMost(result.length, 600)
      if (page.next === null) break
    }
    assert.deepStrictEqual(
      seen,
      Array.from({ length: TICKS }, (_, index) => TICKS - index)
    )
    const opened = await ask("north", ({ timeline }) => timeline.tick({ params: { ...desk, tick: 3 } }))
    assert.deepInclude(opened, { tick: 3, kind: "tick", sender: "Ann", outcome: "answered", reply: HOSTILE })
    assert.strictEqual(opened.text, `3 ${HOSTILE}`)
    assert.strictEqual(opened.models.length, 2)
    assert.deepInclude(opened.models[1], { ok: true, iteration: 2, text: HOSTILE })
    assert.deepInclude(opened.tools[0], { tool: "look", ok: true, arguments: JSON.stringify({ at: HOSTILE }) })
    assert.isAbove(opened.tools[0]?.result?.length ?? 0, 4_000)
    assert.include(
      opened.states.map(({ state }) => state),
      "awake.acting.running"
    )
    assert.isBelow(opened.from, opened.to)
  })

  test("T1 entries are those of the ledger, page by page", async () => {
    const { ask, fleet } = await rig()
    await using _ = fleet
    const first = await ask("north", ({ timeline }) => timeline.entries({ params: desk, query: { limit: 7 } }))
    assert.strictEqual(first.next, 8)
    const [kept] = await fleet.history.entries("desk", 1, 1)
    assert.deepStrictEqual(first.items[0], JSON.parse(JSON.stringify(kept?.entry)))
    const version = (await fleet.inspect("desk"))?.version ?? 0
    const last = await ask("north", ({ timeline }) =>
      timeline.entries({ params: desk, query: { from: version - 2, limit: 500 } })
    )
    assert.deepStrictEqual([last.items.length, last.next], [3, null])
  })

  test("D1 L1 no one sees another tenant's ticks; what is not there is not found", async () => {
    const heard: Heard = { audit: [], trouble: [] }
    const { ask, fleet } = await rig(heard)
    await using _ = fleet
    const other = await ask("south", ({ timeline }) => timeline.ticks({ params: desk, query: { limit: 50 } }))
    assert.isEmpty(other.items.filter(({ kind }) => kind === "tick"))
    for (const refused of [
      ask("south", ({ timeline }) => timeline.tick({ params: { ...desk, tick: 1 } })),
      ask("north", ({ timeline }) => timeline.tick({ params: { ...desk, tick: 99 } })),
      ask("south", ({ timeline }) => timeline.ticks({ params: { id: "clerk" }, query: { limit: 5 } })),
      ask("north", ({ timeline }) => timeline.entries({ params: { id: "none" }, query: { limit: 5 } }))
    ]) {
      assert.strictEqual(await refusalOf(refused), "NotFound")
    }
    assert.deepStrictEqual(heard.trouble, [])
  })
})

describe("context", () => {
  test("C1 every model call is a point of the slider and has its report; two ticks are compared", async () => {
    const { ask, fleet } = await rig()
    await using _ = fleet
    const first = await ask("north", ({ context }) => context.points({ params: desk, query: { limit: 20 } }))
    assert.lengthOf(first.items, 20)
    const rest = await ask("north", ({ context }) =>
      context.points({ params: desk, query: { limit: 20, before: first.next ?? 0 } })
    )
    const points = [...first.items, ...rest.items]
    assert.strictEqual(rest.next, null)
    assert.deepStrictEqual(
      points.map(({ iteration, tick }) => [tick, iteration]),
      Array.from({ length: TICKS * 2 }, (_, index) => [TICKS - Math.floor(index / 2), 2 - (index % 2)])
    )
    const newest = await ask("north", ({ context }) => context.report({ params: desk, query: {} }))
    assert.deepInclude(newest, { tick: TICKS, iteration: 2, ok: true })
    assert.strictEqual(newest.tokens, points[0]?.tokens)
    const one = await ask("north", ({ context }) => context.report({ params: desk, query: { tick: 2, iteration: 1 } }))
    assert.deepInclude(one, { tick: 2, iteration: 1 })
    const compared = await ask("north", ({ context }) =>
      context.compare({ params: desk, query: { tick: 1, with: TICKS } })
    )
    assert.isAbove(Number(Reflect.get(compared.comparison as object, "tokensMore")), 0)
    for (const refused of [
      ask("north", ({ context }) => context.report({ params: desk, query: { tick: 99 } })),
      ask("south", ({ context }) => context.report({ params: desk, query: {} })),
      ask("south", ({ context }) => context.prompt({ params: desk, query: { tick: 1 } }))
    ]) {
      assert.strictEqual(await refusalOf(refused), "NotFound")
    }
  })

  test("the words of a prompt are reported part by part, exactly as the model saw them", async () => {
    const { ask, fleet } = await rig()
    await using _ = fleet
    const prompt = await ask("north", ({ context }) => context.prompt({ params: desk, query: { tick: 2 } }))
    assert.deepInclude(prompt, { tick: 2, iteration: 2 })
    assert.isUndefined(prompt.diverged)
    assert.isNotEmpty(prompt.parts)
    assert.isTrue(prompt.parts.every(({ exact }) => exact))
    const words = prompt.parts.flatMap(({ messages }) => messages.map(({ content }) => content))
    assert.include(words, `2 ${HOSTILE}`)
    assert.isTrue(words.some((content) => content.includes("You are under test.")))
    assert.include(
      prompt.tools.map(({ name }) => name),
      "look"
    )
  })
})

describe("replay", () => {
  test("R1 frames come page by page, stop where they should, and tell a snapshot where it is asked for", async () => {
    const { ask, fleet } = await rig()
    await using _ = fleet
    const version = (await fleet.inspect("desk"))?.version ?? 0
    const pageAt = (from: number) =>
      ask("north", ({ replay }) => replay.frames({ params: desk, query: { from, limit: 30 } }))
    const seen: Array<number> = []
    for (let page = await pageAt(1); ; page = await pageAt(page.next)) {
      seen.push(...page.items.map(({ no }) => no))
      if (page.next === null) break
    }
    assert.deepStrictEqual(
      seen,
      Array.from({ length: version }, (_, index) => index + 1)
    )
    const stopped = await ask("north", ({ replay }) =>
      replay.frames({ params: desk, query: { from: 3, limit: 100, untilState: "awake.acting", snapshots: "true" } })
    )
    assert.strictEqual(stopped.items.at(-1)?.after, "awake.acting.running")
    assert.isFalse(stopped.items.slice(0, -1).some(({ after }) => after.startsWith("awake.acting")))
    assert.isObject(stopped.items[0]?.snapshot)
    assert.strictEqual(stopped.next, (stopped.items.at(-1)?.no ?? 0) + 1)
    const byEvent = await ask("north", ({ replay }) =>
      replay.frames({ params: desk, query: { from: 10, limit: 100, untilEvent: "message" } })
    )
    assert.strictEqual(byEvent.items.at(-1)?.event, "message")
    assert.match(byEvent.items.at(-1)?.cause ?? "", /^envelope mail /)
    assert.isUndefined(byEvent.items[0]?.snapshot)
  })

  test("W1 W2 W3 the next page goes on where the one before ended, and tells the same as one that is gone to", async () => {
    const { fleet } = await rig()
    await using _ = fleet
    let begun = 0
    const counting = {
      tenant: fleet.forTenant("north").tenant,
      replay: {
        frames: (...request: Parameters<Fleet["replay"]["frames"]>) => {
          begun++
          return fleet.replay.frames(...request)
        }
      }
    }
    const walks = new ReplayWalks()
    const pageFrom = async (from: number, count: number) => {
      const walk = walks.take(counting, { id: "desk", from, snapshots: false })
      const frames: Array<ReplayFrame> = []
      while (frames.length < count) frames.push((await walk.next()).value as ReplayFrame)
      walks.leave(counting, { id: "desk", from: from + count, snapshots: false }, walk)
      return frames
    }
    const walked = [...(await pageFrom(1, 10)), ...(await pageFrom(11, 10)), ...(await pageFrom(21, 10))]
    assert.strictEqual(begun, 1)
    const whole = await Array.fromAsync(fleet.replay.frames("desk", { from: 1, to: 30 }))
    assert.deepStrictEqual(walked, whole)
    assert.deepStrictEqual(await pageFrom(11, 10), whole.slice(10, 20))
    assert.strictEqual(begun, 2)
    for (let jump = 0; jump < 8; jump++) await pageFrom(40 + 2 * jump, 1)
    assert.strictEqual(begun, 10)
    await pageFrom(31, 1)
    assert.strictEqual(begun, 11)
  })

  test("a life that is replayed equals what is stored, with no call of a model or a tool", async () => {
    const { ask, fleet } = await rig()
    await using _ = fleet
    const commits = (await fleet.inspect("desk"))?.version
    const verdict = await ask("north", ({ replay }) => replay.verify({ params: desk }))
    assert.deepStrictEqual(verdict, { commits, equal: true, modelCalls: 0, toolCalls: 0 } as never)
  })

  test("R2 a fork shows its difference, and nothing of it reaches the fleet", async () => {
    const heard: Heard = { audit: [], trouble: [] }
    const { ask, fleet } = await rig(heard)
    await using _ = fleet
    const before = await fleet.outbox.end()
    const fork = (
      token: string,
      payload: { tick: number; prompt?: string; model?: string; stubs?: Record<string, string> }
    ) => ask(token, ({ replay }) => replay.fork({ params: desk, payload }))
    const same = await fork("north", { tick: 2, model: "recorded" })
    assert.deepStrictEqual(same.differs, [])
    const other = await fork("north", {
      tick: 2,
      model: "offline",
      prompt: "You only listen.",
      stubs: { look: HOSTILE }
    })
    assert.isNotEmpty(other.differs)
    assert.isTrue(other.differs.some((line) => line.startsWith("reply: ")))
    const stubbed = await fork("north", { tick: 2, model: "recorded", stubs: { look: "Nothing." } })
    assert.isTrue(stubbed.differs.some((line) => line.startsWith("results: ")))
    assert.strictEqual(await refusalOf(fork("north", { tick: 99 })), "NotFound")
    assert.strictEqual(await refusalOf(fork("south", { tick: 1 })), "NotFound")
    assert.strictEqual(await refusalOf(fork("north:ro", { tick: 1 })), "Forbidden")
    assert.strictEqual(await fleet.outbox.end(), before)
    assert.deepStrictEqual(heard.trouble, [])
  })
})

test("what hooks did stands in the entries and in the tick, with what stood there before", async () => {
  await using fleet = await openFleet({
    tenant: "north",
    tools: [look],
    says: [{ calls: [{ tool: "look", arguments: { at: "9 Elm" } }] }, { text: "Seen." }],
    assistant: { hooks: { beforeTool: () => ({ args: { at: "Elm" } }), beforeModel: () => ({ append: "Be kind." }) } }
  })
  await fleet.answer("desk", "Look.")
  const ask = asker(fleet)
  const deed = { hook: "beforeTool", did: "changed", of: 'assistant "desk"', call: "1.1.0", tool: "look" } as const
  const tick = await ask("north", ({ timeline }) => timeline.tick({ params: { ...desk, tick: 1 } }))
  const told = tick.hooks?.find(({ hook }) => hook === "beforeTool")
  assert.deepInclude(told, { ...deed, before: '{"at":"9 Elm"}' })
  const { items } = await ask("north", ({ timeline }) => timeline.entries({ params: desk, query: { limit: 50 } }))
  const hooks = items.flatMap((entry) => entry.hooks ?? [])
  assert.deepInclude(hooks, { ...deed, before: { at: "9 Elm" } })
  const [edit] = hooks.find(({ hook }) => hook === "beforeModel")?.edits ?? []
  assert.deepStrictEqual(edit?.add, [{ role: "user", content: "Be kind." }])
})
