import { assert, it } from "@effect/vitest"
import { Tokens } from "@reverie/model"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { beforeAll, vi } from "vitest"
import { counterOf, gptTokenizerLayer, LONGEST_WORD, MAX_RUN, piecesOf, tiktokenLayer } from "../src/index.ts"

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

it("P4 T3 the work an encoder is given is bounded by the length of the text", () => {
  fc.assert(
    fc.property(text, (some) => {
      let calls = 0
      let chars = 0
      counterOf((piece) => {
        calls++
        chars += piece.length
        return 1
      })(some)
      assert.isAtMost(calls, 1 + some.length / MAX_RUN)
      assert.isAtMost(chars, some.length)
    })
  )
})
