// GptTokenizer: the default of the Tokens port, o200k_base by `gpt-tokenizer`.
// Owns loading that one encoding on first use. Leaves cutting and memory to `counter.ts`, which the reference shares.
// G1  Nothing is loaded before `ready` runs, and then once for each layer.
// G2  The marks of special tokens are counted as the plain text that they are in a message.

import { Tokens } from "@reverie/model"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { counterOf } from "./counter.ts"

/** Words whose encoding the vocabulary keeps: 100,000 by default, which costs more memory than it saves time. */
const MERGES_KEPT = 10_000

const noneSpecial = { disallowedSpecial: new Set<string>() }

const load = Effect.promise(async () => {
  const { default: encoding } = await import("gpt-tokenizer/encoding/o200k_base")
  encoding.setMergeCacheSize(MERGES_KEPT)
  return counterOf((piece) => encoding.countTokens(piece, noneSpecial))
})

export const gptTokenizerLayer: Layer.Layer<Tokens> = Layer.effect(
  Tokens,
  Effect.map(Effect.cached(load), (ready) => ({ ready }))
)
