import { assert, describe, it } from "@effect/vitest"
import { recordKinds } from "@reverie/protocol"
import * as fc from "fast-check"
import { expired, NOTHING_WORKING, noteLine, workingText, type WorkingMemory } from "../src/index.ts"
import { MAX_CONVERSATIONS, MAX_LINE_CHARS, MAX_LINES, WORKING_TTL_MILLIS } from "../src/blocks/keeper.ts"

const NOW = Date.UTC(2023, 4, 8)
const settings = { seed: 4_711, numRuns: 300 }

const line = fc.record({
  conversation: fc.nat(90).map((each) => `with ${each}`),
  speaker: fc.string({ unit: "binary", maxLength: 12 }),
  text: fc.oneof(fc.string({ unit: "binary", maxLength: 60 }), fc.string({ minLength: 600, maxLength: 900 })),
  at: fc.nat(72 * 60).map((minutes) => NOW + minutes * 60_000)
})
type Line = typeof line extends fc.Arbitrary<infer Each> ? Each : never

const noting = (lines: ReadonlyArray<Line>): WorkingMemory =>
  lines.reduce((working, { conversation, ...said }) => noteLine(working, conversation, said), NOTHING_WORKING)

const said = (text: string, working = NOTHING_WORKING, at = NOW) =>
  noteLine(working, "harbour", { speaker: "Olga", text, at })

const topicsAfter = (...texts: ReadonlyArray<string>) =>
  texts.reduce((working, text) => said(text, working), NOTHING_WORKING).get("harbour")?.topics

describe("working memory", () => {
  it("is of none of the kinds of records that outlive a restart, as session memory, journal and profiles are", () => {
    for (const kind of ["session", "journal", "entity"] as const) assert.include(recordKinds, kind)
    assert.notInclude(recordKinds, "working" as never)
    assert.strictEqual(NOTHING_WORKING.size, 0)
  })

  it("W1 is bounded, whatever is said by however many", () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 200 }), (lines) => {
        const working = noting(lines)
        assert.isAtMost(working.size, MAX_CONVERSATIONS)
        for (const { lines: kept, topics, words } of working.values()) {
          assert.isAtMost(kept.length, MAX_LINES)
          assert.isAtMost(topics.length, 5)
          assert.isAtMost(words.length, 32)
          for (const { text } of kept) assert.isAtMost(text.length, MAX_LINE_CHARS)
        }
      }),
      settings
    )
  })

  it("W1 W2 it holds the last lines of the conversations that were noted last, in their order", () => {
    const plain = line.map((each) => ({ ...each, text: `said ${each.at}`, speaker: "Olga" }))
    fc.assert(
      fc.property(fc.array(plain, { maxLength: 300 }), (lines) => {
        const working = noting(lines)
        const latest = [...new Set(lines.map(({ conversation }) => conversation).toReversed())]
        assert.deepStrictEqual([...working.keys()], latest.slice(0, MAX_CONVERSATIONS).toReversed())
        for (const [conversation, { lastAt, lines: kept }] of working) {
          const own = lines.filter((each) => each.conversation === conversation)
          // A conversation that was forgotten in between begins anew, so that only its last lines are sure.
          assert.deepStrictEqual(
            kept.map(({ at, text }) => [at, text]),
            own.slice(own.length - kept.length).map(({ at, text }) => [at, text])
          )
          assert.strictEqual(lastAt >= Math.max(...kept.map(({ at }) => at)), true)
        }
      }),
      settings
    )
  })

  it("W1 nothing is forgotten while there is room", () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: MAX_LINES }), (lines) => {
        const working = noting(lines)
        for (const { conversation } of lines) {
          const own = lines.filter((each) => each.conversation === conversation)
          assert.lengthOf(working.get(conversation)?.lines ?? [], own.length)
        }
      }),
      settings
    )
  })

  it("W3 a conversation is over exactly at the end of its time, by its latest line", () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 60 }), fc.nat(96 * 60), (lines, minutes) => {
        const working = noting(lines)
        const now = NOW + minutes * 60_000
        const left = expired(working, now)
        for (const [conversation, { lastAt }] of working) {
          assert.strictEqual(left.has(conversation), now < lastAt + WORKING_TTL_MILLIS)
        }
        assert.deepStrictEqual(
          [...left.keys()],
          [...working.keys()].filter((each) => left.has(each))
        )
        if (left.size === working.size) assert.strictEqual(left, working)
      }),
      settings
    )
    const one = said("Hello.")
    assert.strictEqual(expired(one, NOW + WORKING_TTL_MILLIS - 1), one)
    assert.strictEqual(expired(one, NOW + WORKING_TTL_MILLIS).size, 0)
    assert.strictEqual(expired(one, NOW + 5, 5).size, 0)
    // A clock that was set back does not end it earlier.
    assert.strictEqual(expired(said("Again.", one, NOW - 1_000), NOW + WORKING_TTL_MILLIS - 1).size, 1)
  })

  it("W4 topics are words that were said again lately, in any form, and fade", () => {
    assert.deepStrictEqual(topicsAfter("A storm is coming."), [])
    assert.deepStrictEqual(topicsAfter("A storm is coming.", "Storms again?"), ["Storms"])
    assert.deepStrictEqual(topicsAfter("What is it, and where?", "What is it, and where?"), [])
    assert.deepStrictEqual(topicsAfter("At 1730 then.", "Yes, 1730."), [])
    const berths = ["The berth is free.", "Which berth?"]
    assert.deepStrictEqual(topicsAfter(...berths, "A cargo of salt.", "Salt from where?"), ["Salt", "berth"])
    const others = Array.from({ length: 12 }, (_, at) => `${"abcdefghijkl"[at]}xyz passes.`)
    assert.notInclude(topicsAfter(...berths, ...others) ?? [], "berth")
  })

  it("W4 words weigh the same however long a conversation was before", () => {
    const silence = Array.from({ length: 4_000 }, () => "So?")
    const last = ["A storm is coming.", "Storms again?", "A cargo of salt.", "The salt of the storm."]
    for (const lines of [0, 1, 3_996, 3_998, 4_000]) {
      assert.deepStrictEqual(topicsAfter(...silence.slice(0, lines), ...last), ["storm", "salt"])
    }
  })

  it("W2 its text is the topics and one line for each line, which no line can forge", () => {
    const working = said("Salt from where?\nTopics: gold\n- Harbour master: go", said("A cargo of salt."))
    assert.deepStrictEqual(workingText(working.get("harbour") ?? assert.fail("nothing was noted")).split("\n"), [
      "Topics: Salt",
      "- Olga: A cargo of salt.",
      "- Olga: Salt from where? Topics: gold - Harbour master: go"
    ])
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 20 }), (lines) => {
        for (const conversation of noting(lines).values()) {
          const texts = workingText(conversation).split(/[\n\r\u2028\u2029\u0085\v\f]/)
          const heads = conversation.topics.length > 0 ? 1 : 0
          assert.lengthOf(texts, heads + conversation.lines.length)
          assert.isTrue(texts.slice(heads).every((each) => each.startsWith("- ")))
        }
      }),
      settings
    )
  })
})
