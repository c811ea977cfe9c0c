import { assert, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { type Failure, makeFailures, makeScrub, retried } from "@reverie/model/wire"
import type { Limits } from "../src/options.ts"

const failures = makeFailures("harbor:1", makeScrub(""))
const limits: Limits = {
  timeoutMs: 120_000,
  idleMs: 30_000,
  maxReplyBytes: 1_000,
  retries: 2,
  backoffMs: 500,
  parkAfterMs: 10_000,
  maxCalls: 16
}

const down = failures.unavailable("server-error", "down", { status: 500 })
const limited = (seconds: number): Failure =>
  failures.answered(
    { status: 429, message: "slow down" },
    (name) => (name === "retry-after" ? String(seconds) : null),
    0
  )

/** Runs an attempt that fails with these in turn and then succeeds; tells when each attempt began and how it ended. */
const played = (script: ReadonlyArray<Failure>, until = 120_000, over: Partial<Limits> = {}) =>
  Effect.gen(function* () {
    const times: Array<number> = []
    const attempt = Effect.gen(function* () {
      const failure = script[times.length]
      times.push(yield* Clock.currentTimeMillis)
      return failure === undefined ? "well" : yield* Effect.fail(failure)
    })
    const fiber = yield* Effect.forkChild(retried(attempt, until, { failures, limits: { ...limits, ...over } }), {
      startImmediately: true
    })
    yield* TestClock.adjust("10 minutes")
    return { times, result: yield* Effect.result(Fiber.join(fiber)) }
  })

it.effect("I1 a good attempt is made once", () =>
  Effect.gen(function* () {
    const { result, times } = yield* played([])
    assert.deepStrictEqual(times, [0])
    assert.strictEqual(result._tag, "Success")
  })
)

it.effect("I1 a passing failure is tried again after half a second, then after a second, each a fifth up or down", () =>
  Effect.gen(function* () {
    const { result, times } = yield* played([down, down])
    assert.strictEqual(result._tag, "Success")
    assert.lengthOf(times, 3)
    const [, second = 0, third = 0] = times
    assert.isTrue(second >= 400 && second <= 600, `${second}`)
    assert.isTrue(third - second >= 800 && third - second <= 1_200, `${third - second}`)
  })
)

it.effect("I1 when the retries are spent the last failure stands", () =>
  Effect.gen(function* () {
    const last = failures.unavailable("cut", "cut")
    const { result, times } = yield* played([down, down, last])
    assert.lengthOf(times, 3)
    assert.strictEqual(result._tag === "Failure" ? result.failure : undefined, last.error)
  })
)

it.effect("I1 a refusal is final", () =>
  Effect.gen(function* () {
    const refused = failures.answered({ status: 400, message: "no" }, () => null, 0)
    const { result, times } = yield* played([refused])
    assert.lengthOf(times, 1)
    assert.strictEqual(result._tag === "Failure" ? result.failure._tag : "", "ModelRefused")
  })
)

it.effect("I2 Retry-After: 1 is waited for in place, to the millisecond when it is longer than the backoff", () =>
  Effect.gen(function* () {
    const { result, times } = yield* played([limited(1)])
    assert.deepStrictEqual(times, [0, 1_000])
    assert.strictEqual(result._tag, "Success")
  })
)

it.effect("I2 Retry-After: 3600 parks at once", () =>
  Effect.gen(function* () {
    const { result, times } = yield* played([limited(3_600)])
    assert.deepStrictEqual(times, [0])
    assert.deepInclude(result, { _tag: "Failure" })
    if (result._tag === "Failure") assert.deepInclude(result.failure, { _tag: "ModelParked", retryAfterMs: 3_600_000 })
  })
)

it.effect("I2 a wait that fits the limit but not the deadline parks", () =>
  Effect.gen(function* () {
    const { result, times } = yield* played([limited(5)], 3_000)
    assert.deepStrictEqual(times, [0])
    if (result._tag === "Failure") assert.deepInclude(result.failure, { _tag: "ModelParked", retryAfterMs: 5_000 })
    else assert.fail("expected to be parked")
  })
)

it.effect("I2 an overloaded server whose own time does not fit the deadline parks too", () =>
  Effect.gen(function* () {
    const overloaded = failures.answered({ status: 503 }, (name) => (name === "retry-after" ? "5" : null), 0)
    const { result, times } = yield* played([overloaded], 3_000)
    assert.deepStrictEqual(times, [0])
    if (result._tag === "Failure") assert.deepInclude(result.failure, { _tag: "ModelParked", retryAfterMs: 5_000 })
    else assert.fail("expected to be parked")
  })
)

it.effect("I2 a server that is limited to the last retry parks for as long as it last said", () =>
  Effect.gen(function* () {
    const { result, times } = yield* played([limited(1), limited(2), limited(3)])
    assert.deepStrictEqual(times, [0, 1_000, 3_000])
    if (result._tag === "Failure") assert.deepInclude(result.failure, { _tag: "ModelParked", retryAfterMs: 3_000 })
    else assert.fail("expected to be parked")
  })
)

it.effect("I3 no wait outlasts the deadline", () =>
  Effect.gen(function* () {
    const { result, times } = yield* played([down, down, down], 1_000)
    assert.lengthOf(times, 2)
    assert.isBelow(times[1] ?? 0, 1_000)
    if (result._tag === "Failure") assert.strictEqual(result.failure, down.error)
    else assert.fail("expected to fail")
  })
)

it.effect("I1 an open circuit ends the retries with the failure that was seen, not with the refusal to ask", () =>
  Effect.gen(function* () {
    const { result, times } = yield* played([down, failures.withheld(1_000), down])
    assert.lengthOf(times, 2)
    if (result._tag === "Failure") assert.strictEqual(result.failure, down.error)
    else assert.fail("expected to fail")
  })
)

it.effect("I1 the backoff stops growing at eight seconds", () =>
  Effect.gen(function* () {
    const { times } = yield* played(
      Array.from({ length: 9 }, () => down),
      600_000,
      { retries: 9 }
    )
    assert.lengthOf(times, 10)
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0))
    assert.isTrue(
      gaps.every((gap) => gap <= 9_600),
      String(gaps)
    )
    assert.isTrue(
      gaps.slice(5).every((gap) => gap >= 6_400),
      String(gaps)
    )
  })
)
