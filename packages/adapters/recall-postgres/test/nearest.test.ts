import { assert, test } from "@effect/vitest"
import { INDEX_START, type MemoryEntry, Recall } from "@reverie/memory"
import { AssistantId, TenantId } from "@reverie/protocol"
import { postgresSays } from "@reverie/testkit/servers"
import { sharePgvector } from "@reverie/testkit/shared-servers"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { setTimeout as sleep } from "node:timers/promises"
import type { RecallPostgresOptions } from "../src/database.ts"
import { recallTuned } from "../src/recall.ts"

const postgres = await sharePgvector({ fsync: false })
const url = () => postgres.server().url
const says = (...sql: ReadonlyArray<string>) => postgresSays(url(), ...sql)

let schemas = 0
const aSchema = () => `near_${++schemas}`

const withRecall = <A, E>(
  options: Partial<RecallPostgresOptions> & { readonly schema: string },
  use: (recall: Recall["Service"]) => Effect.Effect<A, E>
) =>
  Effect.runPromise(
    Recall.use(use).pipe(
      Effect.provide(recallTuned({ url: Redacted.make(url()), connections: 2, ...options }, {}), { local: true })
    )
  )

const ada = { tenant: TenantId.make("harbor"), assistant: AssistantId.make("ada") }

const entry = (key: string): MemoryEntry => ({
  id: `p/${key}`,
  kind: "passage",
  at: 1_600_000_000_000,
  text: `passage ${key}`,
  entities: [],
  tags: key === "old" ? ["log"] : [],
  trust: 0.9,
  importance: 1,
  readers: "owner"
})

const north = { id: "north", dimensions: 4 }
const vectors = { old: [1, 0, 0, 0.1], young: [0, 1, 0, 0] }

const told = (recall: Recall["Service"]) =>
  Effect.gen(function* () {
    yield* recall.prepareVectors(north)
    const changes = Object.keys(vectors).map((key) => ({ type: "put" as const, entry: entry(key) }))
    yield* recall.apply(ada, changes, { from: INDEX_START, to: { no: 1, digest: "one" } })
    const rows = Object.entries(vectors).map(([key, vector]) => ({ address: ada, id: `p/${key}`, vector }))
    yield* recall.putVectors(north.id, rows)
  })

const asked = (
  recall: Recall["Service"],
  vector: ReadonlyArray<number>,
  more: { readonly tags?: ReadonlyArray<string> } = {}
) =>
  Effect.map(
    recall.search(ada, { text: "", search: "vector", scope: "own", limit: 1, now: 1_700_000_000_000, vector, ...more }),
    (hits) => hits.map(({ entry: { id }, why }) => [id, why.vector?.score] as const)
  )

/** Vectors of the group of Ada that were written after hers, of entries that are gone. */
const crowd = (schema: string, bytes: string, count = 17_000) => `
  insert into ${schema}.vectors (model, entry, grp, tenant, stamp, vector)
    select v.model, 1000 + i, v.grp, v.tenant, v.stamp + 1, '${bytes}'
    from generate_series(1, ${count}) i, (select * from ${schema}.vectors order by entry limit 1) v`

const far = String.raw`\x007f0000`
const closest = String.raw`\x7f00000d`

/** How the index says that vectors are compared. */
const compared = ({ status }: Recall["Service"]) =>
  status === undefined ? Effect.undefined : Effect.map(status, (told) => told.compared)

/** Waits until older vectors have their place. */
const inDatabase = (recall: Recall["Service"]) =>
  Effect.gen(function* () {
    while ((yield* compared(recall)) !== "database") yield* Effect.promise(() => sleep(5))
  })

/** A database of its own, without the extension, and the names of roles for it. */
const aDatabase = async () => {
  const { drop, url: made } = await postgres.server().freshDatabase()
  return { url: made, says: (...sql: ReadonlyArray<string>) => postgresSays(made, ...sql), [Symbol.asyncDispose]: drop }
}

postgres.describe("nearest entries in PostgreSQL", () => {
  test("N4 an old entry is found by meaning, however many vectors its group has", async () => {
    const schema = aSchema()
    await withRecall({ schema }, (recall) =>
      Effect.gen(function* () {
        yield* told(recall)
        yield* Effect.promise(() => says(crowd(schema, far)))
        const [hit] = yield* asked(recall, [1, 0, 0, 0])
        assert.strictEqual(hit?.[0], "p/old")
        assert.closeTo(hit?.[1] ?? 0, 1 / Math.hypot(1, 0.1), 1e-3)
        assert.strictEqual(yield* compared(recall), "database")
      })
    )
  })

  test("N4 what is gone, however near, hides nothing, and neither does what fulfils no condition", async () => {
    const schema = aSchema()
    await withRecall({ schema }, (recall) =>
      Effect.gen(function* () {
        yield* told(recall)
        yield* Effect.promise(() => says(crowd(schema, closest, 2_000)))
        const found = Effect.map(asked(recall, [1, 0, 0, 0.1]), (hits) => hits.map(([id]) => id))
        assert.deepStrictEqual(yield* found, ["p/old"])
        const tagged = yield* asked(recall, [0, 1, 0, 0], { tags: ["log"] })
        assert.deepStrictEqual(
          tagged.map(([id]) => id),
          ["p/old"]
        )
      })
    )
  })

  test("N4 a question without a direction, or with numbers beyond any measure, is as near to everything as in the process", async () => {
    const schema = aSchema()
    const vectorsOfAll = [
      [0, 0, 0, 0],
      [1e300, 0, 0, 1e299],
      [1e-300, 0, 0, 1e-301]
    ]
    const answers = (extension: boolean) =>
      withRecall({ schema, extension }, (recall) =>
        Effect.gen(function* () {
          if (!extension) yield* told(recall)
          else yield* inDatabase(recall)
          return yield* Effect.forEach(vectorsOfAll, (vector) => asked(recall, vector))
        })
      )
    const [[noWhere, ...before], [alsoNoWhere, ...after]] = [await answers(false), await answers(true)]
    assert.deepStrictEqual(after, before)
    // Which of those that are equally near comes first is not said.
    assert.deepStrictEqual([noWhere?.[0]?.[1], alsoNoWhere?.[0]?.[1]], [0, 0])
  })

  test("N1 N2 vectors of before the extension get their place, and until then and without it are compared in the process", async () => {
    const schema = aSchema()
    await withRecall({ schema, extension: false }, (recall) =>
      Effect.gen(function* () {
        yield* told(recall)
        assert.strictEqual(yield* compared(recall), "process")
        yield* Effect.promise(() => says(crowd(schema, far)))
        assert.deepStrictEqual(yield* asked(recall, [1, 0, 0, 0]), [])
      })
    )
    await withRecall({ schema }, (recall) =>
      Effect.gen(function* () {
        assert.strictEqual(yield* compared(recall), "process")
        yield* inDatabase(recall)
        assert.strictEqual((yield* asked(recall, [1, 0, 0, 0]))[0]?.[0], "p/old")
      })
    )
    const rows = await says(`select count(*) from ${schema}.vectors where half is null`)
    assert.deepStrictEqual(rows, [["0"]])
  })

  test("N1 who may not make the extension has the vectors compared in the process, with no error", async () => {
    await using database = await aDatabase()
    const role = `near_plain_${process.pid}`
    await database.says(
      `create role ${role} login`,
      `grant create on database ${new URL(database.url).pathname.slice(1)} to ${role}`
    )
    const plain = new URL(database.url)
    plain.username = role
    await withRecall({ schema: aSchema(), url: Redacted.make(plain.href) }, (recall) =>
      Effect.gen(function* () {
        yield* told(recall)
        assert.strictEqual(yield* compared(recall), "process")
        assert.strictEqual((yield* asked(recall, [1, 0, 0, 0]))[0]?.[0], "p/old")
      })
    )
    assert.deepStrictEqual(await database.says("select extname from pg_extension where extname = 'vector'"), [])
    await database.says(`drop owned by ${role} cascade`, `drop role ${role}`)
  })

  test("N3 without the extension, dropped under those at work, they go on, and the next opening has it again", async () => {
    await using database = await aDatabase()
    const options = { schema: aSchema(), url: Redacted.make(database.url) }
    await withRecall(options, (recall) =>
      Effect.gen(function* () {
        yield* told(recall)
        assert.strictEqual((yield* asked(recall, [1, 0, 0, 0]))[0]?.[0], "p/old")
        yield* Effect.promise(() => database.says("drop extension vector cascade"))
        yield* recall.putVectors(north.id, [{ address: ada, id: "p/young", vector: [0, 0, 1, 0] }])
        assert.strictEqual((yield* asked(recall, [0, 0, 1, 0]))[0]?.[0], "p/young")
        assert.strictEqual((yield* asked(recall, [1, 0, 0, 0]))[0]?.[0], "p/old")
      })
    )
    await withRecall(options, (recall) =>
      Effect.gen(function* () {
        yield* inDatabase(recall)
        assert.strictEqual((yield* asked(recall, [0, 0, 1, 0]))[0]?.[0], "p/young")
      })
    )
  })

  test("N1 many who open at once make one extension, and all of them use it", async () => {
    await using database = await aDatabase()
    const opened = Array.from({ length: 5 }, () =>
      withRecall({ schema: aSchema(), url: Redacted.make(database.url), deadlineMillis: 30_000 }, (recall) =>
        Effect.andThen(told(recall), compared(recall))
      )
    )
    assert.deepStrictEqual([...new Set(await Promise.all(opened))], ["database"])
  })

  test("N1 an extension that stands in another schema is used there, and after it was moved too", async () => {
    await using database = await aDatabase()
    await database.says("create schema tools", "create extension vector schema tools")
    const options = { schema: aSchema(), url: Redacted.make(database.url) }
    const found = (recall: Recall["Service"]) => Effect.map(asked(recall, [1, 0, 0, 0]), ([hit]) => hit?.[0])
    await withRecall(options, (recall) =>
      Effect.gen(function* () {
        yield* told(recall)
        assert.strictEqual(yield* found(recall), "p/old")
        assert.strictEqual(yield* compared(recall), "database")
        yield* Effect.promise(() => database.says("alter extension vector set schema public"))
      })
    )
    await withRecall(options, (recall) =>
      Effect.gen(function* () {
        assert.strictEqual(yield* found(recall), "p/old")
        assert.strictEqual(yield* compared(recall), "database")
        yield* recall.putVectors(north.id, [{ address: ada, id: "p/young", vector: [0, 0, 1, 0] }])
      })
    )
  })

  test("D3 put back where the extension can not be, without the table that needs it, the index is made anew", async () => {
    const schema = aSchema()
    await withRecall({ schema }, (recall) => told(recall))
    await says(`drop table ${schema}.vectors`)
    await withRecall({ schema, extension: false }, (recall) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* recall.position(ada), INDEX_START)
        yield* told(recall)
        assert.strictEqual((yield* asked(recall, [1, 0, 0, 0]))[0]?.[0], "p/old")
      })
    )
  })

  test("T1 who is held to some tenants, and has no right on the extension but to read, finds and writes the same way", async () => {
    const schema = aSchema()
    const role = `near_guest_${process.pid}`
    await withRecall({ schema }, (recall) => told(recall))
    await says(
      `create role ${role} login`,
      `grant usage on schema ${schema} to ${role}`,
      `grant select, insert, update, delete on all tables in schema ${schema} to ${role}`
    )
    const guest = new URL(url())
    guest.username = role
    const other = { tenant: TenantId.make("tower"), assistant: ada.assistant }
    const options = { schema, url: Redacted.make(guest.href) }
    await withRecall({ ...options, tenants: [ada.tenant] }, (recall) =>
      Effect.gen(function* () {
        assert.strictEqual((yield* asked(recall, [1, 0, 0, 0]))[0]?.[0], "p/old")
        assert.strictEqual(yield* compared(recall), "database")
        yield* recall.putVectors(north.id, [{ address: ada, id: "p/young", vector: [0, 0, 1, 0] }])
        assert.strictEqual((yield* asked(recall, [0, 0, 1, 0]))[0]?.[0], "p/young")
      })
    )
    await withRecall({ ...options, tenants: [other.tenant] }, (recall) =>
      Effect.map(asked(recall, [1, 0, 0, 0]), (hits) => assert.deepStrictEqual(hits, []))
    )
    await says(`drop owned by ${role}`, `drop role ${role}`)
  })
})
