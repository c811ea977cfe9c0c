// DocTerms: what is searched of an entry, as the index keeps it of the newest ones.
// Owns its bytes. Leaves terms and weights to the text module, keys and classes to the modules beside it.
// D1  The keys of the terms, and of what a question can demand besides, each once; then the class of each, in their order.

import { type AttachedFact, fieldsOf, type MemoryEntry, memoryKinds, termWeights } from "@reverie/memory"
import { conditionKeys, termKey } from "./term-key.ts"
import { classOf } from "./weight-class.ts"

const KEY_BYTES = 8
const BYTES = KEY_BYTES + 1

/** An entry under its number in the index, with what can be asked of it without reading it. */
export interface Doc {
  readonly doc: number
  /** The key of its row. */
  readonly row: number
  /** Its place among the kinds of memories. */
  readonly kind: number
  readonly at: number
  readonly trust: number
  readonly terms: Uint8Array
}

export const kindNumber = ({ kind }: Pick<MemoryEntry, "kind">): number => memoryKinds.indexOf(kind)

export const docTerms = (entry: MemoryEntry, facts: ReadonlyArray<AttachedFact>): Uint8Array => {
  const weights = termWeights(fieldsOf(entry, facts))
  const conditions = new Set(conditionKeys(entry))
  const count = weights.size + conditions.size
  const terms = new Uint8Array(count * BYTES)
  const keys = new DataView(terms.buffer)
  let at = 0
  const add = (key: number, weightClass: number): void => {
    keys.setFloat64(at * KEY_BYTES, key, true)
    terms[count * KEY_BYTES + at++] = weightClass
  }
  for (const [term, weight] of weights) add(termKey(term), classOf(weight))
  for (const key of conditions) add(key, 0)
  return terms
}

/** Calls for each term of an entry, with its class. */
export const eachTerm = (terms: Uint8Array, use: (key: number, weightClass: number) => void): void => {
  const count = terms.length / BYTES
  const keys = new DataView(terms.buffer, terms.byteOffset, terms.byteLength)
  for (let at = 0; at < count; at++) use(keys.getFloat64(at * KEY_BYTES, true), terms[count * KEY_BYTES + at] ?? 0)
}
