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
