// Sql: prepared statements with the type of their rows.
// Owns preparing. A number is bound as REAL, so every column that is compared with one must be INTEGER.

import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite"

export interface Query<Row> {
  readonly one: (...values: ReadonlyArray<SQLInputValue>) => Row | undefined
  readonly all: (...values: ReadonlyArray<SQLInputValue>) => ReadonlyArray<Row>
  /** The rows while they are asked for; those of one statement are read to their end, or left, before it is used again. */
  readonly each: (...values: ReadonlyArray<SQLInputValue>) => Iterable<Row>
}

/** The next use of a statement whose iteration failed would throw the same error again: that use is made here. */
const rewind = (statement: StatementSync, values: ReadonlyArray<SQLInputValue>): void => {
  try {
    statement.get(...values)
  } catch {
    // It is the error that was thrown already, or it comes again with the next use.
  }
}

const eachOf = function* (statement: StatementSync, values: ReadonlyArray<SQLInputValue>): Generator {
  try {
    yield* statement.iterate(...values)
  } catch (error) {
    rewind(statement, values)
    throw error
  }
}

/** Prepares a query once. The caller vouches for the row. */
export const query = <Row>(database: DatabaseSync, sql: string): Query<Row> => {
  const statement = database.prepare(sql)
  return {
    one: (...values) => statement.get(...values) as Row | undefined,
    all: (...values) => statement.all(...values) as ReadonlyArray<unknown> as ReadonlyArray<Row>,
    each: (...values) => eachOf(statement, values) as Iterable<unknown> as Iterable<Row>
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
