import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, it } from "@effect/vitest"
import { openSqliteStore, temporaryPlace } from "@reverie/store-sqlite"
import { anAddress, anEntry, anEnvelope, aState } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { describe } from "vitest"
import { formats } from "../src/formats.ts"
import { firstLine, spawnChild } from "./children/spawn.ts"
import { aDirectory } from "./directories.ts"
import { type StoreOptions } from "../src/store.ts"

const databaseIn = (directory: string): string => join(directory, "reverie.db")

const refusal = (directory: string, options?: StoreOptions) =>
  Effect.flip(Effect.scoped(openSqliteStore(directory, options)))

/** A directory with one assistant and one envelope in it, closed. */
const used = Effect.gen(function* () {
  const directory = aDirectory()
  const { ledger, mailbox } = yield* openSqliteStore(directory)
  yield* ledger.create({ address: anAddress(), state: aState(), entry: anEntry() })
  yield* mailbox.accept(anEnvelope({ to: anAddress() }))
  return directory
}).pipe(Effect.scoped)

/** Changes a database file behind the store's back. */
const tamper = (directory: string, sql: string): void => {
  const database = new DatabaseSync(databaseIn(directory))
  database.exec(sql)
  database.close()
}

it("P3 a temporary place is new each time, and removing it leaves nothing of a store in it", async () => {
  const [one, two] = [temporaryPlace(), temporaryPlace()]
  assert.notStrictEqual(one.directory, two.directory)
  await Effect.runPromise(Effect.scoped(openSqliteStore(one.directory)))
  assert.deepStrictEqual([existsSync(databaseIn(one.directory)), existsSync(two.directory)], [true, false])
  for (const { directory, remove } of [one, two]) {
    remove()
    assert.isFalse(existsSync(dirname(directory)))
  }
})

describe("an owner", () => {
  it.effect("O1 a second opening in the same process is refused, until the first has closed", () =>
    Effect.gen(function* () {
      const directory = aDirectory()
      const error = yield* Effect.scoped(Effect.andThen(openSqliteStore(directory), refusal(directory)))
      assert.strictEqual(error._tag, "StoreBusy")
      yield* Effect.scoped(openSqliteStore(directory))
    })
  )

  it.effect("O1 an opening that fails holds nothing: the next one is not told that another process works there", () =>
    Effect.gen(function* () {
      const directory = aDirectory()
      mkdirSync(directory)
      const pid = join(directory, "owner.pid")
      symlinkSync(join(directory, "missing", "place"), pid)
      assert.strictEqual((yield* refusal(directory))._tag, "StoreUnopenable")
      rmSync(pid)
      yield* Effect.scoped(openSqliteStore(directory))
    })
  )

  it.live("O1 O2 O3 a second process learns who works there, reads beside it, and takes over when it was killed", () =>
    Effect.gen(function* () {
      const directory = aDirectory()
      const child = yield* spawnChild("owner.ts", directory)
      assert.strictEqual(yield* firstLine(child), "owns under epoch 1")
      const error = yield* refusal(directory)
      assert.strictEqual(error._tag, "StoreBusy")
      assert.strictEqual(
        error.message,
        `another Reverie process (pid ${child.pid}) works on ${directory}; stop it, or use another --data directory`
      )
      const looked = yield* openSqliteStore(directory, { readOnly: true }).pipe(
        Effect.flatMap(({ ledger }) => ledger.inspect(anAddress())),
        Effect.scoped
      )
      assert.strictEqual(looked?.epoch, 1)
      yield* child.kill
      const { mailbox } = yield* openSqliteStore(directory)
      const hold = yield* mailbox.claim({ address: anAddress(), worker: "parent", leaseMillis: 1_000 })
      assert.deepStrictEqual([hold.claim.epoch, hold.attempts], [2, 2])
    })
  )
})

describe("an opening for reading", () => {
  it.effect("S3 reads everything and refuses every write", () =>
    Effect.gen(function* () {
      const directory = yield* used
      const { ledger, mailbox } = yield* openSqliteStore(directory, { readOnly: true })
      assert.deepStrictEqual(yield* ledger.totals, { accepted: 1, settled: 0, dead: 0, discarded: 0 })
      assert.deepStrictEqual(yield* mailbox.due(10), [anAddress()])
      const accept = yield* Effect.flip(mailbox.accept(anEnvelope({ id: "new", to: anAddress() })))
      const claim = yield* Effect.flip(mailbox.claim({ address: anAddress(), worker: "w", leaseMillis: 1 }))
      assert.deepStrictEqual([accept._tag, claim._tag], ["MailboxUnavailable", "MailboxUnavailable"])
      assert.strictEqual((yield* ledger.totals).accepted, 1)
    })
  )

  it.effect("S3 takes no lock: an owner opens beside it and its writes are seen", () =>
    Effect.gen(function* () {
      const directory = yield* used
      const reader = yield* openSqliteStore(directory, { readOnly: true })
      const owner = yield* openSqliteStore(directory)
      yield* owner.mailbox.accept(anEnvelope({ id: "second", to: anAddress() }))
      assert.strictEqual((yield* reader.ledger.totals).accepted, 2)
    })
  )

  it.effect("S1 finds nothing where nothing is, and makes nothing there", () =>
    Effect.gen(function* () {
      const directory = aDirectory()
      const error = yield* refusal(directory, { readOnly: true })
      assert.strictEqual(error.message, `${directory} can not be opened: there is no Reverie data in it`)
      mkdirSync(directory)
      writeFileSync(databaseIn(directory), "")
      const empty = yield* refusal(directory, { readOnly: true })
      assert.strictEqual(empty.message, error.message)
      assert.strictEqual(readFileSync(databaseIn(directory)).length, 0)
    })
  )
})

describe("what can not be opened", () => {
  it.effect("V2 data of a newer format is refused with both versions, and left as it is", () =>
    Effect.gen(function* () {
      const directory = yield* used
      const newer = formats.length + 7
      tamper(directory, `PRAGMA user_version = ${newer}`)
      const before = readFileSync(databaseIn(directory))
      for (const readOnly of [false, true]) {
        const error = yield* refusal(directory, { readOnly })
        assert.strictEqual(error._tag, "StoreFormatNewer")
        assert.include(
          error.message,
          `format ${newer}, this Reverie reads up to format ${formats.length}; upgrade Reverie`
        )
      }
      assert.deepStrictEqual(readFileSync(databaseIn(directory)), before)
      tamper(directory, `PRAGMA user_version = ${formats.length}`)
      const { ledger } = yield* openSqliteStore(directory)
      assert.strictEqual((yield* ledger.totals).accepted, 1)
    })
  )

  it.effect("V2 the database of another program is refused and left as it is", () =>
    Effect.gen(function* () {
      const directory = aDirectory()
      mkdirSync(directory)
      tamper(directory, "CREATE TABLE recipes (name TEXT)")
      const before = readFileSync(databaseIn(directory))
      const error = yield* refusal(directory)
      assert.strictEqual(error._tag, "StoreDamaged")
      assert.include(error.message, "it was written by another program")
      assert.deepStrictEqual(readFileSync(databaseIn(directory)), before)
    })
  )

  it.effect("V2 a file that is no database is refused and left as it is", () =>
    Effect.gen(function* () {
      const directory = aDirectory()
      mkdirSync(directory)
      const noise = "no database, but long enough to look like one\n".repeat(100)
      writeFileSync(databaseIn(directory), noise)
      for (const readOnly of [false, true]) {
        const error = yield* refusal(directory, { readOnly })
        assert.strictEqual(error._tag, "StoreDamaged")
        assert.include(error.message, databaseIn(directory))
      }
      assert.strictEqual(readFileSync(databaseIn(directory), "utf8"), noise)
    })
  )

  it.effect("S1 a table that is missing is found at the opening", () =>
    Effect.gen(function* () {
      const directory = yield* used
      tamper(directory, "DROP TABLE dead_letters")
      assert.include((yield* refusal(directory)).message, "no such table: dead_letters")
    })
  )

  it.effect("a page damaged later is a typed error of the reading that meets it", () =>
    Effect.gen(function* () {
      const directory = yield* used
      const bytes = readFileSync(databaseIn(directory))
      const pageBytes = bytes.readUInt16BE(16)
      assert.strictEqual(pageBytes, 512)
      // All that stands behind the first pages, which hold the schema.
      bytes.fill(0xa5, 12 * pageBytes)
      writeFileSync(databaseIn(directory), bytes)
      const error = yield* openSqliteStore(directory).pipe(
        Effect.flatMap(({ ledger }) => ledger.list(undefined, 10)),
        Effect.scoped,
        Effect.flip
      )
      assert.include(error.message, "damaged")
      assert.strictEqual(error.recovery, "stop")
    })
  )

  it.effect("S1 a path that is or leads through a file is refused", () =>
    Effect.gen(function* () {
      const file = aDirectory()
      writeFileSync(file, "")
      for (const directory of [file, join(file, "deeper")]) {
        assert.strictEqual((yield* refusal(directory)).message, `${directory} can not be opened: it is not a directory`)
      }
    })
  )

  it.effect.skipIf(process.getuid?.() === 0)("S1 a directory that may not be written is refused", () =>
    Effect.gen(function* () {
      const directory = aDirectory()
      mkdirSync(directory)
      chmodSync(directory, 0o500)
      assert.include((yield* refusal(directory)).message, "check the permissions")
    })
  )

  it.effect("S1 a refused opening leaves nothing locked", () =>
    Effect.gen(function* () {
      const directory = aDirectory()
      mkdirSync(directory)
      writeFileSync(databaseIn(directory), "no database".repeat(100))
      yield* refusal(directory)
      rmSync(databaseIn(directory))
      yield* Effect.scoped(openSqliteStore(directory))
    })
  )
})
