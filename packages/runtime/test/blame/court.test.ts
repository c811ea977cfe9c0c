import { assert, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { describe } from "vitest"
import { type Court, openCourt, PATIENCE_MILLIS } from "../../src/blame/trial.ts"

/** A run that says when it begins and ends. */
const run = (said: Array<string>, name: string, millis: number) =>
  Effect.gen(function* () {
    said.push(`${name} begins`)
    yield* Effect.sleep(millis)
    said.push(`${name} ends`)
  }).pipe(Effect.onInterrupt(() => Effect.sync(() => said.push(`${name} is stopped`))))

const alone = (court: Court, said: Array<string>, name: string, millis: number) =>
  court.alone({
    before: Effect.sync(() => void said.push(`${name} is noted`)),
    work: run(said, name, millis),
    crowded: Effect.sync(() => void said.push(`${name} is crowded`))
  })

const start = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

describe("court", () => {
  it.effect("C1 runs beside each other as long as nothing is tried", () =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const court = openCourt()
      yield* start(court.beside(run(said, "a", 1_000)))
      yield* start(court.beside(run(said, "b", 1_000)))
      yield* TestClock.adjust(1_000)
      assert.deepStrictEqual(said, ["a begins", "b begins", "a ends", "b ends"])
    })
  )

  it.effect("C1 a trial waits for those that run, and others wait for the trial", () =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const court = openCourt()
      yield* start(court.beside(run(said, "before", 1_000)))
      yield* start(alone(court, said, "suspect", 2_000))
      yield* start(court.beside(run(said, "after", 1_000)))
      yield* TestClock.adjust(999)
      assert.deepStrictEqual(said, ["before begins"])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(said.slice(1), ["before ends", "suspect is noted", "suspect begins"])
      yield* TestClock.adjust(2_000)
      assert.deepStrictEqual(said.slice(4), ["suspect ends", "after begins"])
    })
  )

  it.effect("C1 C3 suspects are tried one after the other, and anyone who waits comes in between", () =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const court = openCourt()
      yield* start(alone(court, said, "one", 1_000))
      yield* start(alone(court, said, "two", 1_000))
      yield* start(court.beside(run(said, "other", 500)))
      yield* TestClock.adjust(1_000)
      assert.deepStrictEqual(said, ["one is noted", "one begins", "one ends", "other begins"])
      yield* TestClock.adjust(500)
      assert.deepStrictEqual(said.slice(4), ["other ends", "two is noted", "two begins"])
    })
  )

  it.effect("C2 a trial that takes too long goes on in company, and is no longer noted as alone", () =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const court = openCourt()
      yield* start(alone(court, said, "suspect", 2 * PATIENCE_MILLIS))
      yield* start(court.beside(run(said, "other", 10)))
      yield* TestClock.adjust(PATIENCE_MILLIS)
      assert.deepStrictEqual(said, ["suspect is noted", "suspect begins", "suspect is crowded", "other begins"])
      yield* TestClock.adjust(PATIENCE_MILLIS)
      assert.include(said, "suspect ends")
    })
  )

  it.effect("C2 where others run on and on it is tried in company, and noted as that", () =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const court = openCourt()
      yield* start(court.beside(run(said, "long", 10 * PATIENCE_MILLIS)))
      yield* start(alone(court, said, "suspect", 10))
      yield* TestClock.adjust(PATIENCE_MILLIS)
      yield* start(court.beside(run(said, "other", 10)))
      yield* TestClock.adjust(10)
      assert.deepStrictEqual(said, [
        "long begins",
        "suspect is crowded",
        "suspect begins",
        "other begins",
        "suspect ends",
        "other ends"
      ])
    })
  )

  it.effect("C1 anyone who is stopped, waiting or running, leaves the way free", () =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const court = openCourt()
      const first = yield* start(court.beside(run(said, "first", 1_000)))
      const trial = yield* start(alone(court, said, "suspect", 1_000))
      const waiting = yield* start(court.beside(run(said, "waiting", 1_000)))
      yield* Fiber.interrupt(waiting)
      yield* Fiber.interrupt(first)
      yield* Effect.yieldNow
      yield* Fiber.interrupt(trial)
      yield* court.beside(Effect.sync(() => said.push("later")))
      assert.deepStrictEqual(
        said.filter((each) => !each.startsWith("suspect")),
        ["first begins", "first is stopped", "later"]
      )
    })
  )

  it.effect("C1 a failure leaves the way free", () =>
    Effect.gen(function* () {
      const court = openCourt()
      const failed = Deferred.makeUnsafe<void>()
      yield* Effect.exit(court.beside(Effect.die("a bug")))
      yield* Effect.exit(court.alone({ before: Effect.void, work: Effect.die("a bug"), crowded: Effect.void }))
      yield* court.beside(Deferred.succeed(failed, undefined))
      assert.isTrue(yield* Deferred.isDone(failed))
    })
  )
})
