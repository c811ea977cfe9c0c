// What the tests of the embedder share: texts, limits small enough for a test, and an embedder on a server of its own.

import { hashedVector } from "@reverie/testkit"
import { type ModelServer, type ModelServerOptions, saying, SERVED_DIMENSIONS } from "@reverie/testkit/model-server"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"

import { KEY, quick, started } from "./harbor-model.ts"
import { makeOpenAiEmbedder } from "../src/openai-embedder.ts"
import { type OpenAiEmbedderOptions } from "../src/options.ts"

export const well: ModelServerOptions = { script: saying("Yes.") }
export const texts = ["Berth seven is free.", "A storm is coming.", "Olga sold her boat."]
export const right = texts.map((text) => hashedVector(text, SERVED_DIMENSIONS))

export const optionsFor = (
  server: ModelServer,
  options: Partial<OpenAiEmbedderOptions> = {}
): OpenAiEmbedderOptions => ({
  baseURL: server.url,
  apiKey: Redacted.make(KEY),
  model: "harbor-vectors",
  dimensions: SERVED_DIMENSIONS,
  ...quick,
  ...options
})

export const harbor = Effect.fnUntraced(function* (
  behaviour: ModelServerOptions,
  options: Partial<OpenAiEmbedderOptions> = {}
) {
  const server = yield* started(behaviour)
  const embedder = yield* makeOpenAiEmbedder(optionsFor(server, options))
  return { server, embedder }
})
