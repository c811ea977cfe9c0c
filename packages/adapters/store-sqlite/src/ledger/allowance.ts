// Allowance on SQLite: what tenants spend, and their calls under way; what assistants have used.
// Owns the tables `allowance_accounts`, `allowance_calls` and `usage`. Leaves the arithmetic of windows to the ledger room.
// A1  A call is judged and reserved in one step of the writer; a refusal writes nothing.

import type { DatabaseSync } from "node:sqlite"
import {
  type Account,
  accountAt,
  type Allowance,
  type AllowanceAnswer,
  type AllowanceView,
  judgeAsking,
  type Ledger,
  type Reservation,
  reservedOn,
  settledOn,
  type UsageDimension,
  type UsageKey,
  type UsageQuery,
  type UsageSum
} from "@reverie/ledger"
import { type Entry, keyText, readKeyText, type TenantId, type Used, usageOf } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { ledgerUnavailable } from "./assistants.ts"
import { change, limited, type Query, query, reading } from "../sql.ts"
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
          const { inDay, inMinute } = accountAt(purse.account(tenant), now)
          return Result.succeed({ inMinute, inDay, underWay: purse.underWay(tenant, now) })
        })
      )
  }
}

// Usage: what the model calls of assistants have used, by hour, model and purpose.
// U1  The rows of an entry are written in the transaction of the entry, and by no one else.

const columns = {
  calls: "calls",
  inputTokens: "input_tokens",
  cachedTokens: "cached_tokens",
  outputTokens: "output_tokens",
  reasoningTokens: "reasoning_tokens",
  costMicros: "cost_micros",
  unpricedCalls: "unpriced_calls"
} as const satisfies Readonly<Record<keyof Used, string>>

const amounts = Object.values(columns)
const fields = Object.keys(columns) as ReadonlyArray<keyof Used>

/** Adds what an entry used to the sums of its assistant. */
export const usageAdding = (database: DatabaseSync): ((assistant: number, entry: Entry) => void) => {
  const add = change(
    database,
    `INSERT INTO usage (hour, assistant, model, purpose, ${amounts.join(", ")}, last_no)
     VALUES (?, ?, ?, ?, ${amounts.map(() => "?").join(", ")}, ?) ON CONFLICT (hour, assistant, model, purpose)
     DO UPDATE SET ${amounts.map((name) => `${name} = ${name} + excluded.${name}`).join(", ")}, last_no = excluded.last_no`
  )
  return (assistant, entry) => {
    for (const row of usageOf(entry)) {
      const { hour, model, purpose } = row
      add(hour, assistant, keyText(model), purpose, ...fields.map((field) => row[field]), entry.no)
    }
  }
}

const expressions: Readonly<Record<UsageDimension, string>> = {
  tenant: "tenant",
  assistant: "id",
  hour: "hour",
  model: "model",
  purpose: "purpose"
}

type SumRow = Readonly<Record<keyof Used | "lastNo", number | null>> & Readonly<Record<string, string | number | null>>

const GREATEST = ["total(cost_micros) DESC", "total(input_tokens) + total(output_tokens) DESC"]

/** The statement of a question; as many as there are kinds of questions. */
const statementOf = ({ after, assistant, by, from, model, order, purpose, tenant, to }: UsageQuery): string => {
  const keys = by.map((dimension) => expressions[dimension])
  const wanted = [
    ...(tenant === undefined ? [] : ["tenant = ?"]),
    ...(assistant === undefined ? [] : ["id = ?"]),
    ...(from === undefined ? [] : ["hour >= ?"]),
    ...(to === undefined ? [] : ["hour < ?"]),
    ...(model === undefined ? [] : ["model = ?"]),
    ...(purpose === undefined ? [] : ["purpose = ?"]),
    ...(after === undefined || keys.length === 0 ? [] : [`(${keys.join(", ")}) > (${keys.map(() => "?").join(", ")})`])
  ]
  const sums = fields.map((field) => `total(${columns[field]}) AS ${field}`)
  const chosen = [...keys.map((key, index) => `${key} AS key${index}`), ...sums, "max(last_no) AS lastNo"]
  const ordered = order === "greatest" ? [...GREATEST, ...keys] : keys
  const grouped = keys.length === 0 ? "" : `GROUP BY ${keys.join(", ")} ORDER BY ${ordered.join(", ")}`
  // One assistant is found first, many are found by their hours.
  const joined = assistant === undefined ? "usage CROSS JOIN assistants" : "assistants CROSS JOIN usage"
  const where = wanted.length === 0 ? "" : `WHERE ${wanted.join(" AND ")}`
  return `SELECT ${chosen.join(", ")} FROM ${joined} ON key = assistant ${where} ${grouped} LIMIT ?`
}

const valuesOf = ({
  after = [],
  assistant,
  by,
  from,
  limit,
  model,
  purpose,
  tenant,
  to
}: UsageQuery): ReadonlyArray<string | number> => [
  ...[tenant, assistant, from, to, model === undefined ? model : keyText(model), purpose].filter(
    (value) => value !== undefined
  ),
  ...by
    .map((dimension, index) => {
      const value = after[index] ?? ""
      return dimension === "model" ? keyText(String(value)) : value
    })
    .slice(0, after.length),
  limited(limit)
]

const sumOf = (row: SumRow, by: UsageQuery["by"]): UsageSum => {
  const key: UsageKey = by.map((dimension, index) => {
    const value = row[`key${index}`] ?? ""
    return dimension === "model" ? readKeyText(String(value)) : value
  })
  const used = Object.fromEntries(fields.map((field) => [field, row[field] ?? 0])) as Record<keyof Used, number>
  return { ...used, key, lastNo: row.lastNo ?? 0 }
}

export const sqliteUsage = (database: DatabaseSync): Pick<Ledger["Service"], "usage"> => {
  const prepared = new Map<string, Query<SumRow>>()
  return {
    usage: (asked) =>
      reading(ledgerUnavailable("usage"), () => {
        const sql = statementOf(asked)
        const found = prepared.get(sql) ?? query<SumRow>(database, sql)
        prepared.set(sql, found)
        return Result.succeed(found.all(...valuesOf(asked)).map((row) => sumOf(row, asked.by)))
      })
  }
}
