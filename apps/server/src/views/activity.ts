// Activity: the tokens that assistants used in the last 24 hours, hour by hour, of the sums that their commits wrote.
// V1  What one costs does not grow with the fleet: each has an index of its own.

import type { ReadFleet } from "../gateway.ts"

const HOUR_MILLIS = 3_600_000
const HOURS = 24

export const activityOf = async (fleet: Pick<ReadFleet, "usage">, ids: ReadonlyArray<string>, now: number) => {
  const first = Math.floor(now / HOUR_MILLIS) - HOURS + 1
  const from = first * HOUR_MILLIS
  const items = await Promise.all(
    ids.map(async (id) => {
      const tokens = Array.from({ length: HOURS }, () => 0)
      const { rows } = await fleet.usage({ assistant: id, by: "hour", from, limit: HOURS + 1 })
      for (const row of rows) {
        const place = Date.parse(row.key) / HOUR_MILLIS - first
        if (place >= 0 && place < HOURS) tokens[place] = row.tokens
      }
      return { id, tokens }
    })
  )
  return { from, items }
}
