// Tokens: how long a text is for a model.
// Owns the port. Leaves the vocabulary to adapters.
// T1  Counting is a pure function of the text, at least 0, and 0 only for the empty text.
// T2  All adapters of one encoding agree on every text.
// T3  A hostile text (a megabyte of one letter) takes time in proportion to its length.

import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** Tokens a chat format adds around each message, as OpenAI documents it for its chat models. */
export const TOKENS_PER_MESSAGE = 4

export class Tokens extends Context.Service<
  Tokens,
  {
    /** Loads the vocabulary on first use; afterwards counting is synchronous. */
    readonly ready: Effect.Effect<(text: string) => number>
  }
>()("@reverie/model/Tokens") {}
