// OpenTrace: what a session remembers of the trace of its turn.
// Owns the three facts. Leaves spans to spans.ts.

import type * as Tracer from "effect/Tracer"

export interface TurnTrace {
  /** Of the turn at hand; undefined between two, and without a tracer. */
  span: Tracer.Span | undefined
  /** The trace that came with the tick in hand, or with the wake-up that woke. */
  carried: string | undefined
  /** When the turn at hand began; undefined between two. */
  startedAt: number | undefined
}

export const openTrace = (carried: string | undefined): TurnTrace => ({
  span: undefined,
  carried,
  startedAt: undefined
})
