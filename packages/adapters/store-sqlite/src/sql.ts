// Sql: prepared statements with the type of their rows.
// Owns preparing. A number is bound as REAL, so every column that is compared with one must be INTEGER.

import type { DatabaseSync, SQLInputValue } from "node:sqlite"

export interface Query<Row> {
  readonly one: (...values: ReadonlyArray<SQLInputValue>) => Row | undefined
  readonly all: (...values: ReadonlyArray<SQLInputValue>) => ReadonlyArray<Row>
}

/** Prepares a query once. The caller vouches for the row. */
export const query = <Row>(database: DatabaseSync, sql: string): Query<Row> => {
  const statement = database.prepare(sql)
  return {
    one: (...values) => statement.get(...values) as Row | undefined,
    all: (...values) => statement.all(...values) as ReadonlyArray<unknown> as ReadonlyArray<Row>
  }
}

export interface Changed {
  readonly rows: number
  readonly lastSeq: number
}

/** Prepares a change once. */
export const change = (database: DatabaseSync, sql: string): ((...values: ReadonlyArray<SQLInputValue>) => Changed) => {
  const statement = database.prepare(sql)
  return (...values) => {
    const { changes, lastInsertRowid } = statement.run(...values)
    return { rows: Number(changes), lastSeq: Number(lastInsertRowid) }
  }
}

/** As many rows as asked for, as a number SQLite takes. */
export const limited = (limit: number): number => Math.trunc(Math.min(Math.max(limit, 0), Number.MAX_SAFE_INTEGER))
