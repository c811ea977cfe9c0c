// DatabaseClock: an Effect clock that tells the time of the database.
// Owns keeping the estimate fresh. Leaves the estimate to time.ts.
// C1  Whatever the clock of this machine says, due times and leases are seen as every other worker sees them, within
//     half of the time a statement takes.
// C2  Every write brings a sample; where none is written for REFRESH_MILLIS, one is asked for. While the database does not
//     answer, the last estimate goes on.
// C3  How long a sleep takes is measured by this machine.

import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { PostgresStore } from "./store.ts"

const REFRESH_MILLIS = 10_000

const NANOS_PER_MILLI = 1_000_000n

/** The clock of the store's database, over the clock that is there. */
export const databaseClockLayer: Layer.Layer<never, never, PostgresStore> = Layer.effect(
  Clock.Clock,
  Effect.gen(function* () {
    const { askTime, time } = yield* PostgresStore
    const local = yield* Clock.Clock
    const refreshing = Effect.gen(function* () {
      yield* local.sleep(Duration.millis(REFRESH_MILLIS))
      if (time.ageMillisAt(performance.now()) >= REFRESH_MILLIS) yield* Effect.ignore(askTime)
    })
    yield* Effect.forkScoped(Effect.forever(refreshing))
    const millis = (): number => time.millisAt(performance.now())
    const nanos = (): bigint => BigInt(millis()) * NANOS_PER_MILLI
    return {
      currentTimeMillisUnsafe: millis,
      currentTimeMillis: Effect.sync(millis),
      currentTimeNanosUnsafe: nanos,
      currentTimeNanos: Effect.sync(nanos),
      monotonicTimeNanosUnsafe: () => local.monotonicTimeNanosUnsafe(),
      monotonicTimeNanos: local.monotonicTimeNanos,
      sleep: (duration) => local.sleep(duration)
    }
  })
)
