// Allowance mutants: allowances that are each wrong in one way, which the allowance laws must kill.

import { Allowance, type AllowanceAnswer, type LimitName, NOTHING_SPENT, settledOn } from "@reverie/ledger"
import { type Amount, TenantId } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { FreshLayer } from "../law.ts"
import { type AllowanceDisk, memoryAllowance } from "../memory-allowance.ts"

type Port = Allowance["Service"]
type Mistake = (right: Port, disk: AllowanceDisk) => Partial<Port>

const anybody = TenantId.make("anybody")

const without =
  (limit: LimitName): Mistake =>
  ({ reserve }) => ({
    reserve: (asking) => {
      const { [limit]: _, ...limits } = asking.limits
      return reserve({ ...asking, limits })
    }
  })

const withLease =
  (change: (leaseMillis: number) => number): Mistake =>
  ({ reserve }) => ({ reserve: (asking) => reserve({ ...asking, leaseMillis: change(asking.leaseMillis) }) })

const answering =
  (
    change: (answer: Extract<AllowanceAnswer, { readonly outcome: "refused" }>, now: number) => AllowanceAnswer
  ): Mistake =>
  ({ reserve }) => ({
    reserve: (asking) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        Effect.map(reserve(asking), (answer) => (answer.outcome === "refused" ? change(answer, now) : answer))
      )
  })

/** Lays hands on the disk before anything is asked. */
const before =
  (tamper: (disk: AllowanceDisk, now: number) => void): Mistake =>
  (right, disk) => {
    const first = Effect.map(Clock.currentTimeMillis, (now) => tamper(disk, now))
    return {
      reserve: (asking) => Effect.andThen(first, right.reserve(asking)),
      settle: (tenant, key, used) => Effect.andThen(first, right.settle(tenant, key, used)),
      look: (tenant) => Effect.andThen(first, right.look(tenant)),
      limits: (tenant) => Effect.andThen(first, right.limits(tenant))
    }
  }

const amountsOf = (disk: AllowanceDisk, tenant: TenantId, key: string): Amount | undefined =>
  disk.get(tenant)?.calls.get(key)?.reservation.amounts

const least = (a: Amount, b: Amount): Amount => ({
  calls: Math.min(a.calls, b.calls),
  tokens: Math.min(a.tokens, b.tokens),
  costMicros: Math.min(a.costMicros, b.costMicros)
})

const mistakes: Readonly<Record<string, Mistake>> = {
  forgetsCallsPerMinute: without("callsPerMinute"),
  forgetsCallsPerDay: without("callsPerDay"),
  forgetsTokensPerMinute: without("tokensPerMinute"),
  forgetsTokensPerDay: without("tokensPerDay"),
  forgetsCostPerMinute: without("costMicrosPerMinute"),
  forgetsCostPerDay: without("costMicrosPerDay"),
  letsAnyNumberBeUnderWay: without("concurrentCalls"),
  keepsOneCallBack: ({ reserve }) => ({
    reserve: (asking) =>
      reserve({ ...asking, limits: { ...asking.limits, callsPerMinute: (asking.limits.callsPerMinute ?? 1_000) - 1 } })
  }),
  limitsEverybody: ({ reserve }) => ({
    reserve: (asking) => reserve({ ...asking, limits: { callsPerMinute: 40, ...asking.limits } })
  }),
  looksThenActs: ({ reserve }) => ({
    reserve: (asking) =>
      Effect.gen(function* () {
        const probe = { ...asking, key: `${asking.key}?`, leaseMillis: 0 }
        const answer = yield* reserve({ ...probe, amounts: NOTHING_SPENT })
        yield* Effect.yieldNow
        return answer.outcome === "granted" ? yield* reserve({ ...asking, limits: {} }) : answer
      })
  }),
  forgetsKeys: ({ reserve }) => {
    let count = 0
    return { reserve: (asking) => reserve({ ...asking, key: `${asking.key}#${count++}` }) }
  },
  remembersKeysForEver: ({ reserve }) => {
    const known = new Set<string>()
    return {
      reserve: (asking) => {
        const name = `${asking.tenant}/${asking.key}`
        if (known.has(name)) return Effect.succeed({ outcome: "granted" })
        return Effect.tap(reserve(asking), ({ outcome }) =>
          Effect.sync(() => (outcome === "granted" ? known.add(name) : known))
        )
      }
    }
  },
  givesNothingBack: ({ settle }, disk) => ({
    settle: (tenant, key, used) => settle(tenant, key, amountsOf(disk, tenant, key) ?? used)
  }),
  forgivesWhatIsTooMuch: ({ settle }, disk) => ({
    settle: (tenant, key, used) => settle(tenant, key, least(amountsOf(disk, tenant, key) ?? used, used))
  }),
  settlesTwice: ({ reserve, settle }, disk) => ({
    settle: (tenant, key, used) =>
      amountsOf(disk, tenant, key) === undefined
        ? Effect.asVoid(reserve({ tenant, key: `${key}'`, amounts: used, limits: {}, leaseMillis: 1 }))
        : settle(tenant, key, used)
  }),
  settlesAndStaysUnderWay: ({ reserve, settle }) => ({
    settle: (tenant, key, used) =>
      Effect.andThen(
        settle(tenant, key, used),
        Effect.asVoid(reserve({ tenant, key: `${key}'`, amounts: NOTHING_SPENT, limits: {}, leaseMillis: 1_000 }))
      )
  }),
  forgivesTheDead: before((disk, now) => {
    for (const purse of disk.values()) {
      for (const [key, { reservation, until }] of purse.calls) {
        if (until > now || purse.account === undefined) continue
        purse.calls.delete(key)
        purse.account = settledOn(purse.account, reservation, NOTHING_SPENT)
      }
    }
  }),
  neverThinksAnybodyDead: withLease(() => 1e12),
  thinksEverybodyDead: withLease((leaseMillis) => leaseMillis - 1),
  minutesNeverEnd: before((disk, now) => {
    for (const purse of disk.values()) {
      if (purse.account !== undefined) purse.account = { ...purse.account, minute: Math.floor(now / 60_000) }
    }
  }),
  daysNeverEnd: before((disk, now) => {
    for (const purse of disk.values()) {
      if (purse.account !== undefined) purse.account = { ...purse.account, day: Math.floor(now / 86_400_000) }
    }
  }),
  minutesEndEarly: before((disk, now) => {
    const minute = Math.floor((now + 1) / 60_000)
    for (const purse of disk.values()) {
      if (purse.account !== undefined && minute > purse.account.minute) {
        purse.account = { ...purse.account, minute, inMinute: NOTHING_SPENT }
      }
    }
  }),
  settlesInThePresent: ({ settle }, disk) => ({
    settle: (tenant, key, used) => {
      const purse = disk.get(tenant)
      const call = purse?.calls.get(key)
      const minute = purse?.account?.minute
      if (call !== undefined && minute !== undefined) {
        purse?.calls.set(key, { ...call, reservation: { ...call.reservation, minute } })
      }
      return settle(tenant, key, used)
    }
  }),
  sharesBetweenTenants: ({ look, reserve, settle }) => ({
    reserve: (asking) => reserve({ ...asking, tenant: anybody }),
    settle: (_, key, used) => settle(anybody, key, used),
    look: () => look(anybody)
  }),
  chargesForRefusals: ({ reserve }) => ({
    reserve: (asking) =>
      Effect.tap(reserve(asking), ({ outcome }) =>
        outcome === "refused" ? reserve({ ...asking, key: `${asking.key}'`, limits: {} }) : Effect.void
      )
  }),
  keepsTheKeyOfARefusal: ({ reserve }) => {
    const refused = new Map<string, AllowanceAnswer>()
    return {
      reserve: (asking) => {
        const name = `${asking.tenant}/${asking.key}`
        const known = refused.get(name)
        if (known !== undefined) return Effect.succeed(known)
        return Effect.tap(reserve(asking), (answer) =>
          Effect.sync(() => (answer.outcome === "refused" ? refused.set(name, answer) : refused))
        )
      }
    }
  },
  forgetsWhatIsSet: () => ({ limit: () => Effect.void }),
  knowsNotWhatIsSet: () => ({ limits: () => Effect.succeed({}) }),
  setsInThePlaceOfAll: ({ limit, limits }) => ({
    limit: (tenant, changes) =>
      Effect.flatMap(limits(tenant), (known) =>
        limit(tenant, { ...Object.fromEntries(Object.keys(known).map((name) => [name, null])), ...changes })
      )
  }),
  takesTheLowerLimit: ({ limits, reserve }) => ({
    reserve: (asking) =>
      Effect.flatMap(limits(asking.tenant), (known) => {
        const { callsPerDay = Infinity } = asking.limits
        return (known.callsPerDay ?? 0) > callsPerDay
          ? Effect.succeed({ outcome: "refused", limit: "callsPerDay", until: 0 } as const)
          : reserve(asking)
      })
  }),
  takesNothingBack: ({ limit }) => ({
    limit: (tenant, changes) =>
      limit(tenant, Object.fromEntries(Object.entries(changes).filter(([, most]) => most !== null)))
  }),
  setsForTheDay: before((disk, now) => {
    for (const purse of disk.values()) {
      if (purse.account === undefined || purse.account.day === Math.floor(now / 86_400_000)) continue
      const { limits: _, ...account } = purse.account
      purse.account = account
    }
  }),
  setsForEverybody: ({ limit, limits, look, reserve }) => ({
    limit: (_, changes) => limit(anybody, changes),
    limits: () => limits(anybody),
    look: (tenant) => Effect.zipWith(look(tenant), limits(anybody), (view, set) => ({ ...view, set })),
    reserve: (asking) =>
      Effect.flatMap(limits(anybody), (set) => reserve({ ...asking, limits: { ...asking.limits, ...set } }))
  }),
  forgivesWhenItIsSet: ({ limit }, disk) => ({
    limit: (tenant, changes) =>
      Effect.tap(limit(tenant, changes), () =>
        Effect.sync(() => {
          const purse = disk.get(tenant)
          if (purse?.account !== undefined) purse.account = { ...purse.account, inDay: NOTHING_SPENT }
        })
      )
  }),
  namesOneLimitOnly: answering((answer) => ({ ...answer, limit: "callsPerMinute" })),
  saysNoTime: answering(({ limit }) => ({ outcome: "refused", limit })),
  saysToTryAgainAtOnce: answering((answer, now) => (answer.until === undefined ? answer : { ...answer, until: now })),
  saysAMinuteForEverything: answering((answer, now) =>
    answer.until === undefined ? answer : { ...answer, until: (Math.floor(now / 60_000) + 1) * 60_000 }
  ),
  givesHopeWhereThereIsNone: answering((answer, now) => ({ until: now + 60_000, ...answer }))
}

export const allowanceMutants: Readonly<Record<string, FreshLayer<Allowance>>> = Object.fromEntries(
  Object.entries(mistakes).map(([name, mistake]) => [
    name,
    () => {
      const disk: AllowanceDisk = new Map()
      const right = memoryAllowance(disk)
      return Layer.succeed(Allowance, { ...right, ...mistake(right, disk) })
    }
  ])
)
