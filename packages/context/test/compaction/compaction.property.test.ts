import { assert, describe, it } from "@effect/vitest"
import { journalOf } from "@reverie/assistant"
import { isBefore, type Message, type PlacedMessage } from "@reverie/protocol"
import * as fc from "fast-check"
import {
  type Compaction,
  conversationTokens,
  draftOf,
  compact,
  pendingCompactionChange,
  compactionConfig,
  type HistoryStart,
  historyStartOf,
  openWindow,
  pieceOf,
  placedMessages,
  undoCompaction,
  withPiece
} from "../../src/index.ts"
import { anyHistory, count, user, wholeHistory } from "../histories.ts"
import { apply, replayAll, type Kept, NOW, placed } from "./compacted.ts"
import { between } from "../../src/compaction/draft.ts"
import { splitHistory } from "../../src/compaction/split.ts"

const window = fc.integer({ min: 1, max: 25 })
const stretchTokens = fc.constantFrom(0, 200, 1_000, Infinity)
const options = fc.record({ window, stretchTokens })

/** Histories long enough to be compacted, several after one another. */
const longHistory = fc
  .array(anyHistory, { minLength: 2, maxLength: 5 })
  .map((parts) => placed(parts.flatMap((part, at) => part.map((message) => renamed(message, at)))))

const renamed = (message: Message, at: number): Message => ({
  ...message,
  ...(message.calls === undefined ? {} : { calls: message.calls.map((call) => ({ ...call, id: `${at}:${call.id}` })) }),
  ...(message.call === undefined ? {} : { call: `${at}:${message.call}` })
})

const bytes = (history: ReadonlyArray<PlacedMessage>): string => JSON.stringify(history)

const callsOf = (history: ReadonlyArray<PlacedMessage>): ReadonlySet<string> =>
  new Set(history.flatMap(({ message }) => (message.calls ?? []).map(({ id }) => id)))

describe("splitting any history", () => {
  it("A17 S2 F51 never splits a call from a result, and compacts of the pending turn only what is too long to stay", () => {
    const seen = { cut: 0, stretched: 0, inside: 0 }
    fc.assert(
      fc.property(longHistory, options, (history, chosen) => {
        const split = splitHistory(history, chosen)
        if (split.skipped) return
        seen.cut++
        const { compacted, preserved } = split
        const calls = callsOf(compacted)
        const known = callsOf(preserved)
        for (const { message } of preserved) {
          if (message.role === "tool" && !known.has(message.call ?? "")) assert.isFalse(calls.has(message.call ?? ""))
        }
        const pending = history.findLastIndex(({ message }) => message.role === "user")
        const turn = history.slice(pending)
        const tokens = turn.reduce((sum, { message }) => sum + message.tokens, 0)
        const isTooLong = turn.length > 2 * chosen.window || tokens > chosen.stretchTokens
        if (pending >= 0 && !isTooLong) assert.isAtMost(compacted.length, pending)
        if (pending >= 0 && compacted.length > pending) seen.inside++
        assert.isAtLeast(preserved.length, Math.min(chosen.window, history.length))
        if (preserved.length > chosen.window) seen.stretched++
      }),
      { numRuns: 500 }
    )
    assert.isAbove(Math.min(...Object.values(seen)), 50, JSON.stringify(seen))
  })

  it("F54 what is preserved is the end of the history, byte for byte", () => {
    fc.assert(
      fc.property(longHistory, options, (history, chosen) => {
        const before = bytes(history)
        const split = splitHistory(history, chosen)
        assert.strictEqual(bytes(history), before)
        if (split.skipped) return
        assert.isAbove(split.compacted.length, 0)
        assert.strictEqual(bytes([...split.compacted, ...split.preserved]), before)
        for (const [index, each] of split.preserved.entries()) {
          assert.strictEqual(each.message, history[split.compacted.length + index]?.message)
        }
      }),
      { numRuns: 300 }
    )
  })

  it("S5 F50 splitting again what was preserved compacts nothing", () => {
    fc.assert(
      fc.property(longHistory, options, (history, chosen) => {
        const split = splitHistory(history, chosen)
        if (!split.skipped) assert.isTrue(splitHistory(split.preserved, chosen).skipped)
      }),
      { numRuns: 500 }
    )
  })

  it("F51 A17 with plain messages exactly the window stays, or the longer pending turn", () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 80 }), window, (speakers, size) => {
        const history = placed(
          speakers.map((isUser, at): Message => ({ ...user(`${at}`), role: isUser ? "user" : "assistant" }))
        )
        const split = splitHistory(history, { window: size })
        const last = speakers.lastIndexOf(true)
        const pending = last < 0 ? history.length - 1 : last
        const latest = history.length - size
        const expected = history.length - pending > 2 * size ? latest : Math.min(latest, pending)
        assert.strictEqual(split.skipped ? 0 : split.compacted.length, Math.max(0, expected))
      })
    )
  })

  it("F106 no turn with calls is compacted in part, where what stays may be long enough", () => {
    fc.assert(
      fc.property(fc.array(wholeHistory, { minLength: 3, maxLength: 5 }), window, (parts, size) => {
        const history = placed(parts.flatMap((part, at) => part.map((message) => renamed(message, at))))
        const split = splitHistory(history, { window: size })
        if (split.skipped) return
        const { compacted, preserved } = split
        if (preserved[0]?.message.role === "user") return
        const start = compacted.findLastIndex(({ message }) => message.role === "user")
        const end = preserved.findIndex(({ message }) => message.role === "user")
        const turn = [...compacted.slice(Math.max(0, start)), ...preserved.slice(0, end < 0 ? undefined : end)]
        const isWhole = start >= 0
        const hasCalls = turn.some(({ message }) => (message.calls ?? []).length > 0)
        if (isWhole && hasCalls) assert.isAbove(history.length - start, 2 * size)
      }),
      { numRuns: 500 }
    )
  })
})

/** An assistant that is compacted whenever its conversation is at the threshold. */
const live = (messages: ReadonlyArray<PlacedMessage>, maxContextTokens: number) => {
  const kept: Kept = new Map()
  const startNow = () => historyStartOf(kept.get("state") ?? new Map())
  const shownFrom = (history: ReadonlyArray<PlacedMessage>, start: HistoryStart | undefined) =>
    start === undefined ? history : history.filter(({ place }) => !isBefore(place, start.from))
  const ratioOf = (history: ReadonlyArray<PlacedMessage>) => {
    const start = startNow()
    const shown = shownFrom(history, start).map(({ message }) => message)
    return conversationTokens(openWindow(shown, maxContextTokens, start?.marker)) / maxContextTokens
  }
  const compactNow = (history: ReadonlyArray<PlacedMessage>) => {
    const start = startNow()
    const answer = replayAll(shownFrom(history, start), {
      start,
      maxContextTokens,
      ratio: ratioOf(history),
      config: { compactPreserveWindow: 4 },
      now: NOW + history.length * 1_000
    })
    if (!answer.skipped) apply(kept, answer.changes)
    return answer
  }
  const compactions = () => [...(kept.get("compaction")?.values() ?? [])] as unknown as ReadonlyArray<Compaction>
  return { kept, startNow, shownFrom, ratioOf, compactNow, compactions, messages }
}

describe("compacting any history, again and again", () => {
  const MAX_TOKENS = 4_000

  it("F54 F105 it converges: below the threshold, or nothing is left that may be compacted; a second time changes nothing", () => {
    const seen = { compacted: 0, below: 0 }
    fc.assert(
      fc.property(longHistory, (history) => {
        const assistant = live(history, MAX_TOKENS)
        let rounds = 0
        while (!assistant.compactNow(history).skipped) {
          seen.compacted++
          assert.isAtMost(++rounds, 2, "one compaction is enough")
        }
        const before = JSON.stringify([...(assistant.kept.get("state") ?? [])])
        assert.isTrue(assistant.compactNow(history).skipped)
        assert.strictEqual(JSON.stringify([...(assistant.kept.get("state") ?? [])]), before)
        if (rounds > 0 && assistant.ratioOf(history) < 0.7) seen.below++
      }),
      { numRuns: 200 }
    )
    assert.isAbove(seen.below, seen.compacted / 2, JSON.stringify(seen))
  })

  it("F54 F53 a long life never loses a message: each is shown, or in the range of a compaction that can be read again", () => {
    const seen = { compactions: 0 }
    fc.assert(
      fc.property(longHistory, fc.integer({ min: 3, max: 12 }), (history, pace) => {
        const assistant = live(history, MAX_TOKENS)
        for (let until = pace; until <= history.length; until += pace) {
          const lived = history.slice(0, until)
          assistant.compactNow(lived)
          const start = assistant.startNow()
          const shown = new Set(assistant.shownFrom(lived, start))
          const held = assistant.compactions()
          for (const each of lived) {
            const ranges = held.filter(({ range }) => between([each], range.from, range.to).length > 0)
            assert.strictEqual(ranges.length + (shown.has(each) ? 1 : 0), 1, "exactly one place")
          }
          if (start === undefined) continue
          assert.strictEqual(start.account.count, lived.length - shown.size)
          assert.isTrue(start.marker.content.startsWith("[CONTEXT SUMMARY]\n"))
        }
        seen.compactions += assistant.compactions().length
      }),
      { numRuns: 100 }
    )
    assert.isAbove(seen.compactions, 100)
  })

  it("K3 U1 U2 taking any compaction back shows again exactly what was shown before it", () => {
    const seen = { undone: 0 }
    fc.assert(
      fc.property(longHistory, fc.nat(), (history, choice) => {
        const assistant = live(history, MAX_TOKENS)
        const starts: Array<HistoryStart | undefined> = []
        for (let until = 4; until <= history.length; until += 4) {
          const before = assistant.startNow()
          if (!assistant.compactNow(history.slice(0, until)).skipped) starts.push(before)
        }
        if (starts.length === 0) return
        const at = choice % starts.length
        const compactions = assistant.compactions()
        const answer = undoCompaction(compactions, compactions[at]?.id ?? "", NOW)
        assert(answer.success)
        seen.undone += answer.undone.length
        assert.lengthOf(answer.undone, starts.length - at)
        assert.strictEqual(JSON.stringify(answer.start), JSON.stringify(starts[at] ?? null))
        apply(assistant.kept, answer.changes)
        assert.strictEqual(
          bytes(assistant.shownFrom(history, assistant.startNow())),
          bytes(assistant.shownFrom(history, starts[at]))
        )
      }),
      { numRuns: 100 }
    )
    assert.isAbove(seen.undone, 50)
  })

  it("D1 A18 a compaction that ends at any point before its last commit leaves history and records as they were", () => {
    fc.assert(
      fc.property(longHistory, window, fc.nat({ max: 6 }), (history, size, stopAfter) => {
        const before = bytes(history)
        const split = splitHistory(history, { window: size })
        if (split.skipped) return
        const config = compactionConfig({ strategy: { type: "recursive-summarization", chunkTokens: 200 } })
        const input = { split, trigger: "sleep", threshold: 0.7, ratio: 0.8, earlier: "" } as const
        let draft = draftOf({ ...input, strategy: config.strategy })
        assert(draft !== undefined)
        const kept: Kept = new Map()
        for (let step = 0; step < stopAfter && draft.next !== null; step++) {
          apply(kept, [pendingCompactionChange({ draft })])
          const piece = pieceOf(draft, history, { maxTokens: 200 })
          assert.isAbove(piece.length, 0)
          draft = withPiece(draft, history, piece, `after ${step}`)
        }
        assert.strictEqual(bytes(history), before)
        apply(kept, [pendingCompactionChange(null)])
        assert.deepStrictEqual([...(kept.get("state") ?? [])], [], "the draft was all there was")
      }),
      { numRuns: 200 }
    )
  })

  it("F105 S4 every message that is compacted is read by exactly one call, in order", () => {
    fc.assert(
      fc.property(longHistory, window, fc.integer({ min: 1, max: 2_000 }), (history, size, maxTokens) => {
        const split = splitHistory(history, { window: size })
        if (split.skipped) return
        const strategy = { type: "recursive-summarization", chunkTokens: maxTokens } as const
        let draft = draftOf({ split, trigger: "sleep", threshold: 0.7, ratio: 0.8, earlier: "", strategy })
        assert(draft !== undefined)
        const read: Array<PlacedMessage> = []
        while (draft.next !== null) {
          const piece = pieceOf(draft, history, { maxTokens })
          read.push(...piece)
          draft = withPiece(draft, history, piece, "so far")
        }
        assert.strictEqual(bytes(read), bytes(split.compacted))
        const answer = compact({
          draft,
          history,
          start: undefined,
          config: { compactModel: null, compactPreserveWindow: 4, strategy },
          approvals: [],
          canRead: true,
          journal: journalOf(new Map(), new Map()),
          moment: { now: NOW, tick: 1 },
          taken: () => false,
          maxContextTokens: 100_000,
          priced: count
        })
        if (answer.skipped) return
        assert.strictEqual(
          bytes(between(history, answer.compaction.range.from, answer.compaction.range.to)),
          bytes(read)
        )
      }),
      { numRuns: 200 }
    )
  })

  it("P1 messages of entries come with their places, from a place on", () => {
    fc.assert(
      fc.property(anyHistory, fc.nat({ max: 40 }), (messages, at) => {
        const history = placed(messages)
        const numbers = [...new Set(history.map(({ place }) => place.no))]
        const entries = numbers.map((no) => ({
          no,
          messages: history.filter(({ place }) => place.no === no).map(({ message }) => message)
        }))
        assert.deepStrictEqual(placedMessages(entries), history)
        const from = history[at]?.place
        if (from !== undefined) assert.deepStrictEqual(placedMessages(entries, from), history.slice(at))
      })
    )
  })
})
