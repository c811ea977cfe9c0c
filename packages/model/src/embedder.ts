// Embedder: texts as vectors, so that what means the same lies close together.
// Owns the port. Leaves keeping vectors and searching in them to memory's index, wire formats and retries to adapters.
// E1  The same text gives the same vector, whatever it is embedded with; texts about different things do not.
// E2  The vectors stand in the order of the texts, one for each.
// E3  A vector has as many numbers as `model.dimensions` says, all of them finite, whatever the text was.
// E4  No texts give no vectors, and nobody is asked.
// E5  Every failure is one of EmbedderError and is that of the whole call; nothing is thrown. Interrupting the call
//     aborts the request.

import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { EmbedderError } from "./errors.ts"

export interface EmbeddingModel {
  /** Names the model and the length of its vectors: vectors of two ids are never compared. */
  readonly id: string
  readonly dimensions: number
}

export type Vector = ReadonlyArray<number>

export class Embedder extends Context.Service<
  Embedder,
  {
    readonly model: EmbeddingModel
    readonly embed: (texts: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Vector>, EmbedderError>
  }
>()("@reverie/model/Embedder") {}
