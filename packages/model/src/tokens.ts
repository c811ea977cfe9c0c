// Tokens: how long a text is for a model.
// Owns the port. Leaves the vocabulary to adapters.
// T1  Counting is a pure function of the text, at least 0, and 0 only for the empty text.
// T2  All adapters of one encoding agree on every text.
// T3  A hostile text (a megabyte of one letter) takes time in proportion to its length.
// T4  In slices a text has the same count, and however long it is, the event loop turns after some milliseconds of it.

import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** Tokens a chat format adds around each message, as OpenAI documents it for its chat models. */
export const TOKENS_PER_MESSAGE = 4

export class Tokens extends Context.Service<
  Tokens,
  {
    /** Loads the vocabulary on first use; afterwards counting is synchronous. */
    readonly ready: Effect.Effect<(text: string) => number>
    /**
     * What the work makes, which counts as it goes along with the count of `ready`. It is begun again after each long text
     * that it could not go on without, when that has been counted: it must do nothing that may not be done twice.
     */
    readonly inSlices: <A>(work: () => A) => Effect.Effect<A>
  }
>()("@reverie/model/Tokens") {}

/** The port over a count that takes no time worth the name: for tests, and for texts that are short. */
export const tokensOf = (count: (text: string) => number): Tokens["Service"] => ({
  ready: Effect.succeed(count),
  inSlices: (work) => Effect.sync(work)
})

// Tariff: what tokens of a model cost.
// C1  Costs are whole millionths, rounded up: many small calls never cost less than they would together.
// C2  A model that is not in the tariff costs what `*` does, and nothing without it.

/** Millionths of the currency for a million tokens. */
interface Price {
  readonly inputMicros: number
  readonly outputMicros: number
}

/** By the name of a model, or the beginning of it: providers put dates behind names. `*` stands for any other. */
export type Tariff = Readonly<Record<string, Price>>

interface TokensOfCall {
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
