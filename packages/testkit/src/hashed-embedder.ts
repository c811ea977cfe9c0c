// HashedEmbedder: the Embedder port for tests: words are hashed to places of a vector of length one.
// Owns the vectors, and an outage that can be ordered. Leaves meaning to real embedders: it knows words, not synonyms.
// H1  A vector is a pure function of the text: the same in every process and on every machine.
// H2  Texts that share words lie closer together than texts that do not.

import { Embedder, type EmbedderError, ModelUnavailable, type Vector } from "@reverie/model"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** FNV-1a over UTF-16 units. */
const hashOf = (text: string): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash >>> 0
}

const wordsOf = (text: string): ReadonlyArray<string> => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []

/** A text without a word stands for itself. */
export const hashedVector = (text: string, dimensions: number): Vector => {
  const found = wordsOf(text)
  const words = found.length === 0 ? [text] : found
  const vector = Array.from({ length: dimensions }, () => 0)
  for (const word of words) {
    const hash = hashOf(word)
    const place = hash % dimensions
    vector[place] = (vector[place] ?? 0) + (hash & 0x40000000 ? -1 : 1)
  }
  const length = Math.sqrt(vector.reduce((sum, each) => sum + each * each, 0))
  // Words of one place and different signs can leave nothing of a text.
  if (length === 0) return vector.map((_, place) => (place === hashOf(words.join(" ")) % dimensions ? 1 : 0))
  return vector.map((each) => each / length)
}

/** Lays an embedder low, for the laws of failing: from `strike` to `mend` no text is embedded. */
export class Outage extends Context.Service<
  Outage,
  { readonly strike: Effect.Effect<void>; readonly mend: Effect.Effect<void> }
>()("@reverie/testkit/Outage") {}

export interface HashedEmbedder {
  readonly embedder: Embedder["Service"]
  readonly outage: Outage["Service"]
  /** The lists of texts that were embedded, in order. */
  readonly calls: ReadonlyArray<ReadonlyArray<string>>
}

export const hashedEmbedder = (dimensions = 64): HashedEmbedder => {
  const calls: Array<ReadonlyArray<string>> = []
  let isDown = false
  const down = Effect.suspend((): Effect.Effect<void, EmbedderError> =>
    isDown
      ? Effect.fail(new ModelUnavailable({ provider: "hashed", kind: "network", message: "an outage was ordered" }))
      : Effect.void
  )
  const embed = (texts: ReadonlyArray<string>) =>
    Effect.map(down, () => {
      calls.push(texts)
      return texts.map((text) => hashedVector(text, dimensions))
    })
  return {
    embedder: {
      model: { id: `hashed/${dimensions}`, dimensions },
      embed: (texts) => (texts.length === 0 ? Effect.succeed([]) : embed(texts))
    },
    outage: {
      strike: Effect.sync(() => {
        isDown = true
      }),
      mend: Effect.sync(() => {
        isDown = false
      })
    },
    calls
  }
}

export const hashedEmbedderLayer = (dimensions?: number): Layer.Layer<Embedder | Outage> =>
  Layer.unwrap(
    Effect.sync(() => {
      const { embedder, outage } = hashedEmbedder(dimensions)
      return Layer.mergeAll(Layer.succeed(Embedder, embedder), Layer.succeed(Outage, outage))
    })
  )
