// Format: which shape the tables of a database have, and how an older one becomes the present one.
// Owns the number in the file and the ordered steps from each number to the next. Leaves the shapes to formats.ts.
// V1  A database is of format n when the first n steps have run on it; all missing ones run in one transaction.
// V2  A newer format, a foreign database and a damaged file are refused, and not one byte of them is changed.

import type { DatabaseSync } from "node:sqlite"
import * as Result from "effect/Result"
import {
  StoreDamaged,
  type StoreError,
  StoreFormatNewer,
  StoreFormatOlder,
  StoreUnopenable,
  StoreUnreleased
} from "./errors.ts"

/** "RVR1": tells a database of Reverie from any other. */
const APPLICATION_ID = 0x52565231
/** "RVRE": data of the time before the first release, whose formats nothing reads any more. */
const UNRELEASED_ID = 0x52565245

export const NO_DATA = "there is no Reverie data in it"

export interface Place {
  readonly directory: string
  readonly file: string
}

const numberOf = (database: DatabaseSync, pragma: string): number =>
  Number(Object.values(database.prepare(`PRAGMA ${pragma}`).get() ?? {})[0])

/** 0 when nothing was ever written to the file. */
const formatOf = (
  database: DatabaseSync,
  { directory, file }: Place
): Result.Result<number, StoreDamaged | StoreUnreleased> => {
  const isEmpty = database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined
  if (isEmpty) return Result.succeed(0)
  const writer = numberOf(database, "application_id")
  if (writer === APPLICATION_ID) return Result.succeed(numberOf(database, "user_version"))
  if (writer === UNRELEASED_ID) return Result.fail(new StoreUnreleased({ directory }))
  return Result.fail(new StoreDamaged({ file, reason: "it was written by another program" }))
}

/** The format of a file that these steps know, which is 0 when it is to be made yet. */
export const knownFormat = (
  database: DatabaseSync,
  place: Place,
  steps: ReadonlyArray<string>
): Result.Result<number, StoreDamaged | StoreFormatNewer | StoreUnreleased> =>
  Result.flatMap(formatOf(database, place), (found): Result.Result<number, StoreFormatNewer> => {
    const supported = steps.length
    return found > supported
      ? Result.fail(new StoreFormatNewer({ directory: place.directory, found, supported }))
      : Result.succeed(found)
  })

/** Asserts that the file is of the format that the steps lead to. */
export const presentFormat = (
  database: DatabaseSync,
  place: Place,
  steps: ReadonlyArray<string>
): Result.Result<void, StoreError> =>
  Result.flatMap(knownFormat(database, place, steps), (found): Result.Result<void, StoreError> => {
    const { directory } = place
    if (found === steps.length) return Result.void
    return found === 0
      ? Result.fail(new StoreUnopenable({ directory, reason: NO_DATA }))
      : Result.fail(new StoreFormatOlder({ directory, found, supported: steps.length }))
  })

/** Brings a file of a known format to the format that the steps lead to. */
export const migrate = (database: DatabaseSync, found: number, steps: ReadonlyArray<string>): void => {
  if (found === steps.length) return
  database.exec("BEGIN IMMEDIATE")
  try {
    for (const step of steps.slice(found)) database.exec(step)
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${steps.length}; COMMIT`)
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK")
    throw error
  }
}
