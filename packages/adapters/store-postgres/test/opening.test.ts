import { assert, it } from "@effect/vitest"

import { anAddress, anEntry, anEnvelope, aState } from "@reverie/testkit"
import { sharePostgres } from "@reverie/testkit/shared-servers"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { migrate, migrations } from "../src/format.ts"
import { aSchema, asRole, openAt, tablesAt } from "./stores.ts"
import { DatabaseFormatNewer, StoreUnreachable, DatabaseUnreleased } from "../src/errors.ts"

const postgres = sharePostgres({ fsync: false, settings: { max_connections: "20" } })
const url = (): string => postgres.server().url

const formatOf = (schema: string) =>
  Effect.gen(function* () {
    const { query } = yield* tablesAt(url(), schema)
    const [row] = yield* query<{ readonly format: number; readonly rows: number }>(
      "SELECT format, (SELECT count(*)::integer FROM store) AS rows FROM store"
    )
    return row
  })

const whoFails = (at: string, schema = aSchema()) => Effect.flip(Effect.scoped(openAt(at, { schema })))

postgres.describe("opening", () => {
  it.effect("V1 makes everything in an empty database, and the second time nothing", () =>
    Effect.gen(function* () {
      const schema = aSchema()
      for (let time = 0; time < 2; time++) {
        const { ledger } = yield* openAt(url(), { schema })
        assert.strictEqual(
          yield* ledger.create({ address: anAddress(), state: aState(), entry: anEntry() }),
          time === 0 ? "created" : "exists"
        )
        assert.deepStrictEqual(yield* formatOf(schema), { format: migrations.length, rows: 1 })
      }
    }).pipe(Effect.scoped)
  )

  it.effect("V1 four stores that are opened at once on an empty schema make it once, again and again", () =>
    Effect.gen(function* () {
      for (let round = 0; round < 2; round++) {
        const schema = aSchema()
        for (let time = 0; time < 2; time++) {
          const stores = yield* Effect.forEach([1, 2, 3, 4], () => openAt(url(), { schema, connections: 2 }), {
            concurrency: "unbounded"
          })
          const creations = yield* Effect.forEach(
            stores,
            ({ ledger }) => ledger.create({ address: anAddress(), state: aState(), entry: anEntry() }),
            { concurrency: "unbounded" }
          )
          assert.strictEqual(creations.filter((creation) => creation === "created").length, time === 0 ? 1 : 0)
        }
        assert.deepStrictEqual(yield* formatOf(schema), { format: migrations.length, rows: 1 })
      }
    }).pipe(Effect.scoped)
  )

  it.effect("V1 a later step runs on the format before it, and what was written stays", () =>
    Effect.gen(function* () {
      const schema = aSchema()
      const address = anAddress()
      const before = yield* openAt(url(), { schema })
      yield* before.ledger.create({ address, state: aState(), entry: anEntry() })
      yield* before.mailbox.accept(anEnvelope({ id: "m-1", to: address }))
      const database = yield* tablesAt(url(), schema)
      const steps = [...migrations, "ALTER TABLE store ADD COLUMN later text; UPDATE store SET later = 'it''s there'"]
      yield* migrate(database, { place: "here", schema }, steps)
      const [row] = yield* database.query<object>("SELECT format, later FROM store")
      assert.deepStrictEqual({ ...row }, { format: steps.length, later: "it's there" })
      assert.strictEqual((yield* before.ledger.inspect(address))?.waiting, 1)
    }).pipe(Effect.scoped)
  )

  it.effect(
    "V1 what the server noted of texts for its plans is gone with the fifth format, also of a table that became empty",
    () =>
      Effect.gen(function* () {
        const schema = aSchema()
        const database = yield* tablesAt(url(), schema)
        const place = { place: "here", schema }
        yield* migrate(database, place, migrations.slice(0, 4))
        const noted = Effect.map(
          database.query<{ readonly said: string }>("SELECT s::text AS said FROM pg_stats s WHERE schemaname = $1", [
            schema
          ]),
          (rows) => rows.filter(({ said }) => said.includes("canary")).length
        )
        yield* database.query(
          `INSERT INTO records (assistant, kind, key, tenant, body)
         SELECT 1, 'fact', 'fact-' || n, 't', '"canary ' || n || '"' FROM generate_series(1, 20) n`
        )
        yield* database.query("ANALYZE records")
        yield* database.query("DELETE FROM records")
        yield* database.query("ANALYZE records")
        assert.isAbove(yield* noted, 0)
        yield* migrate(database, place)
        assert.strictEqual(yield* noted, 0)
        assert.deepStrictEqual(yield* formatOf(schema), { format: migrations.length, rows: 1 })
      }).pipe(Effect.scoped)
  )

  it.effect("V2 data of the time before the first release is refused in one line, and left as it is", () =>
    Effect.gen(function* () {
      const schema = aSchema()
      yield* openAt(url(), { schema })
      const { query } = yield* tablesAt(url(), schema)
      yield* query("ALTER TABLE store DROP COLUMN released")
      yield* query("UPDATE store SET format = 8")
      const error = yield* whoFails(url(), schema)
      assert.instanceOf(error, DatabaseUnreleased)
      assert.match(
        error.message,
        /has data of a Reverie before the first release in schema \S+, which this one does not read; use another/
      )
      assert.deepStrictEqual(yield* formatOf(schema), { format: 8, rows: 1 })
    }).pipe(Effect.scoped)
  )

  it.effect("V1 a step that fails leaves the format as it was", () =>
    Effect.gen(function* () {
      const schema = aSchema()
      yield* openAt(url(), { schema })
      const database = yield* tablesAt(url(), schema)
      const steps = [...migrations, "CREATE TABLE fine (a integer)", "CREATE TABLE broken (a nothing)"]
      yield* Effect.flip(migrate(database, { place: "here", schema }, steps))
      assert.deepStrictEqual(yield* formatOf(schema), { format: migrations.length, rows: 1 })
      const [row] = yield* database.query<{ readonly there: boolean }>(
        "SELECT to_regclass('fine') IS NOT NULL AS there"
      )
      assert.strictEqual(row?.there, false)
    }).pipe(Effect.scoped)
  )

  it.effect("a schema may be called as a deployment is", () =>
    Effect.gen(function* () {
      for (const schema of ["Reverie-Prod", "2nd"]) {
        const { ledger } = yield* openAt(url(), { schema })
        assert.strictEqual(yield* ledger.create({ address: anAddress(), state: aState(), entry: anEntry() }), "created")
        yield* openAt(url(), { schema })
      }
    }).pipe(Effect.scoped)
  )

  it.effect("V2 a newer format is refused and nothing is changed", () =>
    Effect.gen(function* () {
      const schema = aSchema()
      yield* openAt(url(), { schema })
      const { query } = yield* tablesAt(url(), schema)
      yield* query("UPDATE store SET format = format + 1")
      const error = yield* whoFails(url(), schema)
      assert.instanceOf(error, DatabaseFormatNewer)
      assert.include(error.message, `format ${migrations.length + 1} in schema ${schema}, this Reverie reads up to`)
      assert.deepStrictEqual(yield* formatOf(schema), { format: migrations.length + 1, rows: 1 })
    }).pipe(Effect.scoped)
  )
})

postgres.describe("who is refused learns so in one line, without a password", () => {
  const told = (error: unknown, ...words: ReadonlyArray<string>): StoreUnreachable => {
    assert.instanceOf(error, StoreUnreachable)
    for (const word of words) assert.include(error.message, word)
    assert.notInclude(error.message, "\n")
    assert.notInclude(error.message, "s3cret")
    return error
  }

  it.effect("S1 no such database", () =>
    Effect.gen(function* () {
      const elsewhere = new URL(url())
      elsewhere.pathname = "/nowhere"
      elsewhere.password = "s3cret"
      const error = told(yield* whoFails(elsewhere.href), "/nowhere can not be opened", "no such database", "createdb")
      assert.strictEqual(error.recovery, "stop")
    })
  )

  it.effect("S1 no such user", () =>
    Effect.gen(function* () {
      const error = told(yield* whoFails(asRole(url(), "nobody_here", "s3cret")), "nobody_here@", "check the URL")
      assert.strictEqual(error.recovery, "stop")
    })
  )

  it.effect("S1 no right to make the schema, and none to use it", () =>
    Effect.gen(function* () {
      const schema = aSchema()
      const { query } = yield* tablesAt(url(), schema)
      yield* query("CREATE ROLE guest LOGIN")
      told(yield* whoFails(asRole(url(), "guest"), schema), "this role may not do that", "grant")
      yield* openAt(url(), { schema })
      told(yield* whoFails(asRole(url(), "guest"), schema), "this role may not do that", "grant")
    }).pipe(Effect.scoped)
  )

  it.effect("S1 no one listens there: it may pass", () =>
    Effect.gen(function* () {
      const error = told(yield* whoFails("postgres://user:s3cret@127.0.0.1:1/db"), "postgres://user@127.0.0.1:1/db")
      assert.strictEqual(error.recovery, "retry")
    })
  )

  it.effect("S1 no name for a schema", () =>
    Effect.gen(function* () {
      for (const schema of ["", 'a"; DROP SCHEMA public; --', "a b", "x".repeat(64)]) {
        told(yield* whoFails(url(), schema), "a schema is called by letters")
      }
    })
  )

  it.effect("S1 no URL at all", () =>
    Effect.gen(function* () {
      told(yield* whoFails("not a s3cret url"), "its URL can not be read")
    })
  )

  it.live("S1 no free connection: it may pass, and does", () =>
    Effect.gen(function* () {
      const schema = aSchema()
      const admin = yield* tablesAt(url(), schema)
      yield* admin.query("CREATE ROLE crowded LOGIN CONNECTION LIMIT 1")
      yield* openAt(url(), { schema })
      yield* admin.query(`GRANT USAGE ON SCHEMA ${schema} TO crowded`)
      yield* admin.query(`GRANT ALL ON ALL TABLES IN SCHEMA ${schema} TO crowded`)
      const crowded = asRole(url(), "crowded")
      yield* Effect.scoped(
        Effect.gen(function* () {
          const first = yield* openAt(crowded, { schema })
          yield* first.ledger.totals
          const error = told(yield* whoFails(crowded, schema), "no free connection", "connections")
          assert.strictEqual(error.recovery, "retry")
        })
      )
      yield* Effect.retry(openAt(crowded, { schema }), Schedule.spaced(100))
    }).pipe(Effect.scoped)
  )
})
