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
import { RecallUnavailable } from "@reverie/memory"
import * as Effect from "effect/Effect"

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
  if (!(error instanceof Error)) return undefined
  const [code, errcode, errno] = ["code", "errcode", "errno"].map((key): unknown => Reflect.get(error, key))
  if (code !== "ERR_SQLITE_ERROR" && code !== "ERR_INVALID_STATE" && typeof errno !== "number") return undefined
  const isDamaged = typeof errcode === "number" && damagedCodes.has(errcode & 0xff)
  return { isDamaged, message: error.message, cause: error }
}

// Tables: the shape of the file.
// T1  A file of another format is not brought up to date: what is in it is made anew from the ledger.

/** "RVRC": tells an index of Reverie from any other database. */
export const APPLICATION_ID = 0x52565243

/** To be raised whenever the tables, their bytes, the weight classes, or the terms and weights of the text module change. */
export const FORMAT = 4

/**
 * groups: who may read: the owner of entries, an assistant that is named, a tenant's fleet; and owners whose entries are
 * being erased. Keys are never used twice. `position` and the `digest` of the ledger entry there count for owners; `entries`
 * is how many entries the group may read.
 * entries: `doc` is the number under which its words are kept, another one whenever it is reported anew.
 * tail, segments, leaves, bounds: the words of entries, group by group; see words.ts. They hold no text.
 * unfinished: segments that are being made, or that are out of use and not dropped yet.
 * shared: entries by the groups that may read them besides their owner.
 * wanting: entries that have no vector of a model yet.
 */
export const tables = `
CREATE TABLE groups (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL,
  kind TEXT NOT NULL,
  assistant TEXT NOT NULL,
  position INTEGER NOT NULL DEFAULT 0,
  digest TEXT NOT NULL DEFAULT '',
  entries INTEGER NOT NULL DEFAULT 0,
  UNIQUE (tenant, kind, assistant)
) STRICT;
CREATE TABLE entries (
  key INTEGER PRIMARY KEY,
  owner INTEGER NOT NULL,
  id TEXT NOT NULL,
  doc INTEGER NOT NULL,
  entry TEXT NOT NULL,
  context TEXT,
  facts TEXT,
  UNIQUE (owner, id)
) STRICT;
CREATE TABLE counters (one INTEGER PRIMARY KEY CHECK (one = 1), doc INTEGER NOT NULL, segment INTEGER NOT NULL) STRICT;
INSERT INTO counters (one, doc, segment) VALUES (1, 0, 0);
CREATE TABLE tail (
  grp INTEGER NOT NULL,
  doc INTEGER NOT NULL,
  row INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  at REAL NOT NULL,
  trust REAL NOT NULL,
  terms BLOB NOT NULL,
  PRIMARY KEY (grp, doc)
) STRICT, WITHOUT ROWID;
CREATE TABLE segments (
  key INTEGER PRIMARY KEY,
  grp INTEGER NOT NULL,
  level INTEGER NOT NULL,
  docs INTEGER NOT NULL,
  dead INTEGER NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  min_at REAL NOT NULL,
  max_at REAL NOT NULL,
  min_trust REAL NOT NULL,
  head BLOB NOT NULL
) STRICT;
CREATE INDEX segments_group ON segments (grp, first);
CREATE TABLE leaves (key INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;
CREATE TABLE bounds (segment INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;
CREATE TABLE unfinished (segment INTEGER PRIMARY KEY) STRICT;
CREATE TABLE shared (reader INTEGER NOT NULL, entry INTEGER NOT NULL, PRIMARY KEY (reader, entry)) STRICT, WITHOUT ROWID;
CREATE TABLE models (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL,
  dimensions INTEGER NOT NULL,
  state TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE vectors (
  model INTEGER NOT NULL,
  entry INTEGER NOT NULL,
  vector BLOB NOT NULL,
  PRIMARY KEY (model, entry)
) STRICT, WITHOUT ROWID;
CREATE TABLE wanting (model INTEGER NOT NULL, entry INTEGER NOT NULL, PRIMARY KEY (model, entry)) STRICT, WITHOUT ROWID;
PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${FORMAT};
`

/** Instead of a directory: an index that ends with its scope. */
export const IN_MEMORY = ":memory:"

const FILE = "recall.db"
/** Little: what the operating system keeps is nearly as near, and a small cache stays in the processor's. */
const CACHE_KIB = 2 * 1024
const BUSY_MILLIS = 1_000

const pragmas = `PRAGMA cache_size = -${CACHE_KIB}; PRAGMA temp_store = MEMORY`

const numberOf = (database: DatabaseSync, pragma: string): number =>
  Number(Object.values(database.prepare(`PRAGMA ${pragma}`).get() ?? {})[0])

/** What is in a file: nothing yet, the present tables, tables of another format, or something else. */
const stateOf = (database: DatabaseSync): "empty" | "present" | "other-format" | "foreign" => {
  if (database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined) return "empty"
  if (numberOf(database, "application_id") !== APPLICATION_ID) return "foreign"
  return numberOf(database, "user_version") === FORMAT ? "present" : "other-format"
}

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
  readonly #over: (database: DatabaseSync) => A
  #open: Open<A> | undefined
  #isClosed = false

  /** `over` prepares what is needed of the open file; it is asked again whenever the file is opened again. */
  constructor(directory: string, isReader: boolean, over: (database: DatabaseSync) => A) {
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
      const state = stateOf(database)
      if (state === "present" || state === "empty") {
        database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON")
        // A process that ended while it erased has left in the file what its log has overwritten.
        emptyLog(database)
        if (state === "empty") database.exec(`BEGIN IMMEDIATE; ${tables}; COMMIT`)
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
      if (stateOf(database) === "present") return database
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
      if (!this.#isReader && this.#file !== IN_MEMORY && existsSync(this.#file)) this.#clear(true)
    }
    return new RecallUnavailable({ operation, message, cause })
  }
}
