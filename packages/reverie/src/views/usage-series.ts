// UsageSeries: what was used over time, an hour or a day a point.
// Owns the points of rows and of their whole. Leaves which rows there are to usage.ts, and adding up to the store.
// S1  A row is the sum of its points, and the whole that of all: each is read once, and the whole after its parts, so that parts never
//     come to more.
// S2  There are at most MAX_POINTS points a row, the newest; the sums are of the whole span all the same.

import { Ledger, type UsageDimension, type UsageQuery, type UsageSum } from "@reverie/ledger"
import {
  addUsed,
  type Amount,
  type AssistantId,
  defined,
  HOUR_MILLIS,
  NOTHING_USED,
  type Used
} from "@reverie/protocol"
import * as Effect from "effect/Effect"

/** How long a point is; days are those of UTC. */
export type UsageStep = "hour" | "day"

/** What was used in one hour or day. Those in which nothing was used are left out. */
export interface UsagePoint extends Amount {
  /** Its beginning, in milliseconds since the epoch. */
  readonly at: number
  /** Calls whose price no one knows; their cost is not in `costMicros`. */
  readonly unpricedCalls: number
}

/** What a row took in all, and over time. */
interface Course {
  readonly used: Used
  readonly points: ReadonlyArray<UsagePoint>
}

const MAX_POINTS = 1_000
const DAY_HOURS = 24
const PAGE = 100_000

const hoursIn = (step: UsageStep): number => (step === "day" ? DAY_HOURS : 1)

/** Hours, where there are not too many of them. */
export const stepFor = (wanted: UsageStep, hours: number): UsageStep =>
  wanted === "hour" && hours <= MAX_POINTS ? "hour" : "day"

/** The sums of one key, each of an hour, as points. */
const courseOf = (step: UsageStep, sums: ReadonlyArray<UsageSum>): Course => {
  const each = hoursIn(step)
  const places = new Map<number, Used>()
  for (const sum of sums) {
    const place = Math.floor(Number(sum.key.at(-1)) / each)
    places.set(place, addUsed(places.get(place) ?? NOTHING_USED, sum))
  }
  const points = [...places]
    .toSorted(([a], [b]) => a - b)
    .slice(-MAX_POINTS)
    .map(([place, { calls, costMicros, inputTokens, outputTokens, unpricedCalls }]): UsagePoint => ({
      at: place * each * HOUR_MILLIS,
      tokens: inputTokens + outputTokens,
      costMicros,
      calls,
      unpricedCalls
    }))
  return { used: sums.reduce((sum: Used, one) => addUsed(sum, one), NOTHING_USED), points }
}

const allOf = Effect.fnUntraced(function* (query: Omit<UsageQuery, "limit" | "after">) {
  const ledger = yield* Ledger
  const found: Array<UsageSum> = []
  while (true) {
    const last = found.at(-1)
    const page = yield* ledger.usage({ ...query, limit: PAGE, ...defined({ after: last?.key }) })
    found.push(...page)
    if (page.length < PAGE) return found
  }
})

/** The rows of these keys over time, and the whole of the question. */
export const usageCourses = Effect.fnUntraced(function* (
  meant: Omit<UsageQuery, "by" | "limit">,
  by: UsageDimension,
  keys: ReadonlyArray<string>,
  step: UsageStep
) {
  const byKey = new Map<string, ReadonlyArray<UsageSum>>()
  if (by === "assistant") {
    // Each has an index of its own: what all the others used is not looked at.
    for (const key of keys) byKey.set(key, yield* allOf({ ...meant, assistant: key as AssistantId, by: ["hour"] }))
  } else if (by !== "hour") {
    const sums = Map.groupBy(yield* allOf({ ...meant, by: [by, "hour"] }), ({ key }) => String(key[0]))
    for (const key of keys) byKey.set(key, sums.get(key) ?? [])
  }
  const rows = new Map([...byKey].map(([key, sums]) => [key, courseOf(step, sums)]))
  return { rows, whole: courseOf(step, yield* allOf({ ...meant, by: ["hour"] })) }
})
