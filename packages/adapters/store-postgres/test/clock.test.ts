import { assert, it } from "@effect/vitest"
import { databaseClockLayer, PostgresStore, storePostgresLayer } from "@reverie/store-postgres"
import { anAddress, anEntry, aState } from "@reverie/testkit"
import { sharePostgres } from "@reverie/testkit/shared-servers"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"
import * as fc from "fast-check"
import { describe, test } from "vitest"
import { Time } from "../src/time.ts"
import { aSchema, openAt, tablesAt } from "./stores.ts"

const postgres = sharePostgres({ fsync: false })
const url = (): string => postgres.server().url

const ada = anAddress("ada")
const HOUR = 3_600_000

/** Sets the clock of the database, as this schema sees it. */
const setClock = (schema: string, aheadMillis: number) =>
  Effect.gen(function* () {
    const { query } = yield* tablesAt(url(), schema)
    yield* query(`CREATE OR REPLACE FUNCTION now_millis() RETURNS bigint LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
      SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint + ${aheadMillis} $$`)
  })

const localNow = Effect.sync(() => Date.now())

postgres.describe("the database's clock", () => {
  it.effect("I1 a lease lives by it, whatever the clock of the worker says", () =>
    Effect.gen(function* () {
      const { ledger, mailbox } = yield* openAt(url(), { schema: aSchema() })
      yield* ledger.create({ address: ada, state: aState(), entry: anEntry() })
      yield* mailbox.claim({ address: ada, worker: "worker-1", leaseMillis: HOUR })
      yield* TestClock.adjust("400 days")
      const error = yield* Effect.flip(mailbox.claim({ address: ada, worker: "worker-2", leaseMillis: HOUR }))
      assert.strictEqual(error._tag, "ClaimHeld")
      assert.deepStrictEqual(yield* mailbox.due(10), [])
    }).pipe(Effect.scoped)
  )

  it.live("I1 a timer comes due by it, and so a lease ends", () =>
    Effect.gen(function* () {
      const schema = aSchema()
      const { ledger, mailbox } = yield* openAt(url(), { schema })
      const dueAt = (yield* localNow) + HOUR
      const timers = [{ name: "tea", dueAt, event: { type: "timer" as const, name: "tea" } }]
      yield* ledger.create({ address: ada, state: aState({ timers }), entry: anEntry() })
      yield* mailbox.claim({ address: ada, worker: "worker-1", leaseMillis: HOUR })
      assert.deepStrictEqual(yield* mailbox.due(10), [])
      yield* setClock(schema, 2 * HOUR)
      assert.deepStrictEqual(yield* mailbox.due(10), [ada])
      assert.strictEqual(yield* mailbox.nextDue, dueAt)
      const { claim } = yield* mailbox.claim({ address: ada, worker: "worker-2", leaseMillis: 1_000 })
      assert.isAbove(claim.leaseUntil, dueAt)
    }).pipe(Effect.scoped)
  )

  it.live("C1 the Effect clock tells it, also when it is set, and by whatever clock there was before", () =>
    Effect.gen(function* () {
      const schema = aSchema()
      yield* openAt(url(), { schema })
      yield* setClock(schema, 5 * HOUR)
      const local = yield* Clock.Clock
      const shifted: Clock.Clock = {
        currentTimeNanosUnsafe: () => local.currentTimeNanosUnsafe(),
        currentTimeNanos: local.currentTimeNanos,
        monotonicTimeNanos: local.monotonicTimeNanos,
        sleep: (duration) => local.sleep(duration),
        monotonicTimeNanosUnsafe: () => local.monotonicTimeNanosUnsafe(),
        currentTimeMillisUnsafe: () => local.currentTimeMillisUnsafe() - 9 * HOUR,
        currentTimeMillis: Effect.map(local.currentTimeMillis, (now) => now - 9 * HOUR)
      }
      const store = storePostgresLayer(Redacted.make(url()), { schema, connections: 2 })
      const layer = Layer.provideMerge(databaseClockLayer, store)
      yield* Effect.gen(function* () {
        const told = yield* Clock.currentTimeMillis
        assert.isBelow(Math.abs(told - 5 * HOUR - (yield* localNow)), HOUR / 2)
        const { askTime, mailbox, ledger } = yield* PostgresStore
        yield* setClock(schema, 7 * HOUR)
        yield* ledger.create({ address: ada, state: aState(), entry: anEntry() })
        assert.isBelow(Math.abs((yield* Clock.currentTimeMillis) - 7 * HOUR - (yield* localNow)), HOUR / 2)
        yield* setClock(schema, 6 * HOUR)
        yield* askTime
        const before = yield* Clock.currentTimeMillis
        yield* mailbox.fence(ada)
        assert.isAtLeast(yield* Clock.currentTimeMillis, before)
      }).pipe(Effect.provide(layer), Effect.provideService(Clock.Clock, shifted))
    }).pipe(Effect.scoped)
  )
})

describe("estimate", () => {
  const sample = fc.record({
    rest: fc.nat(60_000),
    took: fc.nat(500),
    // Where within the statement the database looked at its clock.
    at: fc.double({ min: 0, max: 1, noNaN: true })
  })

  test("T2 T3 is right within its bound, never goes back, and is as good as the best of late", () => {
    fc.assert(
      fc.property(fc.integer({ min: -HOUR, max: HOUR }), fc.array(sample, { minLength: 1 }), (offset, samples) => {
        const time = new Time("database")
        let monotonic = 0
        let last = 0
        for (const { at, rest, took } of samples) {
          const begun = monotonic + rest
          monotonic = begun + took
          const truth = (millis: number): number => 1e12 + offset + millis
          time.learn(Math.floor(truth(begun + took * at)), begun, monotonic)
          const told = time.millisAt(monotonic)
          // Both were told in whole milliseconds; and what was told too high once is not taken back.
          const bound = time.errorMillisAt(monotonic) + 1
          assert.isAtLeast(told, truth(monotonic) - bound)
          assert.isAtMost(told, Math.max(last, truth(monotonic) + bound))
          assert.isAtMost(time.errorMillisAt(monotonic), took / 2 + 0.5)
          assert.isAtLeast(told, last)
          last = told
        }
      })
    )
  })

  test("T2 when the database's clock is set, the next sample counts", () => {
    const time = new Time("database")
    time.learn(1_000_000, 0, 0.2)
    time.learn(2_000_000, 10, 90)
    assert.closeTo(time.millisAt(100), 2_000_050, 2)
  })
})
