// Account: what one assistant may spend on model calls, what it has spent, and what it has promised.
// Owns reserve, settle, grant and refuse, for one node of a tree. Leaves when they happen to the statechart, and making
// them durable to the commit that carries the snapshot.
// B1  spent + reserved + grants of children ≤ granted, in every dimension that is bounded, after every operation.
// B2  Nothing is ever negative, whatever is reported.
// B3  A child's grant lies within what its parent has left: a bound of the parent is a bound of the child.
// B4  A grant is settled once; the second time, and a settlement of what was never granted, changes nothing.
// B5  What ended in an unknown way counts as spent whole.
// B6  An operation that does not fit changes nothing.

import type { Amount } from "@reverie/protocol"

/** Null: without a bound. */
export interface Bound {
  readonly tokens: number | null
  readonly costMicros: number | null
  readonly calls: number | null
}

export interface Account {
  readonly granted: Bound
  readonly spent: Amount
  /** For the model call that is under way. */
  readonly reserved: Amount
  /** What children were granted that have not been settled, by their keys. */
  readonly out: { readonly [key: string]: Bound }
  /** The model call whose prompt said how little is left, as `tick.iteration`; empty before. */
  readonly warned: string
}

export const dimensions = ["tokens", "costMicros", "calls"] as const
export type Dimension = (typeof dimensions)[number]

export const NOTHING: Amount = { tokens: 0, costMicros: 0, calls: 0 }

export const openAccount = (granted: Bound): Account => ({
  granted,
  spent: NOTHING,
  reserved: NOTHING,
  out: {},
  warned: ""
})

const amountOf = (each: (dimension: Dimension) => number): Amount => ({
  tokens: each("tokens"),
  costMicros: each("costMicros"),
  calls: each("calls")
})

const boundOf = (each: (dimension: Dimension) => number | null): Bound => ({
  tokens: each("tokens"),
  costMicros: each("costMicros"),
  calls: each("calls")
})

export const isBounded = ({ granted }: Pick<Account, "granted">): boolean =>
  dimensions.some((dimension) => granted[dimension] !== null)

/** What is promised to children; a promise without a bound counts as nothing, for then nothing bounds the parent either. */
const promised = ({ out }: Account): Amount =>
  amountOf((dimension) => Object.values(out).reduce((sum, bound) => sum + (bound[dimension] ?? 0), 0))

/** Spent, reserved and promised. */
export const used = (account: Account): Amount => {
  const { reserved, spent } = account
  const children = promised(account)
  return amountOf((dimension) => spent[dimension] + reserved[dimension] + children[dimension])
}

export const remaining = (account: Account): Bound => {
  const gone = used(account)
  return boundOf((dimension) => {
    const granted = account.granted[dimension]
    return granted === null ? null : Math.max(0, granted - gone[dimension])
  })
}

/** The share of what was granted that has been spent, of the dimension that is nearest to its end. */
export const shareSpent = ({ granted, spent }: Account): number =>
  dimensions.reduce((most, dimension) => {
    const whole = granted[dimension]
    return whole === null ? most : Math.max(most, whole === 0 ? 1 : spent[dimension] / whole)
  }, 0)

/** Sums of such amounts are still exact. */
const MOST = 1_000_000_000_000_000

/** A number that is no amount is not known: then everything counts. */
const whole = (value: number, otherwise: number): number =>
  Number.isFinite(value) ? Math.min(MOST, Math.max(0, Math.ceil(value))) : otherwise

const fits = (amount: Amount, left: Bound): boolean =>
  dimensions.every((dimension) => amount[dimension] <= (left[dimension] ?? MOST))

/** Sets aside what the next model call may take; undefined when it does not fit, or one is under way. */
export const reserve = (account: Account, amount: Amount): Account | undefined => {
  const wanted = amountOf((dimension) => whole(amount[dimension], Infinity))
  const isFree = dimensions.every((dimension) => account.reserved[dimension] === 0)
  return isFree && fits(wanted, remaining(account)) ? { ...account, reserved: wanted } : undefined
}

/**
 * The model call has ended. Not knowing what it took, all that was reserved is spent. What it took beyond that comes out
 * of what is left; there is never more to take.
 */
export const settle = (account: Account, took?: Amount): Account => {
  const { reserved, spent } = account
  const left = remaining(account)
  const charged = amountOf((dimension) => {
    const most = reserved[dimension] + (left[dimension] ?? Infinity)
    return Math.min(most, took === undefined ? reserved[dimension] : whole(took[dimension], reserved[dimension]))
  })
  return { ...account, reserved: NOTHING, spent: amountOf((dimension) => spent[dimension] + charged[dimension]) }
}

/** What of a request can be granted: never more than is left, and bounded where the parent is. */
export const grantable = (account: Account, request: Bound): Bound => {
  const left = remaining(account)
  return boundOf((dimension) => {
    const [most, wanted] = [left[dimension], request[dimension]]
    if (wanted === null) return most
    const asked = whole(wanted, 0)
    return most === null ? asked : Math.min(most, asked)
  })
}

const isWithin = (bound: Bound, left: Bound): boolean =>
  dimensions.every((dimension) => {
    const [most, wanted] = [left[dimension], bound[dimension]]
    return most === null || (wanted !== null && wanted <= most)
  })

/** Promises a part of what is left to a child; undefined when it does not fit, or the key has a grant already. */
export const grant = (account: Account, key: string, bound: Bound): Account | undefined =>
  Object.hasOwn(account.out, key) || !isWithin(bound, remaining(account))
    ? undefined
    : { ...account, out: { ...account.out, [key]: bound } }

/** The child has ended: what it did not spend is left again. Not knowing what it spent, it has spent its grant. */
export const settleGrant = (account: Account, key: string, took?: Amount): Account => {
  const { [key]: bound, ...out } = account.out
  if (bound === undefined || !Object.hasOwn(account.out, key)) return account
  const charged = amountOf((dimension) => {
    const most = bound[dimension]
    if (took === undefined) return most ?? 0
    return most === null ? whole(took[dimension], 0) : Math.min(most, whole(took[dimension], most))
  })
  return { ...account, out, spent: amountOf((dimension) => account.spent[dimension] + charged[dimension]) }
}

/** Another bound, of someone who may set it: never below what has been used, and none while a child has none. */
export const regranted = (account: Account, granted: Bound): Account => {
  const gone = used(account)
  const isOpen = (dimension: Dimension) => Object.values(account.out).some((bound) => bound[dimension] === null)
  const next = boundOf((dimension) => {
    const bound = granted[dimension]
    return bound === null || isOpen(dimension) ? null : Math.max(bound, gone[dimension])
  })
  return dimensions.every((dimension) => next[dimension] === account.granted[dimension])
    ? account
    : { ...account, granted: next }
}

/** Why this is no account that could have come about; empty when it is one. */
export const flawsOf = (account: Account): ReadonlyArray<string> => {
  const gone = used(account)
  const numbers = [account.spent, account.reserved, ...Object.values(account.out)].flatMap((amount) =>
    dimensions.map((dimension) => amount[dimension] ?? 0)
  )
  return [
    ...dimensions.flatMap((dimension) => {
      const granted = account.granted[dimension]
      return granted === null || gone[dimension] <= granted
        ? []
        : [`${gone[dimension]} ${dimension} are used of ${granted}`]
    }),
    ...(numbers.every((number) => Number.isSafeInteger(number) && number >= 0) ? [] : ["an amount is no amount"]),
    ...Object.entries(account.out).flatMap(([key, bound]) =>
      dimensions.flatMap((dimension) =>
        bound[dimension] === null && account.granted[dimension] !== null ? [`${key} has no bound in ${dimension}`] : []
      )
    )
  ]
}

// ModelCall: what one model call of an assistant with a budget may take at most.
// C1  A call takes at most a quarter of what was granted: the one that was under way when its worker died counts whole.
// C2  The size of the prompt follows from the grant, not from what is left: a prompt does not shrink as the end comes
//     near, the call that has no room is refused.
// C3  What is reserved covers prompt and reply, at the dearer of the two prices.

/** Prices in millionths of a unit for a million tokens. */
export interface Prices {
  readonly inputPriceMicros: number
  readonly outputPriceMicros: number
}

/** A call with less room than this is not worth sending. */
const MIN_CALL_TOKENS = 256

/** A quarter of a small grant may be too little for any prompt. */
const SMALL_WINDOW_TOKENS = 4_000

/** Share of the grant beyond which the prompt asks the model to finish. */
export const SOFT_SHARE = 0.8

const MILLION = 1_000_000

/** Whatever it may cost, no call is longer. */
const MOST_TOKENS = 1_000_000_000

const dearer = ({ inputPriceMicros, outputPriceMicros }: Prices): number =>
  Math.max(inputPriceMicros, outputPriceMicros)

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
  // At no price that is known before, what calls have cost says it afterwards.
  if (left.costMicros !== null && left.costMicros < 1) return { short: "costMicros" }
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
