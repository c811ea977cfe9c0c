// Sparse: terms as a vector of few numbers, for an index that has no words.
// Owns the numbers of a term, and those of what a question demands besides. The weights are those of `tokens.ts`; rarity is left to the index.
// S1  Two terms that fall on one number add up; an index that asks for one also finds the other, rarely.

import { nameKey, threadsOf } from "../facts/consolidate.ts"
import type { MemoryEntry } from "../indexing/messages.ts"
import type { RecallQuery } from "../recall.ts"
import { type Fields, indexWeights } from "./tokens.ts"

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

export const sparseEntry = (fields: Fields): SparseVector => vectorOf(indexWeights(fields))

/** A question: every term counts once. */
export const sparseQuery = (terms: Iterable<string>): SparseVector =>
  vectorOf([...new Set(terms)].map((term) => [term, 1] as const))

// TermKey: the number that stands for a term in an index that has lists of numbers.
// K1  A number has 53 bits: two terms of an assistant that share one are not to be expected in the life of a fleet.
// K2  A condition is no term: its name begins with a sign that no term has.

const MULTIPLIERS = [0x9e3779b1, 0x5f356495, 0x85ebca6b, 0xc2b2ae35] as const
const WORD = 0x1_0000_0000

const mixed = (low: number, high: number): number => {
  const [, , third, fourth] = MULTIPLIERS
  const first = Math.imul(low ^ (low >>> 16), third) ^ Math.imul(high ^ (high >>> 13), fourth)
  const second = Math.imul(high ^ (high >>> 16), third) ^ Math.imul(first ^ (first >>> 13), fourth)
  return WORD * (second & 0x1f_ffff) + (first >>> 0)
}

/** cyrb53, by bryc (public domain): two multiplicative hashes of 32 bits, mixed. */
export const termKey = (text: string): number => {
  const [first, second] = MULTIPLIERS
  let low = 0xdeadbeef
  let high = 0x41c6ce57
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    low = Math.imul(low ^ unit, first)
    high = Math.imul(high ^ unit, second)
  }
  return mixed(low, high)
}

/** The key of a term among those of a group, where all groups share one list. */
export const keyWithin = (group: number, key: number): number => {
  const [first, second] = MULTIPLIERS
  const low = Math.imul(Math.imul(0xdeadbeef ^ group, first) ^ key, first)
  const high = Math.imul(Math.imul(0x41c6ce57 ^ Math.floor(group / WORD), second) ^ Math.floor(key / WORD), second)
  return mixed(low, high ^ Math.imul(low, second))
}

const SIGN = "\u0000"

const entityKey = (name: string): number => termKey(`${SIGN}e${nameKey(name)}`)
const tagKey = (name: string): number => termKey(`${SIGN}t${nameKey(name)}`)
const threadKey = (thread: string): number => termKey(`${SIGN}r${thread}`)

/** What a question can demand of an entry besides its words. */
export const conditionKeys = ({ entities, tags, thread }: MemoryEntry): ReadonlyArray<number> => [
  ...entities.map(entityKey),
  ...tags.map(tagKey),
  ...(thread === undefined ? [] : [threadKey(thread)])
]

/** Of each demand of a question the keys of which an entry must have one. */
export const demandsOf = (query: RecallQuery): ReadonlyArray<ReadonlyArray<number>> => {
  const { entities = [], tags = [] } = query
  const demands = [entities.map(entityKey), tags.map(tagKey), threadsOf(query).map(threadKey)]
  return demands.filter((keys) => keys.length > 0)
}
