// Tariff: what tokens of a model cost.
// Owns finding a price by the name of a model, and the sum. Leaves the currency to whoever writes the tariff.
// C1  Costs are whole millionths, rounded up: many small calls never cost less than they would together.
// C2  A model that is not in the tariff costs what `*` does, and nothing without it.

/** Millionths of the currency for a million tokens. */
export interface Price {
  readonly inputMicros: number
  readonly outputMicros: number
}

/** By the name of a model, or the beginning of it: providers put dates behind names. `*` stands for any other. */
export type Tariff = Readonly<Record<string, Price>>

export interface TokensOfCall {
  readonly inputTokens: number
  readonly outputTokens: number
}

const MILLION = 1_000_000

const ANY_OTHER = "*"

const priceOf = (tariff: Tariff, model: string): Price | undefined => {
  const beginnings = Object.keys(tariff).filter((name) => name !== ANY_OTHER && model.startsWith(name))
  const [longest = ANY_OTHER] = beginnings.toSorted((a, b) => b.length - a.length)
  return Object.hasOwn(tariff, longest) ? tariff[longest] : undefined
}

const costBy = (price: Price | undefined, { inputTokens, outputTokens }: TokensOfCall): number =>
  price === undefined ? 0 : Math.ceil((inputTokens * price.inputMicros + outputTokens * price.outputMicros) / MILLION)

export const costMicrosOf = (tariff: Tariff, model: string, tokens: TokensOfCall): number =>
  costBy(priceOf(tariff, model), tokens)

/** Most that a call may cost, whichever model of the tariff answers it. */
export const dearestCostMicros = (tariff: Tariff, tokens: TokensOfCall): number =>
  Object.values(tariff).reduce((most, price) => Math.max(most, costBy(price, tokens)), 0)
