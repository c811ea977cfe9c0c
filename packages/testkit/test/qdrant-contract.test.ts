import { assert, it } from "@effect/vitest"
import { contractIfThere, type QdrantRequest, startQdrantServer } from "../src/qdrant-server/index.ts"

const contract = contractIfThere()
if (contract === undefined) console.warn("no OpenAPI document of Qdrant is at hand: nothing of this file runs")

const request = (method: string, path: string, body?: unknown, query: Record<string, string> = {}): QdrantRequest => ({
  method,
  path: `/collections/c${path}`,
  query: new Map(Object.entries(query)),
  headers: {},
  body
})

const tenant = { key: "tenant", match: { value: "harbor" } }
const dense = { query: [1, 2], using: "dense", limit: 50, filter: { must: [tenant] } }
const words = {
  query: { indices: [1], values: [2] },
  using: "bm25",
  limit: 50,
  filter: { must: [tenant] },
  params: { idf: { corpus: { must: [tenant] } } }
}
const id = "00000000-0000-8000-8000-000000000001"

const right: Readonly<Record<string, QdrantRequest>> = {
  "a hybrid query": request("POST", "/points/query", {
    prefetch: [dense, words],
    query: { rrf: { k: 61, weights: [1, 2] } },
    limit: 10,
    with_payload: true
  }),
  "a new collection": request("PUT", "", {
    vectors: { dense: { size: 3, distance: "Cosine", memory: "cold" } },
    sparse_vectors: { bm25: { modifier: "idf" } },
    hnsw_config: { m: 0, payload_m: 16 },
    metadata: { schema: 1, anything: { at: ["all"] } }
  }),
  "an upsert with all parameters": request(
    "PUT",
    "/points",
    { points: [{ id, vector: {}, payload: { any: 1 } }], update_mode: "insert_only" },
    { wait: "true", ordering: "strong", timeout: "5" }
  ),
  "null for what is optional": request("POST", "/points/scroll", { filter: null, limit: 10, offset: null }),
  "no body where none belongs": request("GET", ""),
  "an object without a field where none belongs": request("POST", "/snapshots", {}, { wait: "true" }),
  "a snapshot put back": request("PUT", "/snapshots/recover", {
    location: "http://127.0.0.1:6333/collections/c/snapshots/s",
    priority: "snapshot",
    api_key: "key"
  })
}

const wrong: Readonly<Record<string, QdrantRequest>> = {
  "a misspelt field of the request": request("POST", "/points/query", { ...dense, with_payloads: true }),
  "a misspelt field deep inside": request("POST", "/points/query", { prefetch: [{ ...words, param: {} }], limit: 1 }),
  "a limit that is text": request("POST", "/points/scroll", { limit: "10" }),
  "a limit of nothing": request("POST", "/points/query", { ...dense, limit: 0 }),
  "a filter as other stores have it": request("POST", "/points/count", { filter: { tenant: "harbor" } }),
  "a match without its value": request("POST", "/points/count", { filter: { must: [{ key: "tenant", match: "x" }] } }),
  "the vector of the query under its old name": request("POST", "/points/query", { vector: [1, 2], limit: 3 }),
  "the search of old": request("POST", "/points/search", { vector: [1, 2], limit: 3 }),
  "a parameter that the route has not": request("POST", "/points/count", { exact: true }, { wait: "true" }),
  "a parameter of the wrong type": request("PUT", "/points", { points: [] }, { wait: "yes" }),
  "an ordering that there is not": request("PUT", "/points", { points: [] }, { ordering: "strongest" }),
  "a point without vectors": request("PUT", "/points", { points: [{ id, payload: {} }] }),
  "an update mode that there is not": request("PUT", "/points", { points: [], update_mode: "insert" }),
  "the tenant on a field of numbers": request("PUT", "/index", {
    field_name: "at",
    field_schema: { type: "float", is_tenant: true }
  }),
  "a distance in lower case": request("PUT", "", { vectors: { dense: { size: 3, distance: "cosine" } } }),
  "a placement that there is not": request("PUT", "", { payload: { memory: "warm" } }),
  "a corpus outside of idf": request("POST", "/points/query", { ...words, params: { corpus: { must: [tenant] } } }),
  "a deletion of nothing in particular": request("POST", "/points/delete", { ids: [id] }),
  "no body": request("POST", "/points/query"),
  "a snapshot made with a body": request("POST", "/snapshots", { name: "mine" }),
  "a snapshot put back from a place of another kind": request("PUT", "/snapshots/recover", { url: "http://q/s" }),
  "a body for a deletion of a collection": request("DELETE", "", { force: true }),
  "a method that the route has not": request("PATCH", "/points", { points: [] })
}

it.skipIf(contract === undefined)("the document has 69 routes", () => {
  assert.strictEqual(contract?.routes, 69)
})

it.skipIf(contract === undefined).each(Object.entries(right))("K1 K3 K5 no fault is found in %s", (_says, fine) => {
  assert.deepStrictEqual(contract?.requestFaults(fine), [])
})

it.skipIf(contract === undefined).each(Object.entries(wrong))("K2 K3 a fault is found: %s", (_says, planted) => {
  assert.isAbove(contract?.requestFaults(planted).length ?? 0, 0)
})

it.skipIf(contract === undefined)("S2 a server with the contract refuses what breaks it, and tells", async () => {
  const server = await startQdrantServer({ contract })
  const response = await fetch(`${server.url}/collections/c/points/count?wait=true`, { method: "POST", body: "{}" })
  assert.strictEqual(response.status, 400)
  assert.deepStrictEqual(server.faults, ["POST /collections/c/points/count: unknown parameter wait"])
  await server.close()
})
