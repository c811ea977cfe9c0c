// Day: what the last 24 hours took.
// Owns counting by the hour. Leaves what is counted to row.ts.
// Y1  What is older than a day is forgotten, an hour at a time; memory is bounded by the hours of a day.

import type { AssistantRow } from "../api/index.ts"

const HOUR_MILLIS = 3_600_000
const HOURS = 24
const FIELDS = 4

export class Day {
  /** Hour, tokens, cost, calls; one after the other. Nobody who does nothing has one. */
  #hours: Array<number> | undefined

  add(at: number, tokens: number, costMicros: number, calls: number): void {
    const hour = Math.floor(at / HOUR_MILLIS)
    this.#hours ??= []
    const hours = this.#hours
    let index = hours.length - FIELDS
    while (index >= 0 && hours[index] !== hour) index -= FIELDS
    if (index < 0) {
      index = hours.push(hour, 0, 0, 0) - FIELDS
      if (hours.length > (HOURS + 1) * FIELDS) {
        hours.splice(0, FIELDS)
        index -= FIELDS
      }
    }
    hours[index + 1] = (hours[index + 1] ?? 0) + tokens
    hours[index + 2] = (hours[index + 2] ?? 0) + costMicros
    hours[index + 3] = (hours[index + 3] ?? 0) + calls
  }

  get isEmpty(): boolean {
    return this.#hours === undefined
  }

  sum(now: number): AssistantRow["day"] {
    const sum = { tokens: 0, costMicros: 0, calls: 0 }
    const first = Math.floor(now / HOUR_MILLIS) - HOURS
    const hours = this.#hours ?? []
    for (let index = 0; index < hours.length; index += FIELDS) {
      if ((hours[index] ?? 0) <= first) continue
      sum.tokens += hours[index + 1] ?? 0
      sum.costMicros += hours[index + 2] ?? 0
      sum.calls += hours[index + 3] ?? 0
    }
    return sum
  }
}
