import { assert, test } from "@effect/vitest"
import { INDEX_START, type MemoryEntry, Recall } from "@reverie/memory"
import { AssistantId, TenantId } from "@reverie/protocol"
import { postgresSays } from "@reverie/testkit/servers"
import { sharePgvector } from "@reverie/testkit/shared-servers"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
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

postgres.describe("nearest entries in PostgreSQL", () => {
  test("N4 an old entry is found by meaning, however many vectors its group has", async () => {
    const schema = aSchema()
    await withRecall({ schema }, (recall) =>
      Effect.gen(function* () {
        yield* told(recall)
        yield* Effect.promise(() => says(crowd(schema, String.raw`\x007f0000`)))
        const [hit] = yield* asked(recall, [1, 0, 0, 0])
        assert.strictEqual(hit?.[0], "p/old")
        assert.closeTo(hit?.[1] ?? 0, 1 / Math.hypot(1, 0.1), 1e-3)
      })
    )
  })
})
