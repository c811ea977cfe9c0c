// Sql: prepared statements with the type of their rows, and what SQLite says when it refuses.
// Owns preparing, keys of any text, and the reading of error codes.
// S1  Only a refusal of SQLite or of the file system is a refusal; any other exception is a bug and stays one.

import type { DatabaseSync, SQLInputValue } from "node:sqlite"

export interface Query<Row> {
  readonly one: (...values: ReadonlyArray<SQLInputValue>) => Row | undefined
  readonly all: (...values: ReadonlyArray<SQLInputValue>) => ReadonlyArray<Row>
}

/** Prepares a query once. The caller vouches for the row. */
export const query = <Row>(
  database: DatabaseSync,
  sql: string,
  { asArrays = false }: { readonly asArrays?: boolean } = {}
): Query<Row> => {
  const statement = database.prepare(sql)
  statement.setReturnArrays(asArrays)
  return {
    one: (...values) => statement.get(...values) as Row | undefined,
    all: (...values) => statement.all(...values) as ReadonlyArray<unknown> as ReadonlyArray<Row>
  }
}

/** Prepares a change once; it answers with the key of the row it made, if it made one. */
export const change = (database: DatabaseSync, sql: string): ((...values: ReadonlyArray<SQLInputValue>) => number) => {
  const statement = database.prepare(sql)
  return (...values) => Number(statement.run(...values).lastInsertRowid)
}

/** Prepares a change once; it answers how many rows it changed. */
export const changing = (
  database: DatabaseSync,
  sql: string
): ((...values: ReadonlyArray<SQLInputValue>) => number) => {
  const statement = database.prepare(sql)
  return (...values) => Number(statement.run(...values).changes)
}

/** Any text as a key: JSON escapes NUL and lone surrogates, which SQLite would change. */
export const keyText = (text: string): string => JSON.stringify(text)

export interface Refusal {
  /** The file itself is at fault, not its surroundings. */
  readonly isDamaged: boolean
  readonly message: string
  readonly cause: unknown
}

/** SQLITE_CORRUPT and SQLITE_NOTADB, https://sqlite.org/rescode.html */
const damagedCodes = new Set([11, 26])

/** What an exception says was refused; undefined when it is a bug. */
export const refusalOf = (error: unknown): Refusal | undefined => {
  if (!(error instanceof Error)) return undefined
  const [code, errcode, errno] = ["code", "errcode", "errno"].map((key): unknown => Reflect.get(error, key))
  if (code !== "ERR_SQLITE_ERROR" && code !== "ERR_INVALID_STATE" && typeof errno !== "number") return undefined
  const isDamaged = typeof errcode === "number" && damagedCodes.has(errcode & 0xff)
  return { isDamaged, message: error.message, cause: error }
}
