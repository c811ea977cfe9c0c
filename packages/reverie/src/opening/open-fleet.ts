// OpenFleet: where everything of an open fleet runs, until it ends.
// Owns the way in, the end, and who is told of it. Leaves what runs to the fleet.
// H1  What is asked of a closed fleet, or was under way when it closed and could not end, fails with FleetClosed.
// H2  Whoever waits is told of the end once, and keeps nothing alive by having waited.

import { outsideRuns } from "@reverie/run-place"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as ManagedRuntime from "effect/ManagedRuntime"
import { Limits } from "@reverie/runtime"
import * as Layer from "effect/Layer"
import { FleetClosed } from "../errors.ts"
import { type Terms, termsOf } from "../fleet-options.ts"

const reasonOf = (exit: Exit.Exit<never, unknown>): FleetClosed | undefined => {
  if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return undefined
  const cause = Cause.squash(exit.cause)
  return new FleetClosed({ message: cause instanceof Error ? cause.message : String(cause), cause })
}

export class OpenFleet<Services> {
  /** Nothing after `close`, the reason when the worker ended by itself. */
  readonly ended: Promise<FleetClosed | undefined>
  readonly #runtime: ManagedRuntime.ManagedRuntime<Services, unknown>
  readonly #worker: Fiber.Fiber<never, unknown>
  readonly #waiting = new Set<(reason: FleetClosed) => void>()
  #over: FleetClosed | undefined
  /** A store that failed to write can still be read, so only closing shuts the door. */
  #isClosed = false

  constructor(runtime: ManagedRuntime.ManagedRuntime<Services, unknown>, worker: Fiber.Fiber<never, unknown>) {
    this.#runtime = runtime
    this.#worker = worker
    this.ended = Effect.runPromise(Fiber.await(worker)).then((exit) => {
      const reason = reasonOf(exit)
      this.#end(reason)
      return reason
    })
  }

  async run<A, E>(effect: Effect.Effect<A, E, Services>): Promise<A> {
    if (this.#isClosed) throw this.#over
    // Asked from within a tool, what happens here is none of its doing.
    const exit = await outsideRuns(() => this.#runtime.runPromiseExit(effect))
    if (Exit.isSuccess(exit)) return exit.value
    throw this.#isClosed ? this.#over : Cause.squash(exit.cause)
  }

  /** Calls the listener with the reason when the end has come. Answers how to stop waiting. */
  onEnd(listener: (reason: FleetClosed) => void): () => void {
    if (this.#over === undefined) this.#waiting.add(listener)
    else listener(this.#over)
    return () => {
      this.#waiting.delete(listener)
    }
  }

  async close(): Promise<void> {
    await Effect.runPromise(Fiber.interrupt(this.#worker))
    this.#isClosed = true
    this.#end()
    await this.#runtime.dispose()
  }

  #end(reason: FleetClosed = new FleetClosed({ message: "the fleet was closed" })): void {
    if (this.#over !== undefined) return
    this.#over = reason
    for (const listener of this.#waiting) listener(reason)
    this.#waiting.clear()
  }
}

/** The limits and prices of these terms, as the runtime asks for them. */
export const limitsLayer = (terms: Terms): Layer.Layer<never> =>
  Layer.succeed(Limits, {
    of: (tenant) => {
      const { weight: _, ...limits } = termsOf(terms, tenant) ?? {}
      return Object.keys(limits).length === 0 ? undefined : limits
    },
    tariff: terms.prices ?? {}
  })
