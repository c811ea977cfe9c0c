// ModelCall: what one model call of an assistant with a budget may take at most.
// Owns that number, known before the prompt is. Leaves setting it aside to the account, keeping to it to the runtime.
// C1  A call takes at most a quarter of what was granted: the one that was under way when its worker died counts whole.
// C2  The size of the prompt follows from the grant, not from what is left: a prompt does not shrink as the end comes
//     near, the call that has no room is refused.
// C3  What is reserved covers prompt and reply, at the dearer of the two prices.

import type { Amount } from "@reverie/protocol"
import { type Account, type Dimension, isBounded, NOTHING, remaining } from "./account.ts"

/** Prices in millionths of a unit for a million tokens. */
export interface Prices {
  readonly inputPriceMicros: number
  readonly outputPriceMicros: number
}

/** A call with less room than this is not worth sending. */
const MIN_CALL_TOKENS = 256

/** A quarter of a small grant may be too little for any prompt. */
const SMALL_WINDOW_TOKENS = 4_000

/** Share of what was granted, beyond which the model is told to come to an end. */
export const SOFT_SHARE = 0.8

const MILLION = 1_000_000

/** Whatever it may cost, no call is longer. */
const MOST_TOKENS = 1_000_000_000

const dearer = ({ inputPriceMicros, outputPriceMicros }: Prices): number =>
  Math.max(inputPriceMicros, outputPriceMicros)

export const costOf = (
  { inputTokens, outputTokens }: { readonly inputTokens: number; readonly outputTokens: number },
  { inputPriceMicros, outputPriceMicros }: Prices
): number => Math.ceil((inputTokens * inputPriceMicros + outputTokens * outputPriceMicros) / MILLION)

const affordable = (costMicros: number, prices: Prices): number =>
  Math.min(MOST_TOKENS, Math.floor((costMicros * MILLION) / dearer(prices)))

const quarter = (granted: number): number => Math.max(SMALL_WINDOW_TOKENS, Math.ceil(granted / 4))

/** Most tokens that prompt and reply of any call may have together; Infinity where nothing bounds them. */
export const windowOf = ({ granted }: Pick<Account, "granted">, prices: Prices): number => {
  const byTokens = granted.tokens === null ? Infinity : Math.min(granted.tokens, quarter(granted.tokens))
  const isPriced = granted.costMicros !== null && dearer(prices) > 0
  const affordableTokens = isPriced ? affordable(granted.costMicros ?? 0, prices) : Infinity
  return Math.min(
    byTokens,
    Number.isFinite(affordableTokens) ? Math.min(affordableTokens, quarter(affordableTokens)) : Infinity
  )
}

export type CallRoom =
  | { readonly amount: Amount }
  /** What there is too little of. */
  | { readonly short: Dimension }

/** What to reserve for the next call. */
export const callRoom = (account: Account, prices: Prices): CallRoom => {
  if (!isBounded(account)) return { amount: NOTHING }
  const left = remaining(account)
  if (left.calls !== null && left.calls < 1) return { short: "calls" }
  const price = dearer(prices)
  const byCost = left.costMicros === null || price === 0 ? Infinity : affordable(left.costMicros, prices)
  const byTokens = left.tokens ?? Infinity
  const room = Math.min(windowOf(account, prices), byTokens, byCost)
  if (room < MIN_CALL_TOKENS) return { short: byCost < byTokens ? "costMicros" : "tokens" }
  const tokens = Number.isFinite(room) ? room : 0
  return { amount: { tokens, costMicros: Math.ceil((tokens * price) / MILLION), calls: 1 } }
}

/** Tokens that the call under way may take; Infinity where nothing bounds it. */
export const roomOfCall = ({ granted, reserved }: Account): number =>
  reserved.tokens === 0 && granted.tokens === null ? Infinity : reserved.tokens
