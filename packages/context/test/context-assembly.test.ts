import { assert, describe, it } from "@effect/vitest"
import type { Message } from "@reverie/protocol"
import * as Result from "effect/Result"
import {
  append,
  assemble,
  type AssembleInput,
  collect,
  compareReports,
  type Content,
  type ContextTypeConfig,
  getContextType,
  openPriceBook,
  openWindow,
  type Report
} from "../src/index.ts"
import { callOf, count, result, said, user } from "./histories.ts"
import { component } from "../src/layout/component.ts"
import { type ContextType } from "../src/layout/context-types.ts"

const history = [
  user("hello"),
  said("good day"),
  user("a berth?"),
  said("", [callOf("1")]),
  result("1", "two free"),
  said("", [callOf("2")]),
  result("2", "booked")
]
const gone = history.slice(0, 2).reduce((sum, { tokens }) => sum + tokens, 0)

const TEXTS = { system_prompt: "You keep the harbour.", character_context: "Calm.", goals: "- a quiet night" }

const promptIn = (
  type: ContextType | ContextTypeConfig,
  change: Partial<AssembleInput> = {},
  texts: Readonly<Record<string, Content>> = TEXTS
) => {
  const context = typeof type === "string" ? getContextType(type) : type
  return assemble({
    ...collect({ context, texts, book: openPriceBook(count) }),
    context,
    window: openWindow(history, 10_000),
    maxContextTokens: 10_000,
    reservedResponseTokens: 1_000,
    count,
    ...change
  })
}

const made = (...given: Parameters<typeof promptIn>) => Result.getOrThrow(promptIn(...given))

const contents = (prompt: ReturnType<typeof made>): ReadonlyArray<string> =>
  prompt.messages.map(({ content }) => content)

describe("contexts", () => {
  it("F5 F18 A1 a tick has all that is known, in order of ids, and reads what changes with the event right before it", () => {
    const prompt = made("tick_event")
    assert.deepStrictEqual(contents(prompt), [
      "You keep the harbour.",
      "Calm.",
      "hello",
      "good day",
      "- a quiet night",
      "a berth?",
      "",
      "two free",
      "",
      "booked"
    ])
    assert.deepStrictEqual(
      prompt.report.parts.map(({ id }) => id),
      [0, 1000, 4000, 5000, 6000, 7000]
    )
  })

  it("F6 reflection has the pending turn and no history, which is reported", () => {
    const prompt = made("reflection")
    assert.deepStrictEqual(contents(prompt).slice(1), ["a berth?", "", "two free", "", "booked"])
    assert.deepStrictEqual(prompt.report.leftOut, [{ reason: "not-in-context", messages: 2, tokens: gone }])
    assert.strictEqual(prompt.report.context, "reflection")
  })

  it("F6 going on with a reflection has the results with their calls, and not the event", () => {
    assert.deepStrictEqual(
      made("reflection_cont")
        .messages.slice(1)
        .map(({ role }) => role),
      ["assistant", "tool", "assistant", "tool"]
    )
  })

  it("F7 consolidation has nothing of the conversation", () => {
    const prompt = made("sleep_consolidate")
    assert.deepStrictEqual(contents(prompt), ["You keep the harbour."])
    assert.strictEqual(prompt.report.leftOut[0]?.messages, history.length)
  })

  it("F8 breaking down a goal has prompt, goals and event", () => {
    assert.deepStrictEqual(contents(made("goal_decompose")), ["You keep the harbour.", "- a quiet night", "a berth?"])
  })

  it("F9 before compaction there is the whole conversation, and of the rest the prompt alone", () => {
    assert.deepStrictEqual(contents(made("pre_compaction")), [
      "You keep the harbour.",
      ...history.map(({ content }) => content)
    ])
  })

  it("F9 a text for the pending event stands in its place, and the one it replaces is reported", () => {
    const prompt = made("goal_decompose", {}, { ...TEXTS, pending_event: "Break down: a quiet night." })
    assert.deepStrictEqual(prompt.messages.at(-1), { role: "user", content: "Break down: a quiet night." })
    assert.deepStrictEqual(
      prompt.report.leftOut.map(({ messages, reason }) => [reason, messages]),
      [
        ["not-in-context", 6],
        ["replaced", 1]
      ]
    )
  })

  it("F14 an override of the pending event stands in its place too", () => {
    const context = {
      ...getContextType("tick_event"),
      componentOverrides: { pending_event: { content: "Look back." } }
    }
    const prompt = made(context)
    assert.notInclude(contents(prompt), "a berth?")
    assert.strictEqual(prompt.messages.find(({ content }) => content === "Look back.")?.role, "user")
  })

  it("A5 a context that shows a part of the window gives back the whole", () => {
    const window = openWindow(history, 10_000)
    assert.strictEqual(made("reflection", { window }).window, window)
    assert.strictEqual(made("pre_compaction", { window }).window, window)
    assert.deepStrictEqual(
      made("reflection", { window }),
      made("reflection", { window: made("reflection", { window }).window })
    )
  })

  it("F2 a budget of tokens limits the prompt, and refuses what can not be made to fit", () => {
    const long = Array.from({ length: 200 }, (_, index) => user(`line ${index} of the log`))
    const window = openWindow(long, 10_000)
    const context = { ...getContextType("tick_event"), tokenBudget: 400.5 }
    const prompt = made(context, { window })
    assert.strictEqual(prompt.report.limit, 400)
    assert.isAtMost(prompt.report.tokens, 400)
    assert.isAbove(prompt.report.leftOut[0]?.messages ?? 0, 100)
    assert.isTrue(Result.isFailure(promptIn({ ...context, tokenBudget: 10 }, { window })))
    assert.strictEqual(made({ ...context, tokenBudget: 99_999 }, { window }).report.limit, 9_000)
  })
})

describe("limits of history", () => {
  const long = Array.from({ length: 60 }, (_, index) => user(`line ${String(index).padStart(2, "0")} of the log`))
  const each = long[0]?.tokens ?? 0
  const window = openWindow(long, 10_000)

  it("F104 history keeps to its own limit, down to four fifths", () => {
    const prompt = made("tick_event", { window, history: { maxTokens: each * 20 } })
    assert.strictEqual(prompt.window.messages.length, 16)
    assert.deepStrictEqual(prompt.report.leftOut, [{ reason: "over-limit", messages: 44, tokens: 44 * each }])
  })

  it("F103 F105 more messages than the cap are brought down to what the strategy keeps, fewer are left alone", () => {
    const capped = (max: number, kept: number) => made("tick_event", { window, history: { cap: { max, kept } } }).window
    assert.strictEqual(capped(50, 10).messages.length, 10)
    assert.strictEqual(capped(50, 100).messages.length, 50)
    assert.strictEqual(capped(60, 10), window)
    const grown = append(capped(50, 10), long.slice(0, 5))
    assert.strictEqual(made("tick_event", { window: grown, history: { cap: { max: 50, kept: 10 } } }).window, grown)
  })

  it("F104 a pending turn keeps to the limit of the whole alone", () => {
    const turn: ReadonlyArray<Message> = [user("go"), ...Array.from({ length: 30 }, () => said("on it"))]
    const prompt = made("tick_event", { window: openWindow(turn, 10_000), history: { maxTokens: 20 } })
    assert.strictEqual(prompt.window.messages.length, 31)
  })
})

describe("the report", () => {
  const before = made("tick_event").report

  it("A4 names every component that is not in, with the reason", () => {
    const off = component({ id: 10, key: "off", content: "x", enabled: false }, count)
    const far = component({ id: 1001, key: "far", content: "x" }, count)
    const { report } = made("goal_decompose", { components: [off, far], absent: [{ key: "goals", reason: "empty" }] })
    assert.deepStrictEqual(report.absent, [
      { key: "goals", reason: "empty" },
      { key: "off", reason: "disabled" },
      { key: "far", reason: "not-in-context" }
    ])
  })

  it("R1 F111 is small JSON, and its parts and tools are its tokens", () => {
    const { report } = made("tick_event", { toolTokens: 77 })
    assert.deepStrictEqual(JSON.parse(JSON.stringify(report)), report)
    assert.isBelow(JSON.stringify(report).length, 1_000)
    assert.strictEqual(report.toolTokens, 77)
    assert.strictEqual(report.tokens, 77 + report.parts.reduce((sum, { tokens }) => sum + tokens, 0))
    assert.strictEqual(report.share, report.tokens / 10_000)
  })

  it("R3 a comparison names what differs, and nothing that does not", () => {
    const later = made(
      "tick_event",
      { window: openWindow([...history, said("done"), user("thanks")], 10_000), toolTokens: 7 },
      { ...TEXTS, goals: "", entity_context: "Ann: a captain." }
    ).report
    const { absent, parts, tokensMore, toolTokens } = compareReports(before, later)
    assert.deepStrictEqual(
      parts.map(({ key, messages }) => [key, messages]),
      [
        ["entity_context", [null, 1]],
        ["goals", [1, null]],
        ["conversation_history", [2, 8]],
        ["pending_event", [1, 1]],
        ["tool_result", [4, null]]
      ]
    )
    assert.deepStrictEqual(absent, [
      { key: "entity_context", reasons: ["empty", null] },
      { key: "goals", reasons: [null, "empty"] }
    ])
    assert.deepStrictEqual(toolTokens, [0, 7])
    assert.strictEqual(tokensMore, later.tokens - before.tokens)
  })

  it("R3 a report is no different from itself, after JSON too", () => {
    const { absent, leftOut, parts, tokensMore } = compareReports(before, JSON.parse(JSON.stringify(before)) as Report)
    assert.deepStrictEqual(
      { absent, leftOut, parts, tokensMore },
      { absent: [], leftOut: [], parts: [], tokensMore: 0 }
    )
  })

  it("R3 contexts, history left out and cuts stand side by side", () => {
    const other = made("reflection").report
    const { context, leftOut } = compareReports(before, other)
    assert.deepStrictEqual(context, ["tick_event", "reflection"])
    assert.deepStrictEqual(leftOut, [{ reason: "not-in-context", messages: [0, 2] }])
  })
})
