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
import { AT_REST, formats } from "../src/formats.ts"
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

  test("V2 an older format is told apart from a newer one", () => {
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
    "5b3fab6ee0cbea1163f18a77879abde1602cd34f9d4c771a8306b76d20002bed",
    "a70e093a0629a003e2e1af26b77e44a5a5077d0c141097141ac7af20f71c3ce8",
    "f92884b4f5aa639ee88f8a2a899ec5e4da2b6c5c14c21d9809e246643866ef0c",
    "1d7ccb4d30b113f97feb5f6937608d4b5832390529f50ffe1d80911cf455f8cd",
    "cfac18613447baf899e8de8b1c2f05d9af83a180a9f3ea315f7983cf83ad3b6e",
    "5bfa4d8ef8df0875068fdeefdff68bf1eb9bf68ded71dd40e04faa77cb40a1f7"
  ]

  test("no released step has changed", () => {
    assert.deepStrictEqual(
      formats.map((step) => createHash("sha256").update(step).digest("hex")),
      digests
    )
  })

  it.effect("V1 a dead letter of format 3 is told and counted, and can be discarded", () =>
    Effect.gen(function* () {
      const directory = aDirectory()
      mkdirSync(directory)
      const database = new DatabaseSync(join(directory, "reverie.db"))
      migrate(database, 0, formats.slice(0, 3))
      database.exec(`INSERT INTO assistants VALUES (7, ${AT_REST}, 0, 0, 1, 0, 0, 0, 0, 0, 0, 'harbor', 'ada', '{}');
        INSERT INTO dead_letters (assistant, body) VALUES (7, '{"envelope":"m-1","reason":"poison","at":9}');`)
      database.close()
      const { ledger } = yield* openSqliteStore(directory)
      const address = anAddress("ada", "harbor")
      const { id } = anEnvelope({ id: "m-1" })
      assert.deepStrictEqual(yield* ledger.deadLetters(9), [{ address, envelope: id, reason: "poison", at: 9 }])
      assert.deepStrictEqual(yield* ledger.totals, { accepted: 0, settled: 0, dead: 1, discarded: 0 })
      assert.strictEqual(yield* ledger.discard(address, id), "discarded")
      assert.deepStrictEqual(yield* ledger.deadLetters(9), [])
      assert.deepStrictEqual(yield* ledger.totals, { accepted: 0, settled: 0, dead: 1, discarded: 1 })
    })
  )

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
