// Court: which tools run beside others in this process, and which runs alone.
// Owns the order of the two. Leaves who is suspect to suspicion.ts, and what is noted of it to trial.ts.
// C1  One run at a time is tried alone. While it is, no other tool begins, and none of those that ran before it runs on.
// C2  Nobody waits for ever: a trial waits PATIENCE_MILLIS for those that run, and others wait as long for the trial. Then
//     it goes on in company, and no longer counts as alone.
// C3  Between two trials whoever waits at the door comes in.

import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Option from "effect/Option"
import * as Semaphore from "effect/Semaphore"

/** As long as a tool may run that names no limit of its own. */
export const PATIENCE_MILLIS = 30_000

export interface Trial<A, E, R, R2> {
  /** Done when it is alone, before the work. */
  readonly before: Effect.Effect<void, never, R2>
  readonly work: Effect.Effect<A, E, R>
  /** Done when it begins in company, or others are let in while it still runs. */
  readonly crowded: Effect.Effect<void, never, R2>
}

export interface Court {
  readonly beside: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  readonly alone: <A, E, R, R2>(trial: Trial<A, E, R, R2>) => Effect.Effect<A, E, R | R2>
}

export const openCourt = (): Court => {
  const seat = Semaphore.makeUnsafe(1)
  /** Open: others may begin. */
  const door = Latch.makeUnsafe(true)
  /** Open: no other runs. */
  const quiet = Latch.makeUnsafe(true)
  let isTrial = false
  let running = 0

  const left = Effect.suspend(() => (--running === 0 ? quiet.open : Effect.void))
  const opened = Effect.suspend(() => {
    isTrial = false
    return door.open
  })
  const closed = Effect.suspend(() => {
    isTrial = true
    return door.close
  })

  const beside = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        while (isTrial) yield* restore(door.await)
        if (running++ === 0) yield* quiet.close
        return yield* Effect.ensuring(restore(work), left)
      })
    )

  const alone = <A, E, R, R2>({ before, crowded, work }: Trial<A, E, R, R2>): Effect.Effect<A, E, R | R2> => {
    const patient = Effect.andThen(Effect.sleep(PATIENCE_MILLIS), Effect.andThen(crowded, opened))
    const trial = Effect.gen(function* () {
      yield* closed
      const isAlone = Option.isSome(yield* Effect.timeoutOption(quiet.await, PATIENCE_MILLIS))
      if (!isAlone) {
        yield* crowded
        yield* opened
        return yield* work
      }
      yield* before
      return yield* Effect.raceFirst(work, Effect.andThen(patient, Effect.never))
    })
    return Semaphore.withPermits(seat, 1)(Effect.ensuring(trial, opened))
  }

  return { beside, alone }
}

/** One for each worker, which provides it. */
export const CourtOfProcess = Context.Reference<Court>("@reverie/runtime/Court", { defaultValue: openCourt })
