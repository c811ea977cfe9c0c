import { assert, it } from "@effect/vitest"
import { type AssistantState, LANES } from "@reverie/protocol"
import { IN_MEMORY, openSqliteStore } from "@reverie/store-sqlite"
import { aJob, anAddress, anEntry, anEnvelope, aState } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as fc from "fast-check"
import { describe, test } from "vitest"
import { AT_REST } from "../src/formats.ts"
import { awakeSince, isAwake, timeOf, wakeOnCommit, wakeOnMail } from "../src/mailbox/mailbox.ts"

const millis = fc.integer({ min: 0, max: 4_000_000_000_000 })
const wakes = fc.oneof(millis, millis.map(awakeSince), fc.constant(AT_REST))
const timers = fc.array(
  millis.map((dueAt) => ({ name: "tea", dueAt, event: null })),
  { maxLength: 3 }
)
const states = fc.record({
  jobs: fc.constantFrom<AssistantState["jobs"]>([], [aJob()]),
  timers,
  receives: fc.subarray([...LANES])
})

describe("wake", () => {
  test("W1 W2 after a commit one is awake exactly with a job or heard mail, else asleep until the earliest timer", () => {
    fc.assert(
      fc.property(wakes, states, millis, fc.dictionary(fc.constantFrom(...LANES), millis), (wake, over, now, mail) => {
        const state = aState(over)
        const next = wakeOnCommit(wake, state, now, (lane) => mail[lane])
        const heard = state.receives.flatMap((lane) => mail[lane] ?? [])
        assert.strictEqual(isAwake(next), state.jobs.length > 0 || heard.length > 0)
        const earliest = Math.min(...state.timers.map(({ dueAt }) => dueAt))
        if (state.jobs.length > 0) return
        const since = Math.min(...heard, earliest)
        assert.strictEqual(timeOf(next), since === Infinity ? undefined : since)
      })
    )
  })

  test("W3 a tick in hand keeps the place of anyone who was awake", () => {
    fc.assert(
      fc.property(wakes.filter(isAwake), states, millis, (wake, over, now) => {
        assert.strictEqual(
          wakeOnCommit(wake, aState({ ...over, jobs: [aJob()] }), now, () => undefined),
          wake
        )
      })
    )
  })

  test("W3 the order of wakes is the order of waiting, and a time comes back as it went in", () => {
    fc.assert(
      fc.property(millis, millis, (a, b) => {
        assert.strictEqual(Math.sign(awakeSince(a) - awakeSince(b)), Math.sign(a - b))
        assert.strictEqual(timeOf(awakeSince(a)), a)
      })
    )
  })

  test("W1 heard mail wakes at once, and never later than it would have been", () => {
    fc.assert(
      fc.property(wakes, millis, (wake, now) => {
        const next = wakeOnMail(wake, now)
        assert.isTrue(isAwake(next))
        assert.isAtMost(timeOf(next) ?? Infinity, Math.max(now, timeOf(wake) ?? 0))
        if (isAwake(wake)) assert.strictEqual(next, wake)
      })
    )
  })

  it.effect("W1 a clock set back by a year hides no one who has mail or a job", () =>
    Effect.gen(function* () {
      const { ledger, mailbox } = yield* openSqliteStore(IN_MEMORY)
      const [mailed, working, resting] = [anAddress("mailed"), anAddress("working"), anAddress("resting")]
      yield* TestClock.setTime(1_790_000_000_000)
      yield* ledger.create({ address: mailed, state: aState(), entry: anEntry() })
      yield* ledger.create({ address: working, state: aState({ jobs: [aJob()] }), entry: anEntry() })
      yield* ledger.create({ address: resting, state: aState(), entry: anEntry() })
      yield* TestClock.adjust(1)
      yield* mailbox.accept(anEnvelope({ to: mailed }))
      yield* TestClock.setTime(1_790_000_000_000 - 365 * 86_400_000)
      assert.deepStrictEqual(yield* mailbox.due(10), [working, mailed])
      yield* mailbox.accept(anEnvelope({ to: resting }))
      assert.strictEqual((yield* mailbox.due(10)).length, 3)
    })
  )
})
