// What the tests of this package share: a prompt, limits small enough for a test, and a model on a server of its own.

import type { Model, Prompt } from "@reverie/model"
import {
  HOSTILE_TOOL,
  type ModelServer,
  type ModelServerOptions,
  startModelServer
} from "@reverie/testkit/model-server"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { makeOpenAiModel } from "../src/openai-model.ts"
import { type OpenAiModelOptions } from "../src/options.ts"

export const KEY = "sk-harbor-0123456789abcdef"

export const aPrompt = (over: Partial<Prompt> = {}): Prompt => ({
  messages: [
    { role: "system", content: "You are the front desk of a small harbour." },
    { role: "user", content: "Is there a berth free?" }
  ],
  tools: [
    {
      name: HOSTILE_TOOL,
      description: "Looks at the berths.",
      parameters: { type: "object", properties: { text: { type: "string" } } }
    }
  ],
  callPrefix: "7.1",
  ...over
})

/** Limits small enough for a test. */
export const quick = {
  timeoutMs: 5_000,
  idleMs: 100,
  maxReplyBytes: 2 * 1024 * 1024,
  retries: 1,
  backoffMs: 1,
  parkAfterMs: 500,
  breaker: { failures: 1_000 }
} satisfies Partial<OpenAiModelOptions>

/** A server with this behaviour, gone when the scope closes. */
export const started = (behaviour: ModelServerOptions): Effect.Effect<ModelServer, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(() => startModelServer(behaviour)),
    (server) => Effect.promise(() => server.close())
  )

export interface Harbor {
  readonly server: ModelServer
  readonly model: Model["Service"]
}

/** A server with this behaviour and a model that speaks to it, both gone when the scope closes. */
export const harbor = (
  behaviour: ModelServerOptions,
  options: Partial<OpenAiModelOptions> = {}
): Effect.Effect<Harbor, never, Scope.Scope> =>
  Effect.gen(function* () {
    const server = yield* started(behaviour)
    const model = yield* makeOpenAiModel({
      baseURL: server.url,
      apiKey: Redacted.make(KEY),
      model: "harbor-1",
      ...quick,
      ...options
    })
    return { server, model }
  })
