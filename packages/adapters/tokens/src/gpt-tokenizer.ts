// GptTokenizer: the default of the Tokens port, o200k_base by the ranks that `gpt-tokenizer` brings.
// Owns loading that one vocabulary on first use. Leaves words to gpt-tokenizer.ts, merging to byte-pairs.ts, cutting and slices to
// counter.ts, which the reference shares. The package's own encoder is not used: its memory of merges makes a megabyte of
// `a@a@` cost fifteen seconds, and its merging is quadratic.
// G1  Nothing is loaded before a count is asked for, and then the vocabulary once for the process.
// G2  The marks of special tokens are counted as the plain text that they are in a message.

import { Tokens } from "@reverie/model"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { BytePairs } from "./byte-pairs.ts"
import { counterOf } from "./counter.ts"
import { Generations } from "./generations.ts"

// Words: the words of a text as o200k_base finds them, each counted once while it is remembered.
// W1  The words of a text are those of the reference's pattern: joined they are the text.
// W2  What is remembered is bounded: at most WORDS_KEPT words of at most WORD_CHARS each.

const CONTRACTION = String.raw`(?:'(?:[sS]|[dD]|[mM]|[tT]|[lL][lL]|[vV][eE]|[rR][eE]))?`
const UPPER = String.raw`[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`
const LOWER = String.raw`[\p{Ll}\p{Lm}\p{Lo}\p{M}]`
const BEFORE = String.raw`[^\r\n\p{L}\p{N}]?`

export const wordPattern = new RegExp(
  [
    `${BEFORE}${UPPER}*${LOWER}+${CONTRACTION}`,
    `${BEFORE}${UPPER}+${LOWER}*${CONTRACTION}`,
    String.raw`\p{N}{1,3}`,
    String.raw` ?[^\s\p{L}\p{N}]+[\r\n/]*`,
    String.raw`\s*[\r\n]+`,
    String.raw`\s+(?!\S)`,
    String.raw`\s+`
  ].join("|"),
  "gu"
)

const WORDS_KEPT = 16_384
/** Longer words are rare, and each would have to be copied out of its text. */
const WORD_CHARS = 12

/** Counts a piece by its words. */
const wordCounter = (pairs: BytePairs): ((piece: string) => number) => {
  const known = new Generations(WORDS_KEPT)
  const tokensOf = (word: string): number => {
    if (word.length > WORD_CHARS) return pairs.tokensOf(word)
    const before = known.get(word)
    if (before !== undefined) return before
    const tokens = pairs.tokensOf(word)
    known.note(word, tokens)
    return tokens
  }
  return (piece) => {
    let tokens = 0
    for (const [word] of piece.matchAll(wordPattern)) tokens += tokensOf(word)
    return tokens
  }
}

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
