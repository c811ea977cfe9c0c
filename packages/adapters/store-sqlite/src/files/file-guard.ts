// FileGuard: whether the files of an open store are still the files at their paths.
// Owns noticing that somebody removed, replaced or wrote them. Leaves what follows from it to writer.ts and store.ts.
// G1  Nothing is acknowledged after a file was removed, moved, replaced or written by another program: it is looked before
//     each transaction, once more before its waiters hear of it, and several times a second at rest.
// G2  Whoever only reads, beside or inside this process, is no trouble.
// G3  What was found stays found: a store that has lost its files never writes again.

import { type Stats, statSync } from "node:fs"
import { join } from "node:path"

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
