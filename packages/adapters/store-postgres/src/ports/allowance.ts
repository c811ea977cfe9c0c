// Allowance on PostgreSQL: what tenants spend, and their calls under way; what assistants have used.
// Owns the tables `allowance_accounts` and `allowance_calls`, and reading `usage`. Leaves the arithmetic of windows to the ledger
// room, and writing `usage` to first/apply.ts.
// A1  Anyone who asks for a tenant holds the row of its account until it is answered: askings of one tenant follow one
//     another, those of others do not wait. No connection is held beyond that.

import {
  type Account,
  accountAt,
  type Allowance,
  type AllowanceAnswer,
  type AllowanceView,
  judgeAsking,
  type LimitChanges,
  limitedOn,
  type Ledger,
  type Reservation,
  reservedOn,
  settledOn,
  type UsageDimension,
  type UsageKey,
  type UsageQuery,
  type UsageSum
} from "@reverie/ledger"
import { type Entry, type EntryUse, keyText, readKeyText, type TenantId, type Used, usageOf } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { limited } from "./assistants.ts"
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

const SET_ACCOUNT = "UPDATE allowance_accounts SET body = $2 WHERE tenant = $1"

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

const LIMITS = "SELECT body FROM allowance_accounts WHERE tenant = $1"

/** The limits that were set. */
export const limitsIn = (query: Query, tenant: TenantId) =>
  Effect.map(query<Pick<AccountRow, "body">>(LIMITS, [tenant]), ([row]) =>
    row === undefined ? {} : (readAccount(row.body).limits ?? {})
  )

/** No window of an account ends by it. */
export const NO_TIME = 0

/** Changes the limits in the transaction at hand. */
export const changeLimits = Effect.fnUntraced(function* (
  query: Query,
  tenant: TenantId,
  changes: LimitChanges,
  at: number | null
) {
  if (Object.keys(changes).length === 0) return
  const { account: present } = yield* held(query, tenant, "", at)
  yield* query(SET_ACCOUNT, [tenant, JSON.stringify(limitedOn(present, changes))])
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
      const { inDay, inMinute, limits: set = {} } = accountAt(readAccount(body), now)
      const [calls] = yield* database.query<CallsRow>(UNDER_WAY, [tenant, "", now])
      return { inMinute, inDay, underWay: calls?.underWay ?? 0, set } satisfies AllowanceView
    }).pipe(Effect.mapError(ledgerUnavailable("look"))),
  limit: (tenant, changes) =>
    Effect.gen(function* () {
      const { at = null } = yield* time.stamp
      yield* database.transaction(DEADLINE_MILLIS, (query) =>
        Effect.gen(function* () {
          yield* changeLimits(query, tenant, changes, at)
        })
      )
    }).pipe(Effect.mapError(ledgerUnavailable("limit"))),
  limits: (tenant) =>
    limitsIn((sql, values) => database.query(sql, values), tenant).pipe(Effect.mapError(ledgerUnavailable("limits")))
})

// Usage: what the model calls of assistants have used, by hour, model and purpose.

/** The rows of an entry, as `add_usage` takes them. */
export const usageRows = (entry: Entry): ReadonlyArray<EntryUse & { readonly no: number }> =>
  usageOf(entry).map((row) => ({ ...row, model: keyText(row.model), no: entry.no }))

const columns = {
  calls: "calls",
  inputTokens: "input_tokens",
  cachedTokens: "cached_tokens",
  outputTokens: "output_tokens",
  reasoningTokens: "reasoning_tokens",
  costMicros: "cost_micros",
  unpricedCalls: "unpriced_calls"
} as const satisfies Readonly<Record<keyof Used, string>>

const fields = Object.keys(columns) as ReadonlyArray<keyof Used>

const expressions: Readonly<Record<UsageDimension, string>> = {
  tenant: "u.tenant",
  assistant: "a.id",
  hour: "u.hour",
  model: "u.model",
  purpose: "u.purpose"
}

type SumRow = Readonly<Record<keyof Used | "lastNo", number>> & Readonly<Record<string, string | number | null>>

const GREATEST = ["sum(u.cost_micros) DESC", "sum(u.input_tokens + u.output_tokens) DESC"]

/** A question as a statement with its values. */
const asked = ({ after = [], assistant, by, from, limit, model, order, purpose, tenant, to }: UsageQuery) => {
  const values: Array<string | number> = []
  const place = (value: string | number): string => `$${values.push(value)}`
  const keys = by.map((dimension) => expressions[dimension])
  const wanted = [
    ...(tenant === undefined ? [] : [`u.tenant = ${place(tenant)}`, `a.tenant = u.tenant`]),
    ...(assistant === undefined ? [] : [`a.id = ${place(assistant)}`]),
    ...(from === undefined ? [] : [`u.hour >= ${place(from)}`]),
    ...(to === undefined ? [] : [`u.hour < ${place(to)}`]),
    ...(model === undefined ? [] : [`u.model = ${place(keyText(model))}`]),
    ...(purpose === undefined ? [] : [`u.purpose = ${place(purpose)}`])
  ]
  if (after.length > 0 && keys.length > 0) {
    const behind = by.map((dimension, index) => {
      const value = after[index] ?? ""
      return place(dimension === "model" ? keyText(String(value)) : value)
    })
    wanted.push(`(${keys.join(", ")}) > (${behind.join(", ")})`)
  }
  const named = by.map((dimension, index) => {
    const key = expressions[dimension]
    return `${dimension === "hour" ? `${key}::float8` : key} AS "key${index}"`
  })
  const sums = fields.map((field) => `coalesce(sum(u.${columns[field]}), 0)::float8 AS "${field}"`)
  const ordered = order === "greatest" ? [...GREATEST, ...keys] : keys
  const grouped = keys.length === 0 ? "" : `GROUP BY ${keys.join(", ")} ORDER BY ${ordered.join(", ")}`
  const where = wanted.length === 0 ? "" : `WHERE ${wanted.join(" AND ")}`
  const chosen = [...named, ...sums, `coalesce(max(u.last_no), 0)::float8 AS "lastNo"`].join(", ")
  const sql = `SELECT ${chosen} FROM usage u JOIN assistants a ON a.key = u.assistant ${where} ${grouped} LIMIT ${place(limited(limit))}`
  return { sql, values }
}

const sumOf = (row: SumRow, by: UsageQuery["by"]): UsageSum => {
  const key: UsageKey = by.map((dimension, index) => {
    const value = row[`key${index}`] ?? ""
    return dimension === "model" ? readKeyText(String(value)) : value
  })
  const used = Object.fromEntries(fields.map((field) => [field, row[field]])) as Record<keyof Used, number>
  return { ...used, key, lastNo: row.lastNo }
}

export const postgresUsage = (database: Database): Pick<Ledger["Service"], "usage"> => ({
  usage: (query) => {
    const { sql, values } = asked(query)
    return Effect.mapBoth(database.query<SumRow>(sql, values), {
      onSuccess: (rows) => rows.map((row) => sumOf(row, query.by)),
      onFailure: ledgerUnavailable("usage")
    })
  }
})
