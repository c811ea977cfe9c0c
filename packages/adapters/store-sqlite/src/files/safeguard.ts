// Safeguard: what makes an acknowledgement worth something while files lie where others can reach them.
// Owns the order of looking, marking and acknowledging, and the second name of the log. Leaves looking to file-guard.ts,
// marking to high-mark.ts, writing to writer.ts, and what a start makes of it to survival.ts.
// S1  After a loss nothing is acknowledged, and the connection is never closed: closing would write the log into whatever
//     stands at the path by now. The process ends without it (`exit`).
// S2  The log has a second name (a hard link). Another program that takes itself for the last user of the database removes
//     the first one; what is committed into the log from then on is found under the second at the next start.

import { linkSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import type { DatabaseSync } from "node:sqlite"
import { FileGuard, LOG } from "./file-guard.ts"
import { HighMark, type Position } from "./high-mark.ts"
import { query } from "../sql.ts"
import type { SqliteFailure } from "../sqlite-failure.ts"

export const LOG_LINK = "reverie.db-wal-kept"

/** Prepared over an open database: how far it has come. */
export const positionIn = (database: DatabaseSync): (() => Position) => {
  const highest = query<Position>(
    database,
    "SELECT (SELECT max(seq) FROM envelopes) AS accepted, (SELECT max(seq) FROM ledger) AS committed"
  )
  return () => {
    const { accepted, committed } = highest.one() ?? { accepted: 0, committed: 0 }
    return { accepted: accepted ?? 0, committed: committed ?? 0 }
  }
}

const inodeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.ino

/** Gives the log its second name. A file system without hard links goes without. */
const linkLog = (directory: string): void => {
  const [log, link] = [join(directory, LOG), join(directory, LOG_LINK)]
  if (inodeOf(link) === inodeOf(log)) return
  rmSync(link, { force: true })
  try {
    linkSync(log, link)
  } catch {
    // Then only the looking is left, which may miss the moment between a commit and its acknowledgement.
  }
}

/** The databases that this process has lost, so that they stay open until it ends. */
const lost = new Set<DatabaseSync>()

const endWithoutClosing = (database: DatabaseSync): void => {
  if (lost.size === 0) process.once("exit", (code) => process.exit(code))
  lost.add(database)
}

export class Safeguard {
  readonly #directory: string
  readonly #database: DatabaseSync
  readonly #guard: FileGuard
  readonly #mark: HighMark
  readonly #position: () => Position
  readonly #onLoss: (failure: SqliteFailure) => void
  #failure: SqliteFailure | undefined

  /** `onLoss` hears of a loss once, at the latest a quarter of a second after it. */
  constructor(directory: string, database: DatabaseSync, onLoss: (failure: SqliteFailure) => void) {
    this.#directory = directory
    this.#database = database
    this.#onLoss = onLoss
    this.#position = positionIn(database)
    // The first look makes the log.
    this.#position()
    linkLog(directory)
    this.#mark = new HighMark(directory)
    this.#guard = new FileGuard(directory)
    this.#writeMark()
    this.#guard.watch((loss) => this.#lose(loss))
  }

  /** Asked before a transaction: why nothing may be written any more. */
  failure(): SqliteFailure | undefined {
    return this.#failure ?? this.#lose(this.#guard.loss())
  }

  /** Called between a commit and its acknowledgement: why it is not to be acknowledged. */
  committed(): SqliteFailure | undefined {
    const failure = this.#failure ?? this.#lose(this.#guard.lossOfPlaces())
    if (failure !== undefined) return failure
    this.#writeMark()
    return undefined
  }

  /** A transaction that failed may have written into the log as well. */
  rolledBack(): void {
    this.#guard.noteLog()
  }

  /** Runs what moves the log into the database. */
  checkpoint(move: () => void): void {
    if (this.failure() !== undefined) return
    this.#mark.write({ ...this.#position(), database: null })
    try {
      move()
    } finally {
      this.#guard.noteDatabase()
      this.#guard.noteLog()
      this.#writeMark()
    }
  }

  /** Closes the database, unless its files are no longer its own. */
  close(): void {
    this.#guard.close()
    if (this.failure() === undefined) {
      this.#mark.write({ ...this.#position(), database: null })
      this.#database.close()
      // With somebody still reading the log stays where it is, and keeps both names.
      if (inodeOf(join(this.#directory, LOG)) === undefined) rmSync(join(this.#directory, LOG_LINK), { force: true })
    }
    this.#mark.close()
  }

  #writeMark(): void {
    const { databaseSeen } = this.#guard
    const database = databaseSeen === undefined ? null : { mtimeMs: databaseSeen.mtimeMs, size: databaseSeen.size }
    this.#mark.write({ ...this.#position(), database })
  }

  #lose(loss: string | undefined): SqliteFailure | undefined {
    if (loss === undefined || this.#failure !== undefined) return this.#failure
    endWithoutClosing(this.#database)
    this.#failure = {
      kind: "lost",
      message: `${loss} while it was open; nothing can be kept any more: stop what does that, and start again`,
      cause: undefined
    }
    this.#onLoss(this.#failure)
    return this.#failure
  }
}
