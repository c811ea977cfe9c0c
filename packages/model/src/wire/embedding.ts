// Embedding: what every embedder does with texts and vectors, on any wire.
// Owns batches, what of a text is sent, and the length of the vectors as it was agreed or is learned. Leaves each request to the
// adapter.
// B1  A request holds at most so many texts and MAX_BATCH_CHARS characters; a call is all its batches or fails.
// B2  A length that no one said is that of the first vector; from then on another one is as wrong as one that was agreed.
// B3  No text that is empty, too long or not well-formed makes a server refuse the texts beside it.

import { defined } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { EmbeddingUnfit, type RequestError } from "../errors.ts"
import type { Embedder, EmbeddingModel, Vector } from "../model.ts"

export const MAX_BATCH_TEXTS = 96

/** OpenAI takes 300,000 tokens a request; a character is seldom more than one. */
export const MAX_BATCH_CHARS = 200_000

/** OpenAI takes 8,192 tokens a text. Its beginning says what a long text is about. */
export const MAX_TEXT_CHARS = 8_000

/** Servers refuse an empty text, and with it all others of its batch. */
const NOTHING = "."

const sent = (text: string): string => {
  const head = (text.length > MAX_TEXT_CHARS ? text.slice(0, MAX_TEXT_CHARS) : text).toWellFormed()
  return head.trim() === "" ? NOTHING : head
}

const batchesOf = (texts: ReadonlyArray<string>, mostTexts: number): ReadonlyArray<Array<string>> => {
  const batches: Array<Array<string>> = []
  let chars = Infinity
  for (const text of texts.map(sent)) {
    const batch = batches.at(-1)
    chars += text.length
    if (batch === undefined || batch.length >= mostTexts || chars > MAX_BATCH_CHARS) {
      batches.push([text])
      chars = text.length
    } else batch.push(text)
  }
  return batches
}

/** The length of the vectors of a model. */
class Length {
  readonly #provider: string
  readonly #model: string
  #dimensions: number | undefined

  constructor({ dimensions, model, provider }: EmbedderOver) {
    this.#provider = provider
    this.#model = model
    this.#dimensions = dimensions
  }

  get model(): EmbeddingModel {
    const dimensions = this.#dimensions
    return dimensions === undefined
      ? { id: this.#model, dimensions: 0 }
      : { id: `${this.#model}/${dimensions}`, dimensions }
  }

  /** The vectors, if they have the length that all have. */
  judge(vectors: ReadonlyArray<Vector>): Effect.Effect<ReadonlyArray<Vector>, EmbeddingUnfit> {
    const [first] = vectors
    const expected = this.#dimensions ?? first?.length ?? 0
    const unfit = vectors.find((vector) => vector.length !== expected || expected === 0)
    if (unfit !== undefined) {
      const [provider, received] = [this.#provider, unfit.length]
      const message = `${this.#model} gives vectors of ${received} numbers, and ${expected} were agreed: correct dimensions, or leave it out for a new index`
      return Effect.fail(new EmbeddingUnfit({ provider, message, expected, received }))
    }
    if (expected > 0) this.#dimensions = expected
    return Effect.succeed(vectors)
  }
}

/** What is embedded to learn a length. */
const PROBE = "length"

interface EmbedderOver {
  readonly provider: string
  readonly model: string
  /** The length of its vectors; what the first one has when left out. */
  readonly dimensions?: number | undefined
  /** Most texts of one request. */
  readonly mostTexts?: number | undefined
  /** One request with its retries: a vector for each text, in their order. */
  readonly ask: (texts: Array<string>) => Effect.Effect<ReadonlyArray<Vector>, RequestError>
}

/** The port over requests. */
export const embedderOver = (over: EmbedderOver): Embedder["Service"] => {
  const { ask, dimensions, mostTexts = MAX_BATCH_TEXTS } = over
  const length = new Length(over)
  const batch = (texts: Array<string>) => Effect.flatMap(ask(texts), (vectors) => length.judge(vectors))
  const learned = Effect.suspend(() =>
    length.model.dimensions > 0 ? Effect.succeed(length.model) : Effect.map(batch([PROBE]), () => length.model)
  )
  return {
    model: length.model,
    ...defined({ measured: dimensions === undefined ? learned : undefined }),
    embed: (texts) => Effect.map(Effect.forEach(batchesOf(texts, mostTexts), batch), (parts) => parts.flat())
  }
}
