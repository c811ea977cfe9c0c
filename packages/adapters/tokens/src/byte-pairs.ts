// BytePairs: how many tokens a word has, by the merges of a vocabulary.
// Owns byte pair encoding. Leaves finding the words, and what is remembered of them, to counter.ts.
// B1  The pair of the lowest rank is merged first, of two equal ones the left one, until no pair has a rank.
// B2  A word of n bytes costs at most n log n steps, and a bounded amount of memory that is used again.

import type { Tokens } from "@reverie/model"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import { counterOf, Generations, tokensBy } from "./counter.ts"

/** Tokens by their rank: as text, or as bytes where they are no text of their own. Ranks that are not used are holes. */
export type Ranks = ReadonlyArray<string | ReadonlyArray<number> | undefined>

/** Bytes as a string of one character each: what a Map finds fastest. */
const bytesOf = (text: string): string => {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 127) return Buffer.from(text).toString("latin1")
  return text
}

const NO_RANK = 0x7f_ff_ff_ff

/** Longer words are not asked for: counter.ts cuts them. */
const MOST_BYTES = 4_096

/** Pairs that were looked for before, one for each place. */
const PLACES = 1 << 16

const ranksByBytes = (ranks: Ranks): ReadonlyMap<string, number> => {
  const known = new Map<string, number>()
  for (const [rank, token] of ranks.entries()) {
    if (token !== undefined) known.set(typeof token === "string" ? bytesOf(token) : String.fromCharCode(...token), rank)
  }
  return known
}

/** The smallest of its numbers comes first. */
class Heap {
  readonly #numbers = new Float64Array(4 * MOST_BYTES)
  #size = 0

  clear(): void {
    this.#size = 0
  }

  push(number: number): void {
    const numbers = this.#numbers
    let at = this.#size++
    while (at > 0) {
      const above = (at - 1) >> 1
      const other = numbers[above] ?? 0
      if (other <= number) break
      numbers[at] = other
      at = above
    }
    numbers[at] = number
  }

  /** Undefined when it is empty. */
  pop(): number | undefined {
    if (this.#size === 0) return undefined
    const numbers = this.#numbers
    const least = numbers[0]
    const moved = numbers[--this.#size] ?? 0
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      if (below >= this.#size) break
      if (below + 1 < this.#size && (numbers[below + 1] ?? 0) < (numbers[below] ?? 0)) below++
      const other = numbers[below] ?? 0
      if (other >= moved) break
      numbers[at] = other
      at = below
    }
    numbers[at] = moved
    return least
  }
}

export class BytePairs {
  readonly #ranks: ReadonlyMap<string, number>
  readonly #longest: number
  readonly #rankOfByte = new Int32Array(256)
  readonly #heap = new Heap()
  /** The parts of the word at hand, each at the place of its first byte. */
  readonly #next = new Int32Array(MOST_BYTES + 1)
  readonly #previous = new Int32Array(MOST_BYTES + 1)
  readonly #rank = new Int32Array(MOST_BYTES + 1)
  /** The rank of a part joined with the one after it. */
  readonly #joined = new Int32Array(MOST_BYTES + 1)
  readonly #leftOf = new Int32Array(PLACES).fill(-1)
  readonly #rightOf = new Int32Array(PLACES)
  readonly #foundAt = new Int32Array(PLACES)

  constructor(ranks: Ranks) {
    this.#ranks = ranksByBytes(ranks)
    this.#longest = [...this.#ranks.keys()].reduce((longest, { length }) => Math.max(longest, length), 0)
    for (let byte = 0; byte < 256; byte++)
      this.#rankOfByte[byte] = this.#ranks.get(String.fromCharCode(byte)) ?? NO_RANK
  }

  tokensOf(word: string): number {
    const bytes = bytesOf(word)
    if (bytes === "" || this.#ranks.has(bytes)) return bytes === "" ? 0 : 1
    if (bytes.length > MOST_BYTES) throw new RangeError(`a word has at most ${MOST_BYTES} bytes`)
    return this.#merged(bytes)
  }

  /** How many parts are left when nothing can be merged any more. */
  #merged(bytes: string): number {
    const [next, previous, rank, joined] = [this.#next, this.#previous, this.#rank, this.#joined]
    let parts = bytes.length
    this.#heap.clear()
    for (let at = 0; at < bytes.length; at++) {
      next[at] = at + 1
      previous[at] = at - 1
      rank[at] = this.#rankOfByte[bytes.charCodeAt(at)] ?? NO_RANK
    }
    for (let at = 0; at < bytes.length; at++) this.#consider(bytes, at)
    for (let least = this.#heap.pop(); least !== undefined; least = this.#heap.pop()) {
      const at = least % MOST_BYTES
      const merged = (least - at) / MOST_BYTES
      // The pair that stood here was merged with another one meanwhile.
      if (joined[at] !== merged) continue
      const right = next[at] ?? 0
      const after = next[right] ?? 0
      rank[at] = merged
      next[at] = after
      previous[after] = at
      joined[right] = NO_RANK
      parts--
      this.#consider(bytes, at)
      const before = previous[at] ?? -1
      if (before >= 0) this.#consider(bytes, before)
    }
    return parts
  }

  /** Notes what a part and the one after it would be together. */
  #consider(bytes: string, at: number): void {
    const found = this.#pairRank(bytes, at)
    this.#joined[at] = found
    if (found !== NO_RANK) this.#heap.push(found * MOST_BYTES + at)
  }

  #pairRank(bytes: string, at: number): number {
    const right = this.#next[at] ?? 0
    if (right >= bytes.length) return NO_RANK
    const leftRank = this.#rank[at] ?? 0
    const rightRank = this.#rank[right] ?? 0
    const place = (Math.imul(leftRank, 0x9e_37_79_b1) ^ Math.imul(rightRank, 0x85_eb_ca_6b)) >>> 16
    if (this.#leftOf[place] === leftRank && this.#rightOf[place] === rightRank) return this.#foundAt[place] ?? NO_RANK
    const end = this.#next[right] ?? 0
    const found = end - at > this.#longest ? NO_RANK : (this.#ranks.get(bytes.slice(at, end)) ?? NO_RANK)
    this.#leftOf[place] = leftRank
    this.#rightOf[place] = rightRank
    this.#foundAt[place] = found
    return found
  }
}

// GptTokenizer: the default of the Tokens port, o200k_base by the ranks that `gpt-tokenizer` brings.
// G1  Nothing is loaded before a count is asked for, and then the vocabulary once for the process.
// G2  The marks of special tokens are counted as the plain text that they are in a message.

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

export const gptTokenizerLayer: Layer.Layer<Tokens> = tokensBy(Effect.cached(load))
