// Retry: an attempt is made again while that may help and there is time.
// Owns the backoff, the obedience to Retry-After and the deadline. Leaves the attempt, and the clock, to others.
// I1  An attempt is repeated at most `retries` times, and never when the same request can not succeed.
// I2  No attempt starts earlier than the server asked for; a longer wait than the limit, or than the call has left,
//     parks instead.
// I3  No wait outlasts the deadline.

import type { RequestError } from "@reverie/model"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import type { Failure, Failures } from "./failure.ts"
import type { CallLimits } from "./options.ts"

const LONGEST_BACKOFF = "8 seconds"

export interface Retrying {
  readonly failures: Failures
  readonly limits: CallLimits
}

const backoff = ({ backoffMillis, retries }: CallLimits) =>
  Schedule.min([Schedule.exponential(Duration.millis(backoffMillis)), Schedule.spaced(LONGEST_BACKOFF)]).pipe(
    Schedule.jittered,
    Schedule.upTo({ times: retries })
  )

const again = Effect.fnUntraced(function* <A>(
  attempt: Effect.Effect<A, Failure>,
  first: Failure,
  until: number,
  { failures, limits }: Retrying
) {
  const step = yield* Schedule.toStep(backoff(limits))
  let failure = first
  while (failure.again) {
    const now = yield* Clock.currentTimeMillis
    const asked = failure.retryAfterMillis ?? 0
    const left = until - now
    if (asked > limits.parkAfterMillis || (asked > 0 && asked >= left)) {
      return yield* failures.parked(asked, "status" in failure.error ? failure.error.status : undefined)
    }
    const next = yield* Effect.result(step(now, undefined))
    if (Result.isFailure(next)) break
    const delayMillis = Math.max(Duration.toMillis(next.success[1]), asked)
    if (delayMillis >= left) break
    yield* Effect.sleep(delayMillis)
    const result = yield* Effect.result(attempt)
    if (Result.isSuccess(result)) return result.success
    if (result.failure.error._tag === "CallWithheld") break
    failure = result.failure
  }
  return yield* Effect.fail<RequestError>(failure.error)
})

/** Runs `attempt` until it succeeds, can not, or has no time left. `until` is milliseconds since the epoch. */
export const retried = <A>(
  attempt: Effect.Effect<A, Failure>,
  until: number,
  how: Retrying
): Effect.Effect<A, RequestError> => attempt.pipe(Effect.catch((failure) => again(attempt, failure, until, how)))
