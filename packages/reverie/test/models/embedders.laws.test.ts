import { Embedder } from "@reverie/model"
import { embedderLaws, hashedVector, Outage } from "@reverie/testkit"
import { prove } from "@reverie/testkit/prove"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import {
  type EmbedderChoice,
  embedderLayer,
  type EmbeddingModelObject,
  type PromiseEmbedder
} from "../../src/models/embedder-choice.ts"

/** Code that embeds, and can be laid low. */
class Power {
  isOut = false

  vectors(texts: ReadonlyArray<string>, dimensions: number, most: number): ReadonlyArray<ReadonlyArray<number>> {
    // A refusal, so that the laws of a clock that stands still do not wait for tries.
    if (this.isOut) throw Object.assign(new Error("overloaded"), { statusCode: 400 })
    if (texts.length > most || texts.some((text) => text.trim() === "" || text.length > 8_000)) {
      throw Object.assign(new Error("no such input"), { statusCode: 400 })
    }
    return texts.map((text) => hashedVector(text, dimensions))
  }
}

const promise = (power: Power): PromiseEmbedder => ({
  name: "hashed",
  maxTexts: 7,
  embed: async (texts) => power.vectors(texts, 64, 7)
})

const agreed = (power: Power): PromiseEmbedder => ({
  name: "hashed",
  dimensions: 32,
  embed: async (texts) => power.vectors(texts, 32, 96).map((vector) => Float64Array.from(vector))
})

const sdk =
  (specificationVersion: string, most: unknown) =>
  (power: Power): EmbeddingModelObject => ({
    specificationVersion,
    provider: "hashed.embedding",
    modelId: "hashed-1",
    maxEmbeddingsPerCall: most,
    doEmbed: async ({ values }: { readonly values: ReadonlyArray<string> }) => ({
      embeddings: power.vectors(values, 64, 96),
      warnings: []
    })
  })

const embedders: Readonly<Record<string, (power: Power) => EmbedderChoice>> = {
  "an embedder with an async embed": promise,
  "an embedder with an async embed and a length": agreed,
  "an embedding model of the AI SDK, v3": sdk("v3", Promise.resolve(5)),
  "an embedding model of the AI SDK, v4": sdk("v4", Infinity)
}

for (const [name, choiceOf] of Object.entries(embedders)) {
  prove(`${name}: embedder laws`, embedderLaws, () => {
    const power = new Power()
    const turn = (isOut: boolean) => Effect.sync(() => void (power.isOut = isOut))
    return Layer.merge(
      Layer.effect(
        Embedder,
        Effect.orDie(Effect.provide(Embedder, embedderLayer(choiceOf(power)) as Layer.Layer<Embedder>))
      ),
      Layer.succeed(Outage, { strike: turn(true), mend: turn(false) })
    )
  })
}
