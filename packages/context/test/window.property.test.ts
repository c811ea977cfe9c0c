import { assert, it } from "@effect/vitest"
import { hasParts } from "@reverie/model"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { append, assemble, getContextType, openWindow, type Window } from "../src/index.ts"
import { anyHistory, count, UNFIT } from "./histories.ts"
import { contextTypes } from "../src/layout/context-types.ts"

/** What a window says of all its units together, computed from each of them. */
const assertSums = (window: Window): void => {
  const { cut, messages, open, partUnits, tokens, turn, units, wire } = window
  assert.deepStrictEqual(
    messages,
    units.flatMap(({ history }) => history)
  )
  assert.deepStrictEqual(
    wire,
    units.flatMap((unit) => unit.wire)
  )
  assert.strictEqual(
    tokens,
    units.reduce((sum, unit) => sum + unit.tokens, 0)
  )
  assert.strictEqual(
    open,
    units.reduce((sum, unit) => sum + unit.open.length, 0)
  )
  assert.strictEqual(cut, units.filter(({ cuts }) => cuts.length > 0).length)
  assert.strictEqual(partUnits, units.filter((unit) => hasParts({ messages: unit.wire })).length)
  const newestUser = units.findLastIndex(({ history }) => history[0]?.role === "user")
  assert.strictEqual(turn, newestUser < 0 ? Math.max(0, units.length - 1) : newestUser)
}

it("W2 W4 the sums a window carries are those of its units, however it grew, shrank and was cut", () => {
  const seen = { cut: 0, open: 0, left: 0 }
  fc.assert(
    fc.property(anyHistory, anyHistory, fc.integer({ min: 200, max: 1_200 }), (before, after, limit) => {
      const opened = openWindow(before, limit)
      assertSums(opened)
      const assembled = assemble({
        components: [],
        window: opened,
        maxContextTokens: limit,
        reservedResponseTokens: 0,
        count
      })
      const sent = Result.isSuccess(assembled) ? assembled.success.window : opened
      assertSums(sent)
      const grown = after.reduce((window, message) => append(window, [message]), sent)
      assertSums(grown)
      seen.cut += sent.cut
      seen.open += grown.open
      seen.left += grown.overLimit.messages
    }),
    { numRuns: 300 }
  )
  assert.isTrue(
    Object.values(seen).every((times) => times > 20),
    JSON.stringify(seen)
  )
})

it("A3 A4 in every kind of context calls have their results, and history is in the prompt or in the report", () => {
  fc.assert(
    fc.property(
      anyHistory,
      fc.constantFrom(...contextTypes),
      fc.integer({ min: 100, max: 2_000 }),
      (history, type, limit) => {
        const input = {
          context: getContextType(type),
          components: [],
          window: openWindow(history, limit),
          maxContextTokens: limit,
          reservedResponseTokens: 0,
          count
        }
        const answer = assemble(input)
        if (Result.isFailure(answer)) return
        const { messages, report, window } = answer.success
        assert.strictEqual(hasParts({ messages }), hasParts({ messages: [...messages] }))
        assert.deepStrictEqual(assemble({ ...input, window }), answer)
        const made = report.interrupted.length + messages.filter(({ content }) => content === UNFIT).length
        const left = report.leftOut.reduce((sum, each) => sum + each.messages, 0)
        assert.strictEqual(messages.length - made + left, history.length)
        assert.isAtMost(report.tokens, limit)
        const open = new Set<string>()
        for (const { call, calls = [], role } of messages) {
          if (role === "tool") assert.isTrue(open.has(call ?? ""))
          for (const { id } of calls) open.add(id)
        }
        assert.strictEqual(
          messages.filter(({ role }) => role === "tool").length,
          messages.reduce((sum, { calls = [] }) => sum + calls.length, 0)
        )
      }
    ),
    { numRuns: 500 }
  )
})
