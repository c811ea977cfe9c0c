// Sql: prepared statements with the type of their rows.
// Owns preparing. A number is bound as REAL, so every column that is compared with one must be INTEGER.

import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite"
import { MAX_PAGE_CHARS, openingOf, Pause, SEALED_OVERHEAD, sealingIn } from "@reverie/ledger"
import { longWork, SHORT_TEXT } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { statSync } from "node:fs"
import type { SealedStore } from "./sealing/sealed-store.ts"

// SqliteFailure: what SQLite and the file system say when they refuse, in a sentence a person can act on.
// I1  Only a refusal of SQLite or of the system is a failure; any other exception is a bug and stays one.

/** What SQLite and the system say. */
type RefusalKind = "full" | "busy" | "damaged" | "denied" | "closed" | "other"

export interface SqliteFailure {
  /** lost: the files of the open store are no longer its own (safeguard.ts). passing: what lies apart is out of reach. */
  readonly kind: RefusalKind | "lost" | "passing"
  /** What is the matter and what helps. */
  readonly message: string
  readonly cause: unknown
}

/** Primary result codes of SQLite, https://sqlite.org/rescode.html */
const kindByCode: Readonly<Record<number, RefusalKind>> = {
  5: "busy",
  8: "denied",
  11: "damaged",
  13: "full",
  14: "denied",
  26: "damaged"
}

/** SQLITE_IOERR_SHMSIZE: the index of the log can not grow, for which SQLite has no other word where a disk is full. */
const kindByExtendedCode: Readonly<Record<number, RefusalKind>> = { 4874: "full" }

const kindByErrno: Readonly<Record<string, RefusalKind>> = {
  ERR_INVALID_STATE: "closed",
  EACCES: "denied",
  EPERM: "denied",
  EROFS: "denied",
  ENOSPC: "full",
  EDQUOT: "full"
}

const sentences: Readonly<Record<Exclude<RefusalKind, "other">, string>> = {
  full: "no space is left; free some and try again",
  busy: "another program holds the database locked",
  damaged: "the file is damaged or no database",
  denied: "it can not be written here; check the permissions of the directory and its files",
  closed: "the store is closed"
}

const primaryCode = (errcode: number): number => errcode & 0xff

const numberAt = (error: object, key: string): number | undefined => {
  const value: unknown = Reflect.get(error, key)
  return typeof value === "number" ? value : undefined
}

const kindOf = (errcode: number): RefusalKind | undefined =>
  kindByExtendedCode[errcode] ?? kindByCode[primaryCode(errcode)]

/** The failure that an exception stands for; undefined when it is a bug. */
export const sqliteFailure = (error: unknown): SqliteFailure | undefined => {
  if (!(error instanceof Error)) return undefined
  if (error instanceof Unread) return { kind: "damaged", message: error.message, cause: error }
  const code: unknown = Reflect.get(error, "code")
  if (typeof code !== "string") return undefined
  const errcode = numberAt(error, "errcode")
  const isSystem = numberAt(error, "errno") !== undefined
  if (code !== "ERR_SQLITE_ERROR" && code !== "ERR_INVALID_STATE" && !isSystem) return undefined
  const kind = (errcode === undefined ? kindByErrno[code] : kindOf(errcode)) ?? "other"
  return { kind, message: kind === "other" ? error.message : `${sentences[kind]} (${error.message})`, cause: error }
}

/** The file was read, and a statement does not fit what is in it. A file that could not be read says nothing of that. */
export const isUnfitting = (error: unknown): boolean =>
  error instanceof Error && primaryCode(numberAt(error, "errcode") ?? 0) === 1

/** What a process has left that ended within a change: it is taken back by who may write, and not by a reader. */
export const isLeftChanging = (error: unknown): boolean => error instanceof Error && numberAt(error, "errcode") === 776

/** A file could not be made, read or written, for a reason that SQLite does not say. */
export const isOfFiles = (error: unknown): boolean =>
  error instanceof Error && [10, 14].includes(primaryCode(numberAt(error, "errcode") ?? 0))

/** The failure of a disk that is full, of which the exception says less. */
export const fullFailure = (error: Error): SqliteFailure => ({
  kind: "full",
  message: `${sentences.full} (${error.message})`,
  cause: error
})

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

// Reads: the reads of one turn of the event loop, in one transaction: each of its own asks the system for its locks.
// N1  It ends with the turn, before anything is written, and before the log is moved. Over a connection that writes nothing is
//     missed by that: no one else writes.

class Reads {
  readonly #database: DatabaseSync
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  #isOpen = false

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#begin = database.prepare("BEGIN")
    this.#commit = database.prepare("COMMIT")
  }

  begin(): void {
    if (this.#isOpen || this.#database.isTransaction) return
    this.#begin.get()
    this.#isOpen = true
    setImmediate(() => this.end())
  }

  end(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    // A failure may have ended it, and a store that is closed has none.
    if (!this.#database.isOpen || !this.#database.isTransaction) return
    try {
      this.#commit.get()
    } catch {
      // Nothing was written that could be lost; the next verb says what is wrong.
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK")
    }
  }
}

const readsByDatabase = new WeakMap<DatabaseSync, Reads>()

const readsOf = (database: DatabaseSync): Reads => {
  const reads = readsByDatabase.get(database) ?? new Reads(database)
  readsByDatabase.set(database, reads)
  return reads
}

/** Before anything is begun that a transaction stands in the way of. */
export const endReads = (database: DatabaseSync): void => readsByDatabase.get(database)?.end()

// Sealed: databases whose statements seal what they write and open what they read.
// X1  It is said before the first statement is prepared, and holds for all of them.

const sealedStores = new WeakMap<DatabaseSync, SealedStore>()

export const sealDatabase = (database: DatabaseSync, store: SealedStore): void => void sealedStores.set(database, store)

export const sealedIn = (database: DatabaseSync): SealedStore | undefined => sealedStores.get(database)

/** By how much a column that is sealed is longer than what is in it. */
export const sealedOverhead = (database: DatabaseSync): number => (sealedStores.has(database) ? SEALED_OVERHEAD : 0)

const opening = (database: DatabaseSync, statement: StatementSync, sql: string) => {
  const store = sealedStores.get(database)
  return store === undefined ? undefined : openingOf(store, sql, statement.columns())
}

/** Prepares a query once. The caller vouches for the row. */
export const query = <Row>(database: DatabaseSync, sql: string): Query<Row> => {
  const statement = database.prepare(sql)
  const reads = readsOf(database)
  const opened = opening(database, statement, sql)
  return {
    one: (...values) => {
      reads.begin()
      const row = statement.get(...values) as Row | undefined
      return row === undefined || opened === undefined ? row : opened(row)
    },
    all: (...values) => {
      reads.begin()
      const rows = statement.all(...values) as ReadonlyArray<unknown> as ReadonlyArray<Row>
      return opened === undefined ? rows : rows.map(opened)
    },
    each: (...values) => {
      reads.begin()
      const rows = eachOf(statement, values) as Iterable<unknown> as Iterable<Row>
      return opened === undefined ? rows : Iterator.from(rows).map(opened)
    }
  }
}

export interface Changed {
  readonly rows: number
  readonly lastSeq: number
}

/** Prepares a change once. */
export const change = (database: DatabaseSync, sql: string): ((...values: ReadonlyArray<SQLInputValue>) => Changed) => {
  const statement = database.prepare(sql)
  const store = sealedStores.get(database)
  const sealed = store === undefined ? undefined : sealingIn<SQLInputValue>(store, sql)
  return (...values) => {
    const { changes, lastInsertRowid } = statement.run(...(sealed?.(values) ?? values))
    return { rows: Number(changes), lastSeq: Number(lastInsertRowid) }
  }
}

/** As many rows as asked for, as a number SQLite takes. */
export const limited = (limit: number): number => Math.trunc(Math.min(Math.max(limit, 0), Number.MAX_SAFE_INTEGER))

// Wanted: what lies apart from the database and is fetched first.
// L1  Looks and transactions are synchronous and wait for nothing: one that lacks something throws what it wants, or yields it, and is
//     begun again, or goes on, when that is here. A transaction that was given up has written nothing.
// L2  What was fetched stays in reach until the look that wanted it has ended.

export class Wanted extends Pause {
  /** Answers how to let go of what it brought. */
  readonly fetch: Effect.Effect<() => void, SqliteFailure>

  constructor(fetch: Effect.Effect<() => void, SqliteFailure>) {
    super()
    this.fetch = fetch
  }
}

/** What may only be done with a text that can be read, and it can not. */
export class Unread extends Error {}

/** Fetches what was wanted, and tries again until nothing more is. */
export const afterFetching = <A, E, U>(
  unavailable: (failure: SqliteFailure) => U,
  wanted: Wanted,
  attempt: Effect.Effect<A, E | Wanted>
): Effect.Effect<A, E | U> => {
  const held: Array<() => void> = []
  const fetched = (next: Wanted): Effect.Effect<A, E | U> =>
    next.fetch.pipe(
      Effect.mapError(unavailable),
      Effect.flatMap((release): Effect.Effect<A, E | U> => {
        held.push(release)
        return Effect.catchIf(attempt, (error): error is Wanted => error instanceof Wanted, fetched) as Effect.Effect<
          A,
          E | U
        >
      })
    )
  return Effect.ensuring(
    fetched(wanted),
    Effect.sync(() => held.forEach((release) => release()))
  )
}

// Reading: a synchronous look at the database as an effect.
// R1  Rows that may be long are read so that the event loop turns between them.

/** What is wrong with the database, as an effect; a bug stays one. */
const failed = <U>(unavailable: (failure: SqliteFailure) => U, error: unknown): Effect.Effect<never, U> => {
  const failure = sqliteFailure(error)
  return failure === undefined ? Effect.die(error) : Effect.fail(unavailable(failure))
}

export const reading = <A, E, U>(
  unavailable: (failure: SqliteFailure) => U,
  look: () => Result.Result<A, E>
): Effect.Effect<A, E | U> => {
  const attempt = (isFirst: boolean): Effect.Effect<A, E | U | Wanted> => {
    try {
      return Effect.fromResult(look())
    } catch (error) {
      if (!(error instanceof Wanted)) return failed(unavailable, error)
      return isFirst
        ? afterFetching(
            unavailable,
            error,
            Effect.suspend(() => attempt(false))
          )
        : Effect.fail(error)
    }
  }
  return Effect.suspend(() => attempt(true) as Effect.Effect<A, E | U>)
}

/** A look that goes from row to row and yields the length of each, and what it has to wait for. */
type LongLook<A, E> = () => Generator<number | Wanted, Result.Result<A, E>>

export const readingLong = <A, E, U>(
  unavailable: (failure: SqliteFailure) => U,
  look: LongLook<A, E>
): Effect.Effect<A, E | U> =>
  Effect.suspend((): Effect.Effect<A, E | U> => {
    const looking = look()
    const first = (letGo: () => void) => {
      try {
        return looking.next()
      } finally {
        letGo()
      }
    }
    const goOn = (letGo = () => {}): Effect.Effect<A, E | U> => {
      try {
        for (let step = first(letGo); ; step = looking.next()) {
          if (step.done === true) return Effect.fromResult(step.value)
          if (step.value instanceof Wanted) return Effect.flatMap(Effect.mapError(step.value.fetch, unavailable), goOn)
          if (step.value <= SHORT_TEXT) continue
          longWork.note(step.value)
          return Effect.flatMap(longWork.room, () => goOn())
        }
      } catch (error) {
        return failed(unavailable, error)
      }
    }
    return longWork.hasRoom ? goOn() : Effect.flatMap(longWork.room, () => goOn())
  })

/** Rows until there are enough characters: of long ones a page has fewer; or until one that is the last. */
export const pageOf = <Row extends { readonly body: string }>(
  rows: Iterable<Row>,
  isLast: (row: Row) => boolean = () => false
): ReadonlyArray<Row> => {
  const page: Array<Row> = []
  let characters = 0
  for (const row of rows) {
    page.push(row)
    characters += row.body.length
    if (characters >= MAX_PAGE_CHARS || isLast(row)) break
  }
  return page
}

/** A page of rows, in a turn of the event loop that has room for it. */
export const readingPage = <Row, U>(
  unavailable: (failure: SqliteFailure) => U,
  look: () => ReadonlyArray<Row>
): Effect.Effect<ReadonlyArray<Row>, U> =>
  Effect.andThen(
    longWork.room,
    reading(unavailable, () => Result.succeed(look()))
  )

/** What is read of a row, in characters. */
export const lengthOf = ({ body }: { readonly body: string }): number => body.length

/** What SQLite writes before each page in the write-ahead log. */
export const FRAME_HEADER_BYTES = 24

const LOG_HEADER_BYTES = 32

/** Before 3.51 SQLite takes NOOP for PASSIVE, and moves the log into the database behind the safeguard's back. */
export const knowsNoop = (version = process.versions["sqlite"] ?? ""): boolean => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  return major > 3 || (major === 3 && minor >= 51)
}

export interface Frames {
  /** -1 without a log. */
  readonly log: number
  /** True where it is the room that the file has, not how many frames are in use. */
  readonly isRoom?: boolean
}

/** Counts the frames that the log has room for by the length of its file: it reads nothing and moves nothing. */
export const roomOfLog = (database: DatabaseSync, pageBytes: number): (() => Frames) => {
  const file = String(database.prepare("PRAGMA database_list").get()?.["file"] ?? "")
  if (file === "") return () => ({ log: -1 })
  return () => {
    const bytes = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
    const log = Math.max(0, Math.floor((bytes - LOG_HEADER_BYTES) / (pageBytes + FRAME_HEADER_BYTES)))
    return { log, isRoom: true }
  }
}
