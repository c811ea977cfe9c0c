import { assert, it } from "@effect/vitest"
import type { PromptMessage } from "@reverie/model"
import type { Message } from "@reverie/protocol"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { append, assemble, type AssembleInput, openWindow, type Window } from "../src/index.ts"
import { anyHistory, count, countText, wholeHistory } from "./histories.ts"
import { type Assembled } from "../src/assemble.ts"
import { INTERRUPTED } from "../src/tokens/window.ts"
import { staticComponents } from "../src/layout/component.ts"

const components = staticComponents({ systemPrompt: "You keep the harbour.", persona: "Calm." }, count)
const limits = { maxContextTokens: fc.integer({ min: 60, max: 2_000 }), reservedResponseTokens: fc.nat(200) }

const inputOf = (
  window: Window,
  sizes: Pick<AssembleInput, "maxContextTokens" | "reservedResponseTokens">
): AssembleInput => ({
  components,
  window,
  ...sizes,
  count
})

/** The prompt, when the limits leave room for one. */
const promptOf = (input: AssembleInput): Assembled | undefined => Result.getOrUndefined(assemble(input))

const costOf = (messages: ReadonlyArray<PromptMessage>): number =>
  messages.reduce((sum, message) => sum + count({ ...message, at: 0 }), 0)

/** The tool results of each assistant message stand right after it, one for each call. */
const isPaired = (messages: ReadonlyArray<PromptMessage>): boolean => {
  let awaited: ReadonlyArray<string> = []
  for (const message of messages) {
    if (message.role === "tool") {
      if (message.call === undefined || !awaited.includes(message.call)) return false
      awaited = awaited.toSpliced(awaited.indexOf(message.call), 1)
      continue
    }
    if (awaited.length > 0) return false
    awaited = (message.calls ?? []).map(({ id }) => id)
  }
  return awaited.length === 0
}

const pendingTurn = (history: ReadonlyArray<Message>): ReadonlyArray<Message> => {
  const start = history.findLastIndex(({ role }) => role === "user")
  return start < 0 ? [] : history.slice(start)
}

it("A2 a prompt never costs more than the limit, and says what it costs", () => {
  let prompts = 0
  fc.assert(
    fc.property(anyHistory, fc.record(limits), (history, sizes) => {
      const limit = sizes.maxContextTokens - sizes.reservedResponseTokens
      const prompt = promptOf(inputOf(openWindow(history, Math.max(1, limit)), sizes))
      if (prompt === undefined) return
      prompts++
      assert.isAtMost(costOf(prompt.messages), limit)
      assert.isAtMost(costOf(prompt.messages), prompt.report.tokens)
      assert.isAtMost(prompt.report.tokens, limit)
      assert.strictEqual(
        prompt.report.parts.reduce((sum, { tokens }) => sum + tokens, 0),
        prompt.report.tokens
      )
      assert.strictEqual(prompt.report.share, prompt.report.tokens / sizes.maxContextTokens)
    }),
    { numRuns: 500 }
  )
  assert.isAbove(prompts, 100)
})

it("A2 it is refused only when the smallest allowed prompt does not fit", () => {
  fc.assert(
    fc.property(anyHistory, fc.record(limits), (history, sizes) => {
      const limit = sizes.maxContextTokens - sizes.reservedResponseTokens
      const answer = assemble(inputOf(openWindow(history, Math.max(1, limit)), sizes))
      if (Result.isFailure(answer)) assert.isAbove(answer.failure.needed, answer.failure.limit)
    })
  )
})

it("A3 W1 calls and their results are never split", () => {
  fc.assert(
    fc.property(anyHistory, fc.record(limits), (history, sizes) => {
      const prompt = promptOf(inputOf(openWindow(history, sizes.maxContextTokens), sizes))
      if (prompt !== undefined) assert.isTrue(isPaired(prompt.messages))
    }),
    { numRuns: 500 }
  )
})

it("A1 W1 W3 a prompt is the components and then the end of the history, in order", () => {
  fc.assert(
    fc.property(wholeHistory, fc.record(limits), (history, sizes) => {
      const prompt = promptOf(inputOf(openWindow(history, sizes.maxContextTokens), sizes))
      if (prompt === undefined) return
      const kept = prompt.window.messages
      assert.deepStrictEqual(kept, history.slice(history.length - kept.length))
      assert.deepStrictEqual(
        prompt.messages.map(({ role, call }) => [role, call]),
        [...components.map(({ message }) => message), ...kept].flatMap(({ role, call, ...said }) =>
          // Behind an answer that was not accepted the model reads why.
          "rejected" in said
            ? [
                [role, call],
                ["user", undefined]
              ]
            : [[role, call]]
        )
      )
      assert.deepStrictEqual(
        prompt.report.parts.map(({ id }) => id),
        prompt.report.parts.map(({ id }) => id).toSorted((a, b) => a - b)
      )
    }),
    { numRuns: 500 }
  )
})

it("W2 the pending turn is never left out", () => {
  fc.assert(
    fc.property(wholeHistory, fc.record(limits), (history, sizes) => {
      const prompt = promptOf(inputOf(openWindow(history, 1), sizes))
      if (prompt === undefined) return
      const pending = pendingTurn(history)
      assert.deepStrictEqual(prompt.window.messages.slice(-pending.length || Infinity), pending)
    }),
    { numRuns: 500 }
  )
})

it("A4 every message of the history is in the prompt or in the report", () => {
  const seen = { cuts: 0, interrupted: 0, leftOut: 0 }
  fc.assert(
    fc.property(anyHistory, fc.record(limits), (history, sizes) => {
      const prompt = promptOf(inputOf(openWindow(history, sizes.maxContextTokens), sizes))
      if (prompt === undefined) return
      const { cuts, interrupted, leftOut } = prompt.report
      seen.cuts += cuts.length
      seen.interrupted += interrupted.length
      seen.leftOut += leftOut.length
      const gone = leftOut.reduce((sum, { messages }) => sum + messages, 0)
      assert.strictEqual(prompt.window.messages.length + gone, history.length)
      assert.strictEqual(prompt.messages.filter(({ content }) => content === INTERRUPTED).length, interrupted.length)
      assert.strictEqual(prompt.messages.filter(({ content }) => content.includes("\n[cut: ")).length, cuts.length)
    }),
    { numRuns: 500 }
  )
  assert.isTrue(Object.values(seen).every((times) => times > 20))
})

it("A5 assembling again gives the same prompt, the same report and the same objects", () => {
  fc.assert(
    fc.property(anyHistory, fc.record(limits), (history, sizes) => {
      const first = promptOf(inputOf(openWindow(history, sizes.maxContextTokens), sizes))
      if (first === undefined) return
      const second = promptOf(inputOf(first.window, sizes))
      assert.deepStrictEqual(second?.report, first.report)
      assert.strictEqual(second?.window, first.window)
      assert.strictEqual(second?.messages.length, first.messages.length)
      assert.isTrue(first.messages.every((message, index) => message === second?.messages[index]))
    })
  )
})

it("W5 appending one by one keeps at least what opening keeps, and both keep the limit", () => {
  let shrunk = 0
  fc.assert(
    fc.property(wholeHistory, fc.integer({ min: 100, max: 1_500 }), (history, limit) => {
      const opened = openWindow(history, limit)
      let grown = openWindow([], limit)
      for (const message of history) grown = append(grown, [message])
      if (opened.overLimit.messages > 0) shrunk++
      assert.isAtLeast(grown.units.length, opened.units.length)
      assert.deepStrictEqual(grown.units.slice(grown.units.length - opened.units.length), opened.units)
      const pending = grown.units.slice(grown.turn).reduce((sum, { tokens }) => sum + tokens, 0)
      assert.isAtMost(grown.tokens, Math.max(limit, pending))
      assert.isAtMost(opened.tokens, Math.max(limit, pending))
    }),
    { numRuns: 500 }
  )
  assert.isAbove(shrunk, 50)
})

it("W5 in whatever pieces an unlimited history comes, the window is the same", () => {
  fc.assert(
    fc.property(anyHistory, fc.array(fc.nat(40), { maxLength: 5 }), (history, cuts) => {
      const places = [0, ...cuts.map((cut) => Math.min(cut, history.length)).toSorted((a, b) => a - b), history.length]
      const pieces = places.slice(1).map((end, index) => history.slice(places[index], end))
      const grown = pieces.reduce(append, openWindow([], 1_000_000))
      assert.deepStrictEqual(grown, openWindow(history, 1_000_000))
    })
  )
})

it("W4 a message that is in the window is not built again when others follow", () => {
  fc.assert(
    fc.property(wholeHistory, wholeHistory, (before, after) => {
      const window = openWindow(before, 1_000_000)
      const grown = append(window, after)
      const wire = window.units.flatMap((unit) => unit.wire)
      assert.isTrue(wire.every((message, index) => message === grown.units.flatMap((unit) => unit.wire)[index]))
    })
  )
})

it("A6 nothing is counted while the pending turn fits", () => {
  fc.assert(
    fc.property(anyHistory, (history) => {
      let counted = 0
      const sizes = { maxContextTokens: 20_000, reservedResponseTokens: 0 }
      const window = openWindow(history, sizes.maxContextTokens)
      assemble({ ...inputOf(window, sizes), count: (message) => (counted++, countText(message.content)) })
      assert.strictEqual(counted, 0)
    })
  )
})
