import { assert, describe, it } from "@effect/vitest"
import { Tokens } from "@reverie/model"
import * as Effect from "effect/Effect"
import { vi } from "vitest"
import { gptTokenizerLayer } from "../src/index.ts"
import {
  counterOf,
  KEPT_CHARS,
  LONG_TEXT,
  LONGEST_PIECE,
  MAX_RUN,
  piecesOf,
  REMEMBERED,
  REMEMBERED_CHARS
} from "../src/counter.ts"
import { tiktokenLayer } from "../src/tiktoken.ts"

// The reference needs seconds to load on a busy machine.
vi.setConfig({ testTimeout: 60_000 })

/** A counter that counts code points, and what its encoder was given. */
const watched = () => {
  const seen: Array<string> = []
  const { count, inSlices } = counterOf((piece) => {
    seen.push(piece)
    return Array.from(piece).length
  })
  return { count, inSlices, seen }
}

describe("hostile text", () => {
  for (const [name, letter] of [
    ["letter", "a"],
    ["space", " "],
    ["line end", "\n"],
    ["emoji", "😀"]
  ] as const) {
    it(`T3 C1 a megabyte of one ${name} meets the encoder twice at most`, () => {
      const { count, seen } = watched()
      const points = 1_000_001
      assert.strictEqual(count(letter.repeat(points)), points)
      assert.deepStrictEqual(seen, [letter.repeat(MAX_RUN), letter.repeat(points % MAX_RUN)])
    })
  }

  it("T3 a megabyte of ever different letters meets it in short pieces, one for each stretch", () => {
    const letters = Array.from({ length: 1_000_000 }, (_, index) =>
      String.fromCharCode(97 + (((index * index) % 101) % 26))
    )
    const { count, seen } = watched()
    assert.strictEqual(count(letters.join("")), letters.length)
    assert.isAtMost(seen.length, Math.ceil(letters.length / MAX_RUN))
    assert.isTrue(seen.every((piece) => piece.length <= MAX_RUN))
  })
})

describe("pieces", () => {
  it("P2 a run of the limit is whole, one more is cut", () => {
    assert.deepStrictEqual(piecesOf("=".repeat(MAX_RUN)), ["=".repeat(MAX_RUN)])
    assert.deepStrictEqual(piecesOf(`${"=".repeat(MAX_RUN + 1)} end`), ["=".repeat(MAX_RUN), "= end"])
  })

  it("P3 a code point is never cut in two", () => {
    for (const piece of piecesOf(`x${"😀".repeat(3 * MAX_RUN)}`)) assert.isTrue(piece.isWellFormed())
  })

  it("P4 the empty text has no piece", () => assert.deepStrictEqual(piecesOf(""), []))
})

describe("memory", () => {
  it("C1 a short text is encoded once", () => {
    const { count, seen } = watched()
    assert.strictEqual(count("berth") + count("berth"), 10)
    assert.deepStrictEqual(seen, ["berth"])
  })

  it("C2 a long text is not kept", () => {
    const { count, seen } = watched()
    const long = "a berth ".repeat(REMEMBERED_CHARS)
    assert.strictEqual(count(long), count(long))
    assert.strictEqual(seen.length, 2)
  })

  it("C2 G1 the oldest half is forgotten when the memory is full", () => {
    const { count, seen } = watched()
    for (let index = 0; index <= REMEMBERED; index++) count(`${index}`)
    const before = seen.length
    count(`${REMEMBERED}`)
    assert.strictEqual(seen.length, before)
    count("0")
    assert.strictEqual(seen.length, before + 1)
  })
})

describe("long texts", () => {
  it.effect("C3 C4 work is begun again until every long text in it is counted, each of them once", () =>
    Effect.gen(function* () {
      const { count, inSlices, seen } = watched()
      const texts = [1, 2, 3].map((number) => `${number} a berth`.repeat(LONG_TEXT / 4))
      let begun = 0
      const made = yield* inSlices(() => {
        begun++
        return texts.map(count)
      })
      assert.strictEqual(begun, 4)
      assert.deepStrictEqual(
        made,
        texts.map(({ length }) => length)
      )
      const before = seen.length
      assert.deepStrictEqual(texts.map(count), made)
      assert.strictEqual(seen.length, before)
    })
  )

  it.effect("C2 the counts of long texts are kept within a bound, and progress does not hang on it", () =>
    Effect.gen(function* () {
      const { count, inSlices } = watched()
      const long = "a".repeat(KEPT_CHARS / 4)
      const texts = Array.from({ length: 6 }, (_, index) => `${index}${long}`)
      const made = yield* inSlices(() => texts.map(count))
      assert.deepStrictEqual(
        made,
        texts.map(({ length }) => length)
      )
    })
  )

  it.effect("what work throws is its own", () =>
    Effect.gen(function* () {
      const { inSlices } = watched()
      const exit = yield* Effect.exit(
        inSlices(() => {
          throw new Error("its own")
        })
      )
      assert.include(String(exit), "its own")
    })
  )
})

describe("stretches", () => {
  it("P5 P6 a text with words is cut where two of them meet", () => {
    const text = "The harbour master said, that it is free; 12 berths are.\nAnd so on ".repeat(1_000)
    const pieces = piecesOf(text)
    assert.isAbove(pieces.length, 7)
    for (const piece of pieces.slice(1)) assert.match(piece, /^(?: \w|[A-Za-z0-9])/)
    for (const piece of pieces) assert.isAtMost(piece.length, LONGEST_PIECE)
  })

  it("P5 a text without such a place is cut all the same", () => {
    const pieces = piecesOf("a@".repeat(LONGEST_PIECE))
    assert.deepStrictEqual(
      pieces.map(({ length }) => length),
      [LONGEST_PIECE, LONGEST_PIECE]
    )
  })
})

describe("loading", () => {
  for (const [name, layer] of [
    ["gpt-tokenizer", gptTokenizerLayer],
    ["js-tiktoken", tiktokenLayer]
  ] as const) {
    it.effect(`G1 R1 ${name} loads once for a layer, however many ask at the same time`, () =>
      Effect.gen(function* () {
        const { ready } = yield* Tokens
        const [first, second] = yield* Effect.all([ready, ready], { concurrency: 2 })
        assert.strictEqual(first, second)
        assert.strictEqual(yield* ready, first)
      }).pipe(Effect.provide(layer))
    )
  }
})
