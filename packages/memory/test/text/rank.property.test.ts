import { assert, describe, test } from "@effect/vitest"
import { type Candidate, candidateLimit, type MemoryEntry, rank, type RecallQuery, searchKindOf } from "@reverie/memory"
import { AssistantId } from "@reverie/protocol"
import * as fc from "fast-check"

const NOW = Date.UTC(2026, 0, 1)
const DAY_MILLIS = 86_400_000
const ada = AssistantId.make("ada")

const anEntry = (request: Partial<MemoryEntry> = {}): MemoryEntry => ({
  id: "p/a",
  kind: "passage",
  at: NOW - 1_000 * DAY_MILLIS,
  text: "the tide",
  entities: [],
  tags: [],
  trust: 1,
  importance: 1,
  readers: "owner",
  ...request
})

const aCandidate = (request: Partial<Candidate> & { readonly entry?: MemoryEntry } = {}): Candidate => ({
  owner: ada,
  entry: anEntry(),
  facts: [],
  lexical: 1,
  ...request
})

const asking = (request: Partial<RecallQuery> = {}): RecallQuery => ({
  text: "tide",
  search: "fts",
  scope: "own",
  limit: 10,
  now: NOW,
  ...request
})

const scoreOf = (candidate: Candidate, ...others: ReadonlyArray<Candidate>): number =>
  rank([candidate, ...others], asking()).find(({ entry }) => entry.id === candidate.entry.id)?.score ?? Number.NaN

const message = (no: number, request: Partial<MemoryEntry> = {}): MemoryEntry =>
  anEntry({ id: `m/${no}/0`, kind: "message", at: NOW - 900 * DAY_MILLIS + no * 1_000, ...request })

const anyCandidate: fc.Arbitrary<Candidate> = fc
  .record({
    no: fc.integer({ min: 1, max: 60 }),
    text: fc.constantFrom("the tide", "Which tide?", "a rope and a tide", "so it is"),
    days: fc.integer({ min: 0, max: 400 }),
    importance: fc.integer({ min: 1, max: 10 }),
    speaker: fc.constantFrom("Kim", "Lee"),
    lexical: fc.double({ min: 0.01, max: 20, noNaN: true }),
    vector: fc.double({ min: -1, max: 1, noNaN: true })
  })
  .map(({ days, importance, lexical, no, speaker, text, vector }) =>
    aCandidate({ lexical, vector, entry: message(no, { at: NOW - days * DAY_MILLIS, importance, speaker, text }) })
  )

const anyCandidates = fc.uniqueArray(anyCandidate, { maxLength: 20, selector: ({ entry }) => entry.id })

describe("rank", () => {
  test("R1 recency and importance move a score by at most a fifth", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -10, max: 10_000 }),
        fc.double({ min: -5, max: 20, noNaN: true }),
        (days, importance) => {
          const plain = scoreOf(aCandidate({ entry: anEntry({ at: 0 }) }))
          const nudged = scoreOf(aCandidate({ entry: anEntry({ at: NOW - days * DAY_MILLIS, importance }) }))
          assert.isAtLeast(nudged, plain * 0.999_999)
          assert.isAtMost(nudged, plain * 1.2)
        }
      )
    )
  })

  test("R2 the same candidates give the same hits, in whatever order they come", () => {
    fc.assert(
      fc.property(anyCandidates, fc.constantFrom("fts", "vector", "hybrid"), (candidates, search) => {
        const query = asking({ text: "Kim's tide and rope", search, vector: [1] })
        assert.deepStrictEqual(rank(candidates.toReversed(), query), rank(candidates, query))
      })
    )
  })

  test("R3 I4 every hit says by which search it was found, at which place, and shows no context", () => {
    fc.assert(
      fc.property(anyCandidates, fc.constantFrom("fts", "vector", "hybrid"), (candidates, search) => {
        const hits = rank(
          candidates.map((each) => ({ ...each, entry: { ...each.entry, context: "around" } })),
          asking({ search, vector: [1], limit: 100 })
        )
        assert.lengthOf(hits, candidates.length)
        for (const { entry, why } of hits) {
          assert.notProperty(entry, "context")
          assert.strictEqual(why.lexical !== undefined, search !== "vector")
          assert.strictEqual(why.vector !== undefined, search !== "fts")
        }
        const places = hits.flatMap(({ why }) => why.lexical?.rank ?? [])
        assert.sameMembers(
          places,
          places.map((_, index) => index + 1)
        )
      })
    )
  })

  test("F107 hybrid: what both searches find comes before what one of them finds better", () => {
    const [a, b, c] = ["p/a", "p/b", "p/c"].map((id) => anEntry({ id }))
    const hits = rank(
      [
        { owner: ada, entry: a ?? anEntry(), facts: [], lexical: 9 },
        { owner: ada, entry: b ?? anEntry(), facts: [], lexical: 1, vector: 0.1 },
        { owner: ada, entry: c ?? anEntry(), facts: [], vector: 0.9 }
      ],
      asking({ search: "hybrid", vector: [1] })
    )
    assert.strictEqual(hits[0]?.entry.id, "p/b")
  })

  test("without a vector every search is one for words", () => {
    assert.strictEqual(searchKindOf(asking({ search: "hybrid" })), "fts")
    assert.strictEqual(searchKindOf(asking({ search: "vector", vector: [] })), "fts")
    assert.strictEqual(searchKindOf(asking({ search: "vector", vector: [1] })), "vector")
    assert.strictEqual(candidateLimit(1), 60)
    assert.strictEqual(candidateLimit(100), 400)
  })
})

describe("what refines the search for words", () => {
  test("who is asked about comes first, unless several are named", () => {
    const kim = aCandidate({ entry: message(2, { speaker: "Kim" }) })
    const lee = aCandidate({ entry: message(400, { speaker: "Lee" }) })
    const first = (text: string) => rank([kim, lee], asking({ text }))[0]
    assert.strictEqual(first("Kim's tide")?.entry.speaker, "Kim")
    assert.deepStrictEqual(first("Kim's tide")?.why.boosts, ["speaker"])
    assert.deepStrictEqual(first("the tide of Kim and Lee")?.why.boosts, [])
    assert.deepStrictEqual(first("tide")?.why.boosts, [])
  })

  test("what only asks tells less than what says something", () => {
    const said = aCandidate({ entry: message(2, { text: "The tide is high." }) })
    const asked = aCandidate({ entry: message(400, { text: "Is the tide high?" }) })
    assert.isAbove(scoreOf(said, asked), scoreOf(asked, said))
  })

  test("what contains the words comes before what stands beside them", () => {
    const said = aCandidate({ entry: anEntry({ id: "p/said" }) })
    const around = aCandidate({ entry: anEntry({ id: "p/around", text: "so it is" }) })
    const told = aCandidate({
      entry: anEntry({ id: "p/told", text: "so it is" }),
      facts: [{ id: "f", text: "a tide" }]
    })
    assert.isAbove(scoreOf(said, around), scoreOf(around, said))
    assert.strictEqual(scoreOf(told, around), scoreOf(said, around))
  })

  test("messages that stand next to each other lift each other; what is far in place or time does not", () => {
    const left = aCandidate({ entry: message(2) })
    const alone = scoreOf(left)
    const lifted = (right: MemoryEntry) => scoreOf(left, aCandidate({ entry: right })) > alone
    assert.isTrue(lifted(message(4)))
    assert.isFalse(lifted(message(40)))
    assert.isFalse(lifted(message(4, { at: NOW - 800 * DAY_MILLIS })))
    assert.isFalse(lifted(anEntry({ id: "p/b" })))
  })

  test("N2 the reply to a question that has the words comes before what only has one of them, unless one speaks on", () => {
    const ask = aCandidate({
      lexical: 10,
      entry: message(2, { speaker: "Kim", text: "Where is the storm lantern?" })
    })
    const reply = (speaker: string, no = 4) =>
      aCandidate({
        lexical: 3,
        entry: message(no, { speaker, text: "Behind the nets, in the loft." })
      })
    const other = aCandidate({
      lexical: 6,
      entry: message(400, { speaker: "Lee", text: "A storm came up." })
    })
    const query = asking({ text: "the storm lantern" })
    const orderOf = (...candidates: ReadonlyArray<Candidate>) =>
      rank(candidates, query).map(({ entry, why }) => [entry.id, why.boosts.includes("reply")])
    assert.deepStrictEqual(orderOf(ask, reply("Lee"), other).slice(0, 2), [
      ["m/4/0", true],
      ["m/2/0", false]
    ])
    for (const candidates of [
      [ask, reply("Kim"), other],
      [ask, reply("Lee", 40), other]
    ]) {
      assert.deepStrictEqual(
        orderOf(...candidates).map(([, isReply]) => isReply),
        [false, false, false]
      )
      assert.strictEqual(orderOf(...candidates)[1]?.[0], "m/400/0")
    }
  })

  test("N2 what follows a message gains more by it than what precedes it", () => {
    const at = (no: number) => aCandidate({ entry: message(no, { speaker: "Kim" }) })
    assert.isAbove(scoreOf(at(4), at(2)), scoreOf(at(2), at(4)))
  })

  test("N1 a nudge finds nothing: what no word found has no score", () => {
    const hits = rank([aCandidate({ entry: message(2) }), { owner: ada, entry: message(4), facts: [] }], asking())
    assert.lengthOf(hits, 1)
  })
})
