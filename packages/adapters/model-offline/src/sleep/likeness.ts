// Likeness: how much of one statement another one says.
// Owns comparing them by their words, numbers and negations. Leaves what follows to each task.
// G1  A statement says the same as itself, also when all its words are words of grammar.

import { stemsOf } from "../words.ts"
import { monthNames, negation } from "./grammar.ts"

const shorter = new Set(monthNames)

/** Nearly all the words. */
const SAME = 0.9

export interface Gist {
  /** The statement itself, without regard to case and to how it ends. */
  readonly text: string
  /** Stems of its words, without numbers and months. */
  readonly words: ReadonlySet<string>
  /** Its numbers, months and negation: what may change while the rest stays. */
  readonly values: ReadonlySet<string>
  readonly first: string
}

const asked = /^Asked "[^"]*": /

/** A statement without the question that it answers. */
export const unasked = (statement: string): string => statement.replace(asked, "")

export const gistOf = (statement: string): Gist => {
  const said = unasked(statement)
  const lower = said.toLowerCase()
  const plain = lower.replace(/\p{N}+/gu, " ").replace(/\p{L}+/gu, (word) => (shorter.has(word) ? " " : word))
  const named = (lower.match(/\p{L}+/gu) ?? []).filter((word) => shorter.has(word))
  return {
    text: lower.replace(/[\s.!?]+$/, ""),
    words: stemsOf(plain),
    values: new Set([...(lower.match(/\p{N}+/gu) ?? []), ...named, ...(negation.test(said) ? ["not"] : [])]),
    first: /[\p{L}\p{N}]+/u.exec(lower)?.[0] ?? ""
  }
}

/** The share of words they have in common, 0 to 1. */
export const overlap = (one: ReadonlySet<string>, other: ReadonlySet<string>): number => {
  const all = one.union(other).size
  return all === 0 ? 0 : one.intersection(other).size / all
}

export const hasSameValues = (one: Gist, other: Gist): boolean =>
  one.values.size === other.values.size && one.values.isSubsetOf(other.values)

/** They say the same: the same numbers, months and negation, and nearly all the words. */
export const saysTheSame = (one: Gist, other: Gist): boolean =>
  one.text === other.text || (hasSameValues(one, other) && overlap(one.words, other.words) >= SAME)
