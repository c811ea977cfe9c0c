import { journalOf } from "@reverie/assistant"
import { assert, describe, it } from "@effect/vitest"
import type { Json, Message } from "@reverie/protocol"
import {
  type Compaction,
  type HistoryStart,
  historyStartOf,
  isCompaction,
  openWindow,
  pendingCompactionOf,
  summaryAsk,
  undoCompaction
} from "../../src/index.ts"
import { callOf, result, said, user } from "../histories.ts"
import { apply, type CompactionRun, type Kept, NOW, placed, replayAll } from "./compacted.ts"
import { accountOf } from "../../src/compaction/account.ts"
import { type Compacted, compactionId, standing } from "../../src/compaction/compaction.ts"

const talk = (length: number, from = 0): ReadonlyArray<Message> =>
  Array.from({ length }, (_, index) => ({
    ...user(`word${from + index}, ${"and so on ".repeat(20)}`),
    at: NOW + index
  }))

const compacted = (messages: ReadonlyArray<Message>, run: CompactionRun = {}): Compacted => {
  const answer = replayAll(placed(messages), run)
  return answer.skipped ? assert.fail(answer.reason) : answer
}

const told = ({ marker }: Pick<HistoryStart, "marker">): string => marker.content

describe("a compaction", () => {
  it("F53 F54 fifty messages become a marker and the twenty newest, which stay as they are", () => {
    const history = talk(50)
    const { compaction, start } = compacted(history, { summarize: () => "The ferry leaves at nine." })
    const { marker } = start
    assert.strictEqual(marker.role, "system")
    assert.isTrue(marker.content.startsWith("[CONTEXT SUMMARY]\nThe ferry leaves at nine.\n"))
    assert.deepInclude(marker.meta, { type: "compaction", compacted_count: 30, total_count: 30 })
    const kept = placed(history).slice(30)
    assert.deepStrictEqual(start.from, kept[0]?.place)
    const window = openWindow(history.slice(30), 100_000, marker)
    assert.lengthOf(window.messages, 21)
    assert.strictEqual(window.messages[0], marker)
    for (const [index, message] of history.slice(30).entries()) assert.strictEqual(window.messages[index + 1], message)
    assert.deepInclude(compaction.before, { messages: 50, start: null })
    assert.deepInclude(compaction.after, { messages: 21, from: start.from })
    assert.isBelow(compaction.after.tokens, compaction.before.tokens)
  })

  it("what it takes out of the window with images and files is named, the newest first, also by the next one", () => {
    const image = { type: "image", digest: "0".repeat(64), mediaType: "image/png", bytes: 34_000 } as const
    const history = talk(50).map((message, at) =>
      at < 12 ? { ...message, parts: [{ ...image, name: `berth ${at}].png` }] } : message
    )
    const { start } = compacted(history)
    const lines = told(start).split("\n")
    const at = lines.indexOf("Images, files and audio no longer visible, the newest first:")
    assert.strictEqual(lines[at + 1], "- [image berth 11).png, image/png, 34 kB] (m/4/2)")
    assert.strictEqual(lines[at + 9], "- and 4 more")
    const read = summaryAsk({
      config: { compactPrompt: null },
      messages: placed(history).slice(0, 1),
      soFar: "",
      self: "desk"
    }).data
    assert.include(read, "[image berth 0).png, image/png, 34 kB]")
    assert.deepStrictEqual(accountOf(start.account, placed(talk(3, 50)), [])?.parts, start.account.parts)
  })

  it("F55 the summary is archived in the journal, under the id of the compaction", () => {
    const { changes, compaction } = compacted(talk(50), { summarize: () => "Nine o'clock." })
    assert.strictEqual(compaction.id, "compact_20251206_171500")
    const archived = changes.find(({ kind }) => kind === "journal")
    assert.strictEqual(archived?.key, compaction.id)
    assert.deepInclude(archived?.value, {
      id: "compact_20251206_171500",
      content: "[CONTEXT SYNTHESIS]\nNine o'clock.",
      source_type: "compaction",
      importance: 7,
      tags: ["compaction", "synthesis"]
    })
  })

  it("F55 A38 K4 ids count when the second is taken, by a compaction or by an entry of the journal", () => {
    const taken = new Set(["compact_20251206_171500", "compact_20251206_171500_2"])
    assert.strictEqual(
      compactionId(NOW, (id) => taken.has(id)),
      "compact_20251206_171500_3"
    )
    const { compaction } = compacted(talk(50), { more: { taken: (id) => taken.has(id) } })
    assert.strictEqual(compaction.id, "compact_20251206_171500_3")
    const entry = compacted(talk(50)).changes.find(({ kind }) => kind === "journal")
    const journal = journalOf(new Map([[String(entry?.key), entry?.value ?? null]]), new Map())
    assert.strictEqual(compacted(talk(50), { more: { journal } }).compaction.id, "compact_20251206_171500_2")
  })

  it("K2 one list of changes holds the record, the new beginning, the journal, and the end of the draft", () => {
    const kept: Kept = new Map([["state", new Map<string, Json>([["compaction", { draft: "anything" }]])]])
    const { changes, compaction, start } = compacted(talk(50), { trigger: "emergency", ratio: 0.85 })
    apply(kept, changes)
    const state = kept.get("state") ?? new Map<string, Json>()
    assert.deepStrictEqual([...state.keys()], ["history-start"])
    assert.deepStrictEqual(historyStartOf(state), start)
    assert.deepStrictEqual(pendingCompactionOf(state), {})
    const record = kept.get("compaction")?.get(compaction.id)
    assert.isTrue(isCompaction(record))
    assert.deepStrictEqual(JSON.parse(JSON.stringify(record)), compaction, "it is JSON")
    assert.deepInclude(compaction, { trigger: "emergency", threshold: 0.7, ratio: 0.85, model: null, extraction: null })
    assert.deepInclude(compaction, { compacted_count: 30, preserved_count: 20 })
    assert.deepStrictEqual(compaction.range, {
      from: { no: 1, index: 0 },
      to: { no: 10, index: 2 },
      since: NOW,
      until: NOW + 29
    })
  })

  it("K5 a compaction that makes nothing shorter leaves the history", () => {
    const short = Array.from({ length: 22 }, (_, index) => user(String(index)))
    assert.deepStrictEqual(replayAll(placed(short), { summarize: () => "A long story ".repeat(50) }), {
      skipped: true,
      reason: "no-shorter"
    })
  })

  it("K2 a draft of another history compacts nothing", () => {
    for (const history of [placed(talk(50), 40), [...placed(talk(3), 0), ...placed(talk(50))]]) {
      const answer = replayAll(placed(talk(50)), { more: { history } })
      assert.deepStrictEqual(answer, { skipped: true, reason: "one-piece" })
    }
  })
})

describe("what a marker says besides", () => {
  const busy = [
    ...talk(10),
    said("", [callOf("1.1.0"), callOf("1.1.1")]),
    result("1.1.0", "it is there"),
    result("1.1.1", "so is this"),
    said("I will sign it.", [{ id: "1.2.0", tool: "sign", arguments: { contract: "lease\nof\u200b the quay" } }]),
    ...talk(60, 10)
  ]

  it("F53 names the range, the results out of sight, what was not done, and how to read it again", () => {
    const { start } = compacted(busy)
    const content = told(start)
    assert.include(content, "54 messages, m/1/0 to m/18/2, 2025-12-06T17:15Z to")
    assert.include(content, "Planned but not done, as far as any result tells:\n- sign")
    assert.include(content, '{"contract":"lease\\nof the quay"} (call 1.2.0, m/5/1)')
    assert.include(
      content,
      'Tool results no longer visible: look ×2. The newest:\n- look {"at":"1.1.1"} (call 1.1.1, m/4/1)'
    )
    assert.include(content, "Do not reconstruct exact values")
    assert.include(content, 'read_history reads the messages again, with {"compaction":"compact_20251206_171500"}')
    assert.include(content, '{"from":"m/1/0"}')
  })

  it("M3 is silent about read_history when there is no such tool", () => {
    assert.notInclude(told(compacted(busy, { more: { canRead: false } }).start), "read_history")
  })

  it("F53 names approvals that are still open", () => {
    const approvals = [{ approval: "ap-1", tool: "sign", call: "9.1.0" }]
    assert.include(
      told(compacted(busy, { more: { approvals } }).start),
      "Waiting for a person's approval:\n- sign (call 9.1.0, approval ap-1)"
    )
  })

  it("M2 is bounded, whatever was compacted", () => {
    const calls = Array.from({ length: 300 }, (_, index) => said("", [callOf(`c${index} ${"long ".repeat(80)}`)]))
    for (const maxContextTokens of [2_000, 100_000]) {
      const { start } = compacted([...calls, ...talk(40)], {
        maxContextTokens,
        summarize: () => "word ".repeat(5_000)
      })
      assert.isBelow(told(start).length, maxContextTokens === 2_000 ? 2_000 : 12_000)
      assert.include(told(start), "Do not reconstruct exact values")
      assert.include(told(start), "Planned but not done")
    }
  })
})

describe("compaction again", () => {
  const kept: Kept = new Map()
  const all = talk(120)
  const places = placed(all)
  const first = replayAll(places.slice(0, 50), { summarize: () => "First." })
  assert(!first.skipped)
  apply(kept, first.changes)
  const seen: Array<string> = []
  const second = replayAll(places.slice(30, 100), {
    start: first.start,
    now: NOW + 60_000,
    summarize: (_piece, soFar) => {
      seen.push(soFar)
      return `${soFar} Second.`
    }
  })
  assert(!second.skipped)
  apply(kept, second.changes)
  const compactions = [...(kept.get("compaction")?.values() ?? [])] as unknown as ReadonlyArray<Compaction>

  it("F105 S2 the summary of the earlier compaction is fed in, and both are mentioned", () => {
    assert.deepStrictEqual(seen, ["First."])
    assert.include(told(second.start), "[CONTEXT SUMMARY]\nFirst. Second.\n")
    assert.include(told(second.start), "50 messages, m/11/0 to")
    assert.include(told(second.start), "after 30 earlier ones since 2025-12-06T17:15Z, m/1/0.")
    assert.deepInclude(second.start.marker.meta, { compacted_count: 50, total_count: 80 })
    assert.deepInclude(second.start.account, { count: 80, since: NOW, from: { no: 1, index: 0 } })
    assert.deepInclude(second.compaction.before, { messages: 71, start: first.start })
  })

  it("A1 A2 what was not done stays named until its result is there", () => {
    const open = [...talk(3), said("", [callOf("1.1.0"), callOf("1.1.1")]), ...talk(60, 3)]
    const one = compacted(open)
    assert.deepStrictEqual(
      one.start.account.unfinished.map(({ call }) => call),
      ["1.1.0", "1.1.1"]
    )
    const later = [...talk(30, 100), result("1.1.0", "late"), ...talk(30, 200)]
    const two = compacted(later, { start: one.start })
    assert.deepStrictEqual(
      two.start.account.unfinished.map(({ call }) => call),
      ["1.1.1"]
    )
  })

  it("U1 U3 K3 taking back the newest restores what stood before it, byte for byte", () => {
    const answer = undoCompaction(compactions, second.compaction.id, NOW + 90_000)
    assert(answer.success)
    assert.deepStrictEqual(answer.start, first.start)
    assert.deepStrictEqual(answer.undone, [second.compaction.id])
    const after: Kept = structuredClone(kept)
    apply(after, answer.changes)
    assert.strictEqual(JSON.stringify(historyStartOf(after.get("state") ?? new Map())), JSON.stringify(first.start))
    assert.deepStrictEqual(after.get("journal"), kept.get("journal"))
    const records = [...(after.get("compaction")?.values() ?? [])] as unknown as ReadonlyArray<Compaction>
    assert.deepStrictEqual(
      standing(records).map(({ id }) => id),
      [first.compaction.id]
    )
    assert.deepStrictEqual(undoCompaction(records, second.compaction.id, NOW), {
      success: false,
      error: `${second.compaction.id} has been taken back before`
    })
  })

  it("U2 taking back an earlier one takes back those on top of it", () => {
    const answer = undoCompaction(compactions.toReversed(), first.compaction.id, NOW + 90_000)
    assert(answer.success)
    assert.isNull(answer.start)
    assert.deepStrictEqual(answer.undone, [second.compaction.id, first.compaction.id])
    const after: Kept = structuredClone(kept)
    apply(after, answer.changes)
    assert.isUndefined(historyStartOf(after.get("state") ?? new Map()))
    assert.deepStrictEqual(
      standing([...(after.get("compaction")?.values() ?? [])] as unknown as ReadonlyArray<Compaction>),
      []
    )
  })

  it("U1 there is nothing to take back that never was", () => {
    assert.deepStrictEqual(undoCompaction(compactions, "compact_1", NOW), {
      success: false,
      error: "there is no compaction compact_1"
    })
  })
})
