// Salvage: reading on where a page of the database is damaged.
// Owns stepping over what cannot be read. Leaves telling of it to the callers, and the cure to a person.
// V1  Of a list by number every row is found that can be read by itself; the damaged stretch costs a few look-ups, however
//     many numbers it spans.

import { MAX_PAGE_CHARS } from "@reverie/ledger"
import { sqliteFailure } from "../sql.ts"

const isDamage = (error: unknown): boolean => sqliteFailure(error)?.kind === "damaged"

/** What can be read; undefined where a page is damaged. */
export const undamaged = <A>(read: () => A): { readonly value: A } | undefined => {
  try {
    return { value: read() }
  } catch (error) {
    if (isDamage(error)) return undefined
    throw error
  }
}

/** Behind a number. `seq > ?` would begin on the page of that number itself, which may be the damaged one. */
export const BEHIND = "seq >= ? + 1"

type Rows<Row> = (after: number, limit: number) => ReadonlyArray<Row>

/** The first row behind a number that can be read, where the very next one cannot. */
const beyondDamage = <Row>(rows: Rows<Row>, after: number, end: number): Row | undefined => {
  const at = (number: number) => undamaged(() => rows(number, 1)[0])
  let damaged = after
  let step = 1
  while (damaged + step < end && at(damaged + step) === undefined) {
    damaged += step
    step *= 2
  }
  let sound = damaged + step
  while (sound - damaged > 1) {
    const middle = damaged + Math.floor((sound - damaged) / 2)
    if (at(middle) === undefined) damaged = middle
    else sound = middle
  }
  return at(sound)?.value
}

/** Rows in the order of their numbers, behind a number; where pages are damaged, those that can be read one by one. */
export const salvaging =
  <Row extends { readonly seq: number; readonly body: string }>(rows: Rows<Row>, newest: () => number): Rows<Row> =>
  (after, limit) => {
    const whole = undamaged(() => rows(after, limit))
    if (whole !== undefined) return whole.value
    const end = newest()
    const found: Array<Row> = []
    let characters = 0
    for (let last = after; found.length < limit && characters < MAX_PAGE_CHARS && last < end;) {
      const next = undamaged(() => rows(last, 1)[0])
      const row = next === undefined ? beyondDamage(rows, last, end) : next.value
      if (row === undefined) break
      found.push(row)
      characters += row.body.length
      last = row.seq
    }
    return found
  }
