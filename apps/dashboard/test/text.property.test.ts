// Text: what can not be seen is made visible, and nothing is lost.

import * as fc from "fast-check"
import { expect, test } from "vitest"
import { hasUnseen, pieces } from "../src/parts/text.tsx"

const unseen = [
  0x200b, 0x200c, 0x202e, 0x2066, 0x2069, 0xfeff, 0xad, 0x2060, 0x180e, 0x3164, 0xe0041, 0xe0101, 0x1b, 0x07, 0x2028
].map((code) => String.fromCodePoint(code))
const mixed = fc
  .array(fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom(...unseen)), { maxLength: 12 })
  .map((all) => all.join(""))

test("V2 the pieces are the text, whatever is in it", () => {
  fc.assert(
    fc.property(mixed, (text) => {
      expect(
        pieces(text)
          .map((piece) => piece.text)
          .join("")
      ).toBe(text)
    })
  )
})

test("V2 each character that can not be seen is a piece of its own, with its code point", () => {
  fc.assert(
    fc.property(fc.constantFrom(...unseen), fc.stringMatching(/^[a-z ]{0,8}$/), (char, around) => {
      const found = pieces(`${around}a${char}b`).find((piece) => piece.unseen !== undefined)
      expect(found?.text).toBe(char)
      expect(found?.unseen).toMatch(/^U\+[0-9A-F]{4,6}$/)
      expect(hasUnseen(`${around}a${char}b`)).toBe(true)
    })
  )
})

test("V2 emoji, accents, other scripts and line breaks are no secret", () => {
  const plain = ["👩‍👩‍👧 family", "❤️ heart", "🏴‍☠️", "1️⃣ one", "👍🏽", "naïve é", "שלום", "日本語", "two\nlines\tand a tab"]
  expect(plain.filter(hasUnseen)).toEqual([])
})

test("V2 a joiner outside of an emoji is a secret", () => {
  expect(hasUnseen("pay\u200Dme")).toBe(true)
  expect(hasUnseen("a\uFE0Fb")).toBe(true)
  expect(hasUnseen("👩\u200Dalice")).toBe(true)
})
