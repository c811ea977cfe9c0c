// TermKey: the number that stands for a term in the index.
// Owns the number, and the names under which conditions of a question stand among the terms. Leaves what a term is to the
// text module.
// K1  A number has 53 bits: two terms of an assistant that share one are not to be expected in the life of a fleet.
// K2  A condition is no term: its name begins with a sign that no term has.

import { type MemoryEntry, nameKey, type RecallQuery } from "@reverie/memory"

const MULTIPLIERS = [0x9e3779b1, 0x5f356495, 0x85ebca6b, 0xc2b2ae35] as const

/** cyrb53, by bryc (public domain): two multiplicative hashes of 32 bits, mixed. */
export const termKey = (text: string): number => {
  const [first, second, third, fourth] = MULTIPLIERS
  let low = 0xdeadbeef
  let high = 0x41c6ce57
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    low = Math.imul(low ^ unit, first)
    high = Math.imul(high ^ unit, second)
  }
  low = Math.imul(low ^ (low >>> 16), third) ^ Math.imul(high ^ (high >>> 13), fourth)
  high = Math.imul(high ^ (high >>> 16), third) ^ Math.imul(low ^ (low >>> 13), fourth)
  return 0x1_0000_0000 * (high & 0x1f_ffff) + (low >>> 0)
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
export const demandsOf = ({ entities = [], tags = [], thread }: RecallQuery): ReadonlyArray<ReadonlyArray<number>> =>
  [entities.map(entityKey), tags.map(tagKey), thread === undefined ? [] : [threadKey(thread)]].filter(
    (keys) => keys.length > 0
  )
