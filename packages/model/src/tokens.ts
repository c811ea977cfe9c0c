// Tokens: how long a text is for a model.
// Owns the port. Leaves the vocabulary to adapters.
// T1  Counting is a pure function of the text, at least 0, and 0 only for the empty text.
// T2  All adapters of one encoding agree on every text.
// T3  A hostile text (a megabyte of one letter) takes time in proportion to its length.
// T4  In slices a text has the same count, and however long it is, the event loop turns after some milliseconds of it.

import { defined } from "@reverie/protocol"
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
// C3  What a person is shown of a model that no tariff names is the usual price of it, and else that it has none: a price is
//     never guessed from that of another model.
// C4  What a provider had in its cache costs what the price says of it, else the share of all input that it usually does, else
//     as much as all input: no more is taken off than someone has said.

/** Millionths of the currency for a million tokens. */
export interface Price {
  /** Of input. */
  readonly inputMicros: number
  /** Of input that the provider had in its cache. */
  readonly cachedInputMicros?: number
  /** Of output. */
  readonly outputMicros: number
}

/** By the name of a model, or the beginning of it: providers put dates behind names. `*` stands for any other. */
export type Tariff = Readonly<Record<string, Price>>

interface TokensOfCall {
  readonly inputTokens: number
  /** Among them. */
  readonly cachedInputTokens?: number
  readonly outputTokens: number
}

const MILLION = 1_000_000

const ANY_OTHER = "*"

const tariffPrice = (tariff: Tariff, model: string): Price | undefined => {
  const beginnings = Object.keys(tariff).filter((name) => name !== ANY_OTHER && model.startsWith(name))
  const [longest = ANY_OTHER] = beginnings.toSorted((a, b) => b.length - a.length)
  return Object.hasOwn(tariff, longest) ? tariff[longest] : undefined
}

const costBy = (price: Price, tokens: TokensOfCall): number => {
  const { cachedInputTokens = 0, inputTokens, outputTokens } = tokens
  const { cachedInputMicros = price.inputMicros, inputMicros, outputMicros } = price
  const input = (inputTokens - cachedInputTokens) * inputMicros + cachedInputTokens * cachedInputMicros
  return Math.ceil((input + outputTokens * outputMicros) / MILLION)
}

/** Most that a call may cost, whichever model of the tariff answers it. */
export const dearestCostMicros = (tariff: Tariff, tokens: TokensOfCall): number =>
  Object.values(tariff).reduce((most, price) => Math.max(most, costBy(price, tokens)), 0)

// Usual: what models of well-known providers cost, as their price lists say, in US dollars; without discounts for what is sent in
// batches. Names that a provider moves to other models at other prices are left out.

/** Dollars for a million tokens, in and out, and in out of the provider's cache where that costs less. */
const usualDollars: Readonly<Record<string, readonly [input: number, output: number, cached?: number]>> = {
  "reverie-offline": [0, 0],
  "gpt-5.2": [1.75, 14, 0.175],
  "gpt-5.1": [1.25, 10, 0.125],
  "gpt-5": [1.25, 10, 0.125],
  "gpt-5-mini": [0.25, 2, 0.025],
  "gpt-5-nano": [0.05, 0.4, 0.005],
  "gpt-4.1": [2, 8, 0.5],
  "gpt-4.1-mini": [0.4, 1.6, 0.1],
  "gpt-4.1-nano": [0.1, 0.4, 0.025],
  "gpt-4o": [2.5, 10, 1.25],
  "gpt-4o-2024-05-13": [5, 15],
  "gpt-4o-mini": [0.15, 0.6, 0.075],
  "o4-mini": [1.1, 4.4, 0.275],
  o3: [2, 8, 0.5],
  "o3-mini": [1.1, 4.4, 0.55],
  "claude-opus-4-6": [5, 25, 0.5],
  "claude-opus-4-5": [5, 25, 0.5],
  "claude-opus-4-1": [15, 75, 1.5],
  "claude-opus-4": [15, 75, 1.5],
  "claude-sonnet-4-6": [3, 15, 0.3],
  "claude-sonnet-4-5": [3, 15, 0.3],
  "claude-sonnet-4": [3, 15, 0.3],
  "claude-haiku-4-5": [1, 5, 0.1],
  "claude-3-7-sonnet": [3, 15, 0.3],
  "claude-3-5-haiku": [0.8, 4, 0.08],
  "gemini-2.5-pro": [1.25, 10, 0.125],
  "gemini-2.5-flash": [0.3, 2.5, 0.03],
  "gemini-2.5-flash-lite": [0.1, 0.4, 0.01],
  "mistral-medium-2508": [0.4, 2],
  "codestral-2508": [0.3, 0.9],
  "grok-4": [3, 15, 0.75],
  "grok-3": [3, 15, 0.75],
  "grok-3-mini": [0.3, 0.5, 0.075],
  "llama-3.3-70b-versatile": [0.59, 0.79],
  "llama-3.1-8b-instant": [0.05, 0.08]
}

/** A provider puts behind a name when a model was made, and no more. */
const dated = /^(?:[-@](?:latest|\d{8}|\d{4}-\d{2}-\d{2}|\d{4}|\d{2}-\d{2}))?$/

/** Gateways put their provider before a name, and write the numbers of versions with a point. */
const plainName = (model: string): string => {
  const own = model.slice(model.lastIndexOf("/") + 1).toLowerCase()
  return own.startsWith("claude") ? own.replaceAll(".", "-") : own
}

const usualPrice = (model: string): Price | undefined => {
  const own = plainName(model)
  const found = Object.keys(usualDollars).filter((name) => own.startsWith(name) && dated.test(own.slice(name.length)))
  const [longest = ""] = found.toSorted((a, b) => b.length - a.length)
  const [input, output, cached] = usualDollars[longest] ?? []
  if (input === undefined || output === undefined) return undefined
  const micros = (dollars: number) => Math.round(dollars * MILLION)
  const less = cached === undefined ? undefined : micros(cached)
  return { inputMicros: micros(input), ...defined({ cachedInputMicros: less }), outputMicros: micros(output) }
}

/** A price that says nothing of what is cached: that costs the share of the input that it usually does. */
const withCached = (price: Price, model: string): Price => {
  if (price.cachedInputMicros !== undefined) return price
  const { cachedInputMicros, inputMicros = 0 } = usualPrice(model) ?? {}
  const share = cachedInputMicros === undefined ? 1 : cachedInputMicros / inputMicros
  return { ...price, cachedInputMicros: Math.ceil(price.inputMicros * share) }
}

/** What a model costs: by the tariff, else usually; `unpriced` where neither says. */
export const priceOfModel = (model: string, tariff: Tariff = {}): Price | "unpriced" =>
  tariffPrice(tariff, model) ?? usualPrice(model) ?? "unpriced"

/** What a model costs an assistant: by the tariff of the fleet, else by its own prices, else as usual; undefined where none says. */
export const chargedPrice = (tariff: Tariff, own: Price | undefined, model: string): Price | undefined =>
  tariffPrice(tariff, model) ?? own ?? usualPrice(model)

/** What a call has cost; undefined where no one knows what its model does. */
export const chargeOf = (
  tariff: Tariff,
  own: Price | undefined,
  model: string,
  tokens: TokensOfCall
): number | undefined => {
  const price = chargedPrice(tariff, own, model)
  return price === undefined ? undefined : costBy(withCached(price, model), tokens)
}
