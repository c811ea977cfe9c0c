// Account: what a tenant has spent and reserved in the minute and the day at hand.
// Owns the arithmetic, purely: every store keeps an account and its open reservations, and decides by these rules.
// A1  An account never goes back to an earlier window, whatever a clock says.

import { type Amount, defined, type TenantId } from "@reverie/protocol"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { LedgerUnavailable } from "./errors.ts"

// Allowance: what a tenant may still ask of models.
// G1  A grant never brings what is spent and reserved in a window above its limit, nor more calls under way than may be,
//     no matter who asks at the same time.
// G2  While a reservation is open, asking again under its key is granted, and reserves nothing more.
// G3  Settled, what was used counts in place of what was reserved, more of it too. A reservation is settled once.
// G4  A reservation that is not settled within its lease counts in full, and is under way no longer: its process may have
//     died after the call was made.
// G5  Windows are the minutes and days of UTC; nothing is spent in a new one. What is settled counts where it was reserved.
// G6  What one tenant spends is nothing to another.
// G7  A refusal reserves nothing. It names a limit, and from when on asking again may help; no time when it never can.
// G8  What is set for a tenant stands in the place of what the one who asks says, limit by limit, no matter who asks, until it is taken back.
//     It outlives windows and processes, and changes nothing of what was spent.

export const NOTHING_SPENT: Amount = { calls: 0, tokens: 0, costMicros: 0 }

/** What is not said is not limited. Minutes and days are those of UTC. */
export interface TenantLimits {
  /** Model calls. */
  readonly callsPerMinute?: number
  /** Model calls. */
  readonly callsPerDay?: number
  /** Tokens of prompts and replies together. */
  readonly tokensPerMinute?: number
  /** Tokens of prompts and replies together. */
  readonly tokensPerDay?: number
  /** Millionths of the currency. */
  readonly costMicrosPerMinute?: number
  /** Millionths of the currency. */
  readonly costMicrosPerDay?: number
  /** Calls under way at the same time. */
  readonly concurrentCalls?: number
}

export type LimitName = keyof TenantLimits

const named: Readonly<Record<LimitName, true>> = {
  callsPerMinute: true,
  callsPerDay: true,
  tokensPerMinute: true,
  tokensPerDay: true,
  costMicrosPerMinute: true,
  costMicrosPerDay: true,
  concurrentCalls: true
}

export const limitNames = Object.keys(named) as ReadonlyArray<LimitName>

/** What is not named stays as it is; null takes back what was set. */
export type LimitChanges = { readonly [Name in LimitName]?: number | null }

interface Asking {
  readonly tenant: TenantId
  /** Names the call among those of the tenant. */
  readonly key: string
  /** Most that the call may use. */
  readonly amounts: Amount
  readonly limits: TenantLimits
  /** Within which the call is settled, or its process is taken for dead. */
  readonly leaseMillis: number
}

export type AllowanceAnswer =
  | { readonly outcome: "granted" }
  | { readonly outcome: "refused"; readonly limit: LimitName; readonly until?: number }

/** What is spent and reserved in the present windows. */
export interface AllowanceView {
  /** In the minute of UTC at hand. */
  readonly inMinute: Amount
  /** In the day of UTC at hand. */
  readonly inDay: Amount
  /** Reservations that are open. */
  readonly underWay: number
  /** What was set, and holds in the place of what the program says. */
  readonly set: TenantLimits
}

export class Allowance extends Context.Service<
  Allowance,
  {
    readonly reserve: (asking: Asking) => Effect.Effect<AllowanceAnswer, LedgerUnavailable>
    readonly settle: (tenant: TenantId, key: string, used: Amount) => Effect.Effect<void, LedgerUnavailable>
    readonly look: (tenant: TenantId) => Effect.Effect<AllowanceView, LedgerUnavailable>
    /** Sets limits, in one step. */
    readonly limit: (tenant: TenantId, changes: LimitChanges) => Effect.Effect<void, LedgerUnavailable>
    /** What was set; read before each call of a model. */
    readonly limits: (tenant: TenantId) => Effect.Effect<TenantLimits, LedgerUnavailable>
  }
>()("@reverie/ledger/Allowance") {}

export interface Account {
  /** Minutes and days since the epoch. */
  readonly minute: number
  readonly day: number
  readonly inMinute: Amount
  readonly inDay: Amount
  /** What was set. */
  readonly limits?: TenantLimits
}

/** What is kept of a call that was granted, until it is settled. */
export interface Reservation {
  readonly minute: number
  readonly day: number
  readonly amounts: Amount
}

const MINUTE_MILLIS = 60_000
const DAY_MILLIS = 86_400_000
/** How long is waited for another call to end: no one knows when one will. */
const CROWD_MILLIS = 1_000

/** The account as it is now: what was spent in windows that are over is forgotten. */
export const accountAt = (kept: Account | undefined, now: number): Account => {
  const minute = Math.max(Math.floor(now / MINUTE_MILLIS), kept?.minute ?? 0)
  const day = Math.max(Math.floor(now / DAY_MILLIS), kept?.day ?? 0)
  return {
    minute,
    day,
    inMinute: kept?.minute === minute ? kept.inMinute : NOTHING_SPENT,
    inDay: kept?.day === day ? kept.inDay : NOTHING_SPENT,
    ...defined({ limits: kept?.limits })
  }
}

/** The account with limits set, or taken back. */
export const limitedOn = ({ limits: before = {}, ...account }: Account, changes: LimitChanges): Account => {
  const set: TenantLimits = Object.fromEntries(
    Object.entries({ ...before, ...defined(changes) }).filter(([, most]) => typeof most === "number")
  )
  return { ...account, ...defined({ limits: Object.keys(set).length === 0 ? undefined : set }) }
}

const sumOf = (a: Amount, b: Amount, sign: 1 | -1 = 1): Amount => ({
  calls: a.calls + sign * b.calls,
  tokens: a.tokens + sign * b.tokens,
  costMicros: a.costMicros + sign * b.costMicros
})

/** A limit that leaves no room, and from when on there may be some. */
interface Obstacle {
  readonly limit: LimitName
  readonly until: number
}

const windowed = [
  ["callsPerMinute", "calls", "minute"],
  ["callsPerDay", "calls", "day"],
  ["tokensPerMinute", "tokens", "minute"],
  ["tokensPerDay", "tokens", "day"],
  ["costMicrosPerMinute", "costMicros", "minute"],
  ["costMicrosPerDay", "costMicros", "day"]
] as const satisfies ReadonlyArray<readonly [LimitName, keyof Amount, "minute" | "day"]>

const obstaclesTo = (asking: Asking, account: Account, underWay: number, now: number): ReadonlyArray<Obstacle> => {
  const { amounts } = asking
  const limits = { ...asking.limits, ...account.limits }
  const { concurrentCalls } = limits
  const endOf = {
    minute: (account.minute + 1) * MINUTE_MILLIS,
    day: (account.day + 1) * DAY_MILLIS
  }
  const spentIn = { minute: account.inMinute, day: account.inDay }
  const found: Array<Obstacle> = []
  for (const [limit, measure, window] of windowed) {
    const most = limits[limit]
    // What asks for nothing of a measure is not held up by it.
    if (most === undefined || amounts[measure] === 0) continue
    if (amounts[measure] > most) found.push({ limit, until: Number.POSITIVE_INFINITY })
    else if (spentIn[window][measure] + amounts[measure] > most) found.push({ limit, until: endOf[window] })
  }
  if (concurrentCalls !== undefined && underWay >= concurrentCalls) {
    const until = concurrentCalls > 0 ? now + CROWD_MILLIS : Number.POSITIVE_INFINITY
    found.push({ limit: "concurrentCalls", until })
  }
  return found
}

/** Whether a call may be made. The obstacle that lasts longest is the one to name: no earlier time can help. */
export const judgeAsking = (asking: Asking, account: Account, underWay: number, now: number): AllowanceAnswer => {
  const [first, ...others] = obstaclesTo(asking, account, underWay, now)
  if (first === undefined) return { outcome: "granted" }
  const { limit, until } = others.reduce((last, each) => (each.until > last.until ? each : last), first)
  return { outcome: "refused", limit, ...defined({ until: until === Number.POSITIVE_INFINITY ? undefined : until }) }
}

/** The account with a call that was granted, and what is to be kept of it. */
export const reservedOn = (
  account: Account,
  amounts: Amount
): { readonly account: Account; readonly reservation: Reservation } => ({
  account: {
    ...account,
    inMinute: sumOf(account.inMinute, amounts),
    inDay: sumOf(account.inDay, amounts)
  },
  reservation: { minute: account.minute, day: account.day, amounts }
})

/** The account when a call has used this much. */
export const settledOn = (account: Account, { amounts, day, minute }: Reservation, used: Amount): Account => {
  const settled = (spent: Amount): Amount => sumOf(sumOf(spent, amounts, -1), used)
  return {
    ...account,
    inMinute: account.minute === minute ? settled(account.inMinute) : account.inMinute,
    inDay: account.day === day ? settled(account.inDay) : account.inDay
  }
}
