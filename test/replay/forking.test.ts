// Ticks of the harbor day and of a real conversation lived through again beside the fleet: unchanged, and changed.

import { assert, describe, it } from "@effect/vitest"
import { offlineModel } from "@reverie/model-offline"
import { inTurn, scriptedModel } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import {
  checkFixture,
  Fleet,
  type FleetDefinition,
  type Fork,
  fixtureOfTick,
  forkTick,
  FleetReader,
  promptOfTick,
  promptsOfTick,
  readFixture,
  type TickPrompt
} from "reverie"
import { afterAll, beforeAll } from "vitest"
import { isConversationHere, type Played, playedConversation, playedDay, promptText, removed } from "./counted.ts"

const LIMIT = { timeout: 240_000 }

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error
  )

/** What a data store tells of itself that any write would change. */
const marks = async (fleet: Fleet) => ({
  totals: await fleet.monitor.totals(),
  end: await fleet.outbox.end(),
  versions: (await fleet.views()).map(({ commits, id, state, waiting }) => ({ commits, id, state, waiting })),
  blocks: await fleet.blocks.list()
})

interface Ticks {
  readonly id: string
  readonly tick: number
}

/** Every tick that asked a model. */
const askingTicks = async (peek: FleetReader): Promise<ReadonlyArray<Ticks>> => {
  const found: Array<Ticks> = []
  for (const { commits, id } of await peek.views()) {
    const entries = (await peek.history.entries(id, 1, commits)).map(({ entry }) => entry)
    const ticks = new Set(entries.flatMap(({ step, tick }) => (step?.kind === "infer" ? [tick] : [])))
    found.push(...[...ticks].map((tick) => ({ id, tick })))
  }
  return found
}

const withPrompt = (fleet: FleetDefinition, id: string, systemPrompt: string): FleetDefinition => ({
  ...fleet,
  assistants: fleet.assistants.map((each) => (each.id === id ? { ...each, systemPrompt } : each))
})

/** A prompt as the counting model notes it. */
const asNoted = ({ messages, tools }: TickPrompt): string =>
  promptText(
    messages.map(({ call, calls, content, name, role }) => ({
      role,
      content,
      ...(name === undefined ? {} : { name }),
      ...(calls === undefined ? {} : { calls }),
      ...(call === undefined ? {} : { call })
    })),
    tools
  )

/** The same members whatever their order: no one reads a message by the order of its members. */
const normal = (text: string): string =>
  JSON.stringify(JSON.parse(text), (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value
  )

const notedFor = ({ prompts }: Played, { iteration, tick }: TickPrompt): ReadonlyArray<string> =>
  prompts.flatMap(({ prefix, text }) => (prefix === `${tick}.${iteration}` ? [normal(text)] : []))

describe("the harbor day", () => {
  let day: Played
  let asking: ReadonlyArray<Ticks>

  beforeAll(async () => {
    day = await playedDay()
    await using peek = await FleetReader.open(day.data)
    asking = await askingTicks(peek)
  }, 120_000)

  afterAll(() => removed(day))

  it("every tick forked unchanged is equal; no tool runs, and the fleet is as it was", LIMIT, async () => {
    const { calls, data, fleet, model, told } = day
    await using opened = await Fleet.open({ fleet, data, model })
    const before = await marks(opened)
    let asked = 0
    assert.isAbove(asking.length, 40)
    for (const { id, tick } of asking) {
      const fork = await forkTick(opened, fleet, { assistant: id, tick, model })
      assert.deepStrictEqual([id, tick, fork.differs], [id, tick, []])
      assert.strictEqual(fork.forked.outcome, fork.original.outcome)
      assert.isTrue(fork.isOriginalEnvelope)
      asked += fork.forked.modelCalls
    }
    assert.strictEqual(calls.tools, told.tools)
    assert.strictEqual(calls.model, told.model + asked)
    assert.deepStrictEqual(await marks(opened), before)
    for (const { id } of await opened.views()) assert.isTrue((await opened.replay.verify(id)).equal)
  })

  it("X1 X2 every recorded model call gives its prompt again, byte for byte", LIMIT, async () => {
    await using peek = await FleetReader.open(day.data)
    let parts = 0
    let prompts = 0
    for (const { id, tick } of asking) {
      for (const prompt of await promptsOfTick(peek, day.fleet, { assistant: id, tick })) {
        assert.isUndefined(prompt.diverged)
        assert.isTrue(prompt.exact, `${id} ${tick}.${prompt.iteration}`)
        assert.strictEqual(prompt.exactParts, prompt.parts.length)
        assert.include(notedFor(day, prompt), normal(asNoted(prompt)))
        parts += prompt.exactParts
        prompts++
      }
    }
    assert.isAbove(prompts, 80)
    assert.isAbove(parts, 500)
  })

  it("X1 a part that is another one by now is not exact, and the others are", LIMIT, async () => {
    await using peek = await FleetReader.open(day.data)
    const edited = withPrompt(day.fleet, "desk", "You are the front desk. Say as little as you can.")
    const prompt = await promptOfTick(peek, edited, { assistant: "desk", tick: 2, iteration: 2 })
    assert.deepInclude(prompt, { tick: 2, iteration: 2, exact: false, toolsExact: true, missing: [] })
    assert.deepStrictEqual(
      prompt?.parts.filter(({ exact }) => !exact).map(({ key }) => key),
      ["system_prompt"]
    )
    assert.deepStrictEqual(
      prompt?.messages.filter(({ exact }) => !exact).map(({ part }) => part.key),
      ["system_prompt"]
    )
    assert.isUndefined(await promptOfTick(peek, day.fleet, { assistant: "desk", tick: 2, iteration: 9 }))
    const short = await promptOfTick(peek, day.fleet, { assistant: "desk", tick: 2, maxChars: 20 })
    assert.isTrue(short?.messages.every(({ chars, content }) => content.length === Math.min(20, chars)))
  })

  it(
    "an edited prompt shows its difference; recorded tools answer, and what was not recorded is refused",
    LIMIT,
    async () => {
      await using peek = await FleetReader.open(day.data)
      const rows = await peek.history.entries("desk", 1, 100)
      const made = rows
        .flatMap(({ entry }) => entry.messages.flatMap(({ calls = [] }) => calls))
        .find(({ id }) => id === "2.1.0")
      if (made === undefined) return assert.fail("a call was made in that tick")
      // Says its instructions back, after one call that was made then and two that were not.
      const parrot = scriptedModel((prompt, call) =>
        Effect.succeed(
          call === 1
            ? {
                calls: [
                  { tool: made.tool, arguments: made.arguments },
                  { tool: "find_berth", arguments: { length: 999, draught: 1 } },
                  { tool: "sink_ship" }
                ]
              }
            : { text: prompt.messages[0]?.content ?? "" }
        )
      )
      const fork = await forkTick(peek, day.fleet, {
        assistant: "desk",
        tick: 2,
        instructions: "Speak only of ropes.",
        model: parrot.model
      })
      assert.include(fork.forked.reply, "Speak only of ropes.")
      const named = fork.differs.map(({ what }) => what)
      assert.includeMembers(named, ["reply", "calls", "results", "models", "context"])
      const [first] = fork.contexts
      assert.isTrue(first?.comparison.parts.some(({ key }) => key === "system_prompt"))
      const [known, unknown, none] = fork.forked.calls
      const [then] = fork.original.calls
      if (then?.result === undefined) return assert.fail("it was answered")
      assert.deepInclude(known, { tool: "find_berth", answeredBy: "recorded", result: then.result })
      assert.deepInclude(unknown, { answeredBy: "refused", result: "Refused: not recorded: a fork runs no tools" })
      assert.deepInclude(none, { tool: "sink_ship", answeredBy: "unknown-tool" })
      assert.strictEqual(day.calls.tools, day.told.tools)
      assert.deepStrictEqual(JSON.parse(JSON.stringify(fork)), fork)
    }
  )

  it("a stub stands in the place of a recorded result", LIMIT, async () => {
    await using peek = await FleetReader.open(day.data)
    const stubs = [{ tool: "find_berth", content: "fitting berth: the lobster pier" }]
    const fork = await forkTick(peek, day.fleet, { assistant: "desk", tick: 2, model: offlineModel(), stubs })
    assert.deepInclude(fork.forked.calls[0], { answeredBy: "stub", result: "fitting berth: the lobster pier" })
    assert.include(fork.forked.reply, "the lobster pier")
    assert.include(
      fork.differs.map(({ what }) => what),
      "reply"
    )
  })

  it(
    "a model that fails, and one that asks for a person's consent which no one gave, leave the tick unfinished",
    LIMIT,
    async () => {
      await using peek = await FleetReader.open(day.data)
      const asks = scriptedModel(
        inTurn({ calls: [{ tool: "assign_berth", arguments: { ship: "Aurora", berth: "birch" } }] })
      )
      const fork = await forkTick(peek, day.fleet, { assistant: "desk", tick: 1, model: asks.model })
      assert.deepInclude(fork.forked, { outcome: "unfinished", unfinished: "it waits in awake.awaitingApproval" })
      assert.isUndefined(fork.forked.calls[0]?.result)
    }
  )

  it("what can not be tried again is refused with the reason", LIMIT, async () => {
    await using peek = await FleetReader.open(day.data)
    const forked = (assistant: string, tick: number, fleet = day.fleet): Promise<Fork> =>
      forkTick(peek, fleet, { assistant, tick, model: "offline" })
    assert.deepInclude(await failureOf(forked("desk", 999)), { _tag: "ForkRefused", reason: "no-tick" })
    assert.deepInclude(await failureOf(forked("nobody", 1)), { _tag: "UnknownAssistant" })
    const strangers = { ...day.fleet, assistants: day.fleet.assistants.filter(({ id }) => id !== "desk") }
    assert.deepInclude(await failureOf(forked("desk", 1, strangers)), { _tag: "ForkRefused", reason: "no-definition" })
    const slept = (await Array.fromAsync(peek.replay.frames("archivist"))).find(
      ({ eventType }) => eventType === "sleep"
    )
    assert.deepInclude(await failureOf(forked("archivist", slept?.tick ?? 0)), { reason: "no-message" })
  })

  it("P1 P2 a fixture is gone through again, alone or on its ledger, and tells what has changed", LIMIT, async () => {
    await using peek = await FleetReader.open(day.data)
    const request = { assistant: "desk", tick: 3 }
    const kept = await fixtureOfTick(peek, day.fleet, request)
    const whole = await fixtureOfTick(peek, day.fleet, { ...request, isWhole: true })
    const read = (fixture: unknown) => readFixture(JSON.parse(JSON.stringify(fixture)))
    assert.deepStrictEqual((await checkFixture(day.fleet, read(whole))).differs, [])
    assert.deepStrictEqual((await checkFixture(day.fleet, read(kept), peek)).differs, [])
    assert.deepInclude(await failureOf(checkFixture(day.fleet, read(kept))), { reason: "fixture" })
    const elsewhere = { ...kept, address: { ...kept.address, assistant: "planner" } }
    assert.deepInclude(await failureOf(checkFixture(day.fleet, read(elsewhere), peek)), { reason: "fixture" })
    const edited = withPrompt(day.fleet, "desk", "You are someone else.")
    const { differs } = await checkFixture(edited, read(whole))
    assert.deepStrictEqual(
      differs.map(({ what }) => what),
      ["context"]
    )
    for (const wrong of [null, [], {}, { v: 2 }, { ...whole, entries: 1 }, { ...whole, address: 7 }]) {
      assert.throws(() => readFixture(wrong), /it is no fixture|a fixture is|is no|are no|is none|is missing/)
    }
    assert.strictEqual(day.calls.tools, day.told.tools)
  })
})

describe.runIf(isConversationHere)("a real conversation, compacted on its way", () => {
  it(
    "its prompts come again, byte for byte, where every part is exact, and unchanged forks are equal",
    LIMIT,
    async () => {
      const lived = await playedConversation(16_000)
      try {
        await using peek = await FleetReader.open(lived.data)
        let exact = 0
        const ticks = [3, 165, 273, 381, 419]
        for (const tick of ticks) {
          const question = { assistant: "friend", tick }
          for (const prompt of await promptsOfTick(peek, lived.fleet, question)) {
            if (!prompt.exact) continue
            exact++
            assert.include(notedFor(lived, prompt), normal(asNoted(prompt)), `tick ${tick}`)
          }
          const fork = await forkTick(peek, lived.fleet, { ...question, model: lived.model })
          assert.deepStrictEqual([tick, fork.differs], [tick, []])
        }
        assert.isAtLeast(exact, ticks.length)
      } finally {
        await removed(lived)
      }
    }
  )
})
