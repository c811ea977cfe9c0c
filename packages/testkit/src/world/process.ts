// Process: one simulated worker process, with everything that can befall it.
// Owns being alive, paused and restarted. Leaves the work to the runtime that runs in it.
// P1  A crashed process does nothing any more: whatever it still wanted of a port never happens and never returns.
// P2  A paused process does nothing until its pause is over, its lease renewals included; then it goes on where it was.

import type { Fate } from "./fate.ts"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

export interface Process {
  readonly name: string
  alive: boolean
  pausedUntil: number
}

/** Lets an effect happen only while its process can do anything at all. */
export const inProcess = <A, E, R>(process: Process, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    yield* unpaused(process)
    const value = yield* effect
    yield* unpaused(process)
    return value
  })

const unpaused = Effect.fnUntraced(function* (process: Process) {
  while (true) {
    if (!process.alive) return yield* Effect.never
    const now = yield* Clock.currentTimeMillis
    if (process.pausedUntil <= now) return
    yield* Effect.sleep(process.pausedUntil - now)
  }
})

type Port = Record<string, unknown>

/** The same port, seen from inside the process. */
export const portIn = <P extends object>(process: Process, port: P): P => {
  const guarded: Port = {}
  for (const [name, member] of Object.entries(port as Port)) {
    guarded[name] =
      typeof member === "function"
        ? (...args: ReadonlyArray<unknown>) =>
            inProcess(
              process,
              Effect.suspend(() => member(...args))
            )
        : inProcess(process, member as Effect.Effect<unknown>)
  }
  return guarded as P
}

export interface Weather {
  readonly crash: number
  readonly stall: number
  readonly delay: number
  /** Longest stall, in milliseconds; longer than a lease, so that zombies come about. */
  readonly stallMillis: number
}

/** What may happen to a process at a fault point. */
export const strike = Effect.fnUntraced(function* (
  process: Process,
  fate: Fate,
  weather: Weather,
  crashed: () => void
) {
  if (fate.chance(weather.crash)) {
    process.alive = false
    crashed()
    return yield* Effect.never
  }
  if (fate.chance(weather.stall)) {
    process.pausedUntil = (yield* Clock.currentTimeMillis) + fate.between(1_000, weather.stallMillis)
  } else if (fate.chance(weather.delay)) yield* Effect.sleep(fate.between(1, 400))
  yield* unpaused(process)
})
