// Usage: what model calls have used, as the ledger has summed it, and what went wrong last.
// Owns the questions of people: moments in place of hours, names in place of keys. Leaves adding up to the store, and prices to the
// commit of each call.
// U1  Everyone who tells of cost tells what is summed here: page, API, command line, chat, metrics.
// U2  The last error is looked for in so many entries and no more.

import { Ledger, type OutboxRow, type UsageDimension, type UsageQuery, type UsageSum } from "@reverie/ledger"
import {
  addUsed,
  type Amount,
  type AssistantId,
  defined,
  type Entry,
  HOUR_MILLIS,
  hourOf,
  NOTHING_USED,
  type StepRecord,
  type TenantId,
  type Used
} from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { stepFor, usageCourses, type UsagePoint, type UsageStep } from "./usage-series.ts"
import { clipped } from "../timeline/tick-view.ts"

/** What went wrong last. */
export interface LastError {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** What it was, without secrets. */
  readonly message: string
}

const MAX_ERROR_ENTRIES = 1_000
const MAX_MESSAGE_CHARS = 500

const failureOf = ({ messages }: Entry, { detail = {}, name, ok }: StepRecord): string | undefined => {
  if (ok) return undefined
  const said = detail["error"] ?? messages.find(({ role }) => role === "tool")?.content ?? detail["failure"] ?? "failed"
  return `${name}: ${typeof said === "string" ? said : JSON.stringify(said)}`
}

/** What went wrong with one entry; undefined when nothing did. */
const errorIn = (entry: Entry): LastError | undefined => {
  const deadLettered = entry.settled?.find(({ outcome }) => outcome === "dead")
  const failed = entry.step === undefined ? undefined : failureOf(entry, entry.step)
  const message = deadLettered === undefined ? failed : (deadLettered.reason ?? "deadLettered")
  return message === undefined ? undefined : { at: entry.at, message: clipped(message, MAX_MESSAGE_CHARS) }
}

/** The newest error in rows that are read from the end. */
export const lastErrorIn = async (newest: AsyncIterable<OutboxRow>): Promise<LastError | undefined> => {
  let looked = 0
  for await (const { entry } of newest) {
    const error = errorIn(entry)
    if (error !== undefined || ++looked >= MAX_ERROR_ENTRIES) return error
  }
  return undefined
}

/** What some model calls have used, in all. */
export interface UsageView extends Amount, Used {}

/** By what use can be summed. */
export type UsageGroup = Exclude<UsageDimension, "tenant">

/** Which use is asked for. */
export interface UsageQuestion {
  /** Milliseconds since the epoch: from the hour of this moment on; the last 24 hours when left out. */
  readonly from?: number
  /** Before the hour of this moment; up to now when left out. */
  readonly to?: number
  /** One row for each of these; of assistants when left out. */
  readonly by?: UsageGroup
  /** Of this assistant only. */
  readonly assistant?: string
  /** Of calls of this model only. */
  readonly model?: string
  /** Of calls for this purpose only: `answer`, `assess`, `dream`, `profile` or `compact`. */
  readonly purpose?: string
  /** `greatest`: those that cost most first, then those with most tokens; then there is one page. In the order of their keys when left out. */
  readonly order?: "greatest"
  /** What was used over time too, a point an hour or a day, of at most 50 rows; of more than 1,000 hours a point is a day. */
  readonly step?: UsageStep
  /** At most so many rows, 100 when left out. */
  readonly limit?: number
  /** `next` of the page before. */
  readonly after?: string
}

/** What was used by one assistant, in one hour, of one model, for one purpose. */
export interface UsageRow extends UsageView {
  /** The assistant, the model, the purpose; of an hour its beginning, as in 2026-11-24T09:00:00.000Z. */
  readonly key: string
  /** Over time, the oldest first, where a `step` was asked for; rows of hours have none. */
  readonly points?: ReadonlyArray<UsagePoint>
}

/** One page of what was used. */
export interface UsagePage {
  /** From this hour on, and before that one, in milliseconds since the epoch; null where it has no end. */
  readonly from: number
  /** The hour before which it ends; null where it has no end. */
  readonly to: number | null
  /** What distinguishes the rows. */
  readonly by: UsageGroup
  /** In the order of their keys, or the greatest first. */
  readonly rows: ReadonlyArray<UsageRow>
  /** All rows of the question together, those of other pages too. */
  readonly total: UsageView
  /** What `after` the next page has; null when this was the last. */
  readonly next: string | null
  /** All of it over time, where a `step` was asked for: of those rows that are not on the page too. */
  readonly series?: { readonly step: UsageStep; readonly points: ReadonlyArray<UsagePoint> }
}

const DAY_HOURS = 24
const DEFAULT_ROWS = 100
const MAX_ROWS = 100_000
/** Rows with points are read one by one. */
const MAX_COURSES = 50

const viewOfUse = (used: Used): UsageView => ({
  tokens: used.inputTokens + used.outputTokens,
  calls: used.calls,
  costMicros: used.costMicros,
  unpricedCalls: used.unpricedCalls,
  inputTokens: used.inputTokens,
  cachedTokens: used.cachedTokens,
  outputTokens: used.outputTokens,
  reasoningTokens: used.reasoningTokens
})

const keyOf = (by: UsageGroup, [key = ""]: UsageSum["key"]): string =>
  by === "hour" ? new Date(Number(key) * HOUR_MILLIS).toISOString() : String(key)

const placeOf = (by: UsageGroup, after: string): string | number => (by === "hour" ? hourOf(Date.parse(after)) : after)

/** All that an assistant has used since the hour of a moment. */
export const usageSince = (tenant: TenantId, assistant: AssistantId, sinceMillis: number) =>
  Effect.map(
    Ledger.use((ledger) => ledger.usage({ tenant, assistant, from: hourOf(sinceMillis), by: [], limit: 1 })),
    ([sum = NOTHING_USED]) => viewOfUse(sum)
  )

/** The page with what was used over time; what a row and the whole came to is read anew with it. */
const withCourses = Effect.fnUntraced(function* (
  page: UsagePage,
  meant: Omit<UsageQuery, "by" | "limit">,
  wanted: UsageStep,
  hours: number
) {
  const step = stepFor(wanted, hours)
  const { rows, whole } = yield* usageCourses(
    meant,
    page.by,
    page.rows.map(({ key }) => key),
    step
  )
  const withPoints = page.rows.map((row): UsageRow => {
    const course = rows.get(row.key)
    return course === undefined ? row : { key: row.key, ...viewOfUse(course.used), points: course.points }
  })
  return { ...page, rows: withPoints, total: viewOfUse(whole.used), series: { step, points: whole.points } }
})

/** What the assistants of a tenant have used. */
export const usagePage = Effect.fnUntraced(function* (tenant: TenantId, question: UsageQuestion = {}) {
  const { after, assistant, by = "assistant", limit = DEFAULT_ROWS, model, order, purpose, step, to } = question
  const now = yield* Clock.currentTimeMillis
  const from = question.from === undefined ? hourOf(now) - DAY_HOURS + 1 : hourOf(question.from)
  const end = to === undefined ? undefined : hourOf(to)
  const most = Math.max(1, Math.min(Math.trunc(limit), step === undefined ? MAX_ROWS : MAX_COURSES))
  const of = defined({ to: end, assistant: assistant as AssistantId | undefined, model, purpose })
  const meant = { tenant, from, ...of }
  const ledger = yield* Ledger
  const place = after === undefined || order === "greatest" ? undefined : [placeOf(by, after)]
  const sums = yield* ledger.usage({ ...meant, by: [by], limit: most + 1, ...defined({ after: place, order }) })
  const isWhole = place === undefined && sums.length <= most
  const whole = isWhole
    ? sums.reduce((sum: Used, each) => addUsed(sum, each), NOTHING_USED)
    : ((yield* ledger.usage({ ...meant, by: [], limit: 1 }))[0] ?? NOTHING_USED)
  const rows = sums.slice(0, most).map((sum): UsageRow => ({ key: keyOf(by, sum.key), ...viewOfUse(sum) }))
  const page: UsagePage = {
    from: from * HOUR_MILLIS,
    to: end === undefined ? null : end * HOUR_MILLIS,
    by,
    rows,
    total: viewOfUse(whole),
    next: sums.length > most && order === undefined ? (rows.at(-1)?.key ?? null) : null
  }
  return step === undefined ? page : yield* withCourses(page, meant, step, (end ?? hourOf(now) + 1) - from)
})
