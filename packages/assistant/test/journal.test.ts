import { assert, describe, it } from "@effect/vitest"
import type { Json } from "@reverie/protocol"
import * as fc from "fast-check"
import {
  addEntry,
  type Journal,
  journalChanges,
  type JournalEntry,
  journalOf,
  markConsolidated,
  reviewJournal,
  sourceTypes
} from "../src/index.ts"
import { RUNS } from "./arbitraries.ts"
import { heuristicImportance, MAX_ENTRIES, type NewEntry, type SourceType } from "../src/self/journal.ts"

const NOW = Date.UTC(2025, 11, 6, 10, 0, 0)
const none = journalOf(new Map(), new Map())
const LONG = "The ferry left without its captain this morning"

const kept = (journal: Journal, wanted: Partial<NewEntry>, tick = 1, now = NOW): Journal =>
  addEntry(journal, { content: LONG, source_type: "observation", ...wanted }, { tick, now }).state

const many = (count: number, importance: (index: number) => number): Journal =>
  Array.from({ length: count }, (_, index) => index).reduce(
    (journal, index) => kept(journal, { content: `Entry ${index}`, importance: importance(index) }, index),
    none
  )

const entry = (journal: Journal, id: string): JournalEntry => journal.entries.get(id) ?? assert.fail(`no ${id}`)

describe("the journal", () => {
  it("journal I1 A38: an id that is given stays, and does not move the counting", () => {
    const id = "compact_20251206_171500"
    const journal = kept(kept(none, { id, source_type: "compaction", importance: 7 }, 3), {}, 3)
    assert.deepStrictEqual([...journal.entries.keys()], [id, "entry_3_0"])
    assert.deepInclude(entry(journal, id), {
      id,
      source_type: "compaction",
      importance: 7,
      importance_method: "manual"
    })
  })

  it("journal: an entry has exactly these parts, with the trust of its source", () => {
    const journal = kept(none, { source_type: "direct", source_entity: "#123", tags: ["sea", "sea"] }, 7)
    assert.deepStrictEqual(entry(journal, "entry_7_0"), {
      id: "entry_7_0",
      timestamp: "2025-12-06T10:00:00Z",
      content: LONG,
      source_type: "direct",
      source_trust: 0.9,
      source_entity: "#123",
      importance: 7,
      importance_method: "heuristic",
      tags: ["sea"],
      related_projects: []
    })
    const trust = sourceTypes.map((source_type) => entry(kept(none, { source_type }), "entry_1_0").source_trust)
    assert.deepStrictEqual(trust, [0.9, 0.8, 0.6, 0.3, 0.6])
  })

  it("the heuristic is 5 by source +2, +1, 0, -1, and a little more or less for what is said", () => {
    const of = (source_type: SourceType, more: Partial<NewEntry> = {}) =>
      heuristicImportance({ content: LONG, source_type, ...more })
    assert.deepStrictEqual(
      sourceTypes.map((type) => of(type)),
      [7, 6, 5, 4, 5]
    )
    assert.strictEqual(of("inference", { content: "Bob promised to pay at the deadline" }), 6)
    assert.strictEqual(of("inference", { related_projects: ["tavern"] }), 6)
    assert.strictEqual(of("inference", { content: "Fog again" }), 4)
    assert.strictEqual(of("direct", { content: "This must never be forgotten", related_projects: ["a"] }), 9)
    const manual = entry(kept(none, { importance: 3 }), "entry_1_0")
    assert.deepInclude(manual, { importance: 3, importance_method: "manual" })
    assert.strictEqual(entry(kept(none, { importance: 99 }), "entry_1_0").importance, 10)
  })

  it("journal I1: ids count within the tick and are never used twice", () => {
    const journal = kept(kept(kept(none, {}, 3), {}, 3), {}, 12)
    assert.deepStrictEqual([...journal.entries.keys()], ["entry_3_0", "entry_3_1", "entry_12_0"])
  })

  it("journal I2: of more than 100 the consolidated are put away, the least important first, of these the oldest", () => {
    const full = many(MAX_ENTRIES, (index) => (index % 2 === 0 ? 2 : 9))
    const marked = markConsolidated(full, ["entry_5_0", "entry_8_0", "entry_6_0", "entry_nobody"])
    assert.deepStrictEqual([...marked.consolidated], ["entry_5_0", "entry_8_0", "entry_6_0"])
    let journal = marked
    const order: Array<string> = []
    const sizes: Array<number> = []
    for (let tick = 200; tick < 205; tick++) {
      const { result, state } = addEntry(
        journal,
        { content: "New", source_type: "direct" },
        { tick, now: NOW + 60_000 }
      )
      order.push(...result.put_away)
      journal = state
      sizes.push(journal.entries.size)
    }
    assert.deepStrictEqual(order, ["entry_6_0", "entry_8_0", "entry_5_0"])
    assert.deepStrictEqual(sizes, [100, 100, 100, 101, 102])
    assert.deepStrictEqual([...journal.consolidated], [])
  })

  it("journal I2 F115: what no dream has read stays at hand, however many they are and however little they matter", () => {
    const journal = kept(
      many(3 * MAX_ENTRIES, () => 1),
      { source_type: "environmental" },
      500
    )
    assert.strictEqual(journal.entries.size, 3 * MAX_ENTRIES + 1)
  })

  it("journal I4: an importance says who gave it, and a model is no person", () => {
    const of = (wanted: Partial<NewEntry>) => entry(kept(none, wanted), "entry_1_0").importance_method
    assert.deepStrictEqual(
      [
        of({}),
        of({ importance: 3 }),
        of({ importance: 3, importance_method: "llm" }),
        of({ importance_method: "llm" })
      ],
      ["heuristic", "manual", "llm", "heuristic"]
    )
  })

  it("journal I2 I5 F115: after every change the records hold every entry that ever was, at hand or put away", () => {
    const step = fc.record({
      tick: fc.integer({ min: 1, max: 3 }),
      importance: fc.integer({ min: 1, max: 10 }),
      mark: fc.option(fc.nat(120))
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120, size: "max" }), (steps) => {
        const stored = {
          journal: new Map<string, Json>(),
          state: new Map<string, Json>(),
          episode: new Map<string, Json>()
        }
        const ever = new Map<string, string>()
        let journal = none
        for (const { importance, mark, tick } of steps) {
          const added = kept(journal, { importance, content: `${LONG} ${ever.size}` }, tick)
          for (const { content, id } of added.entries.values()) ever.set(id, content)
          const next = mark === null ? added : markConsolidated(added, [[...added.entries.keys()][mark] ?? ""])
          for (const { key, kind, value } of journalChanges(journal, next)) {
            if (kind !== "journal" && kind !== "state" && kind !== "episode") assert.fail(`writes ${kind}`)
            else if (value === null) stored[kind].delete(key)
            else stored[kind].set(key, value)
          }
          journal = next
          const all = [...stored.journal, ...stored.episode].map(([id, value]) => [id, (value as JournalEntry).content])
          assert.deepStrictEqual(new Map(all as Array<[string, string]>), ever)
          assert.strictEqual(all.length, ever.size)
          assert.deepStrictEqual(journalOf(stored.journal, stored.state), journal)
          for (const id of journal.consolidated) assert.isTrue(journal.entries.has(id))
        }
      }),
      // A hundred entries take long to shrink.
      { ...RUNS, numRuns: 40, endOnFailure: true }
    )
  })

  it("journal I3: in whatever order its records are held, the oldest entry is read first", () => {
    const journal = many(12, () => 5)
    const written = [
      ...Array.from({ length: 12 }, () => 20).reduce((all, tick) => kept(all, {}, tick), journal).entries
    ]
    for (const held of [written, written.toReversed(), written.toSorted(([a], [b]) => (a < b ? -1 : 1))]) {
      const read = journalOf(new Map<string, Json>(held), new Map())
      assert.deepStrictEqual(
        [...read.entries.keys()],
        written.map(([id]) => id)
      )
    }
  })

  it("journal: a review gives the newest first, and only what fits every condition", () => {
    const journal = [
      { content: "Bob pays in silver", tags: ["money"], importance: 8 },
      { content: "Alice pays in gold", tags: ["money"], importance: 4 },
      { content: "Fog on the quay", source_type: "environmental" as const, importance: 2 }
    ].reduce((state, wanted, index) => kept(state, wanted, index === 2 ? 10 : 9, NOW), none)
    const ids = (review: Parameters<typeof reviewJournal>[1]) =>
      reviewJournal(journal, review).entries.map(({ id }) => id)
    assert.deepStrictEqual(ids({}), ["entry_10_0", "entry_9_1", "entry_9_0"])
    assert.deepStrictEqual(ids({ tag: "money" }), ["entry_9_1", "entry_9_0"])
    assert.deepStrictEqual(ids({ tag: "money", min_importance: 5 }), ["entry_9_0"])
    assert.deepStrictEqual(ids({ text: "PAYS gold" }), ["entry_9_1"])
    assert.deepStrictEqual(ids({ source_type: "environmental" }), ["entry_10_0"])
    assert.deepInclude(reviewJournal(journal, { limit: 1 }), { found: 3, kept: 3 })
    assert.strictEqual(reviewJournal(journal, { limit: 1 }).entries.length, 1)
  })
})
