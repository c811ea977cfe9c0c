// Token laws: what every counter of o200k_base must do. The golden numbers were made with js-tiktoken, uncut.

import assert from "node:assert/strict"
import { Tokens } from "@reverie/model"
import type { Law } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { MAX_RUN } from "../src/counter.ts"

/** Texts and how many tokens each has, by the kind of text. */
type Golden = Readonly<Record<string, readonly [text: string, tokens: number]>>

const ordinary: Golden = {
  english: ["The harbour master asks which berth is free tonight, and who'll pay for it.", 17],
  code: [
    "const berths = ships.filter((ship) => ship.length <= 120).map(({ name }) => `${name}\\n`)\n\n// 3.14159\n",
    33
  ],
  chinese: ["港口今晚还有空泊位吗？请通知引航员。", 15],
  japanese: ["今夜の停泊場所は空いていますか。", 12],
  korean: ["오늘 밤 정박할 자리가 있나요?", 10],
  thai: ["คืนนี้มีท่าเรือว่างไหม", 9],
  arabic: ["هل يوجد رصيف شاغر الليلة؟", 11],
  emoji: ["⚓️🚢 👩‍✈️👨‍👩‍👧‍👦 🏴‍☠️", 29],
  numbers: ["1234567890 12,345.678 ½ ٣٤", 15]
}

const special: Golden = {
  "special tokens": ["<|endoftext|> and <|im_start|>system<|im_sep|>", 21]
}

const odd: Golden = {
  "lone surrogates": ["a\uD800b \uDC00", 4],
  NUL: ["a\u0000b\u0000\u0000", 4],
  "a byte order mark": ["\uFEFFport", 2],
  "heaped marks": ["e\u0301\u0301\u0301 .\u0301.\u0301", 8]
}

const long: Golden = {
  "the longest tokens": [`${"=".repeat(96)}\n${" ".repeat(128)}x`, 5]
}

const MEGABYTE = 1_000_000

const LENGTH = 200_000
/** Without a place where words meet, with lines, and with what counts by more than one class. */
const lengthy = {
  words: "the harbour master said that the boat would come in at noon. ".repeat(LENGTH / 61),
  lines: "berth=free;tide=low\n".repeat(LENGTH / 20),
  mails: "a@".repeat(LENGTH / 2),
  runs: "x".repeat(LENGTH)
}

const hostile: ReadonlyArray<readonly [text: string, tokens: number]> = [
  ["a".repeat(MEGABYTE), 125_000],
  [" ".repeat(MEGABYTE), 7_813],
  ["\n".repeat(MEGABYTE), 62_500],
  [" \n".repeat(MEGABYTE / 2), 250_000],
  ["/\n".repeat(MEGABYTE / 2), 500_000],
  ["..\u0301".repeat(MEGABYTE / 4), 501_953],
  ["😀".repeat(MEGABYTE / 2), 500_000]
]

const counting = (check: (count: (text: string) => number) => void): Law<Tokens>["check"] =>
  Effect.flatMap(Tokens, ({ ready }) => Effect.map(ready, check))

const countsOf = (texts: Golden): Law<Tokens>["check"] =>
  counting((count) => {
    const counted = Object.entries(texts).map(([kind, [text]]) => [kind, count(text)])
    assert.deepEqual(
      counted,
      Object.entries(texts).map(([kind, [, tokens]]) => [kind, tokens])
    )
  })

export const tokenLaws: ReadonlyArray<Law<Tokens>> = [
  {
    id: "T1.empty",
    says: "the empty text has no token",
    check: counting((count) => assert.equal(count(""), 0))
  },
  {
    id: "T1.positive",
    says: "every other text has at least one",
    check: counting((count) => {
      for (const text of ["a", " ", "\n", "\u0000", "\uD800", "\uDFFF", "\uFEFF", "\u0301", "\u00A0", "港", "½"]) {
        assert.ok(count(text) >= 1, JSON.stringify(text))
      }
    })
  },
  {
    id: "T1.pure",
    says: "a count does not depend on what was counted before",
    check: counting((count) => {
      const texts = Object.values(ordinary).map(([text]) => text)
      const before = texts.map(count)
      for (let index = 0; index < 3_000; index++) count(`berth ${index}`)
      assert.deepEqual(texts.map(count), before)
    })
  },
  {
    id: "T2.ordinary",
    says: "English, code, numbers, CJK and other scripts count as the reference does",
    check: countsOf(ordinary)
  },
  {
    id: "T2.special",
    says: "the marks of special tokens are plain text",
    check: countsOf(special)
  },
  {
    id: "T2.odd",
    says: "lone surrogates, NUL, byte order marks and heaped marks count as the reference does",
    check: countsOf(odd)
  },
  {
    id: "T2.long",
    says: "the longest tokens are never cut",
    check: countsOf(long)
  },
  {
    id: "T3.hostile",
    says: "a megabyte of one letter, of space, of line ends, of marks is counted to its end",
    check: counting((count) => {
      for (const [text, tokens] of hostile) assert.equal(count(text), tokens, JSON.stringify(text.slice(0, 4)))
    })
  },
  {
    id: "T4.same",
    says: "in slices a text has the count that it has at once",
    check: Effect.gen(function* () {
      const { inSlices, ready } = yield* Tokens
      const count = yield* ready
      for (const [kind, text] of Object.entries(lengthy)) {
        const inside = yield* inSlices(() => [count(text), count(`${text} x`), count("x")])
        assert.deepEqual(inside, [count(text), count(`${text} x`), 1], kind)
      }
    })
  },
  {
    id: "T4.turns",
    says: "the event loop turns all along while a long text is counted in slices, and others that do so have their turns",
    check: Effect.gen(function* () {
      const { inSlices, ready } = yield* Tokens
      const count = yield* ready
      let turns = 0
      let isOver = false
      const turn = (): void => {
        turns++
        if (!isOver) setImmediate(turn)
      }
      setImmediate(turn)
      const texts = ["first", "second"].map((name) => `${name} ${lengthy["words"]}`)
      yield* Effect.all(
        texts.map((text) => inSlices(() => count(text))),
        { concurrency: 2 }
      )
      isOver = true
      assert.ok(turns >= LENGTH / 10_000, `${turns} turns`)
    })
  },
  {
    id: "T3.proportion",
    says: "twice the run has twice the tokens",
    check: counting((count) => {
      for (const letter of ["a", " ", "港", "!"]) {
        const once = count(letter.repeat(100 * MAX_RUN))
        assert.equal(count(letter.repeat(200 * MAX_RUN)), 2 * once, letter)
      }
    })
  }
]
