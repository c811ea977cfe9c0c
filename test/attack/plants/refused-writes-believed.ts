// Planted: what SQLite refuses, because the disk is full or fails, is taken for written.
import { DatabaseSync, type StatementSync } from "node:sqlite"

const prepare = Reflect.get(DatabaseSync.prototype, "prepare") as (sql: string) => StatementSync

/** SQLITE_IOERR and SQLITE_FULL, https://sqlite.org/rescode.html */
const REFUSED = new Set([10, 13])

const isRefused = (error: unknown): boolean =>
  error instanceof Error && REFUSED.has(Number(Reflect.get(error, "errcode")) & 0xff)

const believing = (statement: StatementSync, name: "get" | "run") => {
  const call = Reflect.get(statement, name) as (...values: ReadonlyArray<unknown>) => unknown
  return (...values: ReadonlyArray<unknown>): unknown => {
    try {
      return Reflect.apply(call, statement, values)
    } catch (error) {
      if (isRefused(error)) return { changes: 1, lastInsertRowid: 1 }
      throw error
    }
  }
}

DatabaseSync.prototype.prepare = function (sql: string) {
  const statement = Reflect.apply(prepare, this, [sql]) as StatementSync
  if (!/^(BEGIN|COMMIT|SAVEPOINT|RELEASE|INSERT|UPDATE|DELETE)/.test(sql)) return statement
  return Object.assign(statement, { get: believing(statement, "get"), run: believing(statement, "run") })
}
