// Prompts on SQLite: the versions of what tenants write for their prompts.
// Owns the table `prompts`. Leaves what a body says to the context room.
// I1  Expectations are judged inside the transaction and before its first write.
// I2  A look at what is current goes from key to key along the primary key, newest version first: it costs what is
//     found and what was taken away, never the length of a history.

import type { DatabaseSync } from "node:sqlite"
import {
  PromptConflict,
  type PromptKind,
  type PromptLine,
  type PromptRow,
  type PromptStore,
  PromptStoreUnavailable,
  readPromptRow
} from "@reverie/context"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { reading } from "./reading.ts"
import { change, limited, query } from "./sql.ts"
import type { SqliteFailure } from "./sqlite-failure.ts"
import type { Writer } from "./writer.ts"

const unavailable =
  (operation: string) =>
  ({ cause, message }: SqliteFailure): PromptStoreUnavailable =>
    new PromptStoreUnavailable({ operation, message, cause })

const promptQueries = (database: DatabaseSync) => {
  const rows = "SELECT key, version, at, restores, body FROM prompts WHERE tenant = ? AND kind = ?"
  const next = query<PromptRow>(database, `${rows} AND key > ? ORDER BY key, version DESC LIMIT 1`)
  const ofLine = query<PromptRow>(database, `${rows} AND key = ? AND version < ? ORDER BY version DESC LIMIT ?`)
  const newest = query<{ readonly version: number }>(
    database,
    "SELECT version FROM prompts WHERE tenant = ? AND kind = ? AND key = ? ORDER BY version DESC LIMIT 1"
  )
  return {
    insert: change(
      database,
      "INSERT INTO prompts (tenant, kind, key, version, at, restores, body) VALUES (?, ?, ?, ?, ?, ?, ?)"
    ),
    newest: (tenant: string, { key, kind }: PromptLine): number => newest.one(tenant, kind, key)?.version ?? 0,
    before: (tenant: string, { key, kind }: PromptLine, before: number, limit: number): ReadonlyArray<PromptRow> =>
      ofLine.all(tenant, kind, key, before, limit),
    /** The newest version of every key. */
    each: function* (tenant: string, kind: PromptKind): Generator<PromptRow> {
      for (let row = next.one(tenant, kind, ""); row !== undefined; row = next.one(tenant, kind, row.key)) yield row
    }
  }
}

export const sqlitePrompts = (database: DatabaseSync, writer: Writer): PromptStore["Service"] => {
  const rows = promptQueries(database)
  return {
    append: (tenant, changes) =>
      Effect.flatMap(Clock.currentTimeMillis, (at) => {
        const encoded = changes.map((each) => ({
          ...each,
          text: each.body === null ? null : JSON.stringify(each.body)
        }))
        return writer.write(unavailable("append"), () => {
          for (const line of encoded) {
            const { expected, key, kind } = line
            const current = rows.newest(tenant, line)
            if (current !== expected) return Result.fail(new PromptConflict({ kind, key, expected, current }))
          }
          for (const { expected, key, kind, restores = null, text } of encoded) {
            rows.insert(tenant, kind, key, expected + 1, at, restores, text)
          }
          return Result.void
        })
      }),
    current: (tenant, kind) =>
      reading(unavailable("current"), () =>
        Result.all(
          [...rows.each(tenant, kind)].filter(({ body }) => body !== null).map((row) => readPromptRow(kind, row))
        )
      ),
    history: (tenant, line, { before = Number.MAX_SAFE_INTEGER, limit }) =>
      reading(unavailable("history"), () =>
        Result.all(
          rows.before(tenant, line, limited(before), limited(limit)).map((row) => readPromptRow(line.kind, row))
        )
      )
  }
}
