import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Embedder, embeddingModelOf } from "@reverie/model"
import { defined, PackageMissing } from "@reverie/protocol"
import { hashedEmbedder, hashedVector } from "@reverie/testkit"
import { later } from "@reverie/testkit/later"
import { saying, SERVED_DIMENSIONS, startModelServer } from "@reverie/testkit/model-server"
import { contractIfThere, startQdrantServer } from "@reverie/testkit/qdrant-server"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { defineAssistant, defineFleet, Fleet, FleetDefinitionInvalid } from "../src/index.ts"
import { type EmbedderChoice, embedderLayer, flawOfEmbedder } from "../src/models/embedder-choice.ts"
import type { ModelChoice } from "../src/models/model-choice.ts"
import type { RecallChoice } from "../src/opening/deployment.ts"
import { aDirectory } from "./rig.ts"

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
        { ...env, OPENAI_EMBEDDING_DIMENSIONS: "0" }
      ]) {
        const outcome = yield* Effect.result(modelOf({ env: broken }))
        if (Result.isSuccess(outcome)) return assert.fail(JSON.stringify(broken))
        assert.strictEqual(outcome.failure._tag, "ConfigError")
        assert.include(outcome.failure.message, "OPENAI_EMBEDDING_DIMENSIONS")
      }
    })
  )

  it.live("a length that no one has said is that of the first vector, which is asked for once", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* server
      const env = { OPENAI_BASE_URL: url, OPENAI_EMBEDDING_MODEL: "bge-m3" }
      yield* chosen({ env }, (found) =>
        Effect.gen(function* () {
          const embedder = Option.getOrThrow(found)
          assert.deepStrictEqual(embedder.model, { id: "bge-m3", dimensions: 0 })
          const wanted = { id: `bge-m3/${SERVED_DIMENSIONS}`, dimensions: SERVED_DIMENSIONS }
          assert.deepStrictEqual(yield* embeddingModelOf(embedder), wanted)
          assert.deepStrictEqual(yield* embeddingModelOf(embedder), wanted)
          assert.lengthOf(requests, 1)
          assert.deepStrictEqual(yield* embedder.embed(["a berth"]), [hashedVector("a berth", SERVED_DIMENSIONS)])
        })
      )
    })
  )

  it.live("I1 embeddings may have a server of their own, with a key of their own", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* server
      const env = {
        OPENAI_BASE_URL: "http://127.0.0.1:9/v1",
        OPENAI_API_KEY: "sk-chat-secret",
        OPENAI_EMBEDDING_BASE_URL: url,
        OPENAI_EMBEDDING_MODEL: "bge-m3",
        OPENAI_EMBEDDING_DIMENSIONS: "64"
      }
      const embed = (more: Readonly<Record<string, string>>) =>
        chosen({ env: { ...env, ...more } }, (found) => Option.getOrThrow(found).embed(["a berth"]))
      yield* embed({})
      yield* embed({ OPENAI_EMBEDDING_API_KEY: "sk-own" })
      yield* embed({ OPENAI_BASE_URL: url })
      assert.deepStrictEqual(
        requests.map(({ headers }) => headers.authorization),
        ["Bearer none", "Bearer sk-own", "Bearer sk-chat-secret"]
      )
    })
  )

  it.live("a text names it as it names a model", () =>
    Effect.gen(function* () {
      const { requests, url } = yield* server
      yield* chosen({ embedder: `${url}#bge-m3` }, (found) => Option.getOrThrow(found).embed(["a berth"]))
      assert.strictEqual(requests[0]?.model, "bge-m3")
      const env = { OPENAI_API_KEY: "sk-x", OPENAI_BASE_URL: url }
      const model = yield* modelOf({ env, embedder: "openai/text-embedding-3-small" })
      assert.deepStrictEqual(model, { id: "text-embedding-3-small/1536", dimensions: 1_536 })
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

const fleet = defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "You only listen." })] })

const aServer = async (text: string) => {
  const started = await startModelServer({ script: saying(text) })
  later(() => started.close())
  return started
}

/** The indexes that keep vectors: the file beside the store, and a server. */
const indexes: Readonly<Record<string, () => Promise<RecallChoice>>> = {
  SQLite: async () => "embedded",
  Qdrant: async () => {
    const { close, url } = await startQdrantServer({ contract: contractIfThere() })
    later(close)
    return { url }
  }
}

describe("a fleet whose embedder was told no length, on another server than its model", () => {
  it.each(Object.keys(indexes))("finds by meaning in %s, also when it is opened again", async (name) => {
    const [chat, embedding] = [await aServer("Yes."), await aServer("No chat here.")]
    const options = {
      data: aDirectory(),
      fleet,
      model: { baseURL: chat.url, model: "harbour-1" },
      embedder: { baseURL: embedding.url, model: "bge-m3" },
      ...defined({ recall: await indexes[name]?.() })
    }
    const found = async (open: Fleet) => {
      const { degraded, hits } = await open.memory.recall("desk", "the boat of Olga", { mode: "vector" })
      assert.isUndefined(degraded)
      return hits.map(({ why }) => why.vector !== undefined)
    }
    {
      await using open = await Fleet.open(options)
      assert.strictEqual(await open.answer("desk", "Olga has a boat.", { from: "olga" }), "Yes.")
      // Vectors are filled in by the last step of a night.
      await open.sleep("desk")
      await open.idle()
      assert.include(await found(open), true)
    }
    const filled = embedding.requests.length
    await using again = await Fleet.open(options)
    assert.include(await found(again), true)
    // The length is learned, and the question embedded; what was embedded before is not embedded again.
    assert.isAtMost(embedding.requests.length - filled, 2)
    assert.deepStrictEqual([...new Set(chat.requests.map(({ path }) => path))], ["/v1/chat/completions"])
    assert.deepStrictEqual([...new Set(embedding.requests.map(({ path }) => path))], ["/v1/embeddings"])
    assert.isTrue(embedding.requests.every(({ body }) => !Object.hasOwn(Object(body), "dimensions")))
  })
})

describe("an embedder that is given as an object", () => {
  const numbers = (text: string) => [text.length, 1]
  const objects = {
    "with an async embed": (asked: Array<number>): EmbedderChoice => ({
      name: "letters",
      maxTexts: 2,
      embed: async (texts, { signal }) => {
        assert.isFalse(signal.aborted)
        asked.push(texts.length)
        return texts.map(numbers)
      }
    }),
    "of the AI SDK": (asked: Array<number>): EmbedderChoice => ({
      specificationVersion: "v4",
      provider: "letters.embedding",
      modelId: "letters",
      maxEmbeddingsPerCall: Promise.resolve(2),
      doEmbed: async ({ values }: { readonly values: ReadonlyArray<string> }) => {
        asked.push(values.length)
        return { embeddings: values.map(numbers), warnings: [] }
      }
    })
  }

  it.each(Object.keys(objects) as ReadonlyArray<keyof typeof objects>)(
    "%s: in batches of its size, its length learned, and a fleet finds by meaning",
    async (name) => {
      const asked: Array<number> = []
      const embedder = objects[name](asked)
      const found = chosen({ embedder }, (each) => Option.getOrThrow(each).embed(["a", "bb", "ccc"]))
      assert.deepStrictEqual(await Effect.runPromise(found), [
        [1, 1],
        [2, 1],
        [3, 1]
      ])
      assert.deepStrictEqual(asked, [2, 1])
      const model = chosen({ embedder }, (each) => embeddingModelOf(Option.getOrThrow(each)))
      assert.deepStrictEqual(await Effect.runPromise(model), { id: "letters/2", dimensions: 2 })
      await using open = await Fleet.open({ data: ":memory:", fleet, model: "offline", embedder })
      await open.answer("desk", "Olga has a boat.", { from: "olga" })
      await open.sleep("desk")
      await open.idle()
      const { degraded, hits } = await open.memory.recall("desk", "the boat of Olga", { mode: "vector" })
      assert.isUndefined(degraded)
      assert.include(
        hits.map(({ why }) => why.vector !== undefined),
        true
      )
    }
  )

  it("what it does wrong is a failure of the closed list", async () => {
    const failing = (answer: unknown): EmbedderChoice => ({
      name: "m",
      embed: async () => {
        if (answer instanceof Error) throw answer
        return answer as ReadonlyArray<ReadonlyArray<number>>
      }
    })
    const failureOf = (embedder: EmbedderChoice) =>
      Effect.runPromise(chosen({ embedder }, (each) => Effect.flip(Option.getOrThrow(each).embed(["a"]))))
    const denied = Object.assign(new Error("no such key"), { status: 401 })
    assert.strictEqual((await failureOf(failing(denied)))._tag, "ModelDenied")
    const bug = await failureOf(failing(new RangeError("a bug")))
    assert.strictEqual(bug._tag, "ModelUnavailable")
    assert.include(bug.message, "it threw RangeError: a bug")
  })
})

const embed = () => Effect.succeed([])

/** What can not be meant, and what is said of it. */
const flaws: ReadonlyArray<readonly [choice: unknown, says: RegExp]> = [
  ["bge-m3", /^is "bge-m3", which names no provider; /],
  ["offline", /^is "offline", which embeds nothing$/],
  [{ baseURL: "http://h/v1" }, /^has no model; /],
  [
    { baseURL: "http://h/v1", model: "m", dimensions: 0 },
    /^has a dimensions that must be a whole number from 1 to 100,000, and is 0$/
  ],
  [{ baseURL: "http://h/v1", model: "m", dimensions: "768" }, /^has a dimensions that must be a whole number/],
  [{ embed }, /^must have a name: vectors of two names are never compared$/],
  [{ embed, name: "m", maxTexts: 0 }, /^has a maxTexts that must be a whole number from 1 to 100,000, and is 0$/],
  [{ embed: 7, name: "m" }, /^has an embed that is no function$/],
  [{ embed, model: {} }, /^must have embed, and a model with an id$/],
  [
    { doEmbed: embed, specificationVersion: "v1" },
    /^speaks version "v1" of the AI SDK's interface; v2, v3, v4 are known$/
  ],
  [
    { doEmbed: embed, specificationVersion: "v3" },
    /^must have provider, modelId and doEmbed as the AI SDK makes them$/
  ],
  [{ embed, model: { id: "m" } }, /^must say the dimensions of its model, /],
  [7, /^is 7, and no embedder$/]
]

describe("an embedder that can not be meant", () => {
  it.each(flaws.map(([choice, says]) => [JSON.stringify(choice), choice, says] as const))(
    "%s",
    async (_, choice, says) => {
      assert.match(flawOfEmbedder(choice) ?? "", says)
      const options = { data: ":memory:", fleet, model: "offline", embedder: choice as EmbedderChoice }
      const failure: unknown = await Fleet.open(options).catch((error) => error)
      assert.instanceOf(failure, FleetDefinitionInvalid)
      assert.match((failure as Error).message, /^fleet: its embedder /)
    }
  )
})

describe("an embedder of a directory", () => {
  const aModel = (): string => {
    const model = join(aDirectory(), "..", "tiny")
    mkdirSync(join(model, "onnx"), { recursive: true })
    for (const file of ["config.json", "tokenizer.json", "onnx/model.onnx"]) writeFileSync(join(model, file), "{}")
    return model
  }

  it("is refused in one line where it is none, also from the environment", async () => {
    const options = { data: ":memory:", fleet, model: "offline" }
    const opening: unknown = await Fleet.open({ ...options, embedder: "./nowhere" }).catch((error: unknown) => error)
    assert.match((opening as Error).message, /^fleet: its embedder is "\.\/nowhere", and there is no such directory/)
    const named = chosen({ env: { OPENAI_EMBEDDING_MODEL: "./nowhere" } }, () => Effect.void)
    const { message } = await Effect.runPromise(Effect.flip(named))
    assert.match(message, /^OPENAI_EMBEDDING_MODEL is "\.\/nowhere", and there is no such directory/)
    const model = await Effect.runPromise(modelOf({ env: { OPENAI_EMBEDDING_MODEL: aModel() } }))
    assert.strictEqual(model?.id, "tiny/fp32")
  })

  it("without its package memory is searched by words, at once, and says what to install", async () => {
    const message = "an embedder of a directory needs a package that is not installed: npm i tiny"
    let asked = 0
    const embedder = {
      name: "tiny",
      embed: async () => {
        asked++
        throw new PackageMissing({ packages: ["tiny"], message })
      }
    }
    await using opened = await Fleet.open({ data: ":memory:", fleet, model: "offline", embedder })
    await opened.send("desk", "The spare key hangs behind the blue barrel.", { from: "ann" })
    await opened.sleep("desk")
    await opened.idle()
    const { degraded, hits, mode } = await opened.memory.recall("desk", "Where is the spare key?")
    assert.deepStrictEqual([asked > 0, mode], [true, "fts"])
    assert.match(hits[0]?.entry.text ?? "", /blue barrel/)
    assert.include(degraded, message)
  })
})
