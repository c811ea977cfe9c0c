// GptTokenizer: the default of the Tokens port, o200k_base by the ranks that `gpt-tokenizer` brings.
// Owns loading that one vocabulary on first use. Leaves words to words.ts, merging to byte-pairs.ts, cutting and slices to
// counter.ts, which the reference shares. The package's own encoder is not used: its memory of merges makes a megabyte of
// `a@a@` cost fifteen seconds, and its merging is quadratic.
// G1  Nothing is loaded before a count is asked for, and then the vocabulary once for the process.
// G2  The marks of special tokens are counted as the plain text that they are in a message.

import { Tokens } from "@reverie/model"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { BytePairs } from "./byte-pairs.ts"
import { counterOf } from "./counter.ts"
import { wordCounter } from "./words.ts"

const vocabulary = Effect.runSync(
  Effect.cached(
    Effect.promise(async () => {
      const { default: ranks } = await import("gpt-tokenizer/bpeRanks/o200k_base")
      return new BytePairs(ranks)
    })
  )
)

const load = Effect.map(vocabulary, (pairs) => counterOf(wordCounter(pairs)))

export const gptTokenizerLayer: Layer.Layer<Tokens> = Layer.effect(
  Tokens,
  Effect.map(Effect.cached(load), (loaded) => ({
    ready: Effect.map(loaded, ({ count }) => count),
    inSlices: (work) => Effect.flatMap(loaded, ({ inSlices }) => inSlices(work))
  }))
)
