// Span: the verbs of the walk, as traces show them.
// Owns their closed list; ARCHITECTURE.md has the same one, and the journey test compares them.

import type * as Effect from "effect/Effect"
import type * as Tracer from "effect/Tracer"
import { type Attributes, spanning, type SpanRequest } from "./telemetry/spans.ts"

export type Verb =
  | "mailbox.accept"
  | "queue.wake"
  | "mailbox.claim"
  | "assistant.decide"
  | "context.assemble"
  | "model.infer"
  | "tools.execute"
  | "ledger.commit"
  | "ledger.relay"

/** What a span of a verb says besides its name. */
export type VerbRequest = Omit<SpanRequest, "name">

const NOTHING: Attributes = {}

/** Runs in a span. Work that is a function is given the span, when somebody looks at it. */
export const inSpan =
  (verb: Verb, request?: () => VerbRequest) =>
  <A, E, R>(
    work: Effect.Effect<A, E, R> | ((span: Tracer.Span | undefined) => Effect.Effect<A, E, R>)
  ): Effect.Effect<A, E, R> =>
    spanning(() => ({ attributes: NOTHING, ...request?.(), name: verb }))((span) =>
      typeof work === "function" ? work(span) : work
    )
