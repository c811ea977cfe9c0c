import { assert, describe, test } from "@effect/vitest"
import { fieldsOf, type MemoryEntry, queryTerms, termsOf } from "@reverie/memory"
import * as fc from "fast-check"
import { bodyOf, dayInWords, MAX_QUERY_TERMS, tokensOf } from "../../src/text/tokens.ts"

const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme" }),
  fc
    .array(
      fc.constantFrom("\ud800", "\udc00", "\u0000", "'s", "京都", "Straße", "é", "e\u0301", "ไทย", "한국", " ", "A1")
    )
    .map((parts) => parts.join(""))
)

describe("tokens", () => {
  test("T1 T4 any text has terms, short ones, of letters, marks and digits only", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        for (const term of termsOf(text)) {
          assert.match(term, /^[\p{L}\p{N}\p{M}]{1,64}$/u)
          assert.isAtMost(term.length, 64)
        }
      })
    )
  })

  test("T2 letter case, accents and the way they are written make no difference", () => {
    const latin = fc.string({ unit: fc.constantFrom(..."abcéèüñÅçōžs1 ".split("")), maxLength: 40 })
    fc.assert(
      fc.property(latin, (text) => {
        const terms = termsOf(text)
        assert.deepStrictEqual(termsOf(text.toUpperCase()), terms)
        assert.deepStrictEqual(termsOf(text.normalize("NFD")), terms)
        assert.deepStrictEqual(termsOf(text.normalize("NFD").replace(/\p{M}/gu, "")), terms)
      })
    )
  })

  test("the terms of lines are the terms of the text", () => {
    fc.assert(
      fc.property(fc.array(anyText), (lines) => {
        assert.deepStrictEqual(termsOf(lines.join("\n")), lines.flatMap(termsOf))
      })
    )
  })

  test.each([
    {
      text: "What's Mel’s café? I don't know, we'll see.",
      terms: ["what", "mel", "cafe", "i", "don", "know", "we", "see"]
    },
    { text: "She went; the children ran.", terms: ["she", "go", "the", "child", "run"] },
    { text: "ＡＢＣ ﬁne Straße Øst", terms: ["abc", "fine", "strass", "ost"] },
    { text: "Berth 4711, 3rd of 1990s", terms: ["berth", "4711", "3rd", "of", "1990"] },
    { text: "東京タワー", terms: ["東京", "京タ", "タワ", "ワー"] },
    { text: "在Paris吃饭", terms: ["在", "pari", "吃饭"] },
    { text: "ΘΆΛΑΣΣΑ", terms: ["θαλασσα"] }
  ])("T2 T3 $text", ({ terms, text }) => {
    assert.deepStrictEqual(termsOf(text), terms)
  })

  test("a token keeps the word as it stands in the text", () => {
    assert.deepStrictEqual(tokensOf("Crêpes RUNNING"), [
      { term: "crepe", word: "Crêpes" },
      { term: "run", word: "RUNNING" }
    ])
  })
})

describe("questions", () => {
  const terms = (text: string) => queryTerms(text).map(({ term }) => term)

  test("T1 stop words count only when there is nothing else", () => {
    assert.deepStrictEqual(terms("When did Caroline go to the LGBTQ support group?"), [
      "carolin",
      "go",
      "lgbtq",
      "support",
      "group"
    ])
    assert.deepStrictEqual(terms("What are you?"), ["what", "ar", "you"])
    assert.deepStrictEqual(terms("?!"), [])
  })

  test("T2 each term comes once, and there are not too many", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const found = terms(text)
        assert.strictEqual(new Set(found).size, found.length)
        assert.isAtMost(found.length, MAX_QUERY_TERMS)
      })
    )
    assert.lengthOf(terms(Array.from({ length: 10_000 }, (_, index) => `w${index}`).join(" ")), MAX_QUERY_TERMS)
  })
})

describe("what stands for an entry", () => {
  const entry: MemoryEntry = {
    id: "m/2/0",
    kind: "message",
    at: Date.UTC(2023, 4, 8, 23, 59),
    text: "Sophie sails.",
    speaker: "Kim",
    context: "What does Sophie do?",
    entities: ["Sophie", "Berth 3"],
    tags: ["boats"],
    trust: 1,
    importance: 5,
    readers: "owner"
  }

  test("who said what and when, and what it is about unless it says so", () => {
    assert.strictEqual(bodyOf(entry), "Kim\nSophie sails.\n8 May 2023\nBerth 3\nboats")
  })

  test("a day in words is in UTC, and no day is no word", () => {
    assert.strictEqual(dayInWords(0), "1 January 1970")
    assert.strictEqual(dayInWords(Number.NaN), "")
  })

  test("its terms stand in three fields", () => {
    assert.deepStrictEqual(fieldsOf(entry, [{ id: "f", text: "Sophie owns a boat" }]), {
      body: ["kim", "sophi", "sail", "8", "mai", "2023", "berth", "3", "boat"],
      context: ["what", "doe", "sophi", "do"],
      facts: ["sophi", "own", "a", "boat"]
    })
  })
})
