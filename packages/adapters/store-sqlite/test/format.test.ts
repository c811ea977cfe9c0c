import { createHash } from "node:crypto"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, it } from "@effect/vitest"
import { openSqliteStore } from "@reverie/store-sqlite"
import { anAddress, anEntry, anEnvelope, aState } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { describe, test } from "vitest"
import { knownFormat, migrate, presentFormat } from "../src/format.ts"
import { formats } from "../src/formats.ts"
import { aDirectory } from "./directories.ts"

const place = { directory: "somewhere", file: "somewhere/reverie.db" }
const steps = [
  "CREATE TABLE things (name TEXT)",
  "ALTER TABLE things ADD COLUMN size INTEGER; UPDATE things SET size = length(name)",
  "CREATE INDEX things_size ON things (size)"
]

const things = (database: DatabaseSync) =>
  database
    .prepare("SELECT * FROM things")
    .all()
    .map((row) => ({ ...row }))

describe("migration", () => {
  for (let from = 0; from <= steps.length; from++) {
    test(`V1 a database of format ${from} becomes one of format ${steps.length} and keeps its rows`, () => {
      const database = new DatabaseSync(":memory:")
      migrate(database, 0, steps.slice(0, from))
      if (from > 0) database.exec("INSERT INTO things (name) VALUES ('anchor')")
      assert.deepStrictEqual(knownFormat(database, place, steps), Result.succeed(from))
      migrate(database, from, steps)
      assert.deepStrictEqual(presentFormat(database, place, steps), Result.void)
      const names = things(database).map(({ name }) => name)
      assert.deepStrictEqual(names, from === 0 ? [] : ["anchor"])
      if (from === 1) assert.deepStrictEqual(things(database), [{ name: "anchor", size: 6 }])
    })
  }

  test("V1 a step that fails leaves the database in the format it had", () => {
    const database = new DatabaseSync(":memory:")
    migrate(database, 0, steps.slice(0, 1))
    database.exec("INSERT INTO things (name) VALUES ('anchor')")
    assert.throws(() => migrate(database, 1, [...steps, "CREATE TABLE things (again TEXT)"]), /already exists/)
    assert.deepStrictEqual(knownFormat(database, place, steps), Result.succeed(1))
    assert.deepStrictEqual(things(database), [{ name: "anchor" }])
    assert.isFalse(database.isTransaction)
  })

  test("V2 an older format is distinguished from a newer one", () => {
    const database = new DatabaseSync(":memory:")
    migrate(database, 0, steps.slice(0, 2))
    const older = presentFormat(database, place, steps)
    const newer = knownFormat(database, place, steps.slice(0, 1))
    assert.strictEqual(Result.isFailure(older) && older.failure._tag, "StoreFormatOlder")
    assert.strictEqual(Result.isFailure(newer) && newer.failure._tag, "StoreFormatNewer")
  })
})

describe("the formats of Reverie", () => {
  // A new format is a new step at the end, with its digest. Changing a released step would leave existing data behind.
  const digests = [
    "6b7e6fa6197e42b0f00b9549bd68898462cbe8924d8b16973ff08ec94f0e8657",
    "3fe162d0b78850d11518d4dd56918ad577d8a37fa71199c691359cbd0295c69d",
    "6e2005f016a8e6312072a3697a3129f043e3ce42f0aaaf53910d70e55280e2d9",
    "f627c9a38e78a5870bcb11190a7656ae52bd7ca3c4ea128e41bab4d11ca00eb7"
  ]

  test("no released step has changed", () => {
    assert.deepStrictEqual(
      formats.map((step) => createHash("sha256").update(step).digest("hex")),
      digests
    )
  })

  test("V2 data of the time before the first release is refused in one line, and left as it is", () => {
    const database = new DatabaseSync(":memory:")
    database.exec("PRAGMA application_id = 0x52565245; PRAGMA user_version = 6; CREATE TABLE assistants (key INTEGER)")
    const found = knownFormat(database, place, formats)
    assert.strictEqual(
      Result.isFailure(found) && found.failure.message,
      "somewhere has data of a Reverie before the first release, which this one does not read; " +
        "use another --data directory"
    )
    assert.deepStrictEqual(
      database
        .prepare("SELECT name FROM sqlite_schema")
        .all()
        .map(({ name }) => name),
      ["assistants"]
    )
  })

  for (let from = 1; from <= formats.length; from++) {
    it.effect(`V1 a data directory of format ${from} opens and works`, () =>
      Effect.gen(function* () {
        const directory = aDirectory()
        mkdirSync(directory)
        const database = new DatabaseSync(join(directory, "reverie.db"))
        migrate(database, 0, formats.slice(0, from))
        database.close()
        const { ledger, mailbox } = yield* openSqliteStore(directory)
        yield* ledger.create({ address: anAddress(), state: aState(), entry: anEntry() })
        yield* mailbox.accept(anEnvelope({ to: anAddress() }))
        assert.deepStrictEqual(yield* mailbox.due(1), [anAddress()])
      })
    )
  }
})
