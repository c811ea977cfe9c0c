// Allowance laws: no tenant asks more of models than its limits leave, no matter who asks at the same time (ledger G1-G8).

import * as assert from "node:assert/strict"
import {
  Allowance,
  type AllowanceAnswer,
  type LimitChanges,
  type LimitName,
  NOTHING_SPENT,
  type TenantLimits
} from "@reverie/ledger"
import { type Amount, TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { LAW_START_MILLIS, type Law } from "../law.ts"
import { fateOf } from "../world/fate.ts"

const harbor = TenantId.make("harbor")
const tower = TenantId.make("tower")
const MINUTE_MILLIS = 60_000
const DAY_MILLIS = 86_400_000
const LEASE_MILLIS = 20_000
const MINUTE_END = (Math.floor(LAW_START_MILLIS / MINUTE_MILLIS) + 1) * MINUTE_MILLIS
const DAY_END = (Math.floor(LAW_START_MILLIS / DAY_MILLIS) + 1) * DAY_MILLIS

const aCall: Amount = { calls: 1, tokens: 100, costMicros: 30 }
const granted: AllowanceAnswer = { outcome: "granted" }

interface Request {
  readonly tenant?: TenantId
  readonly amounts?: Amount
  readonly leaseMillis?: number
}

const reserve = (key: string, limits: TenantLimits, request: Request = {}) =>
  Allowance.use((allowance) =>
    allowance.reserve({ tenant: harbor, key, amounts: aCall, limits, leaseMillis: LEASE_MILLIS, ...request })
  )

const settle = (key: string, used: Amount, tenant: TenantId = harbor) =>
  Allowance.use((allowance) => allowance.settle(tenant, key, used))

const look = (tenant: TenantId = harbor) => Allowance.use((allowance) => allowance.look(tenant))

const times = ({ calls, costMicros, tokens }: Amount, count: number): Amount => ({
  calls: calls * count,
  tokens: tokens * count,
  costMicros: costMicros * count
})

/** Grants of so many askings at the same time. */
const grantsOf = (count: number, limits: TenantLimits, name = "k", request: Request = {}) =>
  Effect.map(
    Effect.forEach(Array.from({ length: count }), (_, index) => reserve(`${name}-${index}`, limits, request), {
      concurrency: "unbounded"
    }),
    (answers) => answers.filter(({ outcome }) => outcome === "granted").length
  )

/** Limits that leave room for three calls, each by another measure. */
const three = [
  { callsPerMinute: 3 },
  { callsPerDay: 3 },
  { tokensPerMinute: 399 },
  { tokensPerDay: 300 },
  { costMicrosPerMinute: 90 },
  { costMicrosPerDay: 119 },
  { concurrentCalls: 3 }
] as const satisfies ReadonlyArray<TenantLimits>

const bounds: ReadonlyArray<Law<Allowance>> = [
  {
    id: "G1.each",
    says: "each limit is granted to the brim, and not beyond it",
    check: Effect.gen(function* () {
      for (const [index, limits] of three.entries()) {
        const tenant = TenantId.make(`t-${index}`)
        for (let call = 1; call <= 4; call++) {
          const { outcome } = yield* reserve(`k-${call}`, limits, { tenant })
          assert.equal(outcome, call <= 3 ? "granted" : "refused", `call ${call} within ${JSON.stringify(limits)}`)
        }
        assert.deepEqual((yield* look(tenant)).inDay, times(aCall, 3))
      }
    })
  },
  {
    id: "G1.race",
    says: "of many that ask at the same time as many are granted as there is room for",
    check: Effect.gen(function* () {
      for (const [index, limits] of three.entries()) {
        assert.equal(yield* grantsOf(20, limits, "k", { tenant: TenantId.make(`t-${index}`) }), 3)
      }
    })
  },
  {
    id: "G1.unlimited",
    says: "without limits nothing is refused, and what asks for nothing of a measure is not held up by it",
    check: Effect.gen(function* () {
      assert.equal(yield* grantsOf(50, {}), 50)
      const free = { ...aCall, costMicros: 0 }
      assert.equal(yield* grantsOf(2, { costMicrosPerDay: 1 }, "free", { amounts: free }), 2)
    })
  },
  {
    id: "G1.course",
    says: "in any course of askings, settlements and deaths no window holds more than its limit",
    check: Effect.gen(function* () {
      const fate = fateOf(4_711)
      const limits: TenantLimits = {
        callsPerMinute: 6,
        tokensPerMinute: 900,
        costMicrosPerDay: 4_000,
        concurrentCalls: 4
      }
      const open = new Map<string, Amount>()
      let refused = 0
      for (let step = 0; step < 400; step++) {
        if (fate.chance(0.6)) {
          const amounts = { calls: 1, tokens: fate.between(1, 300), costMicros: fate.between(0, 40) }
          const { outcome } = yield* reserve(`k-${step}`, limits, { amounts, leaseMillis: fate.between(500, 9_000) })
          if (outcome === "granted") open.set(`k-${step}`, amounts)
          else refused++
        } else if (open.size > 0) {
          const [key, amounts] = fate.pick([...open])
          open.delete(key)
          yield* settle(key, { ...amounts, tokens: fate.between(0, amounts.tokens) })
        }
        if (fate.chance(0.4)) yield* TestClock.adjust(fate.between(1, 5_000))
        const { inDay, inMinute, underWay } = yield* look()
        assert.ok(inMinute.calls <= 6 && inMinute.calls >= 0, `${inMinute.calls} calls in a minute`)
        assert.ok(inMinute.tokens <= 900 && inMinute.tokens >= 0, `${inMinute.tokens} tokens in a minute`)
        assert.ok(inDay.costMicros <= 4_000, `${inDay.costMicros} micros in a day`)
        assert.ok(underWay <= 4, `${underWay} calls at once`)
      }
      assert.ok(refused > 20 && refused < 300, `${refused} refusals prove little`)
    })
  }
]

const settlements: ReadonlyArray<Law<Allowance>> = [
  {
    id: "G2.open",
    says: "asked again under its key while it is open, a call is granted and reserves nothing more",
    check: Effect.gen(function* () {
      yield* reserve("k", { callsPerDay: 1, concurrentCalls: 1 })
      assert.deepEqual(yield* reserve("k", { callsPerDay: 1, concurrentCalls: 1 }), granted)
      assert.deepEqual(yield* look(), { inMinute: aCall, inDay: aCall, underWay: 1, set: {} })
      assert.equal((yield* reserve("other", { callsPerDay: 1 })).outcome, "refused")
    })
  },
  {
    id: "G2.after",
    says: "a key whose call was settled names a new call",
    check: Effect.gen(function* () {
      yield* reserve("k", { callsPerDay: 2 })
      yield* settle("k", aCall)
      assert.deepEqual(yield* reserve("k", { callsPerDay: 2 }), granted)
      yield* settle("k", aCall)
      assert.equal((yield* reserve("k", { callsPerDay: 2 })).outcome, "refused")
    })
  },
  {
    id: "G3.used",
    says: "settled, what was used counts: less of it leaves room, more of it takes room",
    check: Effect.gen(function* () {
      const used = { calls: 1, tokens: 40, costMicros: 7 }
      yield* reserve("less", {})
      assert.equal((yield* reserve("k", { tokensPerDay: 140 })).outcome, "refused")
      yield* settle("less", used)
      assert.deepEqual(yield* look(), { inMinute: used, inDay: used, underWay: 0, set: {} })
      assert.deepEqual(yield* reserve("k", { tokensPerDay: 140, concurrentCalls: 1 }), granted)
      yield* settle("k", { calls: 1, tokens: 460, costMicros: 93 })
      const both = { calls: 2, tokens: 500, costMicros: 100 }
      assert.deepEqual(yield* look(), { inMinute: both, inDay: both, underWay: 0, set: {} })
      assert.equal((yield* reserve("next", { tokensPerDay: 599 })).outcome, "refused")
    })
  },
  {
    id: "G3.once",
    says: "a call is settled once, and what was never reserved is not settled",
    check: Effect.gen(function* () {
      yield* reserve("k", {})
      yield* settle("unknown", aCall)
      yield* settle("k", times(aCall, 2))
      const before = yield* look()
      yield* settle("k", times(aCall, 3))
      yield* settle("k", NOTHING_SPENT)
      assert.deepEqual(yield* look(), before)
      assert.deepEqual(before.inDay, times(aCall, 2))
    })
  },
  {
    id: "G4.lease",
    says: "a call that is not settled within its lease counts in full and is under way no longer; late is too late",
    check: Effect.gen(function* () {
      yield* reserve("dead", { concurrentCalls: 1 })
      yield* TestClock.adjust(LEASE_MILLIS - 1)
      assert.equal((yield* look()).underWay, 1)
      assert.equal((yield* reserve("k", { concurrentCalls: 1 })).outcome, "refused")
      yield* TestClock.adjust(1)
      assert.equal((yield* look()).underWay, 0)
      assert.deepEqual(yield* reserve("k", { concurrentCalls: 1 }), granted)
      yield* settle("dead", NOTHING_SPENT)
      assert.deepEqual((yield* look()).inDay, times(aCall, 2))
      assert.equal((yield* reserve("more", { tokensPerDay: 299 })).outcome, "refused")
    })
  }
]

const windows: ReadonlyArray<Law<Allowance>> = [
  {
    id: "G5.minute",
    says: "a minute of UTC begins with nothing spent in it, the day goes on",
    check: Effect.gen(function* () {
      yield* reserve("k-1", {})
      yield* TestClock.setTime(MINUTE_END - 1)
      assert.equal((yield* reserve("k-2", { callsPerMinute: 1 })).outcome, "refused")
      yield* TestClock.setTime(MINUTE_END)
      assert.deepEqual((yield* look()).inMinute, NOTHING_SPENT)
      assert.deepEqual(yield* reserve("k-2", { callsPerMinute: 1 }), granted)
      assert.deepEqual((yield* look()).inDay, times(aCall, 2))
    })
  },
  {
    id: "G5.day",
    says: "a day of UTC begins with nothing spent in it",
    check: Effect.gen(function* () {
      yield* reserve("k-1", {})
      yield* TestClock.setTime(DAY_END - 1)
      assert.equal((yield* reserve("k-2", { tokensPerDay: 100 })).outcome, "refused")
      yield* TestClock.setTime(DAY_END)
      assert.deepEqual(yield* look(), { inMinute: NOTHING_SPENT, inDay: NOTHING_SPENT, underWay: 0, set: {} })
      assert.deepEqual(yield* reserve("k-2", { tokensPerDay: 100 }), granted)
    })
  },
  {
    id: "G5.settled",
    says: "what is settled in a later minute counts in the one in which it was reserved",
    check: Effect.gen(function* () {
      const leaseMillis = 10 * MINUTE_MILLIS
      yield* reserve("k", {}, { leaseMillis })
      yield* TestClock.setTime(MINUTE_END)
      yield* reserve("k-2", {}, { leaseMillis })
      yield* settle("k", { calls: 1, tokens: 150, costMicros: 0 })
      const { inDay, inMinute } = yield* look()
      assert.deepEqual(inMinute, aCall)
      assert.deepEqual(inDay, { calls: 2, tokens: 250, costMicros: 30 })
    })
  },
  {
    id: "G6.apart",
    says: "what one tenant spends, settles and has under way is nothing to another",
    check: Effect.gen(function* () {
      const limits = { callsPerDay: 1, concurrentCalls: 1 }
      yield* reserve("k", limits)
      assert.deepEqual(yield* reserve("k", limits, { tenant: tower }), granted)
      yield* settle("k", NOTHING_SPENT, tower)
      assert.deepEqual((yield* look()).inDay, aCall)
      assert.deepEqual((yield* look(tower)).inDay, NOTHING_SPENT)
    })
  }
]

const refusal = (limit: LimitName, until?: number): AllowanceAnswer => ({
  outcome: "refused",
  limit,
  ...(until === undefined ? {} : { until })
})

const refusals: ReadonlyArray<Law<Allowance>> = [
  {
    id: "G7.until",
    says: "a refusal names its limit and the end of its window, of several the one that ends last",
    check: Effect.gen(function* () {
      yield* reserve("k", {})
      assert.deepEqual(yield* reserve("n", { callsPerMinute: 1 }), refusal("callsPerMinute", MINUTE_END))
      assert.deepEqual(yield* reserve("n", { tokensPerDay: 150 }), refusal("tokensPerDay", DAY_END))
      const both = { callsPerMinute: 1, costMicrosPerDay: 59, tokensPerMinute: 100 }
      assert.deepEqual(yield* reserve("n", both), refusal("costMicrosPerDay", DAY_END))
      const crowd = yield* reserve("n", { concurrentCalls: 1 })
      assert.ok(crowd.outcome === "refused" && crowd.limit === "concurrentCalls", JSON.stringify(crowd))
      assert.ok(crowd.until !== undefined && crowd.until > LAW_START_MILLIS && crowd.until <= MINUTE_END, "in a while")
    })
  },
  {
    id: "G7.never",
    says: "what is larger than a limit is refused without a time: waiting never helps",
    check: Effect.gen(function* () {
      assert.deepEqual(yield* reserve("k", { tokensPerMinute: 99 }), refusal("tokensPerMinute"))
      assert.deepEqual(yield* reserve("k", { callsPerDay: 0 }), refusal("callsPerDay"))
      assert.deepEqual(yield* reserve("k", { concurrentCalls: 0, callsPerDay: 5 }), refusal("concurrentCalls"))
      yield* reserve("first", {})
      assert.deepEqual(yield* reserve("k", { callsPerDay: 1, costMicrosPerMinute: 29 }), refusal("costMicrosPerMinute"))
    })
  },
  {
    id: "G7.nothing",
    says: "a refusal reserves nothing, and its key is free",
    check: Effect.gen(function* () {
      yield* reserve("k", {})
      const before = yield* look()
      for (let times = 0; times < 3; times++) yield* reserve("n", { callsPerDay: 1 })
      assert.deepEqual(yield* look(), before)
      assert.deepEqual(yield* reserve("n", { callsPerDay: 2 }), granted)
    })
  }
]

const limit = (changes: LimitChanges, tenant: TenantId = harbor) =>
  Allowance.use((allowance) => allowance.limit(tenant, changes))

const set = (tenant: TenantId = harbor) => Allowance.use((allowance) => allowance.limits(tenant))

const settings: ReadonlyArray<Law<Allowance>> = [
  {
    id: "G8.set",
    says: "what is set stands in the place of what the one who asks says, lower or higher, until it is taken back",
    check: Effect.gen(function* () {
      assert.deepEqual(yield* set(), {})
      yield* limit({ callsPerDay: 1 })
      assert.deepEqual(yield* set(), { callsPerDay: 1 })
      assert.deepEqual((yield* look()).set, { callsPerDay: 1 })
      assert.deepEqual(yield* reserve("k-1", {}), granted)
      assert.deepEqual(yield* reserve("k-2", { callsPerDay: 9 }), refusal("callsPerDay", DAY_END))
      yield* limit({ callsPerDay: 2 })
      assert.deepEqual(yield* reserve("k-2", { callsPerDay: 1 }), granted)
      assert.equal((yield* reserve("k-3", {})).outcome, "refused")
      yield* limit({ callsPerDay: null })
      assert.deepEqual(yield* set(), {})
      assert.equal((yield* reserve("k-3", { callsPerDay: 2 })).outcome, "refused")
      assert.deepEqual(yield* reserve("k-3", {}), granted)
    })
  },
  {
    id: "G8.each",
    says: "limits are set one by one: those that are not named stay, those of the asker too",
    check: Effect.gen(function* () {
      yield* limit({ callsPerDay: 5, tokensPerDay: 150 })
      yield* limit({ concurrentCalls: 1, tokensPerDay: null })
      assert.deepEqual(yield* set(), { callsPerDay: 5, concurrentCalls: 1 })
      assert.deepEqual(yield* reserve("k-1", { callsPerMinute: 1 }), granted)
      yield* settle("k-1", aCall)
      assert.deepEqual(yield* reserve("k-2", { callsPerMinute: 1 }), refusal("callsPerMinute", MINUTE_END))
    })
  },
  {
    id: "G8.stays",
    says: "it outlives windows, grants and settlements, changes nothing of what was spent, and is one tenant's alone",
    check: Effect.gen(function* () {
      yield* reserve("k-1", {})
      const { inDay } = yield* look()
      yield* limit({ callsPerDay: 2, callsPerMinute: 0 })
      assert.deepEqual((yield* look()).inDay, inDay)
      yield* settle("k-1", NOTHING_SPENT)
      yield* limit({ callsPerMinute: null })
      yield* reserve("k-2", {})
      yield* TestClock.setTime(DAY_END)
      assert.deepEqual(yield* set(), { callsPerDay: 2 })
      assert.equal(yield* grantsOf(5, {}, "next"), 2)
      assert.deepEqual(yield* set(tower), {})
      assert.equal(yield* grantsOf(5, {}, "other", { tenant: tower }), 5)
    })
  }
]

export const allowanceLaws: ReadonlyArray<Law<Allowance>> = [
  ...bounds,
  ...settlements,
  ...windows,
  ...refusals,
  ...settings
]
