import { assert, describe, it } from "@effect/vitest"
import type { Message } from "@reverie/protocol"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { append, assemble, conversationTokens, getContextType, openWindow } from "../src/index.ts"
import { anyHistory, count, note, user, UNFIT } from "./histories.ts"
import { contextTypes } from "../src/layout/context-types.ts"
import { INTERRUPTED } from "../src/tokens/window.ts"

const marker: Message = note(`[CONTEXT SUMMARY]\n${"The ferry leaves at nine. ".repeat(18)}`)

const sum = (messages: ReadonlyArray<Message>): number => messages.reduce((total, { tokens }) => total + tokens, 0)

describe("a window that begins with a marker", () => {
  it("W1 W2 W5 keeps it through every growth and shrinking, and the rest keeps the rules of a window", () => {
    const seen = { shrunk: 0, assembled: 0 }
    fc.assert(
      fc.property(anyHistory, anyHistory, fc.integer({ min: 300, max: 1_500 }), (before, after, limit) => {
        const opened = openWindow(before, limit, marker)
        assert.strictEqual(opened.messages[0], marker)
        const grown = after.reduce((window, message) => append(window, [message]), opened)
        for (const window of [opened, grown]) {
          const { messages, overLimit, pinned, tokens, turn, units, wire } = window
          assert.strictEqual(messages[0], marker)
          assert.strictEqual(pinned, 1)
          assert.deepStrictEqual(
            messages,
            units.flatMap(({ history }) => history)
          )
          assert.deepStrictEqual(
            wire,
            units.flatMap((unit) => unit.wire)
          )
          assert.strictEqual(tokens, sum(messages))
          assert.strictEqual(turn, Math.max(1, newestTurn(window)))
          if (tokens > limit) assert.strictEqual(turn, 1, "only the marker stands before a turn that is too long")
          seen.shrunk += overLimit.messages > 0 ? 1 : 0
        }
        const without = openWindow(before, limit)
        const [kept, all] = [opened.messages.slice(1), without.messages]
        assert.deepStrictEqual(all.slice(all.length - kept.length), kept, "in the order of history, from the newest on")
        const assembled = assemble({
          components: [],
          window: grown,
          maxContextTokens: limit,
          reservedResponseTokens: 0,
          count
        })
        if (Result.isFailure(assembled)) return
        seen.assembled++
        assert.strictEqual(assembled.success.messages[0]?.content, marker.content)
        assert.isAtMost(assembled.success.report.tokens, limit)
        const again = assemble({
          components: [],
          window: assembled.success.window,
          maxContextTokens: limit,
          reservedResponseTokens: 0,
          count
        })
        assert.deepStrictEqual(again, assembled)
      }),
      { numRuns: 300 }
    )
    assert.isAbove(Math.min(...Object.values(seen)), 50, JSON.stringify(seen))
  })

  it("A3 A4 shows it in the contexts that show history, and reports it in the others", () => {
    fc.assert(
      fc.property(anyHistory, fc.constantFrom(...contextTypes), (history, type) => {
        const context = getContextType(type)
        const window = openWindow(history, 100_000, marker)
        const answer = assemble({
          context,
          components: [],
          window,
          maxContextTokens: 100_000,
          reservedResponseTokens: 0,
          count
        })
        const { messages, report, window: after } = Result.getOrThrow(answer)
        const isShown = context.enabledComponents.includes(5_000)
        assert.strictEqual(
          messages.some(({ content }) => content === marker.content),
          isShown
        )
        assert.strictEqual(after.messages[0], marker, "the window keeps what a context hides")
        const left = report.leftOut.reduce((total, each) => total + each.messages, 0)
        const madeUp = new Set([INTERRUPTED, UNFIT])
        assert.strictEqual(messages.filter(({ content }) => !madeUp.has(content)).length + left, history.length + 1)
      }),
      { numRuns: 300 }
    )
  })

  it("W2 stands alone in a window without history, as history and not as an event", () => {
    const window = openWindow([], 1_000, marker)
    assert.deepInclude(window, { turn: 1, pinned: 1, tokens: marker.tokens })
    const { messages, report } = Result.getOrThrow(
      assemble({ components: [], window, maxContextTokens: 1_000, reservedResponseTokens: 0, count })
    )
    assert.deepStrictEqual(
      report.parts.map(({ key }) => key),
      ["conversation_history"]
    )
    assert.deepStrictEqual(messages, [{ role: "system", content: marker.content }])
  })

  it("F65 the tokens of the conversation are those of everything since it was opened, the marker with it", () => {
    let left = 0
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 60, max: 300 }), { minLength: 20, maxLength: 60 }), (lengths) => {
        const said = lengths.map((length) => user("w".repeat(length)))
        const window = openWindow(said, 800, marker)
        assert.strictEqual(conversationTokens(window), sum([marker, ...said]))
        const grown = append(window, [user("one more")])
        assert.strictEqual(conversationTokens(grown), sum([marker, ...said, user("one more")]))
        left += grown.overLimit.messages
      })
    )
    assert.isAbove(left, 100)
  })
})

const newestTurn = ({ messages, units }: ReturnType<typeof openWindow>): number => {
  const place = units.findLastIndex(({ history }) => history[0]?.role === "user")
  assert.isAtMost(place, messages.length)
  return place < 0 ? units.length - 1 : place
}
