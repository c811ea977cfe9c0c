import { assert, it } from "@effect/vitest"
import { Tokens } from "@reverie/model"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { beforeAll, vi } from "vitest"
import { gptTokenizerLayer } from "../src/index.ts"
import { counterOf, LONGEST_PIECE, LONGEST_WORD, MAX_RUN, piecesOf, stretchAt } from "../src/counter.ts"
import { tiktokenLayer } from "../src/tiktoken.ts"
import { wordPattern } from "../src/byte-pairs.ts"

// The reference needs seconds to load on a busy machine.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

/** The pattern by which o200k_base finds its words, as the reference carries it. */
const words = async () => new RegExp((await import("js-tiktoken/ranks/o200k_base")).default.pat_str, "gu")

const counterOfLayer = (layer: typeof gptTokenizerLayer) =>
  Effect.runPromise(Effect.flatMap(Tokens, ({ ready }) => ready).pipe(Effect.provide(layer)))

let count: (text: string) => number
let reference: (text: string) => number
let pattern: RegExp
beforeAll(async () => {
  count = await counterOfLayer(gptTokenizerLayer)
  reference = await counterOfLayer(tiktokenLayer)
  pattern = await words()
})

const anyText = fc.string({ unit: "binary", maxLength: 200 })
const anyUnits = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 60 })
  .map((units) => String.fromCharCode(...units))
const fragments = fc
  .array(
    fc.constantFrom(
      "Ship",
      "'ll",
      "'S",
      " ",
      "\n",
      "\r",
      "/",
      "<|",
      "|>",
      "endoftext",
      "½",
      "\u0301",
      "\uFEFF",
      "港",
      "😀",
      "\u00A0",
      "x1"
    ),
    { maxLength: 40 }
  )
  .map((parts) => parts.join(""))
/** Long runs of characters that count as more than one class to the pattern. */
const runs = fc
  .array(
    fc.tuple(
      fc.constantFrom("a", "A", "!", "/", "\n", " ", "\u0301", ".\u0301", "/\n", "\r", "港", "😀", "7", "ǅ"),
      fc.nat(600)
    ),
    {
      maxLength: 6
    }
  )
  .map((parts) => parts.map(([part, times]) => part.repeat(times)).join(""))
const text = fc.oneof(anyText, anyUnits, fragments, runs)

it("T2 both adapters agree on every text", () => {
  fc.assert(
    fc.property(fc.oneof(anyText, anyUnits, fragments), (some) => assert.strictEqual(count(some), reference(some))),
    { numRuns: 2_000 }
  )
  fc.assert(
    fc.property(runs, (some) => assert.strictEqual(count(some), reference(some))),
    { numRuns: 100 }
  )
})

it("T1 only the empty text has no token", () => {
  fc.assert(fc.property(text, (some) => assert.strictEqual(count(some) === 0, some === "")))
})

it("P1 no word inside a piece is long", () => {
  fc.assert(
    fc.property(runs, (some) => {
      for (const piece of piecesOf(some)) {
        for (const [word] of piece.matchAll(pattern)) assert.isAtMost(Array.from(word).length, LONGEST_WORD)
      }
    }),
    { numRuns: 500 }
  )
})

it("P2 a text without a long run is one piece", () => {
  fc.assert(
    fc.property(fc.array(fragments, { minLength: 1, maxLength: 30 }), (parts) => {
      const some = parts.map((part) => `${part.slice(0, MAX_RUN / 2)}1`).join("")
      assert.strictEqual(piecesOf(some).length, 1)
    })
  )
})

it("P3 the pieces joined are the text, with what can not be encoded replaced", () => {
  fc.assert(
    fc.property(text, (some) => {
      const pieces = piecesOf(some)
      assert.strictEqual(pieces.join(""), some.toWellFormed().replaceAll("\uFEFF", "\uFFFD"))
      assert.isFalse(pieces.includes(""))
    })
  )
})

/** Long enough for several stretches, of what ordinary texts are made of. */
const prose = fc
  .array(
    fc.constantFrom(
      "the ",
      "Harbour",
      " master's",
      ", ",
      "12",
      " 345,6",
      "\n",
      "\n\n- ",
      "free.",
      " berth",
      "?! ",
      "x_y "
    ),
    {
      minLength: 2_000,
      maxLength: 5_000
    }
  )
  .map((parts) => parts.join(""))

it("P6 T2 a long text of words counts as the reference counts it uncut", async () => {
  const [{ Tiktoken }, { default: ranks }] = await Promise.all([
    import("js-tiktoken/lite"),
    import("js-tiktoken/ranks/o200k_base")
  ])
  const uncut = new Tiktoken(ranks)
  fc.assert(
    fc.property(prose, (some) => assert.strictEqual(count(some), uncut.encode(some, [], []).length)),
    { numRuns: 40 }
  )
})

it("C3 P5 a stretch is short and ends on a code point, and stretches are the text", () => {
  const long = fc
    .tuple(fc.constantFrom("a@", "x", "😀", "the berth ", "\n", '{"a":1},', "\u0301"), text)
    .map(([unit, some]) => `${some}${unit.repeat(9_000)}${some}`)
  fc.assert(
    fc.property(long, (some) => {
      let joined = ""
      for (let at = 0; at < some.length;) {
        const { end, pieces } = stretchAt(some, at)
        assert.isAtMost(end - at, LONGEST_PIECE)
        assert.isAbove(end, at)
        assert.strictEqual(pieces.join("").length, end - at)
        joined += pieces.join("")
        at = end
      }
      assert.strictEqual(joined, some.toWellFormed().replaceAll("\uFEFF", "\uFFFD"))
    }),
    { numRuns: 60 }
  )
})

it("W1 the words are those of the reference's pattern", () => {
  fc.assert(
    fc.property(text, (some) => assert.deepStrictEqual(some.match(wordPattern), some.match(pattern))),
    { numRuns: 500 }
  )
})

it("P4 T3 the work an encoder is given is bounded by the length of the text", () => {
  fc.assert(
    fc.property(text, (some) => {
      let calls = 0
      let chars = 0
      counterOf((piece) => {
        calls++
        chars += piece.length
        return 1
      }).count(some)
      assert.isAtMost(calls, 1 + some.length / MAX_RUN)
      assert.isAtMost(chars, some.length)
    })
  )
})
