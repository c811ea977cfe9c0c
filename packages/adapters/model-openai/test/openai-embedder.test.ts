import { assert, describe, it } from "@effect/vitest"
import { Embedder, type EmbedderError } from "@reverie/model"
import { hashedVector } from "@reverie/testkit"
import {
  type HostileModeName,
  hostileModes,
  type ModelServerOptions,
  SERVED_DIMENSIONS,
  type VectorMode,
  vectorModeNames,
  vectorModes
} from "@reverie/testkit/model-server"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import { openAiEmbedderLayer } from "../src/index.ts"
import { harbor, optionsFor, right, texts, well } from "./harbor-embedder.ts"
import { KEY, started } from "./harbor-model.ts"
import { makeOpenAiEmbedder } from "../src/openai-embedder.ts"
import { MAX_BATCH_CHARS, MAX_BATCH_TEXTS, MAX_TEXT_CHARS } from "@reverie/model/wire"

describe("a good server", () => {
  it.live("is asked for floats, with the key, and answers what it is worth", () =>
    Effect.gen(function* () {
      const { embedder, server } = yield* harbor(well)
      assert.deepStrictEqual(embedder.model, { id: "harbor-vectors/64", dimensions: 64 })
      assert.deepStrictEqual(yield* embedder.embed(texts), right)
      const [request] = server.requests
      assert.strictEqual(request?.path, "/v1/embeddings")
      assert.strictEqual(request?.headers.authorization, `Bearer ${KEY}`)
      assert.deepStrictEqual(request?.body, { model: "harbor-vectors", input: texts, encoding_format: "float" })
      for (const name of ["openai-organization", "openai-project", "x-stainless-timeout", "accept-encoding"]) {
        assert.notProperty(request?.headers, name)
      }
    })
  )

  it.live("E4 is not asked for nothing", () =>
    Effect.gen(function* () {
      const { embedder, server } = yield* harbor(well)
      assert.deepStrictEqual(yield* embedder.embed([]), [])
      assert.lengthOf(server.requests, 0)
    })
  )

  it.live("learns the length when its model can shorten vectors, or when the options say so", () =>
    Effect.gen(function* () {
      for (const [model, sendDimensions, told] of [
        ["text-embedding-3-small", undefined, 32],
        ["text-embedding-3-small", false, undefined],
        ["text-embedding-ada-002", undefined, undefined],
        ["bge-m3", true, 32]
      ] as const) {
        const { embedder, server } = yield* harbor(well, {
          model,
          dimensions: 32,
          ...(sendDimensions === undefined ? {} : { sendDimensions })
        })
        yield* Effect.result(embedder.embed(texts))
        assert.strictEqual(Reflect.get(Object(server.requests[0]?.body), "dimensions"), told, model)
      }
    })
  )

  it.live("I2 gets no more texts and no more characters at once than it takes", () =>
    Effect.gen(function* () {
      const { embedder, server } = yield* harbor(well)
      const many = Array.from({ length: 2 * MAX_BATCH_TEXTS + 1 }, (_, at) => `ship ${at}`)
      assert.deepStrictEqual(
        yield* embedder.embed(many),
        many.map((text) => hashedVector(text, SERVED_DIMENSIONS))
      )
      assert.deepStrictEqual(
        server.requests.map(({ input }) => input.length),
        [MAX_BATCH_TEXTS, MAX_BATCH_TEXTS, 1]
      )
      const long = Array.from({ length: 60 }, (_, at) => `${at} `.repeat(10_000))
      assert.lengthOf(yield* embedder.embed(long), 60)
      const sizes = server.requests.slice(3).map(({ input }) => input.join("").length)
      assert.lengthOf(sizes, 3)
      assert.isAtMost(Math.max(...sizes), MAX_BATCH_CHARS)
    })
  )

  it.live("I4 gets the beginning of a long text, a dot for an empty one, and no half of a pair", () =>
    Effect.gen(function* () {
      const { embedder, server } = yield* harbor(well)
      const boats = "⛵🛶".repeat(MAX_TEXT_CHARS)
      yield* embedder.embed(["", " \n ", `x${boats}`, "a \ud800 b"])
      const [empty, blank, long = "", half] = server.requests[0]?.input ?? []
      assert.deepStrictEqual([empty, blank, half], [".", ".", "a \ufffd b"])
      assert.lengthOf(long, MAX_TEXT_CHARS)
      assert.isTrue(long.isWellFormed())
    })
  )

  it.live("I2 a call whose second batch fails has failed", () =>
    Effect.gen(function* () {
      const { embedder, server } = yield* harbor({ sequence: [well, { mode: "bad-request" }] })
      const many = Array.from({ length: MAX_BATCH_TEXTS + 1 }, (_, at) => `ship ${at}`)
      assert.strictEqual((yield* Effect.flip(embedder.embed(many)))._tag, "ModelRefused")
      assert.lengthOf(server.requests, 2)
    })
  )
})

const checkError = (error: EmbedderError, verdict: object): void => {
  const { error: tag, ...facts } = verdict as { readonly error: string }
  assert.strictEqual(error._tag, tag, error.message)
  for (const [name, fact] of Object.entries(facts)) assert.strictEqual(Reflect.get(error, name), fact, name)
  assert.isBelow(error.message.length, 400)
  assert.match(error.provider, /^127\.0\.0\.1:\d+$/)
  assert.notInclude(JSON.stringify(error) + String(error) + (error.stack ?? ""), KEY)
}

const judge = Effect.fnUntraced(function* (behaviour: ModelServerOptions, leadsTo: VectorMode["leadsTo"]) {
  const isLate = typeof leadsTo === "object" && "kind" in leadsTo && leadsTo.kind === "timeout"
  const { embedder, server } = yield* harbor(behaviour, isLate ? { timeoutMs: 1_500 } : {})
  const outcome = yield* Effect.result(embedder.embed(texts))
  if (leadsTo === "vectors") {
    if (Result.isFailure(outcome)) return assert.fail(`expected vectors, got ${outcome.failure.message}`)
    assert.deepStrictEqual(outcome.success, right)
  } else {
    if (Result.isSuccess(outcome)) return assert.fail(`expected ${leadsTo.error}, got vectors`)
    checkError(outcome.failure, leadsTo)
  }
  assert.isAtLeast(server.requests.length, 1)
  assert.isAtMost(server.requests.length, 2)
  server.become(well)
  assert.deepStrictEqual(yield* embedder.embed(texts), right)
})

describe("I1 I3 a server that embeds wrongly", () => {
  it.live.each(vectorModeNames.map((name) => ({ name, ...vectorModes[name] })))("$name: $says", ({ leadsTo, name }) =>
    Effect.scoped(judge({ vectors: name }, leadsTo))
  )
})

/** Those that do not depend on what was asked for. */
const httpModes = [
  "status-500",
  "status-503-html",
  "error-body-endless",
  "error-body-hangs",
  "connection-reset",
  "header-flood",
  "rate-limited-1s",
  "rate-limited-1h",
  "rate-limited-nonsense",
  "quota-spent",
  "unauthorized",
  "model-not-found",
  "redirect",
  "bad-request",
  "headers-hang",
  "body-hangs",
  "body-drips",
  "body-cut",
  "body-reset",
  "body-empty",
  "body-oversize",
  "html-with-200",
  "error-with-200",
  "nested-too-deep",
  "body-no-object"
] as const satisfies ReadonlyArray<HostileModeName>

describe("I1 I3 a server that answers badly", () => {
  it.live.each(httpModes.map((name) => ({ name, says: hostileModes[name].says })))("$name: $says", ({ name }) => {
    const { leadsTo } = hostileModes[name]
    if (!("error" in leadsTo)) throw new Error(`${name} is a mode of completions`)
    return Effect.scoped(judge({ mode: name }, leadsTo))
  })

  it.live("E5 is asked again after a passing failure, and not after a refusal or vectors that do not fit", () =>
    Effect.gen(function* () {
      for (const [behaviour, asked] of [
        [{ sequence: [{ mode: "status-500" }, well] }, 2],
        [{ sequence: [{ vectors: "one-fewer" }, well] }, 2],
        [{ mode: "bad-request" }, 1],
        [{ vectors: "too-short" }, 1]
      ] as const) {
        const { embedder, server } = yield* harbor(behaviour)
        yield* Effect.result(embedder.embed(texts))
        assert.lengthOf(server.requests, asked)
      }
    })
  )

  it.effect("B1 B2 is left alone once it has failed too often, and tried again after its time", () =>
    Effect.gen(function* () {
      const breaker = { failures: 3, windowMs: 60_000, coolDownMs: 30_000 }
      const { embedder, server } = yield* harbor({ mode: "status-500" }, { retries: 0, breaker })
      for (let failure = 0; failure < 4; failure++) yield* Effect.result(embedder.embed(texts))
      assert.lengthOf(server.requests, 3)
      server.become(well)
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(yield* embedder.embed(texts), right)
    })
  )
})

describe("E5 surroundings", () => {
  it.live("interrupting the call closes the connection", () =>
    Effect.gen(function* () {
      const { embedder, server } = yield* harbor({ mode: "headers-hang" })
      const arrived = server.nextRequest()
      const departed = server.nextDeparture()
      const fiber = yield* Effect.forkChild(embedder.embed(texts), { startImmediately: true })
      yield* Effect.promise(() => arrived)
      yield* Fiber.interrupt(fiber)
      yield* Effect.promise(() => departed)
      server.become(well)
      assert.deepStrictEqual(yield* embedder.embed(texts), right)
    })
  )

  it.live("a base URL that is none is a denial, not a throw, and nothing needs no base URL", () =>
    Effect.gen(function* () {
      for (const baseURL of ["", "harbor", "file:///etc/passwd"]) {
        const embedder = yield* makeOpenAiEmbedder({ baseURL, apiKey: Redacted.make(KEY), model: "m", dimensions: 3 })
        assert.strictEqual((yield* Effect.flip(embedder.embed(texts)))._tag, "ModelDenied")
        assert.deepStrictEqual(yield* embedder.embed([]), [])
      }
    })
  )

  it.live("many calls at once each get their own vectors", () =>
    Effect.gen(function* () {
      const server = yield* started(well)
      const layer = openAiEmbedderLayer(optionsFor(server))
      const all = Array.from({ length: 32 }, (_, at) => `ship ${at}`)
      const vectors = yield* Effect.forEach(all, (text) => Embedder.use(({ embed }) => embed([text])), {
        concurrency: "unbounded"
      }).pipe(Effect.provide(layer))
      assert.deepStrictEqual(
        vectors,
        all.map((text) => [hashedVector(text, SERVED_DIMENSIONS)])
      )
    })
  )
})
