// Search: what stands behind the question mark, read with types.
// Owns the readers that a page's `search.ts` is made of. All view state is in the URL; what does not fit is dropped.

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
