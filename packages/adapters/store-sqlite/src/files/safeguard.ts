// Safeguard: what makes an acknowledgement worth something while files lie where others can reach them.
// Owns looking, marking, the order of both and of acknowledging, and the second name of the log. Leaves writing to writer.ts,
// and what a start makes of it to survival.ts.
// S1  After a loss nothing is acknowledged, and the connection is never closed: closing would write the log into whatever
//     stands at the path by now. The process ends without it (`exit`).
// S2  The log has a second name (a hard link). Another program that takes itself for the last user of the database removes
//     the first one; what is committed into the log from then on is found under the second at the next start.

import {
  closeSync,
  fstatSync,
  linkSync,
  openSync,
  readFileSync,
  rmSync,
  type Stats,
  statSync,
  writeSync
} from "node:fs"
import { join } from "node:path"
import type { DatabaseSync } from "node:sqlite"
import { isJsonObject, parseJson } from "@reverie/protocol"
import * as Result from "effect/Result"
import { query, type SqliteFailure } from "../sql.ts"

// HighMark: how far a store had come, kept outside the database.
// M1  It never says more than was durable, and at the moment of an acknowledgement it says all that is acknowledged: it is
//     written between the two. It is not flushed to the disk, so after a power cut it may say less, and then proves less.
// M2  It knows the file that it is: a copy of a directory carries a mark that binds no one.
// M3  A mark that cannot be read is none.

export interface Position {
  /** The number of the last accepted envelope, of all assistants. */
  readonly accepted: number
  /** The number of the last entry of the ledger, of all assistants. */
  readonly committed: number
}

export interface Mark extends Position {
  /** The database file as the last checkpoint left it; null while one is under way. */
  readonly database: { readonly mtimeMs: number; readonly size: number } | null
}

export const MARK = "reverie.mark"
/** Long enough for any mark: each write covers the one before. */
const MARK_BYTES = 256

const whole = (value: unknown): number => (typeof value === "number" && Number.isSafeInteger(value) ? value : 0)

const markIn = (text: string): { readonly file: string; readonly mark: Mark } | undefined => {
  const value = Result.getOrElse(parseJson(text), () => undefined)
  if (!isJsonObject(value) || typeof value["file"] !== "string") return undefined
  const { accepted, committed, database, file } = value
  const seen = isJsonObject(database) ? { mtimeMs: Number(database["mtimeMs"]), size: whole(database["size"]) } : null
  return { file, mark: { accepted: whole(accepted), committed: whole(committed), database: seen } }
}

const identity = ({ dev, ino }: { readonly dev: number | bigint; readonly ino: number | bigint }): string =>
  `${dev}:${ino}`

/** The mark of a directory; undefined when there is none that was written for this very file. */
export const readMark = (directory: string): Mark | undefined => {
  const path = join(directory, MARK)
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return undefined
  const said = markIn(readFileSync(path, "utf8"))
  return said?.file === identity(found) ? said.mark : undefined
}

export class HighMark {
  readonly #handle: number
  readonly #file: string
  #last = ""

  constructor(directory: string) {
    this.#handle = openSync(join(directory, MARK), "a+", 0o600)
    closeSync(this.#handle)
    this.#handle = openSync(join(directory, MARK), "r+", 0o600)
    this.#file = identity(fstatSync(this.#handle))
  }

  write(mark: Mark): void {
    const text = JSON.stringify({ file: this.#file, ...mark })
    if (text === this.#last) return
    writeSync(this.#handle, text.padEnd(MARK_BYTES - 1).concat("\n"), 0)
    this.#last = text
  }

  close(): void {
    closeSync(this.#handle)
  }
}

// FileGuard: whether the files of an open store are still the files at their paths.
// G1  Nothing is acknowledged after a file was removed, moved, replaced or written by another program: it is looked before
//     each transaction, once more before its waiters learn of it, and several times a second at rest.
// G2  Anyone who only reads, beside or inside this process, is no trouble.
// G3  What was found stays found: a store that has lost its files never writes again.

const LOOK_EVERY_MILLIS = 250

export const DATABASE = "reverie.db"
export const LOG = "reverie.db-wal"

type Look = Pick<Stats, "dev" | "ino" | "mtimeMs" | "size">

const look = (path: string): Look | undefined => statSync(path, { throwIfNoEntry: false })

const isSameFile = (a: Look | undefined, b: Look | undefined): boolean => a?.ino === b?.ino && a?.dev === b?.dev

/** Only this process writes them, so that a change that it did not make is another program's. */
const isUnwritten = (a: Look | undefined, b: Look | undefined): boolean =>
  a?.mtimeMs === b?.mtimeMs && a?.size === b?.size

export class FileGuard {
  readonly #directory: string
  readonly #database: string
  readonly #log: string
  readonly #home: Look | undefined
  #databaseSeen: Look | undefined
  #logSeen: Look | undefined
  #timer: NodeJS.Timeout | undefined
  #loss: string | undefined

  /** The files of an open database: both are there. */
  constructor(directory: string) {
    this.#directory = directory
    this.#database = join(directory, DATABASE)
    this.#log = join(directory, LOG)
    this.#home = look(directory)
    this.noteDatabase()
    this.noteLog()
  }

  /** Looks again and again while nothing else does; tells of a loss once. */
  watch(onLoss: (loss: string) => void): void {
    this.#timer = setInterval(() => {
      const loss = this.loss()
      if (loss === undefined) return
      this.close()
      onLoss(loss)
    }, LOOK_EVERY_MILLIS)
    this.#timer.unref()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** This process has written the log. */
  noteLog(): void {
    this.#logSeen = look(this.#log)
  }

  /** This process has written the database. */
  noteDatabase(): void {
    this.#databaseSeen = look(this.#database)
  }

  get databaseSeen(): { readonly mtimeMs: number; readonly size: number } | undefined {
    return this.#databaseSeen
  }

  /** Asked between a commit and its acknowledgement; what this process has written of the log is noted. */
  lossOfPlaces(): string | undefined {
    if (this.#loss !== undefined) return this.#loss
    const log = look(this.#log)
    this.#loss = this.#misplaced(look(this.#database), log)
    if (this.#loss === undefined) this.#logSeen = log
    return this.#loss
  }

  /** What has become of the files, as a sentence; undefined while all is well. */
  loss(): string | undefined {
    if (this.#loss !== undefined) return this.#loss
    const [database, log] = [look(this.#database), look(this.#log)]
    this.#loss = this.#misplaced(database, log) ?? this.#overwritten(database, log)
    return this.#loss
  }

  /** A directory that is gone or another one shows in the file in it: it is looked at only for the sentence. */
  #misplaced(database: Look | undefined, log: Look | undefined): string | undefined {
    const isDatabase = isSameFile(database, this.#databaseSeen)
    if (isDatabase && isSameFile(log, this.#logSeen)) return undefined
    if (!isSameFile(look(this.#directory), this.#home)) return `${this.#directory} was removed, moved or replaced`
    return `${isDatabase ? this.#log : this.#database} was removed or replaced`
  }

  #overwritten(database: Look | undefined, log: Look | undefined): string | undefined {
    if (!isUnwritten(database, this.#databaseSeen)) return `another program wrote ${this.#database}`
    return isUnwritten(log, this.#logSeen) ? undefined : `another program wrote ${this.#log}`
  }
}

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
      // With someone still reading the log stays where it is, and keeps both names.
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
