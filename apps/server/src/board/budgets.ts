// Budgets: who may spend how much, how much of it is gone, and when the rest will be at the pace of the last day.
// Owns the order and the forecast. Leaves the amounts to the rows of the board.
// B1  A forecast goes on from what was used in the last 24 hours; where nothing was, there is none.

import type { Budget } from "../api/index.ts"
import type { Row } from "./row.ts"

const DAY_HOURS = 24
const HOUR_MILLIS = 3_600_000
const measures = ["tokens", "costMicros", "calls"] as const

/** Whole hours, and what has gone by of the last. */
const spanOf = (now: number): number => (DAY_HOURS - 1) * HOUR_MILLIS + (now % HOUR_MILLIS)

/** How much is gone of what is nearest to its end, 0 to 1. */
export const shareOf = ({ granted, reserved, spent }: NonNullable<Row["budget"]>): number =>
  Math.max(
    ...measures.map((measure) => {
      const most = granted[measure]
      if (most === null) return 0
      return most === 0 ? 1 : (spent[measure] + reserved[measure]) / most
    })
  )

/** When the first of what is bounded will be used up; null where nothing of it was used in the last day. */
const endOf = ({ budget, day }: Row, now: number): number | null => {
  if (budget === undefined) return null
  const ends = measures.flatMap((measure) => {
    const most = budget.granted[measure]
    if (most === null || day[measure] === 0) return []
    const left = Math.max(0, most - budget.spent[measure] - budget.reserved[measure])
    return [now + (left / day[measure]) * spanOf(now)]
  })
  return ends.length === 0 ? null : Math.round(Math.min(...ends))
}

/** Those of the rows that have a budget, the most used up first. */
export const budgetsOf = (rows: Iterable<Row>, now: number, limit: number) => {
  const all = [...rows].flatMap((row) => {
    const { budget } = row
    return budget === undefined || row.class === "retired" ? [] : [{ row, budget, share: shareOf(budget) }]
  })
  all.sort((a, b) => b.share - a.share || (a.row.id < b.row.id ? -1 : 1))
  const items = all.slice(0, limit).map(({ budget, row, share }): Budget => ({
    assistant: row.id,
    ...budget,
    share,
    day: row.day,
    endsAt: endOf(row, now)
  }))
  return { items, matched: all.length }
}
