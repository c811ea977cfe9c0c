// Search: what stands behind the question mark, read with types.
// Owns the readers that a page's `search.ts` is made of, and the searches that are too small for a file of their own. All view
// state is in the URL; what does not fit is dropped.

import { defined } from "../api/defined.ts"

export type Raw = Readonly<Record<string, unknown>>

export const text = (value: unknown, maxChars = 200): string | undefined => {
  if (typeof value === "number" || typeof value === "boolean") return String(value)
  return typeof value === "string" && value !== "" ? value.slice(0, maxChars) : undefined
}

export const oneOf = <const Each extends string>(value: unknown, all: ReadonlyArray<Each>): Each | undefined =>
  all.find((each) => each === value)

export const whole = (value: unknown): number | undefined => {
  const number = typeof value === "string" ? Number(value) : value
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 0 ? number : undefined
}

export const flag = (value: unknown): true | undefined =>
  value === true || value === "true" || value === 1 ? true : undefined

// Search of Usage: how far back, and of whom.

/** Hours. */
export const usageRanges = { day: 24, week: 168, month: 720 } as const
export type UsageRange = keyof typeof usageRanges

export interface UsageSearch {
  readonly range?: UsageRange
  readonly assistant?: string
}

export const usageSearch = ({ assistant, range }: Raw): UsageSearch =>
  defined({
    range: oneOf(range, Object.keys(usageRanges) as ReadonlyArray<UsageRange>),
    assistant: text(assistant, 128)
  })

// Search of Approvals.

export interface ApprovalsSearch {
  /** Only those of this assistant. */
  readonly of?: string | undefined
}

export const approvalsSearch = (raw: Raw): ApprovalsSearch => ({ of: text(raw["of"], 128) })

// Search of Compactions.

export interface CompactionsSearch {
  /** The compaction that is open; the newest one when not said. */
  readonly open?: string | undefined
}

export const compactionsSearch = (raw: Raw): CompactionsSearch => ({ open: text(raw["open"], 128) })

// Search of Dreams.

export interface DreamsSearch {}

export const dreamsSearch = (_raw: Raw): DreamsSearch => ({})

// Search of Live.

export interface LiveSearch {
  /** The whole chart, where it does not follow the state. */
  readonly view?: "whole" | undefined
}

export const liveSearch = (raw: Raw): LiveSearch => ({ view: oneOf(raw["view"], ["whole"]) })

// Search of Queues.

export interface QueuesSearch {}

export const queuesSearch = (_raw: Raw): QueuesSearch => ({})

// Search of System.

export interface SystemSearch {}

export const systemSearch = (_raw: Raw): SystemSearch => ({})
