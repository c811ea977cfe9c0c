import { assert, describe, it } from "@effect/vitest"
import type { Message } from "@reverie/protocol"
import * as Result from "effect/Result"
import {
  append,
  assemble,
  type AssembleInput,
  countMessage,
  needsOpening,
  openingOf,
  openPriceBook,
  openWindow
} from "../src/index.ts"
import { callOf, count, countText, note, rejected, result, said, user } from "./histories.ts"
import { component, staticComponents } from "../src/layout/component.ts"
import { INTERRUPTED, KEPT_SHARE } from "../src/tokens/window.ts"

const components = staticComponents({ systemPrompt: "You keep the harbour.", persona: "Calm." }, count)

const promptOf = (history: ReadonlyArray<Message>, change: Partial<AssembleInput> = {}) =>
  Result.getOrThrow(
    assemble({
      components,
      window: openWindow(history, 100_000),
      maxContextTokens: 100_000,
      reservedResponseTokens: 1_000,
      count,
      ...change
    })
  )

const contents = (prompt: ReturnType<typeof promptOf>): ReadonlyArray<string> =>
  prompt.messages.map(({ content }) => content)

describe("order", () => {
  it("A1 components by id, history, the pending event, what came of it", () => {
    const prompt = promptOf([
      user("hello"),
      said("good day"),
      user("a berth?"),
      said("", [callOf("1")]),
      result("1", "two free")
    ])
    assert.deepStrictEqual(contents(prompt), [
      "You keep the harbour.",
      "Calm.",
      "hello",
      "good day",
      "a berth?",
      "",
      "two free"
    ])
    assert.deepStrictEqual(
      prompt.report.parts.map(({ id, key, messages }) => [id, key, messages]),
      [
        [0, "system_prompt", 1],
        [1000, "character_context", 1],
        [5000, "conversation_history", 2],
        [6000, "pending_event", 1],
        [7000, "tool_result", 2]
      ]
    )
  })

  it("A1 a component may stand anywhere, and one that is not enabled nowhere", () => {
    const more = [
      component({ id: 5500, key: "reminder", content: "Answer briefly." }, count),
      component({ id: 500, key: "rules", content: "Be kind." }, count),
      component({ id: 600, key: "off", content: "Never seen.", enabled: false }, count)
    ]
    const prompt = promptOf([user("hello"), said("good day"), user("a berth?")], {
      components: [...more, ...components]
    })
    assert.deepStrictEqual(contents(prompt), [
      "You keep the harbour.",
      "Be kind.",
      "Calm.",
      "hello",
      "good day",
      "Answer briefly.",
      "a berth?"
    ])
  })

  it("the form of the answer is a part without a message, and takes room", () => {
    const history = [user("hello"), said("good day"), user("a berth?")]
    const without = promptOf(history)
    const prompt = promptOf(history, { formTokens: 60 })
    assert.deepStrictEqual(contents(prompt), contents(without))
    assert.deepStrictEqual(prompt.report.parts.at(-1), { id: 8000, key: "answer_form", messages: 0, tokens: 60 })
    assert.strictEqual(prompt.report.tokens, without.report.tokens + 60)
    const limits = { maxContextTokens: without.report.tokens + 60, reservedResponseTokens: 1 }
    assert.strictEqual(promptOf(history, limits).messages.length, 5)
    assert.isBelow(promptOf(history, { ...limits, formTokens: 60 }).messages.length, 5)
  })

  it("why an answer was not accepted is read right behind it, and the event stays the pending one", () => {
    const why = "Your answer was not accepted: berth: is missing."
    const history = [user("hello"), rejected("berth 7", why), said("{}"), user("a berth?"), rejected("berth 8", why)]
    const prompt = promptOf(history)
    assert.deepStrictEqual(
      prompt.messages.slice(2).map(({ content, role }) => `${role}: ${content}`),
      [
        "user: hello",
        "assistant: berth 7",
        `user: ${why}`,
        "assistant: {}",
        "user: a berth?",
        "assistant: berth 8",
        `user: ${why}`
      ]
    )
    assert.deepStrictEqual(
      prompt.report.parts.slice(2).map(({ key, messages }) => [key, messages]),
      [
        ["conversation_history", 4],
        ["pending_event", 1],
        ["tool_result", 2]
      ]
    )
    const wire = prompt.messages.slice(2).reduce((sum, message) => sum + count({ ...message, at: 0 }), 0)
    assert.strictEqual(wire, prompt.window.tokens)
  })

  it("W2 without a user the newest unit is the pending turn", () => {
    const prompt = promptOf([note("created"), said("", [callOf("1")]), result("1", "two free")])
    assert.deepStrictEqual(
      prompt.report.parts.slice(2).map(({ id, messages }) => [id, messages]),
      [
        [5000, 1],
        [7000, 2]
      ]
    )
  })

  it("A1 an empty history gives the components alone", () => {
    assert.deepStrictEqual(contents(promptOf([])), ["You keep the harbour.", "Calm."])
  })
})

describe("pairs", () => {
  it("U2 a call without a result is reported as interrupted, and its own result replaces that", () => {
    const history = [user("go"), said("", [callOf("1"), callOf("2")]), result("2", "done")]
    const prompt = promptOf(history)
    assert.deepStrictEqual(contents(prompt).slice(3), ["", "done", INTERRUPTED])
    assert.deepStrictEqual(prompt.messages.at(-1), { role: "tool", content: INTERRUPTED, call: "1" })
    assert.deepStrictEqual(prompt.report.interrupted, ["1"])

    const later = promptOf([], { window: append(prompt.window, [result("1", "late")]) })
    assert.deepStrictEqual(contents(later).slice(3), ["", "done", "late"])
    assert.deepStrictEqual(later.report.interrupted, [])
  })

  it("W3 a late result stands with its call, though others have spoken since", () => {
    const prompt = promptOf([user("go"), said("", [callOf("1")]), user("and?"), result("1", "late"), said("done")])
    assert.deepStrictEqual(contents(prompt).slice(2), ["go", "", "late", "and?", "done"])
  })

  it("W3 A4 a result without a call, and a second result of one call, are left out and reported", () => {
    const prompt = promptOf([
      result("0", "lost"),
      user("go"),
      said("", [callOf("1")]),
      result("1", "one"),
      result("1", "two")
    ])
    assert.deepStrictEqual(contents(prompt).slice(2), ["go", "", "one"])
    assert.deepStrictEqual(prompt.report.leftOut, [
      { reason: "result-without-call", messages: 2, tokens: result("0", "lost").tokens + result("1", "two").tokens }
    ])
  })

  it("U2 a call that was given twice needs two results", () => {
    const prompt = promptOf([user("go"), said("", [callOf("1"), callOf("1")]), result("1", "one")])
    assert.deepStrictEqual(contents(prompt).slice(3), ["", "one", INTERRUPTED])
  })
})

describe("overflow", () => {
  const lines = Array.from({ length: 40 }, (_, index) => user(`line ${String(index).padStart(2, "0")} of the log`))
  const each = lines[0]?.tokens ?? 0

  it("W1 the oldest leave, down to four fifths, and the beginning stays put while there is room", () => {
    const limit = each * 20
    const overflown = openWindow(lines.slice(0, 21), limit)
    assert.strictEqual(overflown.units.length, 20 * KEPT_SHARE)
    assert.deepStrictEqual(overflown.overLimit, { messages: 5, tokens: 5 * each })
    const grown = append(overflown, lines.slice(21, 25))
    assert.strictEqual(grown.units[0], overflown.units[0])
    assert.strictEqual(grown.tokens, limit)
    assert.notStrictEqual(append(grown, lines.slice(25, 26)).units[0], overflown.units[0])
  })

  it("A2 components and tools take their room from the history", () => {
    const sizes = { maxContextTokens: each * 30, reservedResponseTokens: each * 5, toolTokens: each * 5 }
    const prompt = promptOf(lines, sizes)
    assert.isAtMost(prompt.report.tokens, each * 25)
    assert.strictEqual(prompt.report.limit, each * 25)
    assert.strictEqual(prompt.report.share, prompt.report.tokens / (each * 30))
    assert.isAtMost(prompt.window.units.length, 20)
    assert.deepStrictEqual(prompt.report.leftOut[0]?.reason, "over-limit")
  })

  it("A2 components that leave no room are refused, with the size that is needed", () => {
    const answer = assemble({
      components,
      window: openWindow([user("hello")], 100),
      maxContextTokens: 20,
      reservedResponseTokens: 10,
      count
    })
    assert.isTrue(Result.isFailure(answer))
    if (Result.isFailure(answer)) {
      assert.strictEqual(answer.failure._tag, "ContextTooSmall")
      assert.strictEqual(answer.failure.recovery, "tell-owner")
      assert.strictEqual(answer.failure.limit, 10)
      assert.include(answer.failure.message, "has room for 10")
    }
  })
})

describe("cuts", () => {
  const long = `BEGIN ${"x".repeat(6_000)} END`
  const history = [
    user("hello"),
    user(`read this ${"y".repeat(60)}`),
    said("", [callOf("1"), callOf("2")]),
    result("1", long),
    result("2", "short")
  ]
  const sizes = { maxContextTokens: 1_000, reservedResponseTokens: 100 }

  it("X1 X2 only the longest is cut, its beginning and end stay, and it says so", () => {
    const prompt = promptOf(history, sizes)
    const [cut] = prompt.report.cuts
    assert.strictEqual(prompt.report.cuts.length, 1)
    assert.deepInclude(cut, { role: "tool", call: "1", of: long.length })
    const content = contents(prompt).at(-2) ?? ""
    assert.include(content, `\n[cut: ${cut?.characters} of ${long.length} characters]\n`)
    assert.match(content, /^BEGIN x.*x END$/s)
    assert.strictEqual(content.replace(/\n\[cut: .*\]\n/, "").length, long.length - (cut?.characters ?? 0))
    assert.deepStrictEqual(prompt.report.leftOut, [{ reason: "over-limit", messages: 1, tokens: user("hello").tokens }])
  })

  it("X4 X5 what follows in the turn cuts nothing again, until it must", () => {
    const first = promptOf(history, sizes)
    const next = promptOf([], { ...sizes, window: append(first.window, [said("I see")]) })
    assert.strictEqual(next.messages[4], first.messages[4])
    const last = promptOf([], { ...sizes, window: append(next.window, [said("", [callOf("3")]), result("3", long)]) })
    assert.deepStrictEqual(
      last.report.cuts.map(({ call, of }) => [call, of]),
      [
        ["1", long.length],
        ["3", long.length]
      ]
    )
    assert.isAtMost(last.report.tokens, last.report.limit)
    assert.strictEqual(contents(last).filter((content) => content.includes("[cut: ")).length, 2)
  })

  it("X2 a surrogate pair is not left in halves", () => {
    const prompt = promptOf([user("😀".repeat(3_000))], sizes)
    assert.isTrue(contents(prompt).every((content) => content.isWellFormed()))
    assert.strictEqual(prompt.report.cuts.length, 1)
  })

  it("X3 history keeps what was cut on the wire", () => {
    assert.deepStrictEqual(promptOf(history, sizes).window.messages, history.slice(1))
  })

  it("A2 calls that do not fit can not be cut and are refused", () => {
    const calls = [{ ...callOf("1"), arguments: { text: "z".repeat(9_000) } }]
    const answer = assemble({
      components,
      window: openWindow([user("go"), said("", calls), result("1", "done")], 900),
      ...sizes,
      count
    })
    assert.isTrue(Result.isFailure(answer))
  })
})

describe("price", () => {
  it("M1 M2 a message costs its content, its name, its calls and the frame", () => {
    const bare = { role: "assistant", content: "two free", at: 0 } as const
    assert.strictEqual(countMessage(bare, countText), 4 + countText("two free"))
    assert.strictEqual(
      countMessage({ ...bare, name: "look" }, countText),
      4 + countText("two free") + countText("look")
    )
    const calls = [callOf("1")]
    assert.strictEqual(
      countMessage({ ...bare, calls }, countText),
      4 + countText("two free") + countText(JSON.stringify(calls))
    )
    assert.strictEqual(countMessage({ ...bare, calls: [] }, countText), countMessage(bare, countText))
  })
})

describe("a first message of a user", () => {
  const opening = openingOf(openPriceBook(count))
  const orphan = [said("", [callOf("1")]), result("1", "two free"), note("tide")]
  const system = component({ id: 0, key: "system_prompt", content: "You keep the harbour." }, count)
  const rolesOf = (...given: Parameters<typeof promptOf>) => promptOf(...given).messages.map(({ role }) => role)

  it("F86 is put in where none would be the first, and nowhere else", () => {
    const just = { components: [system] }
    assert.deepStrictEqual(rolesOf(orphan, just), ["system", "assistant", "tool", "system"])
    assert.deepStrictEqual(rolesOf(orphan, { ...just, opening }), ["system", "user", "assistant", "tool", "system"])
    assert.deepStrictEqual(rolesOf([user("hello"), said("good day")], { ...just, opening }), [
      "system",
      "user",
      "assistant"
    ])
    assert.deepStrictEqual(rolesOf([], { ...just, opening }), ["system", "user"])
  })

  it("F86 F18 has a place of its own in the order, even before what is plugged in", () => {
    const plugged = [
      component({ id: 999, key: "rules", content: "Ready." }, count),
      component({ id: 1000, key: "character_context", content: "Calm." }, count),
      component({ id: 1001, key: "answer", content: "Ready.", role: "assistant" }, count)
    ]
    const prompt = promptOf([], { components: [system, ...plugged], opening })
    assert.deepStrictEqual(
      prompt.report.parts.map(({ id, key }) => [id, key]),
      [
        [0, "system_prompt"],
        [998, "opening"],
        [999, "rules"],
        [1000, "character_context"],
        [1001, "answer"]
      ]
    )
    assert.strictEqual(prompt.messages.find(({ role }) => role !== "system")?.role, "user")
  })

  it("F86 a model of the kind that wants one is known by its name", () => {
    assert.deepStrictEqual(["gemini-2.5-pro", "google/Gemini-3", "gpt-5"].map(needsOpening), [true, true, false])
  })
})
