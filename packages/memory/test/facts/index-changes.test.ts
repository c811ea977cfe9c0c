import { assert, describe, it } from "@effect/vitest"
import { type IndexChange, type MemoryEntry } from "../../src/index.ts"
import { aFact, NOON } from "./facts.ts"
import { factChanges, factRecordChanges } from "../../src/indexing/indexing.ts"

const fact = aFact("fact_1_0", { text: "Bob sails.", sources: ["m/1/0", "j/entry_1_0"], entities: ["Bob"] })
const entry: MemoryEntry = {
  id: "f/fact_1_0",
  kind: "fact",
  at: NOON,
  text: "Bob sails.",
  speaker: "Caroline",
  thread: "Caroline",
  entities: ["Bob"],
  tags: [],
  trust: 0.9,
  importance: 5,
  readers: "owner"
}
const attach = (of: string, text: string | null): IndexChange => ({ type: "fact", of, fact: "fact_1_0", text })

describe("factChanges", () => {
  it("X1 a fact that holds is put, and attached to each of its sources", () => {
    assert.deepStrictEqual(factChanges(undefined, fact), [
      { type: "put", entry },
      attach("m/1/0", "Bob sails."),
      attach("j/entry_1_0", "Bob sails.")
    ])
  })

  it("X1 one that does not hold is removed, and taken from its sources", () => {
    for (const state of ["superseded", "retired", "quarantined"] as const) {
      const gone: ReadonlyArray<IndexChange> = [
        { type: "remove", id: "f/fact_1_0" },
        attach("m/1/0", null),
        attach("j/entry_1_0", null)
      ]
      assert.deepStrictEqual(factChanges(fact, { ...fact, state }), gone)
      assert.deepStrictEqual(factChanges(undefined, { ...fact, state }), gone)
    }
  })

  it("X4 it belongs to whom it was learnt of, and to no one where an operator wrote it; a diary belongs to no conversation", () => {
    const threadOf = (change: Partial<typeof fact>) => {
      const [put] = factChanges(undefined, { ...fact, ...change })
      return put?.type === "put" ? put.entry.thread : "none"
    }
    assert.strictEqual(threadOf({}), "Caroline")
    assert.strictEqual(threadOf({ sources: ["w/1", "m/7/0"], thread: "" }), "")
    assert.strictEqual(threadOf({ origin: { type: "person", name: "kim" }, thread: "Caroline" }), "Caroline")
    assert.strictEqual(threadOf({ sources: ["j/entry_1_0"], origin: { type: "self", name: "journal" } }), undefined)
    assert.strictEqual(threadOf({ origin: { type: "tool", name: "clock" } }), undefined)
  })

  it("X2 says only what differs", () => {
    assert.deepStrictEqual(
      factChanges(fact, { ...fact, linked: true, links: [{ to: "x", why: "x" }], profiled: true }),
      []
    )
    assert.deepStrictEqual(factChanges(fact, { ...fact, sources: [...fact.sources, "m/2/0"] }), [
      attach("m/2/0", "Bob sails.")
    ])
    assert.deepStrictEqual(factChanges(fact, { ...fact, trust: 0.5 }), [
      { type: "put", entry: { ...entry, trust: 0.5 } }
    ])
    assert.deepStrictEqual(factChanges({ ...fact, state: "retired" }, fact), factChanges(undefined, fact))
    assert.deepStrictEqual(factChanges(fact, { ...fact, sources: ["m/1/0"] }), [attach("j/entry_1_0", null)])
  })

  it("a record that is no fact leaves the index", () => {
    assert.deepStrictEqual(
      factRecordChanges({ kind: "fact", key: "fact_1_0", value: { ...fact } }),
      factChanges(undefined, fact)
    )
    for (const value of [null, { id: "fact_1_0" }, 3]) {
      assert.deepStrictEqual(factRecordChanges({ kind: "fact", key: "fact_1_0", value }), [
        { type: "remove", id: "f/fact_1_0" }
      ])
    }
  })
})
