import { assert, it } from "@effect/vitest"
import { TenantId } from "@reverie/protocol"
import { anAddress, anEntry, anEnvelope, aState } from "@reverie/testkit"
import { sharePostgres } from "@reverie/testkit/shared-servers"
import * as Effect from "effect/Effect"
import { postgresArchive } from "../src/ports/archive.ts"
import { postgresBlocks } from "../src/ports/blocks.ts"
import type { Database } from "../src/database.ts"
import { postgresLedger } from "../src/ports/ledger.ts"
import { postgresMailbox } from "../src/ports/mailbox.ts"
import { Segments } from "../src/ports/segments.ts"
import { postgresPrompts } from "../src/store.ts"
import { Time } from "../src/time.ts"
import { Writer } from "../src/writer.ts"
import { aSchema, openAt, tablesAt } from "./stores.ts"

const postgres = sharePostgres({ fsync: false })
const url = (): string => postgres.server().url

const ada = anAddress("ada")
const tenant = TenantId.make("harbor")

/** Every look of every port, as the database is asked for it. */
const asked = (real: Database) =>
  Effect.gen(function* () {
    const found = new Set<string>()
    const note =
      (query: Database["query"]): Database["query"] =>
      (sql, values) => {
        if (/^\s*(SELECT|WITH)/.test(sql) && !sql.includes("apply(")) found.add(sql)
        return query(sql, values)
      }
    const database: Database = {
      ...real,
      query: note(real.query),
      transaction: (millis, run) => real.transaction(millis, (query) => run(note(query))),
      moment: (run) => real.moment((query) => run(note(query)))
    }
    const time = new Time("database")
    const writer = new Writer(database, time.learn)
    const mailbox = postgresMailbox(database, writer, time)
    const ledger = postgresLedger(database, writer, time)
    const prompts = postgresPrompts(database, time)
    const blocks = postgresBlocks(database, () => Infinity)
    const archive = postgresArchive(database, new Segments())
    yield* ledger.create({ address: ada, state: aState(), entry: anEntry() })
    yield* archive.archive(ada, 9, 1)
    yield* archive.reached(ada)
    yield* mailbox.accept(anEnvelope({ to: ada }))
    yield* mailbox.pending(ada, ["mail"], 9)
    yield* mailbox.due(9)
    yield* mailbox.nextDue
    yield* ledger.recent(ada, 9)
    yield* ledger.entries(ada, 1, 9)
    yield* ledger.outbox(0, 9)
    yield* ledger.outboxEnd
    yield* ledger.openSends(9)
    yield* ledger.records(ada, ["journal"])
    yield* ledger.inspect(ada)
    yield* ledger.list(undefined, 9)
    yield* ledger.deadLetters(9)
    yield* ledger.discard(ada, anEnvelope().id)
    yield* prompts.append(tenant, [{ kind: "template", key: "k", expected: 0, body: 1 }])
    yield* prompts.current(tenant, "template")
    yield* prompts.history(tenant, { kind: "template", key: "k" }, { limit: 9 })
    const request = { tenant, by: "ada", key: "1", at: 1 }
    const { block } = yield* blocks.create({ owner: "ada", label: "notes", type: "working", content: "x" }, request)
    yield* blocks.list({ tenant, by: "ada" })
    yield* blocks.read({ tenant, by: "ada" }, block, 1)
    yield* blocks.versions({ tenant, by: "ada" }, block)
    return [...found]
  })

/** What was found within the limits is put in order. */
const sortsFew = (sql: string): boolean => sql.includes("row_number()") || sql.includes("CROSS JOIN LATERAL")

const planOf = ({ transaction }: Database, sql: string) =>
  transaction(20_000, (query) =>
    Effect.gen(function* () {
      const count = Math.max(0, ...[...sql.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)))
      yield* query(`PREPARE look AS ${sql}`)
      const nulls = Array.from({ length: count }, () => "NULL").join(", ")
      const rows = yield* query<object>(`EXPLAIN EXECUTE look${count === 0 ? "" : ` (${nulls})`}`)
      yield* query("DEALLOCATE look")
      return rows.map((row) => String(Object.values(row)[0]))
    })
  )

postgres.describe("layout", () => {
  it.effect("I1 no look goes through a table as it lies, and none sorts what grows", () =>
    Effect.gen(function* () {
      const schema = aSchema()
      yield* openAt(url(), { schema })
      const database = yield* tablesAt(url(), schema)
      const looks = yield* asked(database)
      assert.isAbove(looks.length, 20)
      for (const sql of looks) {
        const plan = yield* planOf(database, sql)
        assert.deepStrictEqual(
          plan.filter((step) => /Seq Scan on (?!store)/.test(step) || (/Sort/.test(step) && !sortsFew(sql))),
          [],
          `${sql}\n${plan.join("\n")}`
        )
      }
    }).pipe(Effect.scoped)
  )

  it.effect("T1 T2 only keys and addresses of assistants are in an index, and who rests has no wake", () =>
    Effect.gen(function* () {
      const schema = aSchema()
      const { ledger, mailbox } = yield* openAt(url(), { schema })
      const { query } = yield* tablesAt(url(), schema)
      const indexed = yield* query<{ readonly name: string }>(
        `SELECT DISTINCT a.attname AS name FROM pg_index i
         JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
         WHERE i.indrelid = 'assistants'::regclass ORDER BY 1`
      )
      assert.deepStrictEqual(
        indexed.map(({ name }) => name),
        ["id", "key", "tenant"]
      )
      const wakes = Effect.map(
        query<{ readonly n: number }>("SELECT count(*)::integer AS n FROM wakes"),
        ([row]) => row?.n
      )
      yield* ledger.create({ address: ada, state: aState(), entry: anEntry() })
      assert.strictEqual(yield* wakes, 0)
      yield* mailbox.accept(anEnvelope({ id: "m-1", to: ada }))
      assert.strictEqual(yield* wakes, 1)
      const { claim } = yield* mailbox.claim({ address: ada, worker: "worker-1", leaseMillis: 1_000 })
      const cause = { kind: "envelope", lane: "mail", seq: 1, id: anEnvelope({ id: "m-1" }).id } as const
      yield* ledger.commit(claim, { entry: anEntry({ no: 2, cause }), state: aState() })
      assert.strictEqual(yield* wakes, 0)
    }).pipe(Effect.scoped)
  )
})
