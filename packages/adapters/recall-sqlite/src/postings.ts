// Postings: the terms of an entry as the full-text index holds them, and back.
// Owns classes of weight and the words that stand for a group's term. Leaves weights to the text module.
// P1  A group's term is its key, a sign that no term has, the term, the sign, and the class of its weight: no group has a
//     term of another one, and no term is the beginning of another.
// P2  A weight comes back as that of its class, at most a fifteenth off.

import type { DatabaseSync } from "node:sqlite"
import { query } from "./sql.ts"

/** No weight is below the first, none above the last. */
const LEAST = 0.05
const MOST = 2.2
const CLASSES = 36
const STEP = Math.log(MOST / LEAST) / (CLASSES - 1)

const classOf = (weight: number): number =>
  Math.min(Math.max(Math.round(Math.log(weight / LEAST) / STEP), 0), CLASSES - 1)

const digits = Array.from({ length: CLASSES }, (_, index) => index.toString(CLASSES))
const weightOfDigit = new Map(digits.map((digit, index) => [digit, LEAST * Math.exp(index * STEP)]))

/** The tokeniser of the index takes any sign beyond ASCII for a letter, and no term has this one. */
const SIGN = "\u00b7"
/** The sign that comes next in the order of the index. */
const AFTER_SIGN = "\u00b8"

/** What stands in the index for the weighed terms of an entry that groups may read. */
export const postingText = (terms: ReadonlyMap<string, number>, groups: ReadonlyArray<number>): string => {
  let text = ""
  for (const [term, weight] of terms) {
    const ending = `${SIGN}${term}${SIGN}${digits[classOf(weight)] ?? ""} `
    for (const group of groups) text += group + ending
  }
  return text
}

export type Postings = (group: number, term: string) => ReadonlyArray<readonly [entry: number, weight: number]>

/** The entries of a group that have a term, each once. */
export const postingsOf = (database: DatabaseSync): Postings => {
  const rows = query<readonly [entry: number, word: string]>(
    database,
    "SELECT doc, term FROM temp.postings WHERE term >= ? AND term < ?",
    { asArrays: true }
  )
  return (group, term) => {
    const word = `${group}${SIGN}${term}`
    return rows
      .all(`${word}${SIGN}`, `${word}${AFTER_SIGN}`)
      .map(([entry, found]) => [entry, weightOfDigit.get(found.slice(-1)) ?? 0] as const)
  }
}
