// Allowance on PostgreSQL: what tenants spend, and their calls under way.
// Owns the tables `allowance_accounts` and `allowance_calls`. Leaves the arithmetic of windows to the ledger room.
// A1  Anyone who asks for a tenant holds the row of its account until it is answered: askings of one tenant follow one
//     another, those of others do not wait. No connection is held beyond that.

import {
  type Account,
  accountAt,
  type Allowance,
  type AllowanceAnswer,
  type AllowanceView,
  judgeAsking,
  type Reservation,
  reservedOn,
  settledOn
} from "@reverie/ledger"
import type { TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { ledgerUnavailable } from "./entry-history.ts"
import type { Database, Query } from "../database.ts"
import type { Time } from "../time.ts"

/** A transaction of a few statements; those of one tenant wait for each other. */
const DEADLINE_MILLIS = 10_000

const account = (lock: "" | "FOR UPDATE"): string => `
  SELECT body, coalesce($2::bigint, now_millis())::float8 AS now FROM allowance_accounts WHERE tenant = $1 ${lock}`

const OPEN_ACCOUNT = "INSERT INTO allowance_accounts (tenant, body) VALUES ($1, $2) ON CONFLICT DO NOTHING"

const UNDER_WAY = `
  SELECT count(*)::float8 AS "underWay", max(body) FILTER (WHERE call = $2) AS body
  FROM allowance_calls WHERE tenant = $1 AND lease_until > $3::bigint`

// What is left of the dead goes too: it has been counted in full.
const RESERVE = `
  WITH dead AS (DELETE FROM allowance_calls WHERE tenant = $1 AND lease_until <= $6::bigint AND call <> $2),
  kept AS (UPDATE allowance_accounts SET body = $5 WHERE tenant = $1)
  INSERT INTO allowance_calls (tenant, call, lease_until, body) VALUES ($1, $2, $3::bigint, $4)
  ON CONFLICT (tenant, call) DO UPDATE SET lease_until = excluded.lease_until, body = excluded.body`

const SETTLE = `
  WITH over AS (DELETE FROM allowance_calls WHERE tenant = $1 AND call = $2)
  UPDATE allowance_accounts SET body = $3 WHERE tenant = $1`

interface AccountRow {
  readonly body: string
  readonly now: number
}

interface CallsRow {
  readonly underWay: number
  /** The call that was asked for, if it is open. */
  readonly body: string | null
}

const nothingYet = JSON.stringify(accountAt(undefined, 0))

// Written by this module alone, whole or not at all.
const readAccount = (body: string): Account => JSON.parse(body) as Account
const readReservation = (body: string): Reservation => JSON.parse(body) as Reservation

/** The account, held for this transaction, and what is under way. */
const held = Effect.fnUntraced(function* (query: Query, tenant: TenantId, key: string, at: number | null) {
  const found = yield* query<AccountRow>(account("FOR UPDATE"), [tenant, at])
  if (found.length === 0) yield* query(OPEN_ACCOUNT, [tenant, nothingYet])
  const [row] = found.length === 0 ? yield* query<AccountRow>(account("FOR UPDATE"), [tenant, at]) : found
  if (row === undefined) return yield* Effect.die(new Error("an account that was opened is not there"))
  const [calls] = yield* query<CallsRow>(UNDER_WAY, [tenant, key, row.now])
  const { body = null, underWay = 0 } = calls ?? {}
  return { now: row.now, account: accountAt(readAccount(row.body), row.now), underWay, open: body }
})

export const postgresAllowance = (database: Database, time: Time): Allowance["Service"] => ({
  reserve: (asking) =>
    Effect.gen(function* () {
      const { amounts, key, leaseMillis, tenant } = asking
      const { at = null } = yield* time.stamp
      return yield* database.transaction(DEADLINE_MILLIS, (query) =>
        Effect.gen(function* () {
          const { account: present, now, open, underWay } = yield* held(query, tenant, key, at)
          if (open !== null) return { outcome: "granted" } satisfies AllowanceAnswer
          const answer = judgeAsking(asking, present, underWay, now)
          if (answer.outcome === "refused") return answer
          const { account: next, reservation } = reservedOn(present, amounts)
          const until = now + leaseMillis
          yield* query(RESERVE, [tenant, key, until, JSON.stringify(reservation), JSON.stringify(next), now])
          return answer
        })
      )
    }).pipe(Effect.mapError(ledgerUnavailable("reserve"))),
  settle: (tenant, key, used) =>
    Effect.gen(function* () {
      const { at = null } = yield* time.stamp
      yield* database.transaction(DEADLINE_MILLIS, (query) =>
        Effect.gen(function* () {
          const { account: present, open } = yield* held(query, tenant, key, at)
          if (open === null) return
          yield* query(SETTLE, [tenant, key, JSON.stringify(settledOn(present, readReservation(open), used))])
        })
      )
    }).pipe(Effect.mapError(ledgerUnavailable("settle"))),
  look: (tenant) =>
    Effect.gen(function* () {
      const { at = null } = yield* time.stamp
      const [row] = yield* database.query<AccountRow>(account(""), [tenant, at])
      const { body = nothingYet, now = 0 } = row ?? {}
      const { inDay, inMinute } = accountAt(readAccount(body), now)
      const [calls] = yield* database.query<CallsRow>(UNDER_WAY, [tenant, "", now])
      return { inMinute, inDay, underWay: calls?.underWay ?? 0 } satisfies AllowanceView
    }).pipe(Effect.mapError(ledgerUnavailable("look")))
})
