// Allowance on SQLite: what tenants spend, and their calls under way.
// Owns the tables `allowance_accounts` and `allowance_calls`. Leaves the arithmetic of windows to the ledger room.
// A1  A call is judged and reserved in one step of the writer; a refusal writes nothing.

import type { DatabaseSync } from "node:sqlite"
import {
  type Account,
  accountAt,
  type Allowance,
  type AllowanceAnswer,
  type AllowanceView,
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
import * as Result from "effect/Result"
import { ledgerUnavailable } from "./assistants.ts"
import { change, query, reading } from "../sql.ts"
import type { Writer } from "../writer.ts"

interface BodyRow {
  readonly body: string
}

/** Written by this module alone, whole or not at all. */
const parsed = (row: BodyRow | undefined): unknown => (row === undefined ? undefined : JSON.parse(row.body))

const purses = (database: DatabaseSync) => {
  const account = query<BodyRow>(database, "SELECT body FROM allowance_accounts WHERE tenant = ?")
  const call = query<BodyRow>(
    database,
    "SELECT body FROM allowance_calls WHERE tenant = ? AND call = ? AND lease_until > ?"
  )
  const underWay = query<{ readonly count: number }>(
    database,
    "SELECT count(*) AS count FROM allowance_calls WHERE tenant = ? AND lease_until > ?"
  )
  const setAccount = change(database, "INSERT OR REPLACE INTO allowance_accounts (tenant, body) VALUES (?, ?)")
  return {
    account: (tenant: TenantId): Account | undefined => parsed(account.one(tenant)) as Account | undefined,
    call: (tenant: TenantId, key: string, now: number): Reservation | undefined =>
      parsed(call.one(tenant, key, now)) as Reservation | undefined,
    underWay: (tenant: TenantId, now: number): number => underWay.one(tenant, now)?.count ?? 0,
    setAccount: (tenant: TenantId, kept: Account) => setAccount(tenant, JSON.stringify(kept)),
    open: change(database, "INSERT INTO allowance_calls (tenant, call, lease_until, body) VALUES (?, ?, ?, ?)"),
    close: change(database, "DELETE FROM allowance_calls WHERE tenant = ? AND call = ?"),
    /** What is left of the dead: it has been counted in full. */
    closeDead: change(database, "DELETE FROM allowance_calls WHERE tenant = ? AND lease_until <= ?")
  }
}

/** The limits that were set, for those who write in the same transaction. */
export const limitsIn = (database: DatabaseSync) => {
  const purse = purses(database)
  return {
    of: (tenant: TenantId): TenantLimits => purse.account(tenant)?.limits ?? {},
    change: (tenant: TenantId, changes: LimitChanges): void => {
      if (Object.keys(changes).length === 0) return
      purse.setAccount(tenant, limitedOn(accountAt(purse.account(tenant), 0), changes))
    }
  }
}

export const sqliteAllowance = (database: DatabaseSync, writer: Writer): Allowance["Service"] => {
  const purse = purses(database)
  return {
    reserve: (asking) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        writer.write(ledgerUnavailable("reserve"), (): Result.Result<AllowanceAnswer> => {
          const { amounts, key, leaseMillis, tenant } = asking
          if (purse.call(tenant, key, now) !== undefined) return Result.succeed({ outcome: "granted" })
          const present = accountAt(purse.account(tenant), now)
          const answer = judgeAsking(asking, present, purse.underWay(tenant, now), now)
          if (answer.outcome === "refused") return Result.succeed(answer)
          const { account, reservation } = reservedOn(present, amounts)
          purse.closeDead(tenant, now)
          purse.open(tenant, key, now + leaseMillis, JSON.stringify(reservation))
          purse.setAccount(tenant, account)
          return Result.succeed(answer)
        })
      ),
    settle: (tenant, key, used) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        writer.write(ledgerUnavailable("settle"), (): Result.Result<void> => {
          const reservation = purse.call(tenant, key, now)
          if (reservation === undefined) return Result.void
          purse.close(tenant, key)
          purse.setAccount(tenant, settledOn(accountAt(purse.account(tenant), now), reservation, used))
          return Result.void
        })
      ),
    look: (tenant) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        reading(ledgerUnavailable("look"), (): Result.Result<AllowanceView> => {
          const { inDay, inMinute, limits: set = {} } = accountAt(purse.account(tenant), now)
          return Result.succeed({ inMinute, inDay, underWay: purse.underWay(tenant, now), set })
        })
      ),
    limit: (tenant, changes) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        writer.write(ledgerUnavailable("limit"), (): Result.Result<void> => {
          purse.setAccount(tenant, limitedOn(accountAt(purse.account(tenant), now), changes))
          return Result.void
        })
      ),
    limits: (tenant) =>
      reading(ledgerUnavailable("limits"), (): Result.Result<TenantLimits> =>
        Result.succeed(purse.account(tenant)?.limits ?? {})
      )
  }
}
