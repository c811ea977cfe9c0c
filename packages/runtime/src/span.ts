// Span: the verbs of the walk, as traces show them.
// Owns their closed list; ARCHITECTURE.md has the same one, and the journey test compares them.

import * as Effect from "effect/Effect"
import type { ParentSpan } from "effect/Tracer"

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

/** Runs in a span. Stack traces are left out: they would cost more than the verbs they belong to. */
export const inSpan =
  (verb: Verb, attributes: Readonly<Record<string, unknown>> = {}) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, ParentSpan>> =>
    Effect.withSpan(work, verb, { attributes: { ...attributes }, captureStackTrace: false })
