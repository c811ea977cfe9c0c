// Prompts on PostgreSQL: the versions of what tenants write for their prompts.
// Owns the reading of the table `prompts`. Leaves its writing to first/documents.ts, what a body says to the
// context room.
// I1  A look at what is current goes from key to key along the primary key, newest version first: it costs what is
//     found and what was taken away, never the length of a history.

import * as PgTypes from "@effect/sql-pg/PgTypes"
import {
  PromptConflict,
  type PromptKind,
  type PromptRow,
  type PromptStore,
  PromptStoreUnavailable,
  readPromptRow
} from "@reverie/context"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { limited } from "./assistants.ts"
import type { Database, Rows } from "./database.ts"
import type { PgFailure } from "./pg-failure.ts"
import type { Time } from "./time.ts"

const unavailable =
  (operation: string) =>
  ({ cause, kind, message }: PgFailure): PromptStoreUnavailable =>
    new PromptStoreUnavailable({ operation, message, cause, isPassing: kind === "passing" })

const columns = "key, version::float8 AS version, at::float8 AS at, restores::float8 AS restores, body"

const CURRENT = `
  WITH RECURSIVE keys (key) AS (
    (SELECT key FROM prompts WHERE tenant = $1 AND kind = $2 ORDER BY key LIMIT 1)
    UNION ALL
    SELECT (SELECT p.key FROM prompts p WHERE p.tenant = $1 AND p.kind = $2 AND p.key > k.key ORDER BY p.key LIMIT 1)
    FROM keys k WHERE k.key IS NOT NULL
  )
  SELECT newest.* FROM keys k CROSS JOIN LATERAL (
    SELECT ${columns} FROM prompts p
    WHERE p.tenant = $1 AND p.kind = $2 AND p.key = k.key ORDER BY p.version DESC LIMIT 1
  ) newest WHERE newest.body IS NOT NULL ORDER BY key`

const HISTORY = `
  SELECT ${columns} FROM prompts WHERE tenant = $1 AND kind = $2 AND key = $3 AND version < $4
  ORDER BY prompts.version DESC LIMIT $5`

const APPEND =
  "SELECT place::float8 AS place, current::float8 AS current FROM append_prompts($1, $2, $3::jsonb, $4::text[])"

export const postgresPrompts = ({ query }: Database, time: Time): PromptStore["Service"] => {
  const versions = (operation: string, kind: PromptKind, rows: Rows<PromptRow>) =>
    Effect.flatMap(Effect.mapError(rows, unavailable(operation)), (found) =>
      Effect.fromResult(Result.all(found.map((row) => readPromptRow(kind, row))))
    )
  return {
    append: (tenant, changes) =>
      Effect.gen(function* () {
        const lines = changes.map(({ expected, key, kind, restores = null }) => [kind, key, expected, restores])
        const bodies = changes.map(({ body }) => (body === null ? null : JSON.stringify(body)))
        const texts = yield* Effect.orDie(Effect.fromResult(PgTypes.array(bodies, PgTypes.OID.text)))
        const { at = null } = yield* time.stamp
        const asked = query<{ readonly place: number; readonly current: number }>(APPEND, [
          tenant,
          at,
          JSON.stringify(lines),
          texts
        ])
        const [conflict] = yield* Effect.mapError(asked, unavailable("append"))
        const refused = conflict === undefined ? undefined : changes[conflict.place - 1]
        if (conflict === undefined || refused === undefined) return
        const { expected, key, kind } = refused
        return yield* new PromptConflict({ kind, key, expected, current: conflict.current })
      }),
    current: (tenant, kind) => versions("current", kind, query(CURRENT, [tenant, kind])),
    history: (tenant, { key, kind }, { before = Number.MAX_SAFE_INTEGER, limit }) =>
      versions("history", kind, query(HISTORY, [tenant, kind, key, limited(before), limited(limit)]))
  }
}
