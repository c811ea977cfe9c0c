// Tiktoken: the Tokens port by `js-tiktoken`, o200k_base: the reference, for those who choose it.
// Owns loading that one encoding on first use. Leaves cutting and memory to `counter.ts`, which the default shares.
// R1  Nothing is loaded before the layer is built, and then the vocabulary once for the process.
// R2  The marks of special tokens are counted as the plain text that they are in a message.

import type { Tokens } from "@reverie/model"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import { loadWith } from "@reverie/protocol"
import { counterOf, tokensBy } from "./counter.ts"

const encoder = Effect.runSync(
  Effect.cached(
    Effect.promise(async () => {
      const [{ Tiktoken }, { default: vocabulary }] = await loadWith(
        'The tokenizer "js-tiktoken"',
        ["js-tiktoken"],
        () => Promise.all([import("js-tiktoken/lite"), import("js-tiktoken/ranks/o200k_base")])
      )
      return new Tiktoken(vocabulary)
    })
  )
)

const load = Effect.map(encoder, (encoding) => counterOf((piece) => encoding.encode(piece, [], []).length))

/** The layer is there when the package is; without it the opening of a fleet fails, and not its first count. */
export const tiktokenLayer: Layer.Layer<Tokens> = tokensBy(Effect.tap(Effect.cached(load), (loaded) => loaded))
