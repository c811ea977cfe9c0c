import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { cleanLine, cleanText, holdsInvisible } from "../../src/index.ts"

const RUNS = { seed: 4_711, numRuns: 3_000 }

/** What the rules are about, next to each other in any order. */
const units = [
  "\u200b\u200c\u200d\u200e\u202e\u2060\ufeff\u00ad\u034f\u3164\u1160\ufe00\ufe0e\ufe0f\u180b\u20e3\u0000\u0085\r\n\t\ud800",
  "abe1#\u0301\u0323\u0344",
  "کیهد\u064b",
  "कष\u093c\u094d\u0951\u0958\u09a4\u09cd\u0d15\u0d4d\u0dd9\u0dca\u0dcf\u0d9a",
  "\u1820\u182d👨🏽❤🏴🔥\u{e0041}\u{e0101}"
].flatMap((some) => Array.from(some))
const SCOTTISH_TAGS = "\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}"
const aNastyText = fc.string({ unit: fc.constantFrom(SCOTTISH_TAGS, ...units), maxLength: 24 })
const aText = fc.oneof(aNastyText, fc.string({ unit: "binary", maxLength: 24 }))

/** By another measure than the one that cleans: what no text may hold, wherever it stands. */
const hidden =
  /[\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u00ad\u061c\u3164]|\ufeff|\u034f|[\ufe00-\ufe0d]|[\u{e0100}-\u{e01ef}]/u
const joinersInRow = /(?:\u200c|\u200d){2}|(?:\ufe0e|\ufe0f){2}|^(?:\u200c|\u200d|\ufe0e|\ufe0f)/u
const invisible = /\p{Cc}|\p{Default_Ignorable_Code_Point}|\s|[\ufff9-\ufffb\ufdd0-\ufdef\ufffe\uffff]/gu

describe("cleanText", () => {
  it("C2 idempotent, well-formed, in NFC", () => {
    fc.assert(
      fc.property(aText, (text) => {
        const clean = cleanText(text)
        assert.strictEqual(cleanText(clean), clean)
        assert.isTrue(clean.isWellFormed())
        assert.strictEqual(clean.normalize("NFC"), clean)
      }),
      RUNS
    )
  })

  it("C1 nothing hidden is left", () => {
    fc.assert(
      fc.property(aText, (text) => {
        const clean = cleanText(text)
        assert.notMatch(clean, hidden)
        assert.notMatch(clean.replace(/[\n\t]/g, ""), /\p{Cc}/u)
        assert.notMatch(clean, joinersInRow)
        assert.notMatch(clean.replaceAll(`🏴${SCOTTISH_TAGS}`, ""), /[\u{e0000}-\u{e007f}]/u)
        assert.notMatch(cleanLine(text), /[\n\r\t\u2028\u2029\u0085]|^\s|\s$/)
      }),
      RUNS
    )
  })

  it("C1 a text holds something invisible exactly when cleaning changes more than its form and the ends of its lines", () => {
    const formed = (text: string): string =>
      text
        .toWellFormed()
        .normalize("NFC")
        .replace(/\r\n?|[\u0085\u2028\u2029\v\f]/g, "\n")
        .normalize("NFC")
    let held = 0
    fc.assert(
      fc.property(aText, (text) => {
        assert.isFalse(holdsInvisible(cleanText(text)))
        assert.strictEqual(holdsInvisible(text), cleanText(text) !== formed(text))
        if (holdsInvisible(text)) held++
      }),
      RUNS
    )
    assert.isAbove(held, 300)
  })

  it("C3 nothing visible is lost", () => {
    const seen = (text: string): string =>
      Array.from(text.toWellFormed().normalize("NFD").replace(invisible, "")).toSorted().join("")
    fc.assert(
      fc.property(aText, (text) => assert.strictEqual(seen(cleanText(text)), seen(text))),
      RUNS
    )
  })
})
