// Usage on SQLite: what the model calls of assistants have used, by hour, model and purpose.
// Owns the tables `usage` and `usage_totals`. Leaves what an entry used to the protocol.
// U1  The rows of an entry are written in the transaction of the entry, and by no one else: a total is the sum of its rows.
// U2  A question that names no assistant is answered from totals: what it costs does not grow with the fleet.
// U3  Many rows, of all the assistants of a tenant, are read in slices, between which the event loop turns. An assistant is in one
//     slice, so that its sum is of one moment; what is found is what one reading would find.

import type { DatabaseSync } from "node:sqlite"
import type { Ledger, UsageDimension, UsageKey, UsageQuery, UsageSum } from "@reverie/ledger"
import { type Address, type Entry, keyText, longWork, readKeyText, type Used, usageOf } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { ledgerUnavailable } from "./assistants.ts"
import { change, limited, type Query, query, reading } from "../sql.ts"

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

const adding = (table: string, of: ReadonlyArray<string>): string =>
  `INSERT INTO ${table} (${[...of, ...amounts].join(", ")}, last_no)
   VALUES (${[...of, ...amounts].map(() => "?").join(", ")}, ?) ON CONFLICT (${of.join(", ")})
   DO UPDATE SET ${amounts.map((name) => `${name} = ${name} + excluded.${name}`).join(", ")},
     last_no = max(last_no, excluded.last_no)`

/** Adds what an entry used to the sums of its assistant and of its tenant. */
export const usageAdding = (
  database: DatabaseSync
): ((assistant: number, tenant: Address["tenant"], entry: Entry) => void) => {
  const add = change(database, adding("usage", ["hour", "assistant", "model", "purpose"]))
  const addTotal = change(database, adding("usage_totals", ["hour", "tenant", "model", "purpose"]))
  return (assistant, tenant, entry) => {
    for (const row of usageOf(entry)) {
      const { hour, purpose } = row
      const model = keyText(row.model)
      const used = fields.map((field) => row[field])
      add(hour, assistant, model, purpose, ...used, entry.no)
      addTotal(hour, tenant, model, purpose, ...used, entry.no)
    }
  }
}

// Statements: as many as there are kinds of questions.

const expressions: Readonly<Record<UsageDimension, string>> = {
  tenant: "tenant",
  assistant: "id",
  hour: "hour",
  model: "model",
  purpose: "purpose"
}

type SumRow = Readonly<Record<keyof Used | "lastNo", number | null>> & { readonly rows: number } & Readonly<
    Record<string, string | number | null>
  >

const GREATEST = ["total(cost_micros) DESC", "total(input_tokens) + total(output_tokens) DESC"]

/** What is read: the totals of tenants, the rows of one assistant, which is found first, or those of an hour. */
const sourceOf = ({ assistant, by }: UsageQuery): string => {
  if (assistant !== undefined) return "assistants CROSS JOIN usage ON key = assistant"
  return by.includes("assistant") ? "usage CROSS JOIN assistants ON key = assistant" : "usage_totals"
}

interface Shape {
  readonly source: string
  /** Conditions besides those of the question, whose values come last. */
  readonly wanted?: ReadonlyArray<string>
}

const statementOf = (asked: UsageQuery, { source, wanted = [] }: Shape): string => {
  const { after, assistant, by, from, model, order, purpose, tenant, to } = asked
  const keys = by.map((dimension) => expressions[dimension])
  const all = [
    ...(tenant === undefined ? [] : ["tenant = ?"]),
    ...(assistant === undefined ? [] : ["id = ?"]),
    ...(from === undefined ? [] : ["hour >= ?"]),
    ...(to === undefined ? [] : ["hour < ?"]),
    ...(model === undefined ? [] : ["model = ?"]),
    ...(purpose === undefined ? [] : ["purpose = ?"]),
    ...(after === undefined || keys.length === 0 ? [] : [`(${keys.join(", ")}) > (${keys.map(() => "?").join(", ")})`]),
    ...wanted
  ]
  const sums = fields.map((field) => `total(${columns[field]}) AS ${field}`)
  const chosen = [
    ...keys.map((key, index) => `${key} AS key${index}`),
    ...sums,
    "max(last_no) AS lastNo",
    "count(*) AS rows"
  ]
  const ordered = order === "greatest" ? [...GREATEST, ...keys] : keys
  const grouped = keys.length === 0 ? "" : `GROUP BY ${keys.join(", ")} ORDER BY ${ordered.join(", ")}`
  const where = all.length === 0 ? "" : `WHERE ${all.join(" AND ")}`
  return `SELECT ${chosen.join(", ")} FROM ${source} ${where} ${grouped} LIMIT ?`
}

const valuesOf = (
  { after = [], assistant, by, from, limit, model, purpose, tenant, to }: UsageQuery,
  wanted: ReadonlyArray<string> = []
): ReadonlyArray<string | number> => [
  ...[tenant, assistant, from, to, model === undefined ? model : keyText(model), purpose].filter(
    (value) => value !== undefined
  ),
  ...by
    .map((dimension, index) => {
      const value = after[index] ?? ""
      return dimension === "model" ? keyText(String(value)) : value
    })
    .slice(0, after.length),
  ...wanted,
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

// Slices: the assistants of a tenant in the order of their names, so many at a time that a slice is short.

/** So many rows take a few milliseconds. */
const SLICE_ROWS = 4_000
/** Assistants of a slice: of the first, and of any. */
const FIRST_IDS = 100
const MOST_IDS = 1_000
/** What is noted of a row that was read, in characters of long work. */
const ROW_CHARACTERS = 100

interface OfTenant extends UsageQuery {
  readonly tenant: NonNullable<UsageQuery["tenant"]>
}

const isOfTenant = (asked: UsageQuery): asked is OfTenant =>
  asked.tenant !== undefined && asked.assistant === undefined && asked.by.length === 1 && asked.by[0] === "assistant"

const greater = (one: UsageSum, other: UsageSum): number =>
  other.costMicros - one.costMicros ||
  other.inputTokens + other.outputTokens - one.inputTokens - one.outputTokens ||
  (String(one.key[0]) < String(other.key[0]) ? -1 : 1)

/** What was found so far, as far as the question means it. */
const cut = (found: ReadonlyArray<UsageSum>, { limit, order }: UsageQuery): ReadonlyArray<UsageSum> =>
  (order === "greatest" ? found.toSorted(greater) : found).slice(0, limited(limit))

const BETWEEN = ["id > ?", "id <= ?"]
const SLICED = "assistants CROSS JOIN usage ON key = assistant"

type Read = (asked: UsageQuery, shape: Shape, wanted?: ReadonlyArray<string>) => ReadonlyArray<SumRow>

const slicing = (database: DatabaseSync, read: Read, sliceRows: number) => {
  const ends = query<{ readonly id: string }>(
    database,
    "SELECT id FROM assistants WHERE tenant = ? AND id > ? ORDER BY id LIMIT 1 OFFSET ?"
  )
  const last = query<{ readonly id: string | null }>(database, "SELECT max(id) AS id FROM assistants WHERE tenant = ?")
  const some = query<{ readonly count: number }>(
    database,
    "SELECT count(*) AS count FROM (SELECT 1 FROM usage WHERE hour >= ? AND hour < ? LIMIT ?)"
  )

  const isMuch = ({ from = 0, to = Number.MAX_SAFE_INTEGER }: UsageQuery): boolean =>
    (some.one(from, to, sliceRows + 1)?.count ?? 0) > sliceRows

  /** The sums of the next assistants, up to which one they go, and how many rows they were made of. */
  const slice = (asked: OfTenant, after: string, ids: number) => {
    const { order: _, after: _after, ...plain } = asked
    const end = ends.one(asked.tenant, after, ids - 1)?.id ?? last.one(asked.tenant)?.id ?? ""
    if (end <= after) return { sums: [], end: undefined, count: 0 }
    const rows = read({ ...plain, limit: ids }, { source: SLICED, wanted: BETWEEN }, [after, end])
    const count = rows.reduce((sum, row) => sum + row.rows, 0)
    return { sums: rows.map((row) => sumOf(row, asked.by)), end, count }
  }

  const all = Effect.fnUntraced(function* (asked: OfTenant) {
    const isOrdered = asked.order === undefined
    const most = limited(asked.limit)
    let found: ReadonlyArray<UsageSum> = []
    let after = isOrdered ? String(asked.after?.[0] ?? "") : ""
    let ids = Math.min(FIRST_IDS, sliceRows)
    while (!isOrdered || found.length < most) {
      yield* longWork.roomForSlice
      const look = () => Result.succeed(slice(asked, after, ids))
      const { count, end, sums } = yield* reading(ledgerUnavailable("usage"), look)
      if (end === undefined) break
      longWork.note(Math.max(count, ids) * ROW_CHARACTERS)
      found = found.concat(sums)
      if (!isOrdered && found.length > 2 * most + MOST_IDS) found = cut(found, asked)
      after = end
      ids = Math.max(1, Math.min(MOST_IDS, 2 * ids, Math.floor((ids * sliceRows) / Math.max(1, count))))
    }
    return cut(found, asked)
  })

  return { isMuch, all }
}

export const sqliteUsage = (database: DatabaseSync, sliceRows = SLICE_ROWS): Pick<Ledger["Service"], "usage"> => {
  const prepared = new Map<string, Query<SumRow>>()
  const read: Read = (asked, shape, wanted) => {
    const sql = statementOf(asked, shape)
    const found = prepared.get(sql) ?? query<SumRow>(database, sql)
    prepared.set(sql, found)
    return found.all(...valuesOf(asked, wanted))
  }
  const slices = slicing(database, read, sliceRows)
  const whole = (asked: UsageQuery): ReadonlyArray<UsageSum> =>
    read(asked, { source: sourceOf(asked) }).map((row) => sumOf(row, asked.by))
  return {
    usage: (asked) =>
      Effect.flatten(
        reading(ledgerUnavailable("usage"), () =>
          Result.succeed(isOfTenant(asked) && slices.isMuch(asked) ? slices.all(asked) : Effect.succeed(whole(asked)))
        )
      )
  }
}
