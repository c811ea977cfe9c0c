import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { later } from "../src/later.ts"
import {
  contractIfThere,
  qdrantPlace,
  qdrantPlaceName,
  type QdrantServer,
  startQdrantServer
} from "../src/qdrant-server/index.ts"

interface Answer {
  readonly status: number
  readonly result: unknown
  readonly error: unknown
}

const ask = async (server: QdrantServer, line: string, body?: unknown): Promise<Answer> => {
  const [method = "", path = ""] = line.split(" ")
  const response = await fetch(server.url + path, {
    method,
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
  })
  const answer = (await response.json()) as { result?: unknown; status: { error?: unknown } }
  return { status: response.status, result: answer.result, error: answer.status.error }
}

const id = (n: number): string => `00000000-0000-8000-8000-00000000000${n}`

const keyword = (field_name: string) => ({ field_name, field_schema: { type: "keyword" } })

/** A collection with four points of two tenants, found as `c` and as `alias`. */
const withPoints = async (use: (server: QdrantServer) => Promise<void>): Promise<void> => {
  const server = await startQdrantServer({ contract: contractIfThere() })
  await ask(server, "PUT /collections/c", {
    vectors: { dense: { size: 2, distance: "Cosine" } },
    sparse_vectors: { words: { modifier: "idf" }, plain: {} },
    strict_mode_config: { enabled: true, unindexed_filtering_retrieve: false, unindexed_filtering_update: false },
    metadata: { schema: 1, old: true }
  })
  await ask(server, "PUT /collections/c/index", keyword("tenant"))
  await ask(server, "PUT /collections/c/index", { field_name: "at", field_schema: "datetime" })
  const point = (n: number, tenant: string, dense: ReadonlyArray<number>, indices: ReadonlyArray<number>) => ({
    id: id(n),
    payload: { tenant, n, at: `2026-11-0${n}T00:00:00Z` },
    vector: {
      dense,
      words: { indices, values: indices.map(() => 1) },
      plain: { indices, values: indices.map(() => 1) }
    }
  })
  const points = [
    point(1, "harbor", [1, 0], [10]),
    point(2, "harbor", [0, 2], [10, 20]),
    point(3, "harbor", [3, 3], [20]),
    point(4, "tower", [1, 0], [10])
  ]
  await ask(server, "PUT /collections/c/points?wait=true", { points })
  await ask(server, "POST /collections/aliases", {
    actions: [{ create_alias: { collection_name: "c", alias_name: "alias" } }]
  })
  await use(server)
  assert.deepStrictEqual(server.faults, [])
  await server.close()
}

const rounded = (value: number): number => Math.round(value * 1e4) / 1e4

const found = ({ result }: Answer): ReadonlyArray<readonly [string, number]> =>
  (result as { points: ReadonlyArray<{ id: string; score: number }> }).points.map(({ id, score }) => [
    id.slice(-1),
    rounded(score)
  ])

const harbor = { must: [{ key: "tenant", match: { value: "harbor" } }] }
const query = "POST /collections/alias/points/query"
const dense = { query: [1, 0], using: "dense" }
const words = (over: object = {}) => ({ query: { indices: [10], values: [1] }, using: "words", ...over })

it("Q1 dense vectors are compared by cosine, within the filter", () =>
  withPoints(async (server) => {
    assert.deepStrictEqual(found(await ask(server, query, { ...dense, filter: harbor })), [
      ["1", 1],
      ["3", rounded(Math.SQRT1_2)],
      ["2", 0]
    ])
  }))

it("V2 the rarity of a number counts over the corpus that is asked for, over all points else", () =>
  withPoints(async (server) => {
    const rarity = (all: number, having: number) => rounded(Math.log((all - having + 0.5) / (having + 0.5) + 1))
    const own = words({ filter: harbor, params: { idf: { corpus: harbor } } })
    assert.deepStrictEqual(found(await ask(server, query, own)), [
      ["1", rarity(3, 2)],
      ["2", rarity(3, 2)]
    ])
    assert.deepStrictEqual(found(await ask(server, query, words({ filter: harbor }))), [
      ["1", rarity(4, 3)],
      ["2", rarity(4, 3)]
    ])
    assert.deepStrictEqual(found(await ask(server, query, words({ using: "plain", limit: 1 }))), [["1", 1]])
  }))

it("Q1 Q2 prefetches are fused by their places, and the filter of the request holds for them", () =>
  withPoints(async (server) => {
    const prefetch = [dense, words()]
    const fused = await ask(server, query, { prefetch, query: { rrf: { k: 61, weights: [1, 2] } }, filter: harbor })
    const score = (place: number, weight: number) => 1 / ((place + 1) / weight + 61 - 1)
    assert.deepStrictEqual(found(fused), [
      ["1", rounded(score(0, 1) + score(0, 2))],
      ["2", rounded(score(2, 1) + score(1, 2))],
      ["3", rounded(score(1, 1))]
    ])
    const plain = await ask(server, query, { prefetch, query: { fusion: "rrf" }, filter: harbor, limit: 1 })
    assert.deepStrictEqual(found(plain), [["1", 1]])
    const uneven = await ask(server, query, { prefetch, query: { rrf: { weights: [1] } } })
    assert.strictEqual(uneven.status, 400)
  }))

it("S1 strict mode refuses a filter, a deletion and a corpus by a key without an index", () =>
  withPoints(async (server) => {
    const byNumber = { must: [{ key: "n", range: { gte: 2 } }] }
    const refused = [
      await ask(server, "POST /collections/c/points/count", { filter: { should: [{ must: [byNumber] }] } }),
      await ask(server, "POST /collections/c/points/delete", { filter: byNumber }),
      await ask(server, query, words({ params: { idf: { corpus: byNumber } } })),
      await ask(server, query, { prefetch: [words({ filter: byNumber })], query: { fusion: "rrf" } }),
      await ask(server, "POST /collections/c/points/count", {
        filter: { must: [{ key: "tenant", range: { gte: 2 } }] }
      })
    ]
    for (const { error, status } of refused) {
      assert.strictEqual(status, 400)
      assert.match(String(error), /Index required but not found/)
    }
    const byTime = { filter: { must: [{ key: "at", range: { gt: "2026-11-02T00:00:00Z" } }] } }
    assert.deepStrictEqual((await ask(server, "POST /collections/c/points/count", byTime)).result, { count: 2 })
  }))

it("C1 C2 an update of vectors keeps the others, an upsert replaces the point, and both are checked whole", () =>
  withPoints(async (server) => {
    const vectors = async (): Promise<ReadonlyArray<string>> => {
      const { result } = await ask(server, "POST /collections/c/points", { ids: [id(1)], with_vector: true })
      const [point] = result as ReadonlyArray<{ vector: object }>
      return Object.keys(point?.vector ?? {}).toSorted()
    }
    const update = "PUT /collections/c/points/vectors"
    await ask(server, update, { points: [{ id: id(1), vector: { dense: [0, 1] } }] })
    assert.deepStrictEqual(await vectors(), ["dense", "plain", "words"])
    const gone = await ask(server, update, { points: [{ id: id(9), vector: { dense: [0, 1] } }] })
    assert.strictEqual(gone.status, 404)
    const mixed = [
      { id: id(1), vector: {}, payload: {} },
      { id: id(2), vector: { dense: [1, 2, 3] }, payload: {} }
    ]
    const refused = await ask(server, "PUT /collections/c/points", { points: mixed })
    assert.match(String(refused.error), /expected dim: 2, got 3/)
    assert.deepStrictEqual(await vectors(), ["dense", "plain", "words"])
    await ask(server, "PUT /collections/c/points", { points: [{ id: id(1), vector: {}, payload: {} }] })
    assert.deepStrictEqual(await vectors(), [])
    assert.strictEqual(
      (await ask(server, "PUT /collections/c/points", { points: [{ id: "m/1", vector: {} }] })).status,
      400
    )
  }))

it("an upsert keeps to its mode and its filter", () =>
  withPoints(async (server) => {
    const put = (n: number, over: object) =>
      ask(server, "PUT /collections/c/points", {
        points: [{ id: id(n), vector: {}, payload: { tenant: "new" } }],
        ...over
      })
    await put(1, { update_mode: "insert_only" })
    await put(8, { update_mode: "update_only" })
    await put(2, { update_filter: { must: [{ key: "tenant", match: { value: "tower" } }] } })
    await put(4, { update_filter: { must: [{ key: "tenant", match: { value: "tower" } }] } })
    const { result } = await ask(server, "POST /collections/c/points/scroll", { with_payload: ["tenant"], limit: 9 })
    const { points } = result as { points: ReadonlyArray<{ payload: { tenant: string } }> }
    assert.deepStrictEqual(
      points.map(({ payload }) => payload.tenant),
      ["harbor", "harbor", "harbor", "new"]
    )
  }))

it("a new vector has room at once, its points are those without it, and it can be dropped", () =>
  withPoints(async (server) => {
    const next = { dense: { size: 3, distance: "Cosine" } }
    await ask(server, "PUT /collections/alias/vectors/next", next)
    assert.strictEqual((await ask(server, "PUT /collections/alias/vectors/next", next)).status, 200)
    const other = await ask(server, "PUT /collections/alias/vectors/next", { dense: { size: 4, distance: "Cosine" } })
    assert.strictEqual(other.status, 400)
    await ask(server, "PUT /collections/c/points/vectors", { points: [{ id: id(2), vector: { next: [1, 0, 0] } }] })
    const missing = { filter: { must_not: [{ has_vector: "next" }] } }
    assert.deepStrictEqual((await ask(server, "POST /collections/c/points/count", missing)).result, { count: 3 })
    await ask(server, "DELETE /collections/c/vectors/next")
    assert.strictEqual((await ask(server, query, { query: [1, 0, 0], using: "next" })).status, 400)
  }))

it("a payload is shown as far as it is asked for", () =>
  withPoints(async (server) => {
    const keysOf = async (with_payload: unknown) => {
      const { result } = await ask(server, "POST /collections/c/points", { ids: [id(1)], with_payload })
      return Object.keys((result as ReadonlyArray<{ payload?: object }>)[0]?.payload ?? {})
    }
    assert.deepStrictEqual(await keysOf(true), ["tenant", "n", "at"])
    assert.deepStrictEqual(await keysOf(["n"]), ["n"])
    assert.deepStrictEqual(await keysOf({ include: ["n"] }), ["n"])
    assert.deepStrictEqual(await keysOf({ exclude: ["n"] }), ["tenant", "at"])
    assert.deepStrictEqual(await keysOf(false), [])
  }))

it("a scroll goes on where the page before it ended", () =>
  withPoints(async (server) => {
    const scroll = "POST /collections/c/points/scroll"
    const first = (await ask(server, scroll, { limit: 3 })).result as { next_page_offset: unknown }
    assert.strictEqual(first.next_page_offset, id(4))
    const last = (await ask(server, scroll, { limit: 3, offset: id(4) })).result as { next_page_offset: unknown }
    assert.isNull(last.next_page_offset)
  }))

it("metadata is merged, null takes a key away, and a collection that is there is not made again", () =>
  withPoints(async (server) => {
    await ask(server, "PATCH /collections/alias", { metadata: { old: null, more: 2 } })
    const { result } = await ask(server, "GET /collections/alias")
    assert.deepStrictEqual((result as { config: { metadata: unknown } }).config.metadata, { schema: 1, more: 2 })
    assert.strictEqual((await ask(server, "PUT /collections/c", {})).status, 409)
    assert.strictEqual((await ask(server, "GET /collections/nothing")).status, 404)
  }))

it("S1 S2 S3 a snapshot is of one collection, outlives it, and makes one that is not there", () =>
  withPoints(async (server) => {
    const made = (await ask(server, "POST /collections/alias/snapshots?wait=true")).result as { name: string }
    const location = `${server.url}/collections/c/snapshots/${made.name}`
    await ask(server, "POST /collections/c/points/delete?wait=true", { points: [id(1), id(2)] })
    const put = await ask(server, "PUT /collections/other/snapshots/recover", { location, priority: "snapshot" })
    assert.deepStrictEqual(put.result, true)
    const count = async (name: string) => (await ask(server, `POST /collections/${name}/points/count`, {})).result
    assert.deepStrictEqual([await count("other"), await count("c")], [{ count: 4 }, { count: 2 }])
    assert.deepStrictEqual((await ask(server, "GET /collections/other/snapshots")).result, [])
    await ask(server, "DELETE /collections/c")
    assert.strictEqual((await ask(server, "GET /collections/c/snapshots")).status, 404)
    const file = `file:///qdrant/snapshots/c/${made.name}`
    const another = { vectors: { dense: { size: 3, distance: "Cosine" } } }
    await ask(server, "PUT /collections/c", another)
    assert.strictEqual((await ask(server, "PUT /collections/c/snapshots/recover", { location: file })).status, 400)
    await ask(server, "DELETE /collections/c")
    assert.strictEqual((await ask(server, "PUT /collections/c/snapshots/recover", { location: file })).status, 200)
    const listed = (await ask(server, "GET /collections/c/snapshots")).result as ReadonlyArray<{ name: string }>
    assert.deepStrictEqual(
      listed.map(({ name }) => name),
      [made.name]
    )
    await ask(server, `DELETE /collections/c/snapshots/${made.name}`)
    assert.strictEqual((await ask(server, "PUT /collections/d/snapshots/recover", { location: file })).status, 404)
  }))

it("R2 Q3 C1 what the double does not know it refuses, by saying so", () =>
  withPoints(async (server) => {
    const strange = [
      await ask(server, "GET /telemetry"),
      await ask(server, query, { query: { sample: "random" } }),
      await ask(server, "POST /collections/c/points/count", { filter: { must: [{ is_null: { key: "n" } }] } }),
      await ask(server, "POST /collections/c/points/count", { filter: { must: [{ key: "tenant", is_null: true }] } })
    ]
    assert.deepStrictEqual(
      strange.map(({ status }) => status),
      [501, 501, 501, 501]
    )
  }))

it("S3 half a surrogate pair is refused, a whole one is not", () =>
  withPoints(async (server) => {
    const put = (text: string) =>
      ask(server, "PUT /collections/c/points", `{"points":[{"id":1,"vector":{},"payload":{"text":"${text}"}}]}`)
    assert.strictEqual((await put("\\ud800 alone")).status, 400)
    assert.strictEqual((await put("\\udc00 alone")).status, 400)
    assert.strictEqual((await put("\\ud83d\\ude00 a pair")).status, 200)
    assert.strictEqual((await put("\\\\ud800 spelt out")).status, 200)
  }))

it("P1 P3 the place is the server that the environment names when it is asked for, and a double without one", async () => {
  const named = { QDRANT_URL: process.env["QDRANT_URL"], QDRANT_API_KEY: process.env["QDRANT_API_KEY"] }
  const server = await startQdrantServer({ apiKey: "key-of-the-server" })
  later(async () => {
    for (const [name, value] of Object.entries(named)) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
    await server.close()
  })
  const placed = () => Effect.runPromise(Effect.scoped(qdrantPlace))
  process.env["QDRANT_URL"] = server.url
  process.env["QDRANT_API_KEY"] = "key-of-the-server"
  const { apiKey, url } = await placed()
  assert.deepStrictEqual([url, apiKey, qdrantPlaceName()], [server.url, "key-of-the-server", `Qdrant at ${server.url}`])
  process.env["QDRANT_URL"] = ""
  assert.notStrictEqual((await placed()).url, server.url)
  assert.strictEqual(qdrantPlaceName(), "a double of Qdrant")
})
