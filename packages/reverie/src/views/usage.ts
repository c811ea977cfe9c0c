// Usage: what an assistant has used of late, and what went wrong last.
// Owns adding up and the bounds of the look back. Leaves prices to timeline/price.ts.
// U1  A look back reads at most so many entries; when that was not enough, it says so.

import type { OutboxRow } from "@reverie/ledger"
import { type Amount, defined, type Entry, type StepRecord } from "@reverie/protocol"
import { clipped, type Price } from "../timeline/tick-view.ts"

/** What went wrong last. */
export interface LastError {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly message: string
}

/** What model calls have used. */
export interface UsageView extends Amount {
  /** False when there were more entries than are looked at, so that it may have been more. */
  readonly isWhole: boolean
  /** The newest thing that went wrong since then. */
  readonly lastError?: LastError
}

const MAX_ENTRIES = 20_000
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

/** What model calls have used since a moment, out of rows that are read from the end. */
export const usageIn = async (
  newest: AsyncIterable<OutboxRow>,
  sinceMillis: number,
  price: Price
): Promise<UsageView> => {
  const sum = { tokens: 0, costMicros: 0, calls: 0 }
  let lastError: LastError | undefined
  let looked = 0
  let isWhole = true
  for await (const { entry } of newest) {
    if (entry.at < sinceMillis) break
    if (++looked > MAX_ENTRIES) {
      isWhole = false
      break
    }
    lastError ??= errorIn(entry)
    const { detail = {}, usage } = entry.step ?? {}
    if (usage === undefined) continue
    const model = detail["model"]
    sum.calls++
    sum.tokens += usage.inputTokens + usage.outputTokens
    sum.costMicros += price(typeof model === "string" ? model : undefined, usage) ?? 0
  }
  return { ...sum, isWhole, ...defined({ lastError }) }
}
