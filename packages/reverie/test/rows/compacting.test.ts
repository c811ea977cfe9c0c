// Compacting: what a user of a running fleet sees of an extraction, a compaction and what brings one about.

import type { Prompt } from "@reverie/model"
import { type Task, taskOf } from "@reverie/protocol"
import type { Line, Script } from "@reverie/testkit"
import { later } from "@reverie/testkit/later"
import * as Effect from "effect/Effect"
import { assert, describe, test } from "vitest"
import { type AssistantOptions, type Compaction, defineTool, type Fleet, selfTools } from "../../src/index.ts"
import { openFleet } from "../rig.ts"

const note = (content: string) => ({ tool: "add_journal_entry", arguments: { content } })
const NOOP = { tool: "noop", arguments: {} }

/** About 150 tokens. */
const ship = (at: number): string =>
  `Ship ${at} lies at pier ${at % 7} and waits for the tide. ${"Her papers are in order. ".repeat(21)}`

interface Life {
  /** What is answered to an extraction, a line a round; then noop. */
  readonly extract?: ReadonlyArray<Line>
  readonly assistant?: Partial<AssistantOptions>
}

const opened = async ({ assistant = {}, extract = [] }: Life = {}) => {
  const asked: Array<{ readonly task: Task; readonly prompt: Prompt }> = []
  const says: Script = (prompt) =>
    Effect.sync(() => {
      const task = prompt.messages.flatMap(({ content, role }) => (role === "tool" ? [] : (taskOf(content) ?? [])))[0]
      if (task === undefined) return { text: "Aye." }
      const round = asked.filter((each) => each.task === task).length
      asked.push({ task, prompt })
      if (task === "summarize") return { text: "They spoke of ships." }
      return task === "extract" ? (extract[round] ?? { calls: [NOOP] }) : { text: "[]" }
    })
  const fleet = await openFleet({
    says,
    tools: selfTools,
    assistant: { memory: { recall: "off" }, ...assistant }
  })
  later(() => fleet.close())
  return { fleet, of: (task: Task) => asked.filter((each) => each.task === task).map(({ prompt }) => prompt) }
}

const talk = async (fleet: Fleet, count: number, from = 0): Promise<void> => {
  for (let at = from; at < from + count; at++) await fleet.send("desk", ship(at))
  await fleet.idle()
}

const ordered = async (fleet: Fleet): Promise<Compaction | undefined> => {
  await fleet.compactions.run("desk")
  await fleet.idle()
  return (await fleet.compactions.list("desk")).at(-1)
}

const slept = async (fleet: Fleet): Promise<void> => {
  await fleet.sleep("desk")
  await fleet.idle()
}

const entriesOf = async (fleet: Fleet) => (await fleet.history.entries("desk", 1, 10_000)).map(({ entry }) => entry)

/** The states that it went through, each once where it stayed. */
const statesOf = async (fleet: Fleet): Promise<ReadonlyArray<string>> => {
  const states = (await entriesOf(fleet)).map(({ status }) => status)
  return states.filter((status, at) => status !== states[at - 1])
}

const stepsNamed = async (fleet: Fleet, name: string) =>
  (await entriesOf(fleet)).flatMap(({ step }) => (step?.name === name ? [step.detail ?? {}] : []))

const ships = ({ messages }: Prompt): ReadonlyArray<number> =>
  messages.flatMap(({ content }) => [...content.matchAll(/Ship (\d+) lies/g)].map(([, at]) => Number(at)))

/** So small that forty ships fill it. */
const small = { maxContextTokens: 6_000, reservedResponseTokens: 100 }

describe("what brings a compaction about", () => {
  test("F47 where nothing was said the window is 100,000 tokens, asleep 0.7 and awake 0.8 of it, and 20 messages stay", async () => {
    const { fleet } = await opened()
    await talk(fleet, 13)
    const { emergencyShare, maxTokens, sleepShare, would } = await fleet.compactions.window("desk")
    assert.deepStrictEqual([maxTokens, sleepShare, emergencyShare], [100_000, 0.7, 0.8])
    assert.deepStrictEqual(would, { compact: 6, keep: 20 })
    const made = await ordered(fleet)
    assert.deepInclude(made, {
      compacted_count: 6,
      preserved_count: 20,
      strategy: "recursive-summarization",
      model: null
    })
  })

  test("F48 F49 asleep it is the last act of a dream, from seven tenths of the window on, and below not even begun", async () => {
    const assistant = { ...small, settings: { compactEmergencyRatio: 1 } }
    const { fleet } = await opened({ assistant })
    await talk(fleet, 29)
    await slept(fleet)
    assert.deepStrictEqual(
      (await fleet.compactions.list("desk")).map(({ threshold, trigger }) => [trigger, threshold]),
      [["sleep", 0.7]]
    )
    assert.deepStrictEqual((await statesOf(fleet)).slice((await statesOf(fleet)).indexOf("dreaming.consolidating")), [
      "dreaming.consolidating",
      "dreaming.linking",
      "dreaming.profiling",
      "dreaming.reflecting",
      "dreaming.pruning",
      "compacting.extracting",
      "compacting.summarizing",
      "compacting.replacing",
      "dreaming.resting"
    ])
    const { fleet: idle, of } = await opened({ assistant })
    await talk(idle, 10)
    await slept(idle)
    assert.notInclude((await statesOf(idle)).join(), "compacting")
    assert.deepStrictEqual(of("extract"), [])
  })

  test("F49 what is pruned: links of facts first, then episodes and facts, then conversations", async () => {
    const facts = (id: string) => [{ id, importance: 8, facts: [{ text: `The tide of ${id} is high.` }] }]
    await using dreaming = await openFleet({
      tools: selfTools,
      says: ({ messages }) =>
        Effect.sync((): Line => {
          const [, id = ""] = /^\[([^\]]+)\]/m.exec(messages.at(-1)?.content ?? "") ?? []
          if (messages[0]?.content.startsWith("Task: consolidate") === true) return { text: JSON.stringify(facts(id)) }
          if (messages.at(-1)?.content === "Note it.") return { calls: [note("The crane is red."), note("Fog.")] }
          return { text: "Aye." }
        })
    })
    await dreaming.answer("desk", "Note it.")
    await slept(dreaming)
    const known = (await dreaming.memory.facts("desk")).length
    const pruned = await stepsNamed(dreaming, "dream pruning")
    assert.isAbove(known, 0)
    assert.deepStrictEqual(pruned.map(({ read }) => read).slice(0, 2), [known, known + 2])
    assert.lengthOf(pruned, 3)
  })

  test("F50 under the threshold by less than the measure shows, and within the window, nothing is compacted", async () => {
    const settings = { compactEmergencyRatio: 1 }
    const { fleet } = await opened({ assistant: { settings } })
    await talk(fleet, 22)
    const { tokens } = await fleet.compactions.window("desk")
    // 0.6998 of it: rounded to three places it is 0.7.
    const tight = { maxContextTokens: Math.ceil(tokens / 0.699_8), reservedResponseTokens: 100, settings }
    const { fleet: again } = await opened({ assistant: tight })
    await talk(again, 22)
    await slept(again)
    assert.include(await statesOf(again), "compacting.extracting")
    const [skipped] = await stepsNamed(again, "compact extracting")
    assert.strictEqual(skipped?.["skipped"], "the conversation is below the threshold")
    assert.deepStrictEqual(await again.compactions.list("desk"), [])
    const { fleet: short } = await opened()
    await talk(short, 9)
    assert.isUndefined(await ordered(short))
    const { skipped: why } = await short.compactions.window("desk")
    assert.strictEqual(why, "the history is no longer than the window that is preserved")
  })

  test("F56 F57 F58 F64 in an emergency extraction comes first, in three rounds at most, then the compaction, then the tick", async () => {
    const extract = [1, 2, 3, 4, 5].map((at): Line => ({ calls: [note(`Fact ${at} of the harbour.`)] }))
    const { fleet, of } = await opened({ extract, assistant: { ...small, compaction: { preCompactMaxIterations: 5 } } })
    let said = 0
    while ((await fleet.compactions.list("desk")).length === 0 && said < 60) await talk(fleet, 1, said++)
    const states = await statesOf(fleet)
    assert.deepStrictEqual(states.slice(states.indexOf("compacting.extracting")), [
      "compacting.extracting",
      "compacting.summarizing",
      "compacting.replacing",
      "awake.thinking.inferring",
      "awake.idle"
    ])
    assert.lengthOf(of("extract"), 3)
    const [made] = await fleet.compactions.list("desk")
    assert.deepInclude(made, { trigger: "emergency", threshold: 0.8, preserved_count: 20 })
    assert.isAtLeast(made?.ratio ?? 0, 0.8)
    assert.deepInclude(made?.extraction, { iterations: 3, facts_recorded: 3, ended_by: "cap" })
    const messages = (await entriesOf(fleet)).flatMap((entry) => entry.messages)
    assert.isFalse(messages.some(({ calls }) => calls?.[0]?.tool === "add_journal_entry"))
    assert.deepInclude((await fleet.history.ticks("desk")).ticks[0], { outcome: "answered" })
  })

  test("F58 an order asks for no threshold, and the newest messages stay all the same", async () => {
    const { fleet } = await opened({ assistant: { compaction: { compactPreserveWindow: 6 } } })
    await talk(fleet, 8)
    const { share = 1 } = await fleet.compactions.window("desk")
    assert.isBelow(share, 0.1)
    assert.deepInclude(await ordered(fleet), {
      trigger: "order",
      threshold: 0,
      compacted_count: 10,
      preserved_count: 6
    })
  })

  test("F65 awake and asleep one measure is taken, of the whole conversation and not of what a prompt had room for", async () => {
    for (const trigger of ["emergency", "sleep"] as const) {
      const persona = "You are patient and exact. ".repeat(350)
      const settings = { compactEmergencyRatio: trigger === "sleep" ? 0.9 : 0.6 }
      const { fleet } = await opened({ assistant: { ...small, persona, settings } })
      await talk(fleet, 30)
      const before = await fleet.compactions.window("desk")
      if (trigger === "sleep") await slept(fleet)
      const [made] = await fleet.compactions.list("desk")
      assert.strictEqual(made?.trigger, trigger)
      const measured = Math.round((made?.ratio ?? 0) * small.maxContextTokens)
      assert.isAtLeast(measured, made?.before.tokens ?? Infinity)
      if (trigger === "sleep") assert.strictEqual(measured, before.tokens)
    }
  })

  test("F113 afterwards the conversation is ten points under the threshold, and a whole turn gives way to that", async () => {
    const read = defineTool({ name: "read", description: "Reads.", run: () => "Her papers are in order. ".repeat(130) })
    let reads = 0
    const says: Script = ({ messages, tools }) =>
      Effect.sync((): Line => {
        if (messages[0]?.content.startsWith("Task: ") === true) {
          return { text: tools.length === 0 ? "They spoke of ships." : "[]" }
        }
        const isAsked = messages.some(({ content }) => content === "Read it all.")
        return isAsked && reads++ < 3 ? { calls: [{ tool: "read", arguments: {} }] } : { text: "Aye." }
      })
    const compaction = { compactPreserveWindow: 5, preCompactExtractionEnabled: false }
    const settings = { compactEmergencyRatio: 0.95, compactSleepRatio: 0.5 }
    const assistant = { ...small, memory: { recall: "off" }, compaction, settings } as const
    await using fleet = await openFleet({ says, tools: [read], assistant })
    await talk(fleet, 12)
    await fleet.send("desk", "Read it all.")
    await fleet.idle()
    await slept(fleet)
    const [made] = await fleet.compactions.list("desk")
    assert.deepInclude(made, { trigger: "sleep", threshold: 0.5, aim: 0.4 })
    assert.isUndefined(made?.above_aim)
    assert.isAtMost(made?.after.tokens ?? Infinity, 0.4 * small.maxContextTokens)
  })
})

describe("an extraction", () => {
  const run = async (extract: ReadonlyArray<Line>, count = 12, compaction: AssistantOptions["compaction"] = {}) => {
    const { fleet, of } = await opened({
      extract,
      assistant: { compaction: { compactPreserveWindow: 4, ...compaction } }
    })
    await talk(fleet, count)
    const made = await ordered(fleet)
    return { fleet, of, made, steps: await stepsNamed(fleet, "compact extracting") }
  }

  test("F59 begins with five messages, and not where it is switched off", async () => {
    const short = await run([], 2, { compactPreserveWindow: 1 })
    assert.deepStrictEqual(
      short.steps.map(({ extraction }) => extraction),
      ["the history is too short to be worth it"]
    )
    const off = await run([], 12, { preCompactExtractionEnabled: false })
    assert.isNull(off.made?.extraction)
    for (const { of } of [short, off]) assert.deepStrictEqual(of("extract"), [])
    assert.lengthOf((await run([], 3, { compactPreserveWindow: 1 })).of("extract"), 1)
  })

  test("F60 F62 sees the whole history in each round with what it did before, and what it did is counted", async () => {
    const extract = [1, 2, 3].map((at): Line => ({ calls: [note(`Fact ${at} of the harbour.`)] }))
    const { fleet, made, of } = await run(extract)
    const rounds = of("extract")
    assert.lengthOf(rounds, 4)
    for (const [round, prompt] of rounds.entries()) {
      assert.deepStrictEqual(ships(prompt), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
      assert.lengthOf(
        prompt.messages.filter(({ role }) => role === "tool"),
        round
      )
    }
    const counted = { success: true, facts_recorded: 3, observations_recorded: 0, iterations: 4, calls_made: 3 }
    assert.deepStrictEqual(made?.extraction, { ...counted, ended_by: "noop" })
    const journal = await fleet.memory.records("desk", ["journal"])
    assert.lengthOf(journal, 4)
  })

  test("F61 ends with noop, without a call, with a tool that it has not, and with its last round", async () => {
    const listed = note("The crane is red.")
    const ends: ReadonlyArray<readonly [Line, "noop" | "no-tool-call" | "other-tool" | "cap", number]> = [
      [{ calls: [NOOP] }, "noop", 0],
      [{ text: "That is all." }, "no-tool-call", 0],
      [{ calls: [{ tool: "review_journal", arguments: {} }, listed] }, "other-tool", 1],
      [{ calls: [listed] }, "cap", 2]
    ]
    for (const [line, end, made] of ends) {
      const { made: compaction } = await run([line, line], 12, { preCompactMaxIterations: 2 })
      assert.deepInclude(compaction?.extraction, { ended_by: end, calls_made: made, iterations: end === "cap" ? 2 : 1 })
    }
  })

  test("F63 the signal stands while it goes on, also when it fails, and with nothing after it", async () => {
    const { fleet } = await run([{ calls: [note("The crane is red.")] }])
    const steps = (await entriesOf(fleet)).flatMap(({ step }) => (step?.kind === "compact" ? [step] : []))
    assert.deepStrictEqual(
      steps.map(({ detail, name }) => [name, detail?.["context_signals"] ?? null]),
      [
        ["compact extracting", { pre_compaction: true }],
        ["compact extracting", { pre_compaction: true }],
        ["compact summarizing", null],
        ["compact replacing", null]
      ]
    )
    await fleet.answer("desk", "And now?")
    const { pattern } = (await fleet.history.contextReport("desk")) ?? {}
    assert.isFalse((pattern as { context_signals?: { pre_compaction?: boolean } }).context_signals?.pre_compaction)
  })
})

describe("a compaction", () => {
  test("F52 F53 F54 the summary is asked for with what is compacted and nothing else, and each marker counts its own", async () => {
    const { fleet, of } = await opened({ assistant: { compaction: { compactPreserveWindow: 6 } } })
    await talk(fleet, 8)
    const first = await ordered(fleet)
    await talk(fleet, 8, 8)
    const second = await ordered(fleet)
    assert.deepStrictEqual([first?.compacted_count, second?.compacted_count], [10, 16])
    for (const made of [first, second]) {
      assert.deepInclude(made?.marker.meta, { type: "compaction", compacted_count: made?.compacted_count })
    }
    const asks = of("summarize")
    assert.deepStrictEqual(asks.map(ships), [
      [0, 1, 2, 3, 4],
      [5, 6, 7, 8, 9, 10, 11, 12]
    ])
    for (const { messages, tools } of asks) assert.deepStrictEqual([messages.length, tools.length], [2, 0])
    const start = await fleet.compactions.historyStart("desk")
    assert.match(start?.marker.content ?? "", /^\[CONTEXT SUMMARY\]\nThey spoke of ships\./)
  })

  test("F105 a long history is read piece by piece with the summary so far; truncated, no model is asked", async () => {
    const strategy = { type: "recursive-summarization", chunkTokens: 400 } as const
    const { fleet, of } = await opened({ assistant: { compaction: { compactPreserveWindow: 4, strategy } } })
    await talk(fleet, 8)
    const made = await ordered(fleet)
    const asks = of("summarize")
    assert.isAbove(asks.length, 2)
    assert.deepInclude(made, { strategy: "recursive-summarization", pieces: asks.length })
    for (const { messages } of asks.slice(1)) assert.include(messages[1]?.content, "They spoke of ships.")
    const truncating = { compactPreserveWindow: 4, strategy: { type: "truncate" } } as const
    const { fleet: other, of: ofOther } = await opened({ assistant: { compaction: truncating } })
    await talk(other, 8)
    assert.deepInclude(await ordered(other), { strategy: "truncate", compacted_count: 12, preserved_count: 4 })
    assert.deepStrictEqual(ofOther("summarize"), [])
  })

  test("F106 a turn with tool calls is compacted whole or stays whole", async () => {
    const look = defineTool({ name: "look", description: "Looks.", run: () => "Two ships." })
    const says: Script = ({ messages, tools }) =>
      Effect.sync((): Line => {
        if (tools.length === 0) return { text: "They looked." }
        if (messages.at(-1)?.content.startsWith("Task: extract") === true) return { calls: [NOOP] }
        return messages.at(-1)?.role === "tool" ? { text: "Two." } : { calls: [{ tool: "look", arguments: {} }] }
      })
    for (const window of [17, 18, 19, 20]) {
      const assistant = { memory: { recall: "off" }, compaction: { compactPreserveWindow: window } } as const
      await using fleet = await openFleet({ says, tools: [look], assistant })
      for (let at = 0; at < 12; at++) await fleet.send("desk", ship(at))
      await fleet.idle()
      assert.deepInclude(await ordered(fleet), { compacted_count: 28, preserved_count: 20 }, String(window))
    }
  })
})
