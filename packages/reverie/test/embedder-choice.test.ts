import { assert, describe, it } from "@effect/vitest"
import { Embedder } from "@reverie/model"
import { hashedEmbedder, hashedVector } from "@reverie/testkit"
import { saying, startModelServer } from "@reverie/testkit/model-server"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { type EmbedderChoice, embedderLayer, type ModelChoice } from "../src/models/model-choice.ts"

interface Setting {
  readonly env?: Readonly<Record<string, string>>
  readonly embedder?: EmbedderChoice
  readonly model?: ModelChoice
}

const chosen = <A, E>(
  { embedder, env = {}, model }: Setting,
  use: (embedder: Option.Option<Embedder["Service"]>) => Effect.Effect<A, E>
) =>
  Effect.serviceOption(Embedder).pipe(
    Effect.flatMap(use),
    Effect.provide(Layer.provide(embedderLayer(embedder, model), ConfigProvider.layer(ConfigProvider.fromEnv({ env }))))
  )

const modelOf = (setting: Setting) =>
  chosen(setting, (found) => Effect.succeed(Option.getOrUndefined(Option.map(found, ({ model }) => model))))

const server = Effect.acquireRelease(
  Effect.promise(() => startModelServer({ script: saying("Yes.") })),
  (started) => Effect.promise(() => started.close())
)

const there = { OPENAI_BASE_URL: "http://127.0.0.1:9/v1" }

describe("the embedder of a profile", () => {
  it.effect("I2 there is none when no one has named one, or no server to ask", () =>
    Effect.gen(function* () {
      for (const env of [
        {},
        there,
        { ...there, OPENAI_EMBEDDING_DIMENSIONS: "64" },
        { ...there, OPENAI_EMBEDDING_MODEL: "" },
        { OPENAI_EMBEDDING_MODEL: "text-embedding-3-small" }
      ]) {
        assert.isUndefined(yield* modelOf({ env }), JSON.stringify(env))
      }
    })
  )

  it.live("the one that the environment names, with its length, and the key, on the server of the model", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* server
      const env = {
        OPENAI_BASE_URL: url,
        OPENAI_API_KEY: "sk-secret",
        OPENAI_EMBEDDING_MODEL: "harbour-vectors",
        OPENAI_EMBEDDING_DIMENSIONS: "64"
      }
      assert.deepStrictEqual(yield* modelOf({ env }), { id: "harbour-vectors/64", dimensions: 64 })
      const vectors = yield* chosen({ env }, (found) => Option.getOrThrow(found).embed(["a berth"]))
      assert.deepStrictEqual(vectors, [hashedVector("a berth", 64)])
      assert.strictEqual(requests[0]?.path, "/v1/embeddings")
      assert.strictEqual(requests[0]?.model, "harbour-vectors")
      assert.strictEqual(requests[0]?.headers.authorization, "Bearer sk-secret")
    })
  )

  it.effect("the length need not be said of models whose length is known, and must be a length", () =>
    Effect.gen(function* () {
      const env = { ...there, OPENAI_EMBEDDING_MODEL: "text-embedding-3-large" }
      assert.strictEqual((yield* modelOf({ env }))?.dimensions, 3_072)
      assert.strictEqual((yield* modelOf({ env: { ...env, OPENAI_EMBEDDING_DIMENSIONS: "256" } }))?.dimensions, 256)
      for (const broken of [
        { ...env, OPENAI_EMBEDDING_DIMENSIONS: "many" },
        { ...env, OPENAI_EMBEDDING_DIMENSIONS: "0" },
        { ...there, OPENAI_EMBEDDING_MODEL: "bge-m3" }
      ]) {
        const outcome = yield* Effect.result(modelOf({ env: broken }))
        if (Result.isSuccess(outcome)) return assert.fail(JSON.stringify(broken))
        assert.strictEqual(outcome.failure._tag, "ConfigError")
        assert.include(outcome.failure.message, "OPENAI_EMBEDDING_DIMENSIONS")
      }
    })
  )

  it.live("I1 I2 an option goes before the environment, and takes no key of it along", () =>
    Effect.gen(function* () {
      const env = { ...there, OPENAI_API_KEY: "sk-secret", OPENAI_EMBEDDING_MODEL: "text-embedding-3-small" }
      assert.isUndefined(yield* modelOf({ env, embedder: "none" }))
      assert.isUndefined(yield* modelOf({ env, model: "offline" }))
      assert.strictEqual((yield* modelOf({ env, embedder: hashedEmbedder(8).embedder }))?.id, "hashed/8")
      assert.strictEqual((yield* modelOf({ model: "offline", embedder: hashedEmbedder(8).embedder }))?.id, "hashed/8")
      const { requests, url } = yield* server
      const embedder = { baseURL: url, model: "m", dimensions: 64 }
      yield* chosen({ env, embedder }, (found) => Option.getOrThrow(found).embed(["a berth"]))
      assert.lengthOf(requests, 1)
      assert.notInclude(JSON.stringify(requests[0]), "sk-secret")
    })
  )
})
