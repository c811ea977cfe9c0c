// MemoryAllowance: the allowance over a map, for laws and tests.
// Owns the order of steps, without a pause in it. Keeps nothing itself: the disk outlives it. The arithmetic is the ledger's.

import {
  type Account,
  accountAt,
  Allowance,
  type AllowanceAnswer,
  judgeAsking,
  type LimitChanges,
  limitedOn,
  type Reservation,
  reservedOn,
  settledOn,
  type TenantLimits
} from "@reverie/ledger"
import type { TenantId } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

interface OpenCall {
  readonly reservation: Reservation
  /** When its process is taken for dead. */
  readonly until: number
}

interface TenantPurse {
  account: Account | undefined
  readonly calls: Map<string, OpenCall>
}

export type AllowanceDisk = Map<TenantId, TenantPurse>

const purseOf = (disk: AllowanceDisk, tenant: TenantId): TenantPurse => {
  const purse = disk.get(tenant) ?? { account: undefined, calls: new Map() }
  disk.set(tenant, purse)
  return purse
}

export const limitsIn = (disk: AllowanceDisk, tenant: TenantId): TenantLimits => disk.get(tenant)?.account?.limits ?? {}

/** The tenants of whom any is set. */
export const limitedIn = (disk: AllowanceDisk): ReadonlyArray<TenantId> =>
  [...disk.keys()].filter((tenant) => Object.keys(limitsIn(disk, tenant)).length > 0)

export const changeLimits = (disk: AllowanceDisk, tenant: TenantId, changes: LimitChanges, now = 0): void => {
  if (Object.keys(changes).length === 0) return
  const purse = purseOf(disk, tenant)
  purse.account = limitedOn(accountAt(purse.account, now), changes)
}

const dropDead = ({ calls }: TenantPurse, now: number): void => {
  for (const [key, { until }] of calls) if (until <= now) calls.delete(key)
}

export const memoryAllowance = (disk: AllowanceDisk = new Map()): Allowance["Service"] => ({
  reserve: (asking) =>
    Effect.map(Clock.currentTimeMillis, (now): AllowanceAnswer => {
      const { amounts, key, leaseMillis, tenant } = asking
      const purse = purseOf(disk, tenant)
      dropDead(purse, now)
      if (purse.calls.has(key)) return { outcome: "granted" }
      const present = accountAt(purse.account, now)
      const answer = judgeAsking(asking, present, purse.calls.size, now)
      if (answer.outcome === "refused") return answer
      const { account, reservation } = reservedOn(present, amounts)
      purse.account = account
      purse.calls.set(key, { reservation, until: now + leaseMillis })
      return answer
    }),
  settle: (tenant, key, used) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      const purse = purseOf(disk, tenant)
      dropDead(purse, now)
      const call = purse.calls.get(key)
      if (call === undefined) return
      purse.calls.delete(key)
      purse.account = settledOn(accountAt(purse.account, now), call.reservation, used)
    }),
  look: (tenant) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      const purse = purseOf(disk, tenant)
      dropDead(purse, now)
      const { inDay, inMinute, limits: set = {} } = accountAt(purse.account, now)
      return { inMinute, inDay, underWay: purse.calls.size, set }
    }),
  limit: (tenant, changes) => Effect.map(Clock.currentTimeMillis, (now) => changeLimits(disk, tenant, changes, now)),
  limits: (tenant) => Effect.sync(() => limitsIn(disk, tenant))
})

export const memoryAllowanceLayer = (disk: AllowanceDisk = new Map()): Layer.Layer<Allowance> =>
  Layer.succeed(Allowance, memoryAllowance(disk))
