import { assert, describe, it } from "@effect/vitest"
import type { Fact } from "@reverie/memory"
import { messageId } from "@reverie/memory"
import * as fc from "fast-check"
import { type RetainedDetail, retained, type Retained, windowParts } from "../../src/index.ts"
import { anyHistory, result, said, user } from "../histories.ts"
import { placed, replayAll } from "./compacted.ts"

const aFact = (id: string, text: string, some: Partial<Fact> = {}): Fact => ({
  id,
  text,
  at: 0,
  learnt_at: 0,
  sources: ["m/1/0"],
  origin: { type: "person", name: "Ann" },
  trust: 0.9,
  importance: 5,
  entities: [],
  links: [],
  state: "active",
  linked: false,
  profiled: false,
  ...some
})

const asMemory = ({ id, text }: Fact) => ({ id: `f/${id}`, text })

const pieces = [
  "Anna",
  "the ferry Birch",
  "berth 14",
  "1,200 kroner",
  "on 6 March 2025",
  "at 14:30",
  "2025-04-01",
  "the tide"
]
const text = fc
  .array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 5 })
  .map((some) => `He told ${some.join(" and ")}.`)
const life = fc.record({
  texts: fc.array(text, { minLength: 1, maxLength: 6 }),
  facts: fc.array(fc.tuple(text, fc.constantFrom("active", "quarantined", "retired", "superseded", "proposed")), {
    maxLength: 4
  }),
  summary: text,
  more: text
})

const all = ({ inMemory, inSummary, lost }: Retained): ReadonlyArray<RetainedDetail> => [
  ...inSummary,
  ...inMemory,
  ...lost
]
const named = ({ kind, text }: RetainedDetail): string => `${kind} ${text}`

describe("what is left of what was compacted", () => {
  it("R1 R2 R3 each detail is in one place, once, with a message that says it; more text loses none", () => {
    const seen = { lost: 0, inMemory: 0, inSummary: 0 }
    fc.assert(
      fc.property(life, ({ facts: some, more, summary, texts }) => {
        const compacted = placed(texts.map((each, at) => (at % 2 === 0 ? user(each) : said(each))))
        const facts = some.map(([each, state], at) => aFact(`fact_1_${at}`, each, { state, sources: ["m/1/0"] }))
        const memories = facts.filter(({ state }) => state === "active").map(asMemory)
        const found = retained({ compacted, facts, memories, summary })
        seen.lost += found.lost.length
        seen.inMemory += found.inMemory.length
        seen.inSummary += found.inSummary.length
        assert.strictEqual(new Set(all(found).map(named)).size, all(found).length)
        const details = all(found).filter(({ kind }) => kind !== "fact")
        for (const { message, text: said } of details) {
          // "14" stands in "14:30" as letters only.
          const stands = new RegExp(`(?<![\\d:,-])${said}(?![\\d:,-])`)
          const first = compacted.find((each) => stands.test(each.message.content))
          assert.strictEqual(message, first === undefined ? "" : messageId(first.place))
        }
        for (const { memory } of found.inMemory)
          assert.include(
            memories.map(({ id }) => id),
            memory
          )
        const isThere = (list: ReadonlyArray<RetainedDetail>, each: RetainedDetail) =>
          list.some((one) => named(one) === named(each))
        const longer = retained({ compacted, facts, memories, summary: `${summary}\n${more}` })
        for (const each of found.inSummary) assert.isTrue(isThere(longer.inSummary, each))
        const wiser = retained({ compacted, facts, memories: [...memories, { id: "j/1", text: more }], summary })
        for (const each of [...found.inSummary, ...found.inMemory]) assert.isFalse(isThere(wiser.lost, each))
        assert.deepStrictEqual(all(longer).map(named).toSorted(), all(found).map(named).toSorted())
      }),
      { numRuns: 1_000 }
    )
    for (const count of Object.values(seen)) assert.isAbove(count, 50)
  })

  it("a number, a name and a date stand in either notation, and not in another value", () => {
    const compacted = placed([
      user("Anna pays 1,200 for berth 14 on 6 March 2025, and Bob waits at 14:30."),
      said("Then Anna has it. The tide is at 3."),
      result("c", "Zoe 99")
    ])
    const facts = [
      aFact("fact_1_0", "Anna pays 1,200 for berth 14."),
      // Learnt twice, and held back once: it is known.
      aFact("fact_0_9", "Bob waits at the quay for Anna.", { state: "quarantined" }),
      aFact("fact_1_1", "Bob waits at the quay for Anna."),
      aFact("fact_1_2", "Bob is late.", { state: "quarantined" }),
      aFact("fact_1_3", "Bob was early.", { state: "retired" })
    ]
    const found = retained({
      compacted,
      facts,
      memories: facts.filter(({ state }) => state === "active").map(asMemory),
      summary: "Anna pays 1200 for berth fourteen (14), on March 6; the tide is at three."
    })
    const shown = (list: ReadonlyArray<RetainedDetail>) =>
      list.map(({ memory, message, text }) => [text, message, memory])
    assert.deepStrictEqual(shown(found.inSummary), [
      ["Anna pays 1,200 for berth 14.", "m/1/0", undefined],
      ["Anna", "m/1/0", undefined],
      ["1,200", "m/1/0", undefined],
      ["14", "m/1/0", undefined],
      ["3", "m/1/1", undefined]
    ])
    assert.deepStrictEqual(shown(found.inMemory), [
      ["Bob waits at the quay for Anna.", "m/1/0", "f/fact_1_1"],
      ["Bob", "m/1/0", "f/fact_1_1"]
    ])
    assert.deepStrictEqual(shown(found.lost), [
      ["Bob is late.", "m/1/0", undefined],
      ["14:30", "m/1/0", undefined],
      ["6 March 2025", "m/1/0", undefined]
    ])
  })

  it("R4 the stamp of a machine is a day, and not its pieces; a time that was said stays one", () => {
    const compacted = placed([said("Filed at 2026-11-27T20:33:16.000Z; the pilot comes on 2026-11-28T18:00.")])
    const { lost } = retained({ compacted, facts: [], memories: [], summary: "" })
    assert.deepStrictEqual(
      lost.map(({ kind, text }) => [kind, text]),
      [
        ["number", "18:00"],
        ["date", "2026-11-27"],
        ["date", "2026-11-28"]
      ]
    )
  })

  it("R5 the parts of a window make up what the record counted", () => {
    let seen = 0
    fc.assert(
      fc.property(fc.array(anyHistory, { minLength: 2, maxLength: 5 }), (parts) => {
        const history = placed(parts.flat())
        const made = replayAll(history, { force: true })
        if (made.skipped) return
        seen++
        const { compaction } = made
        const window = windowParts(compaction, history.slice(0, compaction.compacted_count))
        const sum = (when: "before" | "after") => window.reduce((total, part) => total + part[when], 0)
        assert.deepStrictEqual([sum("before"), sum("after")], [compaction.before.tokens, compaction.after.tokens])
      })
    )
    assert.isAbove(seen, 10)
  })
})
