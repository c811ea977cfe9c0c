import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { personaRejection } from "../src/index.ts"
import { RUNS } from "./arbitraries.ts"
import { accepted, rejected } from "./persona-corpus.ts"

const isRejected = (text: string): boolean => personaRejection(text) !== undefined

const aRejected = fc.constantFrom(...rejected)
const anAccepted = fc.constantFrom(...accepted)
const aSentence = fc.constantFrom(...accepted, ...rejected)
const spaces = fc.stringMatching(/^[ \t\n]{0,6}$/)

/** Each letter upper or lower, as the flags say. */
const cased = (text: string, flags: ReadonlyArray<boolean>): string =>
  [...text]
    .map((letter, at) => (flags[at % flags.length] === true ? letter.toUpperCase() : letter.toLowerCase()))
    .join("")

describe("persona protection, for all sentences of the corpus", () => {
  it("F77: rejecting does not depend on case", () => {
    fc.assert(
      fc.property(aRejected, fc.array(fc.boolean(), { minLength: 1, maxLength: 9 }), (sentence, flags) => {
        assert.isTrue(isRejected(cased(sentence, flags)))
      }),
      RUNS
    )
  })

  it("F77: the verdict is stable under surrounding white space", () => {
    fc.assert(
      fc.property(aSentence, spaces, spaces, (sentence, before, after) => {
        assert.strictEqual(isRejected(`${before}${sentence}${after}`), isRejected(sentence))
      }),
      RUNS
    )
  })

  it("F77 A26: what is rejected may be quoted of someone else", () => {
    const marks = fc.constantFrom(['"', '"'], ["“", "”"], ["«", "»"], ["„", "“"], ["'", "'"], ["‘", "’"])
    fc.assert(
      fc.property(aRejected, marks, (sentence, [open = "", close = ""]) => {
        assert.isFalse(isRejected(`Alice said ${open}${sentence}${close} at noon`))
        assert.isTrue(isRejected(`${sentence}, said ${open}Alice${close}`))
        assert.isTrue(isRejected(`Alice said ${open}${sentence}`), "a quotation that never ends is none")
      }),
      RUNS
    )
  })

  it("F77: one rejected sentence spoils the text around it", () => {
    fc.assert(
      fc.property(fc.array(anAccepted, { maxLength: 3 }), aRejected, anAccepted, (before, bad, after) => {
        assert.isTrue(isRejected([...before, bad, after].join(". ")))
      }),
      RUNS
    )
  })

  it("F77: accepted sentences stay accepted side by side", () => {
    fc.assert(
      fc.property(fc.array(anAccepted, { minLength: 1, maxLength: 4 }), (sentences) => {
        assert.isFalse(isRejected(sentences.join(".\n")))
      }),
      RUNS
    )
  })

  it("F77: any text gets a verdict", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), fc.string({ maxLength: 20 }), (text, name) => {
        const verdict = personaRejection(text, [name])
        assert.isFalse(verdict?.success ?? false)
      }),
      RUNS
    )
  })
})
