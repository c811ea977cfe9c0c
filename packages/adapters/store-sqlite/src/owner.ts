// Owner: the right of one process to write a data directory.
// Owns the lock and the name of its holder. Leaves the data to store.ts.
// O1  At most one living process owns a directory.
// O2  Ownership ends with the process, however it dies: the kernel frees the lock of the file that is kept locked.
// O3  Who is refused is told who owns it; the name may lag behind the lock, it never decides.

import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { StoreBusy, StoreUnopenable } from "./errors.ts"
import { sqliteFailure } from "./sqlite-failure.ts"

const lockFile = (directory: string): string => join(directory, "owner.lock")
const pidFile = (directory: string): string => join(directory, "owner.pid")

/** Locks the directory and says who did. */
const lock = (directory: string): DatabaseSync => {
  const database = new DatabaseSync(lockFile(directory), { timeout: 0 })
  try {
    // Nothing is ever written into it, so no journal appears beside it and a crash leaves nothing to recover.
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
    writeFileSync(pidFile(directory), `${process.pid}\n`)
  } catch (error) {
    database.close()
    throw error
  }
  return database
}

const readPid = (directory: string): number | undefined => {
  try {
    const pid = Number.parseInt(readFileSync(pidFile(directory), "utf8"), 10)
    return Number.isNaN(pid) ? undefined : pid
  } catch (error) {
    if (sqliteFailure(error) === undefined) throw error
    return undefined
  }
}

const refusal = (directory: string, error: unknown): StoreBusy | StoreUnopenable => {
  const failure = sqliteFailure(error)
  if (failure === undefined) throw error
  if (failure.kind !== "busy") return new StoreUnopenable({ directory, reason: failure.message, cause: error })
  const pid = readPid(directory)
  return new StoreBusy({ directory, ...(pid === undefined ? {} : { pid }) })
}

/** Takes the directory for this process until the scope closes. */
export const own = (directory: string): Effect.Effect<void, StoreBusy | StoreUnopenable, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.try({
      try: () => lock(directory),
      catch: (error) => refusal(directory, error)
    }),
    (held) =>
      Effect.sync(() => {
        rmSync(pidFile(directory), { force: true })
        held.close()
      })
  ).pipe(Effect.asVoid)
