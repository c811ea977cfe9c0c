// Due: who has something to do that nobody holds, and when the next one will.
// Owns the ranges of wakes: the awake, in the order of waiting, and the sleepers, in the order of their timers. Leaves
// the walk to the next one to first/looks.ts.
// I1  A look costs what it finds and what is held, never what sleeps.
// I2  Tenants take turns: the longest waiting of each, then the second of each, so that nobody is hidden behind a tenant
//     with many. Told are they in the order of waiting.

import type { Address } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { addressOf } from "./assistants.ts"
import type { Database } from "./database.ts"
import type { PgFailure } from "./pg-failure.ts"

// Goes from tenant to tenant along the index.
const TENANTS = `
  RECURSIVE tenants (tenant) AS (
    (SELECT tenant FROM wakes ORDER BY tenant LIMIT 1)
    UNION ALL
    SELECT (SELECT w.tenant FROM wakes w WHERE w.tenant > t.tenant ORDER BY w.tenant LIMIT 1)
    FROM tenants t WHERE t.tenant IS NOT NULL
  )`

const free = (range: string): string => `
  (SELECT a.id, w.assistant, w.wake FROM wakes w JOIN assistants a ON a.key = w.assistant
   WHERE w.tenant = t.tenant AND ${range} AND a.lease_until <= clock.now
   ORDER BY w.wake, w.assistant LIMIT $2)`

// $1 the time, null for the database's; $2 how many of a tenant; $3 how many in all; $4 by when they are due.
const DUE = `
  WITH ${TENANTS}, clock (now, until) AS (
    SELECT t.now, greatest(t.now, $4::bigint) FROM (SELECT coalesce($1::bigint, now_millis())) t (now)
  ),
  found AS (
    SELECT t.tenant, d.id, d.assistant, wake_time(d.wake) AS since,
      row_number() OVER (PARTITION BY t.tenant ORDER BY wake_time(d.wake), d.assistant) AS turn
    FROM clock, tenants t CROSS JOIN LATERAL (
      ${free("w.wake < 0")} UNION ALL ${free("w.wake >= 0 AND w.wake <= clock.until")}
    ) d
  ),
  chosen AS (SELECT * FROM found ORDER BY turn, since, assistant LIMIT $3)
  SELECT tenant, id, turn::float8 AS turn FROM chosen ORDER BY since, assistant`

const HOW_MANY_TENANTS = `WITH ${TENANTS} SELECT count(tenant)::float8 AS tenants FROM tenants`

const NEXT = "SELECT next_due($1::bigint)::float8 AS next"

interface DueRow {
  readonly tenant: string
  readonly id: string
  readonly turn: number
}

export const dueQueries = ({ query }: Database) => ({
  /** Who is due by `until`; by the present when that is later. */
  by: (until: number, now: number | undefined, limit: number): Effect.Effect<ReadonlyArray<Address>, PgFailure> =>
    Effect.gen(function* () {
      if (limit === 0) return []
      const [counted] = yield* query<{ readonly tenants: number }>(HOW_MANY_TENANTS)
      const share = Math.ceil(limit / Math.max(1, counted?.tenants ?? 1))
      const found = yield* query<DueRow>(DUE, [now ?? null, share, limit, until])
      // Where some had fewer than their share, others may have more.
      const isShort = found.length < limit && share < limit && found.some(({ turn }) => turn >= share)
      const all = isShort ? yield* query<DueRow>(DUE, [now ?? null, limit, limit, until]) : found
      return all.map(addressOf)
    }),
  next: (now: number | undefined): Effect.Effect<number | undefined, PgFailure> =>
    Effect.map(query<{ readonly next: number | null }>(NEXT, [now ?? null]), (rows) => rows[0]?.next ?? undefined)
})
