// Tiktoken: the reference of the Tokens port, o200k_base by `js-tiktoken`.
// Owns loading that one encoding on first use. Leaves cutting and memory to `counter.ts`, which the default shares.
// R1  Nothing is loaded before `ready` runs, and then the vocabulary once for the process.
// R2  The marks of special tokens are counted as the plain text that they are in a message.

import { Tokens } from "@reverie/model"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { counterOf } from "../src/counter.ts"

const encoder = Effect.runSync(
  Effect.cached(
    Effect.promise(async () => {
      const [{ Tiktoken }, { default: vocabulary }] = await Promise.all([
        import("js-tiktoken/lite"),
        import("js-tiktoken/ranks/o200k_base")
      ])
      return new Tiktoken(vocabulary)
    })
  )
)

const load = Effect.map(encoder, (encoding) => counterOf((piece) => encoding.encode(piece, [], []).length))

export const tiktokenLayer: Layer.Layer<Tokens> = Layer.effect(
  Tokens,
  Effect.map(Effect.cached(load), (loaded) => ({
    ready: Effect.map(loaded, ({ count }) => count),
    inSlices: (work) => Effect.flatMap(loaded, ({ inSlices }) => inSlices(work))
  }))
)
