// Connection: the file of the index, open.
// Owns opening, transactions, and what becomes of a file that can not be used. Leaves what is in it to the others.
// C1  The file is no obstacle: one that is damaged or of another program is moved away, one of another format is emptied,
//     and indexing begins anew. A reader changes nothing and waits until there is one that it can read.
// C2  What opens and what fails is tried again with the next verb: only the verb at hand fails, with RecallUnavailable.
// C3  A transaction is whole or nothing.
// C4  The file is for its owner alone: it holds what was said.

import { chmodSync, closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite"
import { openingOf, type Sealing, sealingIn } from "@reverie/ledger"
import { RecallUnavailable } from "@reverie/memory"
import * as Effect from "effect/Effect"
import { formatOf, stateOf, tables } from "./tables.ts"
import { sealedIn, sealIndex, Unopened } from "./sealed-index.ts"

// Sql: prepared statements with the type of their rows, and what SQLite says when it refuses.
// S1  Only a refusal of SQLite or of the file system is a refusal; any other exception is a bug and stays one.

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
  const sealed = sealedIn(database)
  const opened = sealed === undefined ? undefined : openingOf(sealed, sql, statement.columns(), asArrays)
  return {
    one: (...values) => {
      const row = statement.get(...values) as Row | undefined
      return row === undefined || opened === undefined ? row : opened(row)
    },
    all: (...values) => {
      const rows = statement.all(...values) as ReadonlyArray<unknown> as ReadonlyArray<Row>
      return opened === undefined ? rows : rows.map(opened)
    }
  }
}

const running = (database: DatabaseSync, sql: string) => {
  const statement = database.prepare(sql)
  const index = sealedIn(database)
  const sealed = index === undefined ? undefined : sealingIn<SQLInputValue>(index, sql)
  return (values: ReadonlyArray<SQLInputValue>) => statement.run(...(sealed?.(values) ?? values))
}

/** Prepares a change once; it answers with the key of the row it made, if it made one. */
export const change = (database: DatabaseSync, sql: string): ((...values: ReadonlyArray<SQLInputValue>) => number) => {
  const run = running(database, sql)
  return (...values) => Number(run(values).lastInsertRowid)
}

/** Prepares a change once; it answers how many rows it changed. */
export const changing = (
  database: DatabaseSync,
  sql: string
): ((...values: ReadonlyArray<SQLInputValue>) => number) => {
  const run = running(database, sql)
  return (...values) => Number(run(values).changes)
}

/** Any text as a key: JSON escapes NUL and lone surrogates, which SQLite would change. */
export const keyText = (text: string): string => JSON.stringify(text)

interface Refusal {
  /** The file itself is at fault, not its surroundings. */
  readonly isDamaged: boolean
  readonly message: string
  readonly cause: unknown
}

/** SQLITE_CORRUPT and SQLITE_NOTADB, https://sqlite.org/rescode.html */
const damagedCodes = new Set([11, 26])

/** What an exception says was refused; undefined when it is a bug. */
const refusalOf = (error: unknown): Refusal | undefined => {
  if (error instanceof Unopened) return { isDamaged: true, message: error.message, cause: error }
  if (!(error instanceof Error)) return undefined
  const [code, errcode, errno] = ["code", "errcode", "errno"].map((key): unknown => Reflect.get(error, key))
  if (code !== "ERR_SQLITE_ERROR" && code !== "ERR_INVALID_STATE" && typeof errno !== "number") return undefined
  const isDamaged = typeof errcode === "number" && damagedCodes.has(errcode & 0xff)
  return { isDamaged, message: error.message, cause: error }
}

/** Instead of a directory: an index that ends with its scope. */
export const IN_MEMORY = ":memory:"

const FILE = "recall.db"
/** Little: what the operating system keeps is nearly as near, and a small cache stays in the processor's. */
const CACHE_KIB = 2 * 1024
const BUSY_MILLIS = 1_000

const pragmas = `PRAGMA cache_size = -${CACHE_KIB}; PRAGMA temp_store = MEMORY`

/** Moves what is in the log into the file; false where someone else reads it. */
export const emptyLog = (database: DatabaseSync): boolean =>
  Number(database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()?.["busy"] ?? 0) === 0

const sizeOf = (database: DatabaseSync): number => {
  const size = database.prepare("SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size").get()
  return Number(size?.["bytes"] ?? 0)
}

/** Writes the file anew, as small as what is in it. Others wait meanwhile. */
export const compacted = (database: DatabaseSync, isTrial: boolean) => {
  const bytesBefore = sizeOf(database)
  if (!isTrial) {
    database.exec("VACUUM")
    emptyLog(database)
  }
  return { bytesBefore, bytesAfter: sizeOf(database) }
}

const unreadable = new RecallUnavailable({
  operation: "open",
  message: "there is no index that this Reverie can read yet; a running fleet makes one"
})

/** What is prepared of an open file. */
export interface Prepared {
  /** A transaction came to nothing. */
  readonly undo: () => void
}

interface Open<A> {
  readonly database: DatabaseSync
  readonly begin: StatementSync
  readonly commit: StatementSync
  readonly statements: A
}

/** Made by us before SQLite does it with the rights that the umask leaves. One that exists is not opened for it. */
const makePrivate = (file: string): void => {
  if (!existsSync(file)) closeSync(openSync(file, "wx", 0o600))
  else if (process.platform !== "win32") chmodSync(file, 0o600)
}

const whole = <A extends Prepared, B>({ begin, commit, database, statements }: Open<A>, change: () => B): B => {
  begin.run()
  try {
    const result = change()
    commit.run()
    return result
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK")
    statements.undo()
    throw error
  }
}

/** Several looks that see the same state, whatever someone else writes meanwhile. */
const still = <A, B>({ database }: Open<A>, look: () => B): B => {
  database.exec("BEGIN")
  try {
    return look()
  } finally {
    if (database.isTransaction) database.exec("ROLLBACK")
  }
}

export class Connection<A extends Prepared> {
  readonly #file: string
  readonly #directory: string
  readonly #isReader: boolean
  readonly #sealing: Sealing | undefined
  readonly #over: (database: DatabaseSync) => A
  #open: Open<A> | undefined
  #isClosed = false

  /** `over` prepares what is needed of the open file; it is asked again whenever the file is opened again. */
  constructor(directory: string, isReader: boolean, over: (database: DatabaseSync) => A, sealing?: Sealing) {
    this.#sealing = sealing
    this.#directory = directory
    this.#file = directory === IN_MEMORY ? IN_MEMORY : join(directory, FILE)
    this.#isReader = isReader
    this.#over = over
  }

  /** Runs a verb on the open file. */
  run<B, E = never>(
    operation: string,
    verb: (statements: A) => Effect.Effect<B, E>
  ): Effect.Effect<B, E | RecallUnavailable> {
    return this.#run(operation, ({ statements }) => verb(statements))
  }

  read<B>(operation: string, look: (statements: A) => B): Effect.Effect<B, RecallUnavailable> {
    return this.#run(operation, ({ statements }) => Effect.succeed(look(statements)))
  }

  /** Looks several times, at one state of the file. */
  look<B>(operation: string, look: (statements: A) => B): Effect.Effect<B, RecallUnavailable> {
    // Who writes itself is not disturbed: nothing of its own happens in between.
    return this.#run(operation, (open) =>
      Effect.succeed(this.#isReader ? still(open, () => look(open.statements)) : look(open.statements))
    )
  }

  /** Runs a change in a transaction of its own. */
  write<B>(operation: string, change: (statements: A) => B): Effect.Effect<B, RecallUnavailable> {
    return this.#run(operation, (open) => Effect.succeed(whole(open, () => change(open.statements))))
  }

  /** For good: every later verb fails. */
  close(): void {
    this.#isClosed = true
    this.#shut()
  }

  #shut(): void {
    this.#open?.database.close()
    this.#open = undefined
  }

  #run<B, E>(operation: string, verb: (open: Open<A>) => Effect.Effect<B, E>): Effect.Effect<B, E | RecallUnavailable> {
    return Effect.suspend((): Effect.Effect<B, E | RecallUnavailable> => {
      try {
        this.#open ??= this.#opened()
        return verb(this.#open)
      } catch (error) {
        if (error instanceof RecallUnavailable) return Effect.fail(error)
        const refusal = refusalOf(error)
        if (refusal === undefined) return Effect.die(error)
        return Effect.fail(this.#refused(operation, refusal))
      }
    })
  }

  #opened(): Open<A> {
    if (this.#isClosed) throw new RecallUnavailable({ operation: "open", message: "the index is closed" })
    const database = this.#usable()
    try {
      database.exec(pragmas)
      if (this.#sealing !== undefined) sealIndex(database, this.#sealing)
      const [begin, commit] = [database.prepare("BEGIN IMMEDIATE"), database.prepare("COMMIT")]
      return { database, begin, commit, statements: this.#over(database) }
    } catch (error) {
      database.close()
      throw error
    }
  }

  #connect(): DatabaseSync {
    return new DatabaseSync(this.#file, {
      readOnly: this.#isReader,
      timeout: BUSY_MILLIS,
      enableForeignKeyConstraints: false
    })
  }

  /** A file with the present tables, whatever has to be done for it. */
  #usable(): DatabaseSync {
    if (this.#isReader) return this.#readable()
    if (this.#file !== IN_MEMORY) {
      mkdirSync(this.#directory, { recursive: true, mode: 0o700 })
      makePrivate(this.#file)
    }
    const database = this.#connect()
    try {
      const isSealed = this.#sealing !== undefined
      const state = stateOf(database, isSealed)
      if (state === "present" || state === "empty") {
        database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON")
        // A process that ended while it erased has left in the file what its log has overwritten.
        emptyLog(database)
        if (state === "empty") {
          database.exec(`BEGIN IMMEDIATE; ${tables}; PRAGMA user_version = ${formatOf(isSealed)}; COMMIT`)
        }
        return database
      }
      database.close()
      this.#clear(state === "foreign")
    } catch (error) {
      if (database.isOpen) database.close()
      if (refusalOf(error)?.isDamaged !== true) throw error
      this.#clear(true)
    }
    return this.#usable()
  }

  #readable(): DatabaseSync {
    if (this.#file === IN_MEMORY || !existsSync(this.#file)) throw unreadable
    const database = this.#connect()
    try {
      if (stateOf(database, this.#sealing !== undefined) === "present") return database
    } catch (error) {
      database.close()
      throw error
    }
    database.close()
    throw unreadable
  }

  /** Makes room for a new file; the old one is kept beside it when it may be of use to someone. */
  #clear(isKept: boolean): void {
    for (const suffix of ["", "-wal", "-shm"]) {
      const file = `${this.#file}${suffix}`
      if (!isKept) rmSync(file, { force: true })
      else if (existsSync(file)) renameSync(file, `${this.#file}.moved-away${suffix}`)
    }
  }

  #refused(operation: string, { cause, isDamaged, message }: Refusal): RecallUnavailable {
    if (isDamaged) {
      this.#shut()
      if (!this.#isReader && this.#file !== IN_MEMORY && existsSync(this.#file)) {
        // Of one whose keys are gone nothing is of use, and what is erased is not to lie beside it.
        this.#clear(!(cause instanceof Unopened))
      }
    }
    return new RecallUnavailable({ operation, message, cause })
  }
}
