import { assert, describe, test } from "@effect/vitest"
import {
  type Candidate,
  candidateLimit,
  meantBy,
  type MemoryEntry,
  rank,
  type RecallQuery,
  searchKindOf
} from "@reverie/memory"
import { AssistantId } from "@reverie/protocol"
import * as fc from "fast-check"
import { firstRound } from "../../src/text/rounds.ts"

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

/** Found by its meaning, and by no word. */
const meantOnly = (id: string, vector: number): Candidate => ({ owner: ada, entry: anEntry({ id }), facts: [], vector })

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

  test("F107 hybrid: of two that the words find alike the nearer comes first, and what no word finds comes behind", () => {
    const found = (id: string, lexical: number, vector: number) =>
      aCandidate({ lexical, vector, entry: anEntry({ id: `p/${id}` }) })
    const agreeing = Array.from({ length: 20 }, (_, index) => found(`${10 + index}`, 1 + index / 10, index / 40))
    const hits = rank(
      [...agreeing, found("far", 8, 0.4), found("near", 8, 0.8), meantOnly("p/meant", 0.9)],
      asking({ search: "hybrid", vector: [1], limit: 40 })
    ).map(({ entry }) => entry.id)
    assert.deepStrictEqual(hits.slice(0, 2), ["p/near", "p/far"])
    assert.isAbove(hits.indexOf("p/meant"), hits.indexOf("p/29"))
  })

  test("W2 what belongs to the time that is asked for comes first, what was told soon after it next, and nothing is lost", () => {
    const at = (date: string, id: string): Candidate => aCandidate({ entry: anEntry({ id, at: Date.parse(date) }) })
    const candidates = [
      at("2024-03-01", "p/long"),
      at("2023-06-12", "p/in"),
      at("2023-07-05", "p/soon"),
      at("2023-05-01", "p/before")
    ]
    const found = (text: string) => rank(candidates, asking({ text })).map(({ entry }) => entry.id)
    assert.deepStrictEqual(found("the tide in June 2023").slice(0, 2), ["p/in", "p/soon"])
    assert.lengthOf(found("the tide in June 2023"), 4)
    assert.deepStrictEqual(found("the tide")[0], "p/long")
    const [first] = rank(candidates, asking({ text: "the tide in June 2023" }))
    assert.include(first?.why.boosts ?? [], "time")
  })

  test("without a vector every search is one for words", () => {
    assert.strictEqual(searchKindOf(asking({ search: "hybrid" })), "fts")
    assert.strictEqual(searchKindOf(asking({ search: "vector", vector: [] })), "fts")
    assert.strictEqual(searchKindOf(asking({ search: "vector", vector: [1] })), "vector")
    const candidatesFor = (limit: number) => candidateLimit(firstRound(asking({ limit })).limit)
    assert.strictEqual(candidatesFor(1), 60)
    assert.strictEqual(candidatesFor(100), 400)
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

  test("N3 what a person said comes before the long answer to it, and neither lifts the other", () => {
    const said = aCandidate({ lexical: 8, entry: message(2, { speaker: "Kim" }) })
    const answer = (lexical: number) =>
      aCandidate({
        lexical,
        entry: message(3, { kind: "answer", speaker: "ada", text: `the tide ${"and so on ".repeat(90)}` })
      })
    const [alone, beside] = [scoreOf(said), scoreOf(said, answer(10))]
    assert.strictEqual(beside, alone)
    assert.isAbove(beside, scoreOf(answer(10), said))
    // What says much more of it is found first all the same.
    assert.isBelow(scoreOf(said, answer(16)), scoreOf(answer(16), said))
  })

  test("a long sentence that ends in a question says what it is about", () => {
    const told =
      "Since March I have had a berth for a boat of nine metres at the north quay beside the tide gauge; can you"
    const long = aCandidate({ entry: message(2, { text: `${told} tell me what it costs?` }) })
    const short = aCandidate({ entry: message(400, { text: "Is the tide high?" }) })
    const stated = aCandidate({ entry: message(800, { text: `${told} tell me what it costs.` }) })
    assert.isAbove(scoreOf(long, short), scoreOf(short, long))
    assert.approximately(scoreOf(long, stated), scoreOf(stated, long), 1e-6)
  })

  test("what contains the words comes before what only its facts say, and both before what stands beside them", () => {
    const said = aCandidate({ entry: anEntry({ id: "p/said" }) })
    const around = aCandidate({ entry: anEntry({ id: "p/around", text: "so it is" }) })
    const told = aCandidate({
      entry: anEntry({ id: "p/told", text: "so it is" }),
      facts: [{ id: "f", text: "a tide" }]
    })
    assert.isAbove(scoreOf(said, around), scoreOf(around, said))
    assert.isAbove(scoreOf(told, around), scoreOf(around, told))
    assert.isAbove(scoreOf(said, told), scoreOf(told, said))
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

describe("fusion of words and meaning", () => {
  const hybrid = asking({ search: "hybrid", vector: [1], limit: 100 })
  const idsOf = (candidates: ReadonlyArray<Candidate>, query: RecallQuery = hybrid) =>
    rank(candidates, query).map(({ entry }) => entry.id)
  /** Candidates that the words tell apart, each farther from the next than a nudge can move it. */
  const apart = (count: number, vector: (index: number) => number) =>
    Array.from({ length: count }, (_, index) =>
      aCandidate({ lexical: 2 ** -index, vector: vector(index), entry: anEntry({ id: `p/${100 + index}` }) })
    )

  test("U1 vectors add at most a third of the best that words give", () => {
    fc.assert(
      fc.property(anyCandidates, (candidates) => {
        const byWords = rank(candidates, { ...hybrid, search: "fts" })
        const best = Math.max(...byWords.map(({ why }) => why.lexical?.score ?? 0))
        for (const { score, why } of rank(candidates, hybrid)) {
          const words = (why.lexical?.score ?? 0) / best
          assert.isAtLeast(score, words * 0.999_999)
          assert.isAtMost(score, (words + 0.32) * 1.2)
        }
      })
    )
  })

  test("U2 vectors that say the same of everything change nothing, and those that contradict the words hardly anything", () => {
    const byWords = idsOf(
      apart(15, () => 0.5),
      { ...hybrid, search: "fts" }
    )
    assert.deepStrictEqual(idsOf(apart(15, () => 0.5)), byWords)
    assert.deepStrictEqual(idsOf(apart(15, (index) => index / 15)), byWords)
    const meant = meantOnly("p/other", 0.99)
    assert.strictEqual(idsOf([...apart(15, (index) => index / 15), meant]).at(-1), "p/other")
  })

  test("U2 vectors that agree with the words bring up what no word found", () => {
    const meant = meantOnly("p/other", 0.99)
    const place = idsOf([...apart(30, (index) => 0.6 - index / 60), meant]).indexOf("p/other")
    assert.isBelow(place, 6)
  })

  test("U3 it makes no difference how near an embedder calls near", () => {
    fc.assert(
      fc.property(anyCandidates, fc.constantFrom(0.1, 0.3, 0.5), (candidates, scale) => {
        // Of what is hardly apart rounding leaves nothing.
        const rounded = candidates.map((each) => ({ ...each, vector: Math.round(1_000 * (each.vector ?? 0)) / 1_000 }))
        const squeezed = rounded.map((each) => ({ ...each, vector: 1 - scale + scale * each.vector }))
        const scores = (some: ReadonlyArray<Candidate>) =>
          new Map(rank(some, hybrid).map((hit) => [hit.entry.id, hit.score]))
        const [as, asSqueezed] = [scores(rounded), scores(squeezed)]
        for (const [id, score] of as) assert.approximately(asSqueezed.get(id) ?? Number.NaN, score, 1e-5)
      })
    )
  })

  test("U4 what no word found stands in the order of its nearness, believed or not", () => {
    const meant = Array.from({ length: 9 }, (_, index) => meantOnly(`p/${index}`, ((index * 4) % 9) / 9 - 0.5))
    const nearest = meant.toSorted((a, b) => (b.vector ?? 0) - (a.vector ?? 0)).map(({ entry }) => entry.id)
    assert.deepStrictEqual(idsOf(meant), nearest)
    assert.deepStrictEqual(idsOf([...apart(12, (index) => index / 12), ...meant]).slice(12), nearest)
  })

  test("what stands beside what is meant is lifted with it", () => {
    const agreeing = apart(20, (index) => 0.5 - index / 40)
    const near = aCandidate({ lexical: 0.1, vector: 0.9, entry: message(2) })
    const beside = (no: number) => {
      const hits = rank(
        [...agreeing, near, aCandidate({ lexical: 0.1, vector: 0, entry: message(no, { at: 0 }) })],
        hybrid
      )
      return hits.find(({ entry }) => entry.id === `m/${no}/0`)?.score ?? Number.NaN
    }
    const lifted = rank([...agreeing, near, aCandidate({ lexical: 0.1, vector: 0, entry: message(4) })], hybrid)
    assert.isAbove(lifted.find(({ entry }) => entry.id === "m/4/0")?.score ?? 0, beside(4) + 0.01)
  })
})

describe("what a question means", () => {
  const said = (speaker: string) => ({ entry: message(2, { speaker }) })

  test("U5 names of those who speak are left out, those of others are not", () => {
    assert.strictEqual(
      meantBy("What did Kim\u2019s crew paint for Rolf?", [said("Kim"), said("Lee")]),
      "What did crew paint for Rolf?"
    )
    assert.strictEqual(meantBy("what did kim berg paint?", [said("Kim Berg")]), "what did paint?")
    assert.strictEqual(meantBy("Was hat Ümit gemalt?", [said("Ümit")]), "Was hat gemalt?")
    assert.strictEqual(meantBy("Which berth is free?", [said("Kim")]), "Which berth is free?")
    assert.strictEqual(meantBy("Where is the berg?", [said("Kim Berg")]), "Where is the berg?")
  })

  test("U5 a question of names alone is asked as it is, and any text has a meaning", () => {
    for (const question of ["Who is Kim?", "Kim", "Kim, Lee?", "", "?!"]) {
      assert.strictEqual(meantBy(question, [said("Kim"), said("Lee")]), question)
    }
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (question, speaker) => {
        assert.isTrue(question.trim() === "" || meantBy(question, [said(speaker)]) !== "")
      })
    )
  })
})
