// Sparse: terms as a vector of few numbers, for an index that has no words.
// Owns the number of a term. The weights are those of `tokens.ts`; rarity is left to the index.
// S1  Two terms that fall on one number add up; an index that asks for one also finds the other, rarely.

import { type Fields, termWeights } from "./tokens.ts"

export interface SparseVector {
  /** Ascending, each once. */
  readonly indices: ReadonlyArray<number>
  readonly values: ReadonlyArray<number>
}

const rotated = (value: number, by: number): number => (value << by) | (value >>> (32 - by))

const scrambled = (block: number): number => Math.imul(rotated(Math.imul(block, 0xcc9e2d51), 15), 0x1b873593)

const encoder = new TextEncoder()

/** MurmurHash3 for 32 bits, by Austin Appleby (public domain), of the UTF-8 of a text, with seed 0. */
export const murmur3 = (text: string): number => {
  const bytes = encoder.encode(text)
  const whole = bytes.length & ~3
  let hash = 0
  for (let at = 0; at < whole; at += 4) {
    const block =
      (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24)
    hash = (Math.imul(rotated(hash ^ scrambled(block), 13), 5) + 0xe6546b64) | 0
  }
  let tail = 0
  for (let at = bytes.length - 1; at >= whole; at--) tail = (tail << 8) | (bytes[at] ?? 0)
  hash ^= scrambled(tail) ^ bytes.length
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}

/** The number that stands for a term. */
export const termNumber = (term: string): number => Math.abs(murmur3(term))

const vectorOf = (weights: Iterable<readonly [term: string, weight: number]>): SparseVector => {
  const byNumber = new Map<number, number>()
  for (const [term, weight] of weights) {
    const number = termNumber(term)
    byNumber.set(number, (byNumber.get(number) ?? 0) + weight)
  }
  const sorted = [...byNumber].toSorted(([a], [b]) => a - b)
  return { indices: sorted.map(([number]) => number), values: sorted.map(([, weight]) => weight) }
}

export const sparseEntry = (fields: Fields): SparseVector => vectorOf(termWeights(fields))

/** A question: every term counts once. */
export const sparseQuery = (terms: Iterable<string>): SparseVector =>
  vectorOf([...new Set(terms)].map((term) => [term, 1] as const))
