// Choice: which rows a list shows, in which order, and where the next page begins.
// Owns filter, order and cursor. Leaves the rows to board.ts.
// C1  The order is total: equal values go by id. Anyone who does not change is on exactly one page of a walk.
// C2  One look over all rows answers a page, whatever their number; only the page is sorted.

import { Malformed, type sorts } from "../api/index.ts"
import { isNearlyFull, isNearlySpent, isStuck } from "./counting.ts"
import type { Row } from "./row.ts"

export type Sort = (typeof sorts)[number]

/** Whom a list, a group or an action for many means. */
export interface Filter {
  /** Words of the id and the definition. */
  readonly q?: string
  /** A mode, a path, or the beginning of one. */
  readonly state?: string
  readonly definition?: string
  /** A label of its definition. */
  readonly tag?: string
}

/** The labels of each definition, by its name. */
export type Tags = ReadonlyMap<string, ReadonlyArray<string>>

export interface Question extends Filter {
  /** What a tag of the filter means; none has any where it is left out. */
  readonly tags?: Tags
  readonly sort?: Sort
  readonly isDescending?: boolean
  readonly limit: number
  readonly cursor?: string
}

type Value = string | number

/** Longer than since the epoch to any moment, in milliseconds: what needs a person goes before what is recent. */
const RANK = 1e14
const RANK_OF_APPROVAL = 5

/** What a person has to do comes first, then trouble that mends itself, then what may become trouble, then what happens now. */
const rankOf = (row: Row, now: number): number => {
  if (row.class === "retired") return 0
  if (row.class === "halted") return 7
  if (isStuck(row, now)) return 6
  if (row.approvals > 0) return RANK_OF_APPROVAL
  if (row.outage !== undefined) return 4
  if (isNearlyFull(row) || isNearlySpent(row)) return 3
  return row.isWorking || row.waiting > 0 ? 2 : 1
}

/** It goes on when a person has done something. */
export const needsPerson = (row: Row, now: number): boolean => rankOf(row, now) >= RANK_OF_APPROVAL

const valueBySort: Readonly<Record<Sort, (row: Row, now: number) => Value>> = {
  attention: (row, now) => rankOf(row, now) * RANK + row.since,
  id: ({ id }) => id,
  since: ({ since }) => since,
  waiting: ({ waiting }) => waiting,
  // No one acts on the window of one that has retired.
  context: ({ class: is, contextShare = -1 }) => (is === "retired" ? -1 : contextShare),
  // Where nothing has a price, tokens tell who took most.
  cost: ({ day: { costMicros, tokens } }) => costMicros * 1e6 + tokens / 1e6,
  ticks: ({ ticks }) => ticks,
  // As it is shown: trouble that lasts stands before trouble that was, and began with the state.
  errors: ({ haltReason, lastError, outage, since }) =>
    haltReason === undefined && outage === undefined ? (lastError?.at ?? 0) : since
}

interface Stand {
  readonly value: Value
  readonly id: string
}

const compareStands = (value: Value, id: string, other: Stand): number =>
  value < other.value ? -1 : value > other.value ? 1 : id < other.id ? -1 : id > other.id ? 1 : 0

const cursorOf = (sort: Sort, isDescending: boolean, { id, value }: Stand): string =>
  Buffer.from(JSON.stringify([sort, isDescending, value, id])).toString("base64url")

const standIn = (cursor: string, sort: Sort, isDescending: boolean): Stand => {
  try {
    const read: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"))
    if (Array.isArray(read) && read[0] === sort && read[1] === isDescending) {
      const [, , value, id]: ReadonlyArray<unknown> = read
      if (typeof value === (sort === "id" ? "string" : "number") && typeof id === "string") {
        return { value: value as Value, id }
      }
    }
  } catch {
    // Said below.
  }
  throw new Malformed({ message: "the cursor is of another list", hint: "ask for the first page again" })
}

/** Of each row, whether the filter means it. What is empty means everyone. */
export const meaning = (
  { definition = "", q = "", state = "", tag = "" }: Filter,
  tags: Tags = new Map()
): ((row: Row) => boolean) => {
  const words = q.trim().toLowerCase()
  const tagged = new Set([...tags].flatMap(([name, own]) => (own.includes(tag) ? [name] : [])))
  return (row) =>
    (words === "" || row.words.includes(words)) &&
    (definition === "" || row.definition === definition) &&
    (tag === "" || tagged.has(row.definition)) &&
    (state === "" || row.state === state || (row.state.startsWith(state) && row.state[state.length] === "."))
}

export interface Page {
  readonly rows: ReadonlyArray<Row>
  readonly next: string | null
  readonly matched: number
}

/** The rows of one page, found while every row is reported once: `take` says which comes next, `page` ends it. */
export class Choice {
  readonly #isMeant: (row: Row) => boolean
  readonly #sort: Sort
  readonly #isDescending: boolean
  readonly #limit: number
  readonly #after: Stand | undefined
  readonly #valueOf: (row: Row, now: number) => Value
  readonly #now: number
  /** The best so far, in order; one more than the page shows. */
  readonly #best: Array<Stand & { readonly row: Row }> = []
  #matched = 0

  constructor({ cursor, isDescending = false, limit, sort = "id", tags, ...filter }: Question, now: number) {
    this.#isMeant = meaning(filter, tags)
    this.#sort = sort
    this.#isDescending = isDescending
    this.#limit = limit
    this.#after = cursor === undefined ? undefined : standIn(cursor, sort, isDescending)
    this.#valueOf = valueBySort[sort]
    this.#now = now
  }

  take(row: Row): void {
    if (!this.#isMeant(row)) return
    this.#matched++
    const { id } = row
    const value = this.#valueOf(row, this.#now)
    if (this.#after !== undefined && this.#order(value, id, this.#after) <= 0) return
    const best = this.#best
    const worst = best.length > this.#limit ? best.at(-1) : undefined
    if (worst !== undefined && this.#order(value, id, worst) >= 0) return
    let low = 0
    let high = best.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const other = best[middle]
      if (other !== undefined && this.#order(value, id, other) > 0) low = middle + 1
      else high = middle
    }
    best.splice(low, 0, { value, id, row })
    if (best.length > this.#limit + 1) best.pop()
  }

  page(): Page {
    const shown = this.#best.slice(0, this.#limit)
    const last = shown.at(-1)
    const isLast = this.#best.length <= this.#limit || last === undefined
    return {
      rows: shown.map(({ row }) => row),
      next: isLast ? null : cursorOf(this.#sort, this.#isDescending, last),
      matched: this.#matched
    }
  }

  #order(value: Value, id: string, other: Stand): number {
    const order = compareStands(value, id, other)
    return this.#isDescending ? -order : order
  }
}
