import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { composed, replacedAt, spansOf } from "../src/forgetting/texts/composed.ts"
import { soughtChars, soughtText } from "../src/forgetting/forgetting.ts"
import { isName, lowered } from "../src/forgetting/hushing.ts"
import { sentences, sentencesOf } from "../src/forgetting/texts/sentences.ts"

const forms = ["NFC", "NFD"] as const

/** Letters, marks and syllables that are composed in one form and not in the other. */
const sign = fc.constantFrom(
  ...Array.from(
    "aeo \u00e9\u1ec7\u00e7\ud55c\uae00\u0301\u0323\u0302\u0915\u093f\u0958\u1161\u11a8\u212b\u{1f600}\ud800sS\u00df \n\u00a0\u0007\u200b"
  )
)
const text = fc.array(sign, { maxLength: 12 }).map((signs) => signs.join(""))

describe("texts that are composed or not", () => {
  for (const stored of forms) {
    for (const asked of forms) {
      it(`C1 ${asked} is found in ${stored}, and cut where it stands`, () => {
        const where = `At the Caf\u00e9 Noir, B\u00e9b\u00e9; \ud55c\uae00 and caf\u00e9 noir.`.normalize(stored)
        const cut = (sought: string): string => soughtText(sought.normalize(asked)).cut(where)
        assert.isTrue(soughtText("CAF\u00c9 noir".normalize(asked)).isIn(where))
        assert.strictEqual(
          cut("caf\u00e9 noir"),
          `At the \u2026, B\u00e9b\u00e9; \ud55c\uae00 and \u2026.`.normalize(stored)
        )
        assert.strictEqual(cut("\ud55c\uae00"), where.replace("\ud55c\uae00".normalize(stored), "\u2026"))
        assert.isFalse(soughtText("cafe").isIn(where))
      })

      it(`C1 a name and a sentence in ${asked} are those in ${stored}`, () => {
        assert.isTrue(isName(" Ren\u00c9".normalize(stored), lowered("ren\u00e9".normalize(asked))))
        const said = new Set(sentencesOf("My bar is Caf\u00e9 Noir. Aye.".normalize(asked)))
        const { cut, isIn } = sentences(said)
        const where = "So: my bar is caf\u00e9 noir. Good.".normalize(stored)
        assert.isTrue(isIn(where))
        assert.strictEqual(cut(where), "So:\u2026. Good.")
      })
    }
  }

  it("C1 of a name what is Reverie's own is left, in each form", () => {
    for (const form of forms) {
      const name = "caf\u00e9-message".normalize(form)
      const others = name.replace("message", " ".repeat(7))
      assert.isTrue(soughtText("caf\u00e9").isInName?.(name, others))
      assert.isFalse(soughtText("message").isInName?.(name, others))
    }
  })

  it("C1 what is left is the same in each form, and nothing that was sought is in it", () => {
    fc.assert(
      fc.property(text, text, text, (before, sought, after) => {
        fc.pre(soughtChars(sought) > 0)
        const { cut, isIn } = soughtText(sought)
        const where = `${before}${sought}${after}`
        const isFound = isIn(where)
        for (const form of forms) {
          const left = cut(where.normalize(form))
          assert.strictEqual(isIn(where.normalize(form)), isFound)
          assert.strictEqual(left.includes("\u2026"), isFound)
          if (/^[a-z\u00e0-\u00ff]*$/.test(composed(where))) {
            assert.strictEqual(composed(left), cut(composed(where)))
            assert.isFalse(isIn(left))
          }
        }
      })
    )
  })

  it("C3 what memory makes of a text is found by it, and cut where it stands", () => {
    const cut = (sought: string, where: string): string => soughtText(sought).cut(where)
    for (const said of [
      "one Grumblex\nline two",
      "one Grumblex line two",
      "one\u00a0 Grum\u0007blex\r\n\tline\u200b two"
    ]) {
      for (const kept of [
        "one Grumblex\nline two",
        "ONE Grumblex line two",
        "one \u200bGrumblex\u2028line tw\u0000o"
      ]) {
        assert.isTrue(soughtText(said).isIn(`zed said: ${kept}!`), JSON.stringify([said, kept]))
        assert.strictEqual(cut(said, `zed said:\t\u0007${kept}!`), "zed said:\t\u0007\u2026!")
      }
    }
    assert.strictEqual(cut("separated\u0007 Bell", "tab\tseparated Bellringer"), "tab\t\u2026ringer")
    assert.isFalse(soughtText("\u0007\u0000\u200b\u0001").isIn("anything"))
    assert.isFalse(soughtText("Grumblexline").isIn("Grumblex\nline"))
  })

  it("C3 a letter that is two in capitals is these two", () => {
    for (const [sought, where] of [
      ["WEISSWURST-\u00e4quator", "A Wei\u00dfwurst-\u00c4quator."],
      ["wei\u00dfwurst-\u00c4QUATOR", "A WEISSWURST-a\u0308quator."],
      ["\u039f\u0394\u039f\u03a3", "A \u03bf\u03b4\u03bf\u03c2."]
    ] as const) {
      assert.isTrue(soughtText(sought).isIn(where), sought)
      assert.strictEqual(soughtText(sought).cut(where), "A \u2026.")
    }
  })

  it("C2 a composed text is cut as it stands, sign for sign", () => {
    fc.assert(
      fc.property(text.map(composed), (where) => {
        const spans = spansOf("\u00e9", where)
        assert.strictEqual(replacedAt(where, spans, "-"), where.replaceAll("\u00e9", "-"))
      })
    )
  })
})
