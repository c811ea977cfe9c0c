import { assert, test } from "@effect/vitest"
import { INDEX_START, type MemoryEntry, Recall, type RecallUnavailable } from "@reverie/memory"
import { AssistantId, TenantId } from "@reverie/protocol"
import { postgresSays } from "@reverie/testkit/servers"
import { sharePostgres } from "@reverie/testkit/shared-servers"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type { RecallPostgresOptions } from "../src/database.ts"
import { recallTuned } from "../src/recall.ts"
import { setTimeout as sleep } from "node:timers/promises"

const postgres = sharePostgres({ fsync: false })
const url = () => postgres.server().url
const says = (sql: string) => postgresSays(url(), sql)

let schemas = 0
const aSchema = () => `open_${++schemas}`

const withRecall = <A, E>(
  { many, ...options }: Partial<RecallPostgresOptions> & { readonly schema: string; readonly many?: number },
  use: (recall: Recall["Service"]) => Effect.Effect<A, E>
) =>
  Effect.runPromise(
    Recall.use(use).pipe(
      Effect.provide(
        recallTuned({ url: Redacted.make(url()), connections: 2, ...options }, many === undefined ? {} : { many })
      )
    )
  )

const address = (tenant: string, assistant = "ada") => ({
  tenant: TenantId.make(tenant),
  assistant: AssistantId.make(assistant)
})
const ada = address("harbor")

const entry = (key: string, text: string, readers: MemoryEntry["readers"] = "owner"): MemoryEntry => ({
  id: `p/${key}`,
  kind: "passage",
  at: 1_600_000_000_000,
  text,
  entities: [],
  tags: [],
  trust: 0.9,
  importance: 1,
  readers
})

const one = { from: INDEX_START, to: { no: 1, digest: "one" } }
const telling = (recall: Recall["Service"], owner: typeof ada, ...entries: ReadonlyArray<MemoryEntry>) =>
  recall.apply(
    owner,
    entries.map((each) => ({ type: "put", entry: each })),
    one
  )
const asking = (recall: Recall["Service"], viewer: typeof ada, text: string) =>
  Effect.map(
    recall.search(viewer, { text, search: "fts", scope: "fleet", limit: 10, now: 1_700_000_000_000 }),
    (hits) => hits.map((hit) => hit.entry.id)
  )
const failing = <A>(effect: Effect.Effect<A, RecallUnavailable>) =>
  Effect.map(Effect.flip(effect), ({ message }) => message)

postgres.describe("the schema of an index on PostgreSQL", () => {
  test("D3 what was told is there after another opening; a schema that was dropped is made anew, empty, by who is at work", async () => {
    const schema = aSchema()
    await withRecall({ schema }, (recall) => telling(recall, ada, entry("a", "the tide is high")))
    await withRecall({ schema }, (recall) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* recall.position(ada), one.to)
        assert.deepStrictEqual(yield* asking(recall, ada, "tide"), ["p/a"])
        yield* Effect.promise(() => says(`drop schema ${schema} cascade`))
        assert.deepStrictEqual(yield* recall.position(ada), INDEX_START)
        yield* telling(recall, ada, entry("b", "the ebb tide"))
        assert.deepStrictEqual(yield* asking(recall, ada, "tide"), ["p/b"])
      })
    )
  })

  test("D3 tables of an older format are made anew, empty; those of a newer one are left alone", async () => {
    const schema = aSchema()
    await withRecall({ schema }, (recall) => telling(recall, ada, entry("a", "the tide is high")))
    await says(`update ${schema}.layout set format = format + 1`)
    const refused = await withRecall({ schema }, (recall) => failing(recall.position(ada)))
    assert.match(refused, /reads up to format \d+; upgrade Reverie/)
    await says(`update ${schema}.layout set format = 0`)
    await withRecall({ schema }, (recall) =>
      Effect.map(recall.position(ada), (position) => assert.deepStrictEqual(position, INDEX_START))
    )
  })

  test("D1 many who open an empty schema at once find one index in it", async () => {
    const schema = aSchema()
    const opened = Array.from({ length: 6 }, (_, each) =>
      withRecall({ schema }, (recall) => telling(recall, address("harbor", `a${each}`), entry("a", "the tide")))
    )
    await Promise.all(opened)
    const [row] = await says(`select count(*) from ${schema}.owners`)
    assert.deepStrictEqual(row, ["6"])
  })

  test("D1 with no server every verb fails without its password, and the next one asks again", async () => {
    const away = Redacted.make("postgres://reverie:sesame@127.0.0.1:1/none")
    const message = await withRecall({ schema: aSchema(), url: away, deadlineMillis: 2_000 }, (recall) =>
      Effect.andThen(failing(recall.position(ada)), failing(asking(recall, ada, "tide")))
    )
    assert.notInclude(message, "sesame")
    const told = await withRecall({ schema: aSchema(), url: away, deadlineMillis: 2_000, many: 0 }, (recall) =>
      failing(asking(recall, ada, "tide"))
    )
    assert.strictEqual(told, message, "a thread says what the process would")
  })

  test("R3 from the hundredth search on they are done by connections of a thread, which find the same", async () => {
    const schema = aSchema()
    const busy = async () =>
      (await says(`select count(*) from pg_stat_activity where application_name = 'reverie recall'`))[0]?.[0]
    await withRecall({ schema, connections: 1 }, (recall) =>
      Effect.gen(function* () {
        yield* telling(recall, ada, entry("a", "the tide is high"))
        assert.deepStrictEqual(yield* asking(recall, ada, "tide"), ["p/a"])
        const before = yield* Effect.promise(busy)
        for (let each = 0; each < 100; each++) assert.deepStrictEqual(yield* asking(recall, ada, "tide"), ["p/a"])
        assert.strictEqual(Number(yield* Effect.promise(busy)), Number(before) + 1)
      })
    )
  })

  test("T1 who is held to some tenants finds along the index what these may read, and nothing of others by any statement", async () => {
    const schema = aSchema()
    await withRecall({ schema }, (recall) =>
      Effect.gen(function* () {
        yield* telling(recall, ada, entry("a", "the tide is high", "fleet"))
        yield* telling(recall, address("tower"), entry("b", "the tide is low", "fleet"))
        yield* recall.prepareVectors({ id: "north", dimensions: 2 })
        const vector = [1, 0]
        yield* recall.putVectors("north", [
          { address: ada, id: "p/a", vector },
          { address: address("tower"), id: "p/b", vector }
        ])
      })
    )
    await says(`create role recall_guest login`)
    await says(`grant usage on schema ${schema} to recall_guest`)
    await says(`grant select, insert, update, delete on all tables in schema ${schema} to recall_guest`)
    const guest = new URL(url())
    guest.username = "recall_guest"
    guest.password = ""
    const options = { schema, url: Redacted.make(guest.href), tenants: [TenantId.make("harbor")] }
    await withRecall({ ...options, many: 0 }, (recall) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* asking(recall, ada, "tide"), ["p/a"])
        assert.deepStrictEqual(yield* asking(recall, address("tower"), "tide"), [])
      })
    )
    await withRecall(options, (recall) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* asking(recall, ada, "tide"), ["p/a"])
        assert.deepStrictEqual(yield* asking(recall, address("harbor", "bob"), "tide"), ["p/a"])
        assert.deepStrictEqual(yield* asking(recall, address("tower"), "tide"), [])
        assert.deepStrictEqual(yield* recall.position(address("tower")), INDEX_START)
        yield* recall.apply(ada, [{ type: "put", entry: entry("c", "the third berth") }], {
          from: one.to,
          to: { no: 2, digest: "two" }
        })
        assert.deepStrictEqual(yield* asking(recall, ada, "berth"), ["p/c"])
        assert.include(yield* failing(telling(recall, address("tower", "eve"), entry("x", "x"))), "row-level security")
      })
    )
    const seen = await postgresSays(
      guest.href,
      `begin; set local app.tenants = 'harbor'; select count(*) from ${schema}.entries where entry like '%low%'`
    )
    assert.deepStrictEqual(seen.at(-1), ["0"])
    await says(`drop owned by recall_guest; drop role recall_guest`)
  })

  test("T1 words and what has a vector are found along their indexes, however small the tables are, under a policy too", async () => {
    const schema = aSchema()
    await withRecall({ schema }, (recall) => telling(recall, ada, entry("a", "the tide is high")))
    const plan = await says(
      `set enable_seqscan = off; set search_path = ${schema}; explain select entry from words w where w.keys && '{1,2}'`
    )
    assert.include(plan.map(([line]) => line).join("\n"), "words_keys")
  })

  test("R1 two who apply from the same position at once: one is applied, and both are answered where the index stands", async () => {
    const schema = aSchema()
    await withRecall({ schema, connections: 4 }, (recall) =>
      Effect.gen(function* () {
        const spans = Array.from({ length: 6 }, (_, each) => ({
          from: INDEX_START,
          to: { no: 1, digest: `life ${each}` }
        }))
        const answers = yield* Effect.forEach(
          spans,
          (span, each) => recall.apply(ada, [{ type: "put", entry: entry(`${each}`, "the tide") }], span),
          { concurrency: 6 }
        )
        assert.strictEqual(new Set(answers.map(({ digest }) => digest)).size, 1)
        assert.strictEqual(yield* recall.count(ada), 1)
        const same = answers[0] ?? INDEX_START
        yield* Effect.forEach(
          spans,
          (_, each) =>
            recall.apply(
              ada,
              [
                { type: "fact", of: "p/0", fact: `f${each}`, text: "x" },
                { type: "put", entry: entry(`n${each}`, "a berth") }
              ],
              {
                from: same,
                to: same
              }
            ),
          { concurrency: 6 }
        )
        assert.strictEqual(yield* recall.count(ada), 7)
      })
    )
    const [row] = await says(`select count(*) from ${schema}.df where n <= 0`)
    assert.deepStrictEqual(row, ["0"])
  })

  test("I5 of who is erased no text, no number and no vector is left in any table", async () => {
    const schema = aSchema()
    await withRecall({ schema }, (recall) =>
      Effect.gen(function* () {
        yield* recall.prepareVectors({ id: "north", dimensions: 2 })
        yield* telling(
          recall,
          ada,
          ...Array.from({ length: 600 }, (_, each) => entry(`${each}`, `tide ${each}`, "fleet"))
        )
        yield* recall.putVectors("north", [{ address: ada, id: "p/1", vector: [1, 0] }])
        yield* recall.erase(ada)
      })
    )
    for (const table of ["owners", "entries", "words", "df", "vectors", "wanting"]) {
      assert.deepStrictEqual(await says(`select count(*) from ${schema}.${table}`), [["0"]], table)
    }
  })

  test("D5 tables that are not made in time leave no one after them in what was begun", async () => {
    const schema = aSchema()
    await withRecall({ schema, connections: 1, deadlineMillis: 2_000 }, (recall) =>
      Effect.gen(function* () {
        // Someone else is about to make them.
        const other = postgresSays(
          url(),
          "BEGIN",
          `SELECT pg_advisory_xact_lock(hashtextextended('reverie recall ${schema}', 0))::text`,
          "SELECT pg_sleep(2.6)::text",
          "COMMIT"
        )
        yield* Effect.promise(async () => {
          const held = "select count(*) from pg_stat_activity where query like 'SELECT pg_sleep(2.6)%'"
          while ((await says(held))[0]?.[0] === "0") await sleep(5)
        })
        const late = yield* Effect.result(recall.position(ada))
        assert.isTrue(Result.isFailure(late))
        yield* Effect.promise(() => other)
        assert.deepStrictEqual(yield* recall.position(ada), INDEX_START)
      })
    )
  })
})
