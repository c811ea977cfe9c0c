// Time: the database's clock, known here within a bound.
// Owns the estimate and who is asked for the time of a write. Leaves taking the samples to the writer and the store.
// T1  An estimate stands on this machine's monotonic time, so that setting its wall clock changes nothing.
// T2  A sample is right within half the time its statement took. The best one counts, worse by what two clocks drift
//     apart in the meantime, until a better one comes, or one that shows that the database's clock was set.
// T3  The time that is reported never goes back.

import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** Who says what time it is: the database, or, in tests, the Effect clock of the caller. */
export type TimeSource = "database" | "effect"

interface Sample {
  /** What is added to monotonic milliseconds. */
  readonly offset: number
  readonly errorMillis: number
  readonly takenAt: number
}

/** Two clocks of quartz drift apart no faster. */
const DRIFT_PER_MILLI = 0.0005

export class Time {
  readonly #source: TimeSource
  #sample: Sample | undefined
  #last = 0

  constructor(source: TimeSource) {
    this.#source = source
  }

  /** What an operation brings along of the time: nothing where the database says it. */
  get stamp(): Effect.Effect<{ readonly at?: number }> {
    return this.#source === "database"
      ? Effect.succeed({})
      : Effect.map(Clock.currentTimeMillis, (now) => ({ at: Math.trunc(now) }))
  }

  /** Takes a sample: the database's time, told by a statement that began and ended then. */
  readonly learn = (millis: number, begun: number, ended: number): void => {
    // The database told its time in whole milliseconds.
    const sample = {
      offset: millis + 0.5 - (begun + ended) / 2,
      errorMillis: (ended - begun) / 2 + 0.5,
      takenAt: ended
    }
    const known = this.errorMillisAt(ended)
    const apart = this.#sample === undefined ? 0 : Math.abs(sample.offset - this.#sample.offset)
    if (sample.errorMillis <= known || apart > known + sample.errorMillis) this.#sample = sample
  }

  /** How far the estimate may be off; infinite before the first sample. */
  errorMillisAt(monotonic: number): number {
    if (this.#sample === undefined) return Infinity
    return this.#sample.errorMillis + (monotonic - this.#sample.takenAt) * DRIFT_PER_MILLI
  }

  /** How old the sample is that counts. */
  ageMillisAt(monotonic: number): number {
    return this.#sample === undefined ? Infinity : monotonic - this.#sample.takenAt
  }

  /** The database's time. A sample must have been taken. */
  millisAt(monotonic: number): number {
    this.#last = Math.max(this.#last, Math.floor(monotonic + (this.#sample?.offset ?? Number.NaN)))
    return this.#last
  }
}
