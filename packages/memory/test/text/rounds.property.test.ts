import { assert, describe, test } from "@effect/vitest"
import { type Hit, joined as bothJoined, type MemoryEntry, type RecallQuery, termsOf } from "@reverie/memory"
import { AssistantId } from "@reverie/protocol"
import * as fc from "fast-check"
import { firstRound, secondRound } from "../../src/text/rounds.ts"

const NOW = Date.UTC(2026, 0, 1)
const LONG_AGO = NOW - 900 * 86_400_000
const HOUR = 3_600_000
const ada = AssistantId.make("ada")

const asking = (text: string, request: Partial<RecallQuery> = {}): RecallQuery => ({
  text,
  search: "fts",
  scope: "own",
  limit: 10,
  now: NOW,
  ...request
})

const message = (no: number, text: string, request: Partial<MemoryEntry> = {}): MemoryEntry => ({
  id: `m/${no}/0`,
  kind: "message",
  at: LONG_AGO + no * 1_000,
  text,
  speaker: "Kim",
  entities: [],
  tags: [],
  trust: 1,
  importance: 1,
  readers: "owner",
  ...request
})

const hit = (entry: MemoryEntry, score: number, why: Partial<Hit["why"]> = {}): Hit => ({
  owner: ada,
  entry,
  score,
  why: { terms: [], lexical: { rank: 1, score }, facts: [], boosts: [], ...why }
})

const joined = (...rounds: Parameters<typeof bothJoined>): ReadonlyArray<Hit> => bothJoined(...rounds).hits
const certaintyOf = (text: string, hits: ReadonlyArray<Hit>): number =>
  bothJoined(asking(text), hits, []).certainty ?? -1

const idsOf = (hits: ReadonlyArray<Hit>): ReadonlyArray<string> => hits.map(({ entry }) => entry.id)

const anyHits: fc.Arbitrary<ReadonlyArray<Hit>> = fc
  .uniqueArray(
    fc.record({
      no: fc.integer({ min: 1, max: 40 }),
      text: fc.constantFrom("the tide", "a puppy", "our dog", "a rope", "Lee has a pet"),
      score: fc.double({ min: 0.01, max: 20, noNaN: true }),
      hour: fc.integer({ min: 0, max: 200 })
    }),
    { maxLength: 20, selector: ({ no }) => no }
  )
  .map((rows) => rows.map(({ hour, no, score, text }) => hit(message(no, text, { at: LONG_AGO + hour * HOUR }), score)))

describe("rounds", () => {
  test("D1 a short question is asked again in all its words and others that speak of the same", () => {
    const again = secondRound(asking("Which pets does Kim have?"))
    const terms = new Set(termsOf(again?.text ?? ""))
    for (const word of ["pets", "Kim", "dog", "puppy", "cat"]) assert.include([...terms], termsOf(word)[0])
    assert.isUndefined(secondRound(asking("Where is the zorn of Kim?")))
    assert.isUndefined(secondRound(asking("Which pets does Kim have?", { search: "vector", vector: [1] })))
    const long = Array.from({ length: 20 }, (_, index) => `word${index}`).join(" ")
    assert.isUndefined(secondRound(asking(`${long} pets`)))
  })

  test("L2 a general word leads to its kinds, a kind not to the general word", () => {
    assert.notInclude(termsOf(secondRound(asking("Where does the dog sleep?"))?.text ?? ""), "pet")
  })

  test("D4 both rounds are asked under the same conditions, for more hits than are wanted", () => {
    const query = asking("Which pets does Kim have?", { limit: 40, kinds: ["message"], since: 5, minTrust: 0.5 })
    const { limit, ...conditions } = firstRound(query)
    assert.isAbove(limit, query.limit)
    const { text: _, ...again } = secondRound(query) ?? query
    const { text: __, ...first } = { ...conditions, limit }
    assert.deepStrictEqual(again, first)
  })

  test("D4 every hit is of one of the rounds, and stands there once", () => {
    fc.assert(
      fc.property(
        anyHits,
        anyHits,
        fc.integer({ min: 1, max: 30 }),
        fc.constantFrom("Which pets has Kim?", "pet"),
        (first, second, limit, text) => {
          const ids = idsOf(joined(asking(text, { limit }), first, second))
          const known = new Set([...idsOf(first), ...idsOf(second)])
          assert.deepStrictEqual(ids.length, Math.min(limit, known.size))
          assert.deepStrictEqual(new Set(ids).size, ids.length)
          for (const id of ids) assert.isTrue(known.has(id))
        }
      )
    )
  })

  test("D1 without a second round the order of the first stays, unless several things are asked for", () => {
    fc.assert(
      fc.property(anyHits, (hits) => {
        const sorted = hits.toSorted((a, b) => b.score - a.score)
        assert.deepStrictEqual(idsOf(joined(asking("the tide"), sorted, [])), idsOf(sorted).slice(0, 10))
      })
    )
  })

  test("D2 a related word counts where the word itself is not said, and less", () => {
    const query = asking("Which pet sleeps here?")
    const [pet, dog, rope] = [message(1, "the pet"), message(500, "a dog"), message(900, "a rope")]
    const first = [hit(pet, 3), hit(rope, 2.9)]
    const second = [hit(pet, 3), hit(dog, 2), hit(rope, 2.9)]
    assert.deepStrictEqual(idsOf(joined(query, first, second)), ["m/1/0", "m/900/0", "m/500/0"])
    const alone = joined(query, [hit(rope, 0.4)], [hit(rope, 0.4), hit(dog, 0.4)])
    assert.deepStrictEqual(idsOf(alone)[0], "m/900/0")
    const alike = joined(query, [hit(dog, 2), hit(rope, 2)], [hit(rope, 2), hit(dog, 2)])
    assert.deepStrictEqual(idsOf(alike), ["m/500/0", "m/900/0"])
  })

  test("D2 what related words alone brought up says so, and names no word that was not asked for", () => {
    const found = hit(message(2, "a dog"), 2, { terms: ["dog"] })
    const [, second] = joined(asking("Which pet sleeps here?"), [hit(message(1, "the pet"), 3)], [found])
    assert.deepStrictEqual(second?.why, { terms: [], facts: [], boosts: ["related"] })
  })

  test("D3 where several things are asked for, another message of one conversation gives way to another one", () => {
    const near = [1, 2, 3].map((no) => hit(message(no, "a rope"), 3 - no / 100))
    const far = hit(message(4, "a rope", { at: LONG_AGO + 200 * HOUR }), 2.9)
    const order = (question: string) => idsOf(joined(asking(question), [...near, far], []))
    assert.deepStrictEqual(order("the rope"), ["m/1/0", "m/2/0", "m/3/0", "m/4/0"])
    assert.deepStrictEqual(order("Which ropes has Kim?"), ["m/1/0", "m/2/0", "m/4/0", "m/3/0"])
  })

  test("U1 with vectors, nearness counts for what either round found", () => {
    const vector = (score: number) => ({ vector: { rank: 1, score } })
    const many = Array.from({ length: 30 }, (_, at) =>
      hit(message(100 + 10 * at, "a pet"), 1 + at / 100, vector(at / 100))
    )
    const [near, wide] = [hit(message(1, "a dog"), 1, vector(0.9)), hit(message(50, "a cat"), 1, vector(-0.9))]
    const query = asking("Which pet sleeps here?", { search: "hybrid", vector: [1], limit: 40 })
    const ids = idsOf(joined(query, many, [...many, wide, near]))
    assert.isBelow(ids.indexOf(near.entry.id), ids.indexOf(wide.entry.id))
  })

  test("C1 a question whose words are said is certain, one whose words are not said is not", () => {
    const hits = [hit(message(1, "The ferry was late.", { speaker: "Lee" }), 3), hit(message(500, "a rope"), 1)]
    assert.strictEqual(certaintyOf("Was the ferry late?", hits), 1)
    assert.strictEqual(certaintyOf("Which vaccine did the surgeon choose?", hits), 0)
    assert.strictEqual(certaintyOf("Was the ferry late?", []), 0)
    const part = certaintyOf("Which captain of the rope sings shanties loudly?", hits)
    assert.isTrue(part > 0 && part < 1, String(part))
    assert.isUndefined(bothJoined(asking("the ferry", { search: "vector", vector: [1] }), hits, []).certainty)
  })

  test("C1 it is between 0 and 1, whatever was found, and of the answer, not of how much of it is wanted", () => {
    fc.assert(
      fc.property(
        anyHits,
        anyHits,
        fc.constantFrom("Which pets has Kim?", "Lee's rope and tide", "zorn"),
        (first, second, text) => {
          const [few, many] = [1, 20].map((limit) => bothJoined(asking(text, { limit }), first, second).certainty ?? -1)
          assert.isTrue(few !== undefined && few >= 0 && few <= 1, String(few))
          assert.strictEqual(few, many)
        }
      )
    )
  })

  test("C2 what someone else did makes an answer about a person uncertain, what is said of the person does not", () => {
    const question = "When did Kim paint the boat?"
    const own = hit(message(1, "I like the sea.", { speaker: "Kim" }), 1)
    const by = (speaker: string, text: string) => [hit(message(500, text, { speaker }), 4), own]
    assert.strictEqual(certaintyOf(question, by("Kim", "I did paint the boat in spring.")), 1)
    assert.isBelow(certaintyOf(question, by("Lee", "Thanks, Kim! I did paint the boat in spring.")), 0.2)
    assert.strictEqual(certaintyOf(question, by("Lee", "In spring Kim did paint the boat.")), 1)
  })
})
