// Words: the words of a text as o200k_base finds them, each counted once while it is remembered.
// Owns the pattern and the memory. Leaves merging to byte-pairs.ts, cutting to pieces.ts.
// W1  The words of a text are those of the reference's pattern: joined they are the text.
// W2  What is remembered is bounded: at most WORDS_KEPT words of at most WORD_CHARS each.

import type { BytePairs } from "./byte-pairs.ts"
import { Generations } from "./generations.ts"

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
export const wordCounter = (pairs: BytePairs): ((piece: string) => number) => {
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
