// Usage: what model calls took, by assistant, hour, model and purpose.
// Owns the rows that an entry stands for, and adding them up. Leaves prices to the runtime: what a call costs is said once, with
// its commit, at the prices of that moment.
// U1  The rows are a pure function of the entries: they are wherever the entries are, and an entry that is read twice gives the
//     same ones.
// U2  Whatever an entry holds, amounts are whole numbers from 0, and the name of a model is short.
// U3  A call whose price no one knows counts as unpriced, and adds nothing to a cost: a cost of 0 without such calls means that
//     they were free.

import { defined } from "../json.ts"
import type { Usage } from "../mail/envelope.ts"
import type { Entry, ModelUse, StepRecord, Used } from "./entry.ts"

/** What a model is asked for; `profile` is the step of a dream that makes profiles of what was heard. */
export const purposes = ["answer", "assess", "dream", "profile", "compact"] as const
export type Purpose = (typeof purposes)[number]

/** Tokens of two calls, or of two rounds of one, as those of one. */
export const addUsage = (first: Usage, second: Usage): Usage => {
  const cached = (first.cachedInputTokens ?? 0) + (second.cachedInputTokens ?? 0)
  const reasoning = (first.reasoningTokens ?? 0) + (second.reasoningTokens ?? 0)
  return {
    inputTokens: first.inputTokens + second.inputTokens,
    outputTokens: first.outputTokens + second.outputTokens,
    ...defined({
      cachedInputTokens: cached === 0 ? undefined : cached,
      reasoningTokens: reasoning === 0 ? undefined : reasoning
    }),
    source: first.source === "provider" && second.source === "provider" ? "provider" : "counted"
  }
}

export const NOTHING_USED: Used = {
  calls: 0,
  inputTokens: 0,
  cachedTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  costMicros: 0,
  unpricedCalls: 0
}

export const usedFields = Object.keys(NOTHING_USED) as ReadonlyArray<keyof Used>

const used = (each: (field: keyof Used) => number): Used => ({
  calls: each("calls"),
  inputTokens: each("inputTokens"),
  cachedTokens: each("cachedTokens"),
  outputTokens: each("outputTokens"),
  reasoningTokens: each("reasoningTokens"),
  costMicros: each("costMicros"),
  unpricedCalls: each("unpricedCalls")
})

export const addUsed = (one: Used, other: Used): Used => used((field) => one[field] + other[field])

/** A model call that was answered. */
interface AnsweredCall {
  /** As it names itself. */
  readonly model: string
  readonly usage: Usage
}

/** What a call costs in millionths of the currency; undefined where no one knows. */
export type PriceOf = (
  model: string,
  tokens: Pick<Usage, "cachedInputTokens" | "inputTokens" | "outputTokens">
) => number | undefined

/** An index holds no longer text, and no model has a longer name. */
const MOST_NAME_CHARS = 200

const nameOf = (model: string): string => model.slice(0, MOST_NAME_CHARS).toWellFormed()

const summed = <Row extends Used>(rows: ReadonlyArray<Row>, keyOf: (row: Row) => string): ReadonlyArray<Row> => {
  const sums = new Map<string, Row>()
  for (const row of rows) {
    const key = keyOf(row)
    const before = sums.get(key)
    sums.set(key, before === undefined ? row : { ...before, ...addUsed(before, row) })
  }
  return [...sums.values()]
}

/** What the answered calls of a step took, by model. */
export const useOf = (calls: ReadonlyArray<AnsweredCall>, priceOf: PriceOf): ReadonlyArray<ModelUse> =>
  summed(
    calls.map(({ model, usage }) => {
      const { cachedInputTokens = 0, inputTokens, outputTokens, reasoningTokens = 0 } = usage
      const cost = priceOf(model, usage)
      return {
        model: nameOf(model),
        calls: 1,
        inputTokens,
        cachedTokens: cachedInputTokens,
        outputTokens,
        reasoningTokens,
        costMicros: cost ?? 0,
        unpricedCalls: cost === undefined ? 1 : 0
      }
    }),
    ({ model }) => model
  )

/** A row of what was used, as far as its entry tells it: the assistant is that of the entry. */
export interface EntryUse extends ModelUse {
  /** Hours of UTC since the epoch. */
  readonly hour: number
  readonly purpose: Purpose
}

export const HOUR_MILLIS = 3_600_000

/** No calendar goes on. */
const LAST_MILLIS = 8_640_000_000_000_000

export const hourOf = (millis: number): number => Math.floor(millis / HOUR_MILLIS)

const purposeOf = ({ kind, name }: StepRecord): Purpose => {
  if (kind === "assess" || kind === "compact") return kind
  if (kind !== "dream") return "answer"
  return name.endsWith("profiling") ? "profile" : "dream"
}

/** Sums of such amounts are still exact. */
const MOST = 1_000_000_000_000

const amount = (value: unknown): number =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? Math.min(value, MOST) : 0

/** The rows that an entry stands for; hardly ever more than one, and mostly none. */
export const usageOf = ({ at, step }: Entry): ReadonlyArray<EntryUse> => {
  if (step?.spent === undefined || !Array.isArray(step.spent)) return []
  const hour = hourOf(Number.isFinite(at) ? Math.min(Math.max(at, 0), LAST_MILLIS) : 0)
  const purpose = purposeOf(step)
  return summed(
    step.spent.map((row) => ({
      hour,
      model: nameOf(String(row.model)),
      purpose,
      ...used((field) => amount(row[field]))
    })),
    ({ model }) => model
  )
}
