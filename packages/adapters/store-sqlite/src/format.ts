// Format: which shape the tables of a database have, and how an older one becomes the present one.
// Owns the number in the file and the ordered steps from each number to the next. Leaves the shapes to formats.ts.
// F1  A database is of format n when the first n steps have run on it; all missing ones run in one transaction.
// F2  A newer format, a foreign database and a damaged file are refused, and not one byte of them is changed.

import type { DatabaseSync } from "node:sqlite"
import * as Result from "effect/Result"
import { StoreDamaged, type StoreError, StoreFormatNewer, StoreFormatOlder } from "./errors.ts"

/** "RVRE": tells a database of Reverie from any other. */
const APPLICATION_ID = 0x52565245

export interface Place {
  readonly directory: string
  readonly file: string
}

const numberOf = (database: DatabaseSync, pragma: string): number =>
  Number(Object.values(database.prepare(`PRAGMA ${pragma}`).get() ?? {})[0])

/** The format of an opened file, 0 when nothing was ever written to it. */
export const formatOf = (database: DatabaseSync, place: Place): Result.Result<number, StoreDamaged> => {
  const isEmpty = database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined
  if (isEmpty) return Result.succeed(0)
  if (numberOf(database, "application_id") === APPLICATION_ID) return Result.succeed(numberOf(database, "user_version"))
  return Result.fail(new StoreDamaged({ file: place.file, reason: "it was written by another program" }))
}

/** Asserts that the file is of the format that `steps` lead to, without changing it. */
export const expectFormat = (
  database: DatabaseSync,
  place: Place,
  steps: ReadonlyArray<string>
): Result.Result<void, StoreError> =>
  Result.flatMap(formatOf(database, place), (found): Result.Result<void, StoreError> => {
    const facts = { directory: place.directory, found, supported: steps.length }
    if (found > steps.length) return Result.fail(new StoreFormatNewer(facts))
    return found < steps.length ? Result.fail(new StoreFormatOlder(facts)) : Result.void
  })

/** Brings the file to the format that `steps` lead to. */
export const migrate = (
  database: DatabaseSync,
  place: Place,
  steps: ReadonlyArray<string>
): Result.Result<void, StoreError> =>
  Result.flatMap(formatOf(database, place), (found): Result.Result<void, StoreError> => {
    const supported = steps.length
    if (found > supported) return Result.fail(new StoreFormatNewer({ directory: place.directory, found, supported }))
    if (found === supported) return Result.void
    database.exec("BEGIN IMMEDIATE")
    try {
      for (const step of steps.slice(found)) database.exec(step)
      database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${supported}; COMMIT`)
    } catch (error) {
      if (database.isTransaction) database.exec("ROLLBACK")
      throw error
    }
    return Result.void
  })
