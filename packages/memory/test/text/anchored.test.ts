import { assert, describe, test } from "@effect/vitest"
import { type Hit, joined, type MemoryEntry, type RecallQuery } from "@reverie/memory"
import { AssistantId } from "@reverie/protocol"

const DAY = 86_400_000
const NOW = Date.UTC(2026, 0, 1)
const owner = AssistantId.make("ada")

/** Said so many days ago. Each was found alike. */
const said = (no: number, daysAgo: number, text: string): Hit => {
  const entry: MemoryEntry = {
    id: `m/${no}/0`,
    kind: "message",
    at: NOW - daysAgo * DAY,
    text,
    speaker: "Kim",
    entities: [],
    tags: [],
    trust: 1,
    importance: 1,
    readers: "owner"
  }
  return { owner, entry, score: 10, why: { terms: [], lexical: { rank: 1, score: 10 }, facts: [], boosts: [] } }
}

const hits = [
  said(1, 90, "The pump broke."),
  said(2, 60, "Our trip to Riga begins tomorrow."),
  said(3, 50, "The trip to Riga was wet."),
  said(4, 30, "The mast broke.")
]

const order = (text: string, found: ReadonlyArray<Hit> = hits): ReadonlyArray<string> => {
  const query: RecallQuery = { text, search: "fts", scope: "own", limit: 10, now: NOW }
  return joined(query, found, []).hits.map(({ entry }) => entry.text)
}

const placeOf = (text: string, question: string): number => order(question).indexOf(text)

describe("before and after something", () => {
  test("A1 A2 what lies on the side that is asked for comes sooner", () => {
    for (const question of ["What broke before the trip to Riga?", "What broke prior to the trip to Riga?"])
      assert.isBelow(placeOf("The pump broke.", question), placeOf("The mast broke.", question), question)
    for (const question of ["What broke after the trip to Riga?", "What broke since the trip to Riga?"])
      assert.isBelow(placeOf("The mast broke.", question), placeOf("The pump broke.", question), question)
  })

  test("A1 of what no one speaks of nothing is moved, nor without such a word", () => {
    for (const question of ["What broke before the regatta in Genoa?", "What broke on the trip to Riga?", "Before"])
      assert.deepStrictEqual(
        order(question),
        hits.map(({ entry }) => entry.text),
        question
      )
  })

  test("A3 all of them are found, and those that moved say so", () => {
    const query: RecallQuery = {
      text: "What broke before the trip to Riga?",
      search: "fts",
      scope: "own",
      limit: 10,
      now: NOW
    }
    const found = joined(query, hits, []).hits
    assert.sameMembers(
      found.map(({ entry }) => entry.id),
      hits.map(({ entry }) => entry.id)
    )
    assert.sameMembers(
      found.filter(({ why }) => why.boosts.includes("time")).map(({ entry }) => entry.id),
      ["m/1/0", "m/2/0", "m/3/0"]
    )
  })
})
