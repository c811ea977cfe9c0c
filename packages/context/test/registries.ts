// Registries: the smallest drafts, and a registry over a store of its own.

import { getPromptRegistry, type PromptRegistry } from "@reverie/context"
import { TenantId } from "@reverie/protocol"
import { memoryPromptStoreLayer } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"

export const harbor = TenantId.make("harbor")
export const tower = TenantId.make("tower")

/** 2025-12-06T10:00:00.000Z */
export const START_MILLIS = 1_765_015_200_000

export const aTemplate = {
  key: "my_template",
  name: "Custom assistant",
  content: "You are a {personality} assistant.",
  description: "Custom personality",
  category: "system_prompt"
}

export const aComponent = {
  key: "my_context",
  name: "Custom context",
  content: "Mind the tide.",
  afterStatic: 1000,
  description: "Custom context block",
  role: "system"
}

/** Runs on a fresh store, at START_MILLIS. */
export const withRegistry = <A, E>(use: (registry: PromptRegistry) => Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    yield* TestClock.setTime(START_MILLIS)
    return yield* use(yield* getPromptRegistry(harbor))
  }).pipe(Effect.provide(memoryPromptStoreLayer()))
