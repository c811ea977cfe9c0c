// Store: one directory, opened as mailbox, ledger, allowance, prompt store and store of blocks.
// Owns opening and closing. Leaves the right to write to owner.ts, the shape of the tables to format.ts.
// S1  Opening answers with the whole store or with a typed error, and an error leaves nothing open or locked.
// S2  Closing writes what was asked for before it, moves the log into the database and gives the directory free.
// S3  An opening for reading takes no lock, ends no lease and writes nothing; it works beside the owner.
// S4  Files that are no longer the store's own end it: see safeguard.ts, and survival.ts for what a start makes of them.
// S5  A directory that someone has moved out of, or is about to, is not opened for work, unless it is forced.

import { existsSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import {
  PromptConflict,
  type PromptKind,
  type PromptLine,
  type PromptRow,
  PromptStore,
  PromptStoreUnavailable,
  readPromptRow
} from "@reverie/context"
import {
  Allowance,
  Archive,
  Bundles,
  Ledger,
  type LedgerUnavailable,
  type Sealing,
  type SegmentPlace
} from "@reverie/ledger"
import { Mailbox } from "@reverie/mailbox"
import { BlockStore } from "@reverie/memory"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Clock from "effect/Clock"
import { sqliteAllowance } from "./ledger/allowance.ts"
import { sqliteArchive } from "./ledger/archive.ts"
import { sqliteBlocks } from "./blocks.ts"
import { purgeDatabase, Writer, type WriterStats } from "./writer.ts"
import { Leases, ledgerUnavailable } from "./ledger/assistants.ts"
import {
  StoreDamaged,
  type StoreError,
  StoreExposed,
  StoreLost,
  StoreMoved,
  StoreShortened,
  StoreUnopenable
} from "./errors.ts"
import { DATABASE, Safeguard } from "./files/safeguard.ts"
import { knownFormat, migrate, NO_DATA, type Place, presentFormat } from "./format.ts"
import { formats, PAGE_BYTES } from "./formats.ts"
import { sqliteLedger } from "./ledger/ledger.ts"
import { placingIn } from "./ledger/segment-writer.ts"
import { segmentsOf } from "./ledger/segments.ts"
import { sqliteMailbox } from "./mailbox/mailbox.ts"
import { directoryMarks, type Marks, passingMarks } from "./ledger/marks.ts"
import { closeFiles, own, privateDirectory, privateFile } from "./files/owner.ts"
import { sqliteBundles } from "./bundles/bundles.ts"
import { type Encryption, type KeysLacking, keysOf, lackingOf, openKeys } from "./sealing/opening.ts"
import { SealedStore } from "./sealing/sealed-store.ts"
import { change, limited, query, reading, sealDatabase, sealedIn, type SqliteFailure } from "./sql.ts"
import { openingFailure } from "./files/room.ts"
import { assertNotGone, lossIn, survive } from "./files/survival.ts"

// Prompts on SQLite: the versions of what tenants write for their prompts.
// I1  Expectations are judged inside the transaction and before its first write.
// I2  A look at what is current goes from key to key along the primary key, newest version first: it costs what is
//     found and what was taken away, never the length of a history.

const unavailable =
  (operation: string) =>
  ({ cause, message }: SqliteFailure): PromptStoreUnavailable =>
    new PromptStoreUnavailable({ operation, message, cause })

const promptQueries = (database: DatabaseSync) => {
  const rows = "SELECT tenant, kind, key, version, at, restores, body FROM prompts WHERE tenant = ? AND kind = ?"
  const next = query<PromptRow>(database, `${rows} AND key > ? ORDER BY key, version DESC LIMIT 1`)
  const ofLine = query<PromptRow>(database, `${rows} AND key = ? AND version < ? ORDER BY version DESC LIMIT ?`)
  const newest = query<{ readonly version: number }>(
    database,
    "SELECT version FROM prompts WHERE tenant = ? AND kind = ? AND key = ? ORDER BY version DESC LIMIT 1"
  )
  return {
    insert: change(
      database,
      "INSERT INTO prompts (tenant, kind, key, version, at, restores, body) VALUES (?, ?, ?, ?, ?, ?, ?)"
    ),
    newest: (tenant: string, { key, kind }: PromptLine): number => newest.one(tenant, kind, key)?.version ?? 0,
    before: (tenant: string, { key, kind }: PromptLine, before: number, limit: number): ReadonlyArray<PromptRow> =>
      ofLine.all(tenant, kind, key, before, limit),
    /** The newest version of every key. */
    each: function* (tenant: string, kind: PromptKind): Generator<PromptRow> {
      for (let row = next.one(tenant, kind, ""); row !== undefined; row = next.one(tenant, kind, row.key)) yield row
    }
  }
}

export const sqlitePrompts = (database: DatabaseSync, writer: Writer): PromptStore["Service"] => {
  const rows = promptQueries(database)
  return {
    append: (tenant, changes) =>
      Effect.flatMap(Clock.currentTimeMillis, (at) => {
        const encoded = changes.map((each) => ({
          ...each,
          text: each.body === null ? null : JSON.stringify(each.body)
        }))
        return writer.write(unavailable("append"), () => {
          for (const line of encoded) {
            const { expected, key, kind } = line
            const current = rows.newest(tenant, line)
            if (current !== expected) return Result.fail(new PromptConflict({ kind, key, expected, current }))
          }
          for (const { expected, key, kind, restores = null, text } of encoded) {
            rows.insert(tenant, kind, key, expected + 1, at, restores, text)
          }
          return Result.void
        })
      }),
    current: (tenant, kind) =>
      reading(unavailable("current"), () =>
        Result.all(
          [...rows.each(tenant, kind)].filter(({ body }) => body !== null).map((row) => readPromptRow(kind, row))
        )
      ),
    history: (tenant, line, { before = Number.MAX_SAFE_INTEGER, limit }) =>
      reading(unavailable("history"), () =>
        Result.all(
          rows.before(tenant, line, limited(before), limited(limit)).map((row) => readPromptRow(line.kind, row))
        )
      )
  }
}

/** Instead of a directory: a store that ends with its scope, for tests. */
export const IN_MEMORY = ":memory:"

export interface StoreOptions {
  /** full, the default: an answered write survives a power cut. normal: it survives the death of the process only. */
  readonly durability?: "full" | "normal"
  /** Opens for inspection only: every write is refused. */
  readonly readOnly?: boolean
  /** How long the write-ahead log grows before it is moved into the database. */
  readonly checkpointBytes?: number
  /** Most bytes the database may have; beyond it writes are refused as on a full disk. */
  readonly maxBytes?: number
  /** Opens for work though the directory is marked as moved. */
  readonly despiteMove?: boolean
  /** Opens for work though the files hold less than was acknowledged. */
  readonly acceptLoss?: boolean
  /** The key that everything is sealed with; what the environment says when left out. */
  readonly encryption?: Encryption
  /** Where compressed segments lie; in the database when left out. */
  readonly segments?: SegmentPlace["Service"]
}

const CHECKPOINT_BYTES = 2 * 1024 * 1024
const CACHE_KIB = 16 * 1024
const BUSY_MILLIS = 1_000
const SWEEP_MILLIS = 5_000

export class SqliteStore extends Context.Service<
  SqliteStore,
  {
    readonly mailbox: Mailbox["Service"]
    readonly ledger: Ledger["Service"]
    readonly prompts: PromptStore["Service"]
    readonly allowance: Allowance["Service"]
    readonly blocks: BlockStore["Service"]
    readonly bundles: Bundles["Service"]
    readonly archive: Archive["Service"]
    /** What has been written since the opening. */
    readonly stats: Effect.Effect<WriterStats>
    /** What everything is sealed with; undefined in the clear. */
    readonly sealing: Sealing | undefined
    /** Reads the whole file and names what does not fit; nothing when it is sound. */
    readonly integrity: Effect.Effect<ReadonlyArray<string>, LedgerUnavailable>
    /** What is lost of all that was acknowledged; undefined when nothing is. An opening for work would be refused. */
    readonly loss: Effect.Effect<StoreShortened | undefined, LedgerUnavailable>
    /** Whose data keys are not there, so that nothing of them can be read; undefined where none lack, or nothing is sealed. */
    readonly lacking: Effect.Effect<KeysLacking | undefined, LedgerUnavailable>
    /** Fails when the files are no longer the store's own: nothing is kept any more. Never succeeds. */
    readonly lost: Effect.Effect<never, StoreLost>
  }
>()("@reverie/store-sqlite/SqliteStore") {}

const storeError = ({ directory, file }: Place, error: unknown): StoreError => {
  if (error instanceof StoreShortened || error instanceof StoreExposed) return error
  const failure = openingFailure(directory, error)
  if (failure === undefined) throw error
  if (failure.kind === "damaged") return new StoreDamaged({ file, reason: failure.message })
  const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined
  const reason = code === "EEXIST" || code === "ENOTDIR" ? "it is not a directory" : failure.message
  return new StoreUnopenable({ directory, reason, cause: error })
}

const attempt = <A>(place: Place, run: () => A): Effect.Effect<A, StoreError> =>
  Effect.try({ try: run, catch: (error) => storeError(place, error) })

const settle = (database: DatabaseSync, { durability = "full", maxBytes }: StoreOptions): void => {
  database.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA journal_mode = WAL; PRAGMA synchronous = ${durability}`)
  // The writer moves the log by itself, after its waiters have been answered.
  database.exec(`PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = ${8 * CHECKPOINT_BYTES}`)
  if (maxBytes !== undefined) database.exec(`PRAGMA max_page_count = ${Math.floor(maxBytes / PAGE_BYTES)}`)
}

/** An open database, and what guards its files where it may be written. */
interface Opened {
  readonly database: DatabaseSync
  safeguard: Safeguard | undefined
}

const connect = (place: Place, options: StoreOptions) =>
  Effect.acquireRelease(
    attempt(place, (): Opened => {
      const readOnly = options.readOnly === true
      if (isWritten(place, options)) privateFile(place.directory, DATABASE, true)
      const database = new DatabaseSync(place.file, {
        readOnly,
        timeout: BUSY_MILLIS,
        enableForeignKeyConstraints: false
      })
      return { database, safeguard: undefined }
    }),
    ({ database, safeguard }) => Effect.sync(() => (safeguard === undefined ? database.close() : safeguard.close()))
  ).pipe(
    Effect.tap(({ database }) =>
      attempt(place, () => {
        database.exec(`PRAGMA cache_size = -${CACHE_KIB}`)
        if (options.readOnly === true) return presentFormat(database, place, formats)
        return Result.map(knownFormat(database, place, formats), (found) => {
          settle(database, options)
          migrate(database, found, formats)
        })
      }).pipe(Effect.flatMap(Effect.fromResult))
    )
  )

const isWritten = ({ directory }: Place, { readOnly = false }: StoreOptions): boolean =>
  directory !== IN_MEMORY && !readOnly

/** Makes the directory ours and judges what is in it, or sees that there is something to read. */
const enter = (place: Place, options: StoreOptions): Effect.Effect<void, StoreError, Scope.Scope> => {
  const { directory, file } = place
  if (directory === IN_MEMORY) return Effect.void
  if (!isWritten(place, options)) {
    return attempt(place, () => assertNotGone(directory)).pipe(
      Effect.andThen(
        Effect.suspend(() =>
          existsSync(file) ? Effect.void : Effect.fail(new StoreUnopenable({ directory, reason: NO_DATA }))
        )
      )
    )
  }
  return attempt(place, () => privateDirectory(directory)).pipe(
    Effect.andThen(own(directory)),
    Effect.andThen(
      attempt(place, () => {
        closeFiles(directory)
        survive(directory, options.acceptLoss === true)
      })
    )
  )
}

/** No one works in a data store that was left: what happened in the new one since would be contradicted here. */
const assertUnmoved = (
  { directory }: Place,
  marks: Marks,
  { despiteMove = false, readOnly = false }: StoreOptions
): Effect.Effect<void, StoreError> =>
  Effect.flatMap(
    attempt({ directory, file: directory }, () => (despiteMove || readOnly ? undefined : marks.read())),
    (mark) => (mark === undefined ? Effect.void : Effect.fail(new StoreMoved({ directory, ...mark })))
  )

const MOST_FLAWS = 100

const integrityOf = (database: DatabaseSync): Effect.Effect<ReadonlyArray<string>, LedgerUnavailable> =>
  reading(ledgerUnavailable("integrity"), () => {
    const rows = database.prepare(`PRAGMA integrity_check(${MOST_FLAWS})`).all()
    return Result.succeed(rows.map((row) => String(Object.values(row)[0])).filter((text) => text !== "ok"))
  })

/** Opens a store for as long as the scope lasts. */
export const openSqliteStore = (
  directory: string,
  options: StoreOptions = {}
): Effect.Effect<SqliteStore["Service"], StoreError, Scope.Scope> =>
  Effect.gen(function* () {
    const file = directory === IN_MEMORY ? IN_MEMORY : join(directory, "reverie.db")
    const place: Place = { directory, file }
    const marks = directory === IN_MEMORY ? passingMarks() : directoryMarks(directory)
    yield* enter(place, options)
    yield* assertUnmoved(place, marks, options)
    const opened = yield* connect(place, options)
    const { database } = opened
    const keys = yield* openKeys(directory, database, options.encryption, options.readOnly === true)
    if (keys !== undefined) sealDatabase(database, new SealedStore(database, keys))
    const lost = yield* Deferred.make<never, StoreLost>()
    if (isWritten(place, options)) {
      // A process that ended while it forgot has left bytes behind.
      yield* attempt(place, () => (marks.isPurging() && purgeDatabase(database) ? marks.purging(false) : undefined))
      const tell = ({ message }: SqliteFailure) => Deferred.doneUnsafe(lost, Effect.fail(new StoreLost({ message })))
      opened.safeguard = yield* attempt(place, () => new Safeguard(directory, database, tell))
    }
    const writer = yield* Effect.acquireRelease(
      attempt(place, () => new Writer(database, options.checkpointBytes ?? CHECKPOINT_BYTES, opened.safeguard)),
      (writer) => Effect.sync(() => writer.close())
    )
    segmentsOf(database).place = options.segments
    // A process that ended while it put segments, or forgot, has left some; a place that does not answer holds up nothing.
    if (options.readOnly !== true) {
      yield* placingIn(database, writer).sweep.pipe(Effect.timeout(SWEEP_MILLIS), Effect.ignore)
    }
    const leases = new Leases()
    return yield* attempt(place, () => ({
      mailbox: sqliteMailbox(database, writer, leases),
      ledger: sqliteLedger(database, writer),
      prompts: sqlitePrompts(database, writer),
      allowance: sqliteAllowance(database, writer),
      blocks: sqliteBlocks(database, writer),
      bundles: sqliteBundles(database, writer, leases, marks, keys),
      archive: sqliteArchive(database, writer),
      sealing: sealedIn(database)?.sealing,
      stats: Effect.sync(() => writer.stats),
      integrity: integrityOf(database),
      loss: reading(ledgerUnavailable("loss"), () =>
        Result.succeed(directory === IN_MEMORY ? undefined : lossIn(directory))
      ),
      lacking: reading(ledgerUnavailable("lacking"), () =>
        Result.succeed(directory === IN_MEMORY ? undefined : lackingOf(database, keysOf(directory, options.encryption)))
      ),
      lost: Deferred.await(lost)
    }))
  })

/** The ports of a store in a directory, and the store itself. */
export const storeSqliteLayer = (
  directory: string,
  options: StoreOptions = {}
): Layer.Layer<Mailbox | Ledger | Allowance | PromptStore | BlockStore | Bundles | Archive | SqliteStore, StoreError> =>
  Layer.effectContext(
    Effect.map(openSqliteStore(directory, options), (store) =>
      Context.make(SqliteStore, store).pipe(
        Context.add(Mailbox, store.mailbox),
        Context.add(Ledger, store.ledger),
        Context.add(PromptStore, store.prompts),
        Context.add(Allowance, store.allowance),
        Context.add(BlockStore, store.blocks),
        Context.add(Bundles, store.bundles),
        Context.add(Archive, store.archive)
      )
    )
  )
