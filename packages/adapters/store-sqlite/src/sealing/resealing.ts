// Resealing: rows that are sealed anew, as they lie in the store.
// Owns a store in the clear becoming sealed, other keys for one that is, and the keys of a subject that are destroyed.
// Leaves the columns to sealed-store.ts, the keys to keyring.ts.
// Z1  A store is sealed anew as a whole or not at all: one transaction; keys go only after it is durable.
// Z2  What does not open with the keys at hand stays as it is: other keys may open it yet.
// Z3  Afterwards no file of the directory holds what was in the clear, nor is the index there, which is made anew sealed. What is kept
//     there of an earlier store is not sealed, and refuses it.

import { existsSync, readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync, type SQLInputValue } from "node:sqlite"
import { type SegmentPlace, type Subject, unopenedReason } from "@reverie/ledger"
import { keyText } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { type StoreError, StoreSealed, StoreUnopenable } from "../errors.ts"
import { DATABASE } from "../files/safeguard.ts"
import { closeFiles, own, privateDirectory } from "../files/owner.ts"
import { formerIn, survive } from "../files/survival.ts"
import { NO_DATA, presentFormat } from "../format.ts"
import { formats } from "../formats.ts"
import { directoryMarks } from "../ledger/marks.ts"
import { type KeptRow, recordRows } from "../ledger/record-rows.ts"
import { change, query, sealDatabase, sqliteFailure } from "../sql.ts"
import { purgeDatabase } from "../writer.ts"
import type { Keyring } from "./keyring.ts"
import { formerSegmentsLeft, segmentsResealed } from "./resealing-apart.ts"
import { type Encryption, type EncryptionKey, isSealedIn, keysGone, keysOf, masterIn, openKeyring } from "./opening.ts"
import { SealedStore, sealedTables } from "./sealed-store.ts"

/** What a row is found by, where that is not a number of its own. */
const keys: Readonly<Record<string, ReadonlyArray<string>>> = {
  prompts: ["tenant", "kind", "key", "version"],
  block_versions: ["block", "version"],
  block_answers: ["tenant", "key"]
}

const OWN = "(SELECT key FROM assistants WHERE tenant = ? AND id = ?)"
const BLOCKS = "(SELECT key FROM blocks WHERE tenant = ? AND owner = ?)"

/** Which rows of a table are a subject's, and the values for it. Of envelopes on their way it is not told. */
const ofSubject = (table: string, { assistant, tenant }: Subject): readonly [string, ReadonlyArray<SQLInputValue>] => {
  if (table === "sends") return ["1 = 1", []]
  if (table === "assistants") return ["tenant = ? AND id = ?", [tenant, assistant]]
  if (table === "blocks") return ["tenant = ? AND owner = ?", [tenant, keyText(assistant)]]
  if (table.startsWith("block_") && table !== "block_answers")
    return [`block IN ${BLOCKS}`, [tenant, keyText(assistant)]]
  if (sealedTables[table]?.subject[0]?.[0] === "assistant") return [`assistant = ${OWN}`, [tenant, assistant]]
  return assistant === "" ? ["tenant = ?", [tenant]] : ["1 = 0", []]
}

type Row = Readonly<Record<string, SQLInputValue>>

/** Reads rows as they are: opened where the store is sealed, else in the clear. */
type Reading = (sql: string) => (...values: ReadonlyArray<SQLInputValue>) => ReadonlyArray<Row>

const NO_ONE = 0

const isUnopenedValue = (value: unknown): boolean => typeof value === "string" && unopenedReason(value) !== undefined

const resealTable = (database: DatabaseSync, reading: Reading, table: string, subject: Subject | undefined): number => {
  const { columns, place, subject: told } = sealedTables[table] ?? { columns: [], place: [], subject: [] }
  const found = keys[table] ?? ["rowid"]
  const known = [...new Set([...found, ...(told[0] ?? []), ...place])]
  const [where, values] = subject === undefined ? ["1 = 1", []] : ofSubject(table, subject)
  const rows = database.prepare(`SELECT ${found.join(", ")} FROM ${table} WHERE ${where}`)
  // A column under the name of the number of a row is called by that.
  rows.setReturnArrays(true)
  const at = found.map((column) => `${column} = ?`).join(" AND ")
  const one = reading(
    `SELECT ${[...known.filter((column) => column !== "rowid"), ...columns].join(", ")} FROM ${table} WHERE ${at}`
  )
  const put = change(
    database,
    `UPDATE ${table} SET ${columns.map((column) => `${column} = ?`).join(", ")} WHERE ${known.map((column) => `${column} = ?`).join(" AND ")}`
  )
  let count = 0
  for (const key of rows.all(...values) as unknown as ReadonlyArray<ReadonlyArray<SQLInputValue>>) {
    const [row] = one(...key)
    if (row === undefined || row["assistant"] === NO_ONE) continue
    if (columns.some((column) => isUnopenedValue(row[column]))) continue
    const valueOf = (column: string): SQLInputValue => (column === "rowid" ? (key[0] ?? null) : (row[column] ?? null))
    put(...columns.map(valueOf), ...known.map(valueOf))
    count++
  }
  return count
}

/** Records change their names too. */
const resealRecords = (database: DatabaseSync, isClear: boolean, subject: Subject | undefined): number => {
  const [where, values] = subject === undefined ? ["1 = 1", []] : ofSubject("records", subject)
  const owners = database.prepare(`SELECT DISTINCT assistant FROM records WHERE ${where}`).all(...values)
  const records = recordRows(database)
  const clear = database.prepare("SELECT kind, key, body FROM records WHERE assistant = ?")
  const putBack = database.prepare("INSERT INTO records (assistant, kind, key, body) VALUES (?, ?, ?, ?)")
  let count = 0
  for (const { assistant } of owners) {
    const owner = Number(assistant)
    const standing = clear.all(owner) as unknown as ReadonlyArray<KeptRow>
    const rows = isClear ? standing : records.all(owner)
    // The name of one that does not open is what stands in its row.
    const unopened = rows.filter(({ body }) => isUnopenedValue(body))
    records.dropAll(owner)
    for (const row of rows) if (!unopened.includes(row)) records.keep(owner, row.kind, row.key, row.body)
    for (const { key, kind } of unopened) {
      const body = standing.find((each) => each.kind === kind && each.key === key)?.body
      if (body !== undefined) putBack.run(owner, kind, key, body)
    }
    count += rows.length - unopened.length
  }
  return count
}

/** Within a transaction: seals every row, or those of a subject, with the present keys. `isClear`: what stands there is not sealed. */
const resealed = (database: DatabaseSync, isClear: boolean, subject?: Subject): number => {
  const clear: Reading = (sql) => {
    const statement = database.prepare(sql)
    return (...values) => statement.all(...values) as unknown as ReadonlyArray<Row>
  }
  const opened: Reading = (sql) => query<Row>(database, sql).all
  const others = Object.keys(sealedTables).filter((table) => table !== "records")
  const count = others.reduce((sum, table) => sum + resealTable(database, isClear ? clear : opened, table, subject), 0)
  return count + resealRecords(database, isClear, subject)
}

/** What is left of subjects, sealed with their present keys. To be called within a transaction. */
export const resealedOf = (database: DatabaseSync, subjects: ReadonlyArray<Subject>): void => {
  for (const subject of subjects) resealed(database, false, subject)
}

const attempted = <A>(directory: string, run: () => A): Effect.Effect<A, StoreError> =>
  Effect.try({
    try: run,
    catch: (error) => {
      if (error instanceof StoreSealed) return error
      const failure = sqliteFailure(error)
      if (failure === undefined) throw error
      return new StoreUnopenable({ directory, reason: failure.message, cause: error })
    }
  })

/** A database that no one else works on, as it is. */
const alone = Effect.fnUntraced(function* (directory: string) {
  const file = join(directory, DATABASE)
  if (!existsSync(file)) return yield* new StoreUnopenable({ directory, reason: NO_DATA })
  yield* attempted(directory, () => privateDirectory(directory))
  yield* own(directory)
  yield* attempted(directory, () => {
    closeFiles(directory)
    survive(directory, false)
  })
  const database = yield* Effect.acquireRelease(
    attempted(directory, () => new DatabaseSync(file, { enableForeignKeyConstraints: false })),
    (open) => Effect.sync(() => open.close())
  )
  yield* Effect.flatMap(
    attempted(directory, () => presentFormat(database, { directory, file }, formats)),
    Effect.fromResult
  )
  return database
})

const STILL_READ =
  "it is encrypted, and another program reads it, so what it was before is not gone from its files yet; end that, and the next " +
  "start of a fleet takes it away"

const INDEX = /^recall\.db/

/** Every row, and what else changes with them, or nothing. */
const sealRows = (database: DatabaseSync, isClear: boolean, besides: () => void): number => {
  database.exec("BEGIN IMMEDIATE")
  try {
    const count = resealed(database, isClear)
    besides()
    database.exec("COMMIT")
    return count
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK")
    throw error
  }
}

/** What of a directory lies apart from it. */
interface Apart {
  /** Where segments lie. */
  readonly segments?: SegmentPlace["Service"]
  /** Goes on without segments that are missing or damaged there; otherwise one such refuses it. */
  readonly withoutLost?: boolean
}

const sealWhole = Effect.fnUntraced(function* (
  directory: string,
  database: DatabaseSync,
  keyring: Keyring,
  { segments, withoutLost = false }: Apart,
  isClear: boolean
) {
  const marks = directoryMarks(directory)
  const store = new SealedStore(database, keyring)
  sealDatabase(database, store)
  yield* attempted(directory, () => {
    database.exec("PRAGMA synchronous = FULL")
    // What lies apart is sealed before the transaction: with the new keys already.
    if (!isClear) for (const subject of keyring.subjects()) keyring.renew(subject)
  })
  const apart = yield* segmentsResealed(directory, database, store, segments, { isClear, withoutLost })
  const { count, isPurged } = yield* attempted(directory, () => {
    // Bytes of before are in the files until they are written anew, also when that is broken off.
    marks.purging(true)
    const count = sealRows(database, isClear, apart.refer)
    for (const name of readdirSync(directory)) if (INDEX.test(name)) rmSync(join(directory, name), { force: true })
    return { count, isPurged: purgeDatabase(database) }
  })
  yield* apart.leave
  yield* attempted(directory, () => {
    if (!isClear) for (const subject of keyring.subjects()) keyring.destroyFormer(subject)
    if (!isPurged) throw new StoreSealed({ directory, reason: STILL_READ })
    marks.purging(false)
  })
  return { rows: count, lost: apart.lost }
})

/** What an encrypting that was broken off has left in the clear, though its rows are sealed: nothing of it, afterwards. */
const finished = Effect.fnUntraced(function* (
  directory: string,
  database: DatabaseSync,
  segments: SegmentPlace["Service"] | undefined
) {
  yield* attempted(directory, () => {
    for (const name of readdirSync(directory)) if (INDEX.test(name)) rmSync(join(directory, name), { force: true })
    if (!purgeDatabase(database)) throw new StoreSealed({ directory, reason: STILL_READ })
  })
  yield* formerSegmentsLeft(directory, database, segments)
  yield* attempted(directory, () => directoryMarks(directory).purging(false))
})

/** What was done. */
export interface Encrypted {
  /** How many rows were sealed; none where one that was broken off was finished. */
  readonly rows: number
  /** The file with the data keys: without it, and without the master key, nothing of the directory can be read. */
  readonly keys: string
  /** Keys of segments that it went on without; see `withoutLost`. */
  readonly lost: ReadonlyArray<string>
}

/** Seals a data directory that is in the clear, or finishes that where it was broken off. No one may work on it. */
export const encryptDirectory = (
  directory: string,
  encryption: Encryption,
  apart: Apart = {}
): Effect.Effect<Encrypted, StoreError> =>
  Effect.gen(function* () {
    const database = yield* alone(directory)
    const keys = keysOf(directory, encryption)
    if (yield* attempted(directory, () => isSealedIn(database) === true)) {
      if (!existsSync(keys)) return yield* keysGone(directory, keys)
      if (!directoryMarks(directory).isPurging()) {
        return yield* new StoreSealed({
          directory,
          reason: "it is encrypted already; other keys are made with `reverie keys rotate`"
        })
      }
      yield* openKeyring(directory, keys, yield* masterIn(directory, encryption.key))
      yield* finished(directory, database, apart.segments)
      return { rows: 0, keys, lost: [] }
    }
    const former = formerIn(directory)
    if (former.length > 0) {
      return yield* new StoreSealed({
        directory,
        reason: `it keeps an earlier store in the clear, in ${former.join(", ")}; move that elsewhere or remove it, and run this again`
      })
    }
    const keyring = yield* openKeyring(directory, keys, yield* masterIn(directory, encryption.key))
    return { ...(yield* sealWhole(directory, database, keyring, apart, true)), keys }
  }).pipe(Effect.scoped)

export interface Rotation extends Apart {
  /** The master key from now on; the same as before when left out. */
  readonly to?: EncryptionKey
  /** Makes other data keys too, and seals every row anew. */
  readonly renew?: boolean
}

/** What was done. */
export interface Rotated {
  /** How many data keys were wrapped anew. */
  readonly keys: number
  /** How many rows were sealed anew: none unless `renew` asks for it. */
  readonly rows: number
  /** Keys of segments that `renew` went on without; see `withoutLost`. */
  readonly lost: ReadonlyArray<string>
}

/** Wraps the keys of an encrypted data directory anew. No one may work on it. */
export const rotateKeys = (
  directory: string,
  encryption: Encryption,
  { renew = false, to = encryption.key, ...apart }: Rotation = {}
): Effect.Effect<Rotated, StoreError> =>
  Effect.gen(function* () {
    const database = yield* alone(directory)
    const file = keysOf(directory, encryption)
    if (!existsSync(file)) {
      if (yield* attempted(directory, () => isSealedIn(database) === true)) return yield* keysGone(directory, file)
      return yield* new StoreSealed({
        directory,
        reason: `there are no keys in ${file}; run \`reverie encrypt\` first`
      })
    }
    const keyring = yield* openKeyring(directory, file, yield* masterIn(directory, encryption.key))
    const master = yield* masterIn(directory, to)
    const sealed = renew ? yield* sealWhole(directory, database, keyring, apart, false) : { rows: 0, lost: [] }
    const keys = yield* Effect.tryPromise({
      try: () => keyring.rotate(master),
      catch: (error) => new StoreSealed({ directory, reason: `the new key does not wrap (${String(error)})` })
    })
    return { keys, ...sealed }
  }).pipe(Effect.scoped)
