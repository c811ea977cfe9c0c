// Usage: what model calls have used, as the ledger has summed it, and what went wrong last.
// Owns the questions of people: moments in place of hours, names in place of keys. Leaves adding up to the store, and prices to the
// commit of each call.
// U1  Everyone who tells of cost tells what is summed here: page, API, command line, chat, metrics.
// U2  The last error is looked for in so many entries and no more.

import { Ledger, type OutboxRow, type UsageDimension, type UsageSum } from "@reverie/ledger"
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
  /** At most so many rows, 100 when left out. */
  readonly limit?: number
  /** `next` of the page before. */
  readonly after?: string
}

/** What was used by one assistant, in one hour, of one model, for one purpose. */
export interface UsageRow extends UsageView {
  /** The assistant, the model, the purpose; of an hour its beginning, as in 2026-11-24T09:00:00.000Z. */
  readonly key: string
}

/** One page of what was used. */
export interface UsagePage {
  /** From this hour on, and before that one, in milliseconds since the epoch; null where it has no end. */
  readonly from: number
  /** The hour before which it ends; null where it has no end. */
  readonly to: number | null
  /** What distinguishes the rows. */
  readonly by: UsageGroup
  /** In the order of their keys. */
  readonly rows: ReadonlyArray<UsageRow>
  /** All rows of the question together, those of other pages too. */
  readonly total: UsageView
  /** What `after` the next page has; null when this was the last. */
  readonly next: string | null
}

const DAY_HOURS = 24
const DEFAULT_ROWS = 100
const MAX_ROWS = 100_000

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

/** What the assistants of a tenant have used. */
export const usagePage = Effect.fnUntraced(function* (tenant: TenantId, question: UsageQuestion = {}) {
  const { after, assistant, by = "assistant", limit = DEFAULT_ROWS, to } = question
  const now = yield* Clock.currentTimeMillis
  const from = question.from === undefined ? hourOf(now) - DAY_HOURS + 1 : hourOf(question.from)
  const end = to === undefined ? undefined : hourOf(to)
  const most = Math.max(1, Math.min(Math.trunc(limit), MAX_ROWS))
  const meant = { tenant, from, ...defined({ to: end, assistant: assistant as AssistantId | undefined }) }
  const ledger = yield* Ledger
  const place = after === undefined ? undefined : [placeOf(by, after)]
  const sums = yield* ledger.usage({ ...meant, by: [by], limit: most + 1, ...defined({ after: place }) })
  const isWhole = after === undefined && sums.length <= most
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
    next: sums.length > most ? (rows.at(-1)?.key ?? null) : null
  }
  return page
})
