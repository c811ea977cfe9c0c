import { assert, describe, it } from "@effect/vitest"
import { anAddress } from "@reverie/testkit"
import * as fc from "fast-check"
import {
  applyChanges,
  candidateLimit,
  fieldsOf,
  fits,
  type Hit,
  type IndexChange,
  indexInSteps,
  type MemoryEntry,
  queryTerms,
  rank,
  rarity,
  type RecallQuery,
  type RecentEntries,
  searchRecent,
  indexWeights
} from "../src/index.ts"

const words = fc.array(fc.constantFrom("tug", "berth", "tide", "crane", "fog", "pilot", "quay", "net", "the"), {
  maxLength: 12
})

const ids = fc.oneof(
  fc.tuple(fc.integer({ min: 1, max: 60 }), fc.nat(2)).map(([no, index]) => `m/${no}/${index}`),
  fc.nat(30).map((key) => `p/passage-${key}`)
)

const entryOf = (id: string, text: string, at: number): MemoryEntry => ({
  id,
  kind: id.startsWith("m/") ? "message" : "passage",
  text,
  at,
  entities: [],
  tags: [],
  readers: [],
  trust: 0.6,
  importance: 5
})

const change: fc.Arbitrary<IndexChange> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(ids, words, fc.nat(9)).map(([id, said, at]): IndexChange => ({
      type: "put",
      entry: entryOf(id, said.join(" "), at)
    }))
  },
  { weight: 1, arbitrary: ids.map((id): IndexChange => ({ type: "remove", id })) },
  {
    weight: 1,
    arbitrary: fc.tuple(ids, fc.nat(2), fc.option(words)).map(([of, fact, said]): IndexChange => ({
      type: "fact",
      of,
      fact: `f${fact}`,
      text: said === null ? null : said.join(" ")
    }))
  }
)

const ada = anAddress("ada").assistant

const query = (text: string): RecallQuery => ({ text, search: "fts", scope: "own", limit: 5, now: 10 })

/** Every entry weighed by itself, every term looked for in every entry. */
const plainly = (recent: RecentEntries, asked: RecallQuery): ReadonlyArray<Hit> => {
  const all = [...recent.values()].map(({ entry, facts }) => {
    const attached = [...facts].map(([id, text]) => ({ id, text }))
    return { owner: ada, entry, facts: attached, weights: indexWeights(fieldsOf(entry, attached)) }
  })
  const terms = queryTerms(asked.text).map(({ term }) => term)
  const candidates = all
    .map(({ weights, ...rest }) => ({
      ...rest,
      lexical: terms.reduce((sum, term) => {
        const having = all.filter((each) => each.weights.has(term)).length
        return sum + rarity(all.length, having) * (weights.get(term) ?? 0)
      }, 0)
    }))
    .filter(({ entry, lexical }) => lexical > 0 && fits(entry, asked))
    .toSorted((a, b) => b.lexical - a.lexical)
    .slice(0, candidateLimit(asked.limit))
  return rank(candidates, { ...asked, search: "fts" })
}

describe("recent entries", () => {
  it("R1 R2 whatever was changed between two questions, both are answered as by a plain search", () => {
    let found = 0
    fc.assert(
      fc.property(
        fc.array(fc.array(change, { maxLength: 60 }), { minLength: 1, maxLength: 4 }),
        words,
        fc.boolean(),
        (batches, said, inSteps) => {
          let recent: RecentEntries = new Map()
          for (const batch of batches) {
            recent = applyChanges(batch, recent)
            if (inSteps) for (const _ of indexInSteps(recent, 8)) assert.isAbove(recent.size, 0)
            const asked = query(said.join(" "))
            const hits = searchRecent(recent, ada, asked)
            assert.deepStrictEqual(hits, plainly(recent, asked))
            found += hits.length
          }
        }
      )
    )
    assert.isAbove(found, 100)
  })
})
