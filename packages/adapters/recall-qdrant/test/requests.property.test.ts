import { assert, it } from "@effect/vitest"
import { memoryKinds, Recall, type RecallQuery, recallScopes } from "@reverie/memory"
import type { Address } from "@reverie/protocol"
import { anAddress } from "@reverie/testkit"
import type { QdrantRequest } from "@reverie/testkit/qdrant-server"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { begin, NOW, put, recallOn, withServer } from "./bench.ts"

type Fields = { readonly [key: string]: unknown }

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The searches in the body of a request, with all that is fetched before them. */
const searchesIn = (body: unknown): ReadonlyArray<Fields> => {
  if (!isFields(body)) return []
  const inner = [body["searches"], body["prefetch"]].flatMap((value) => (Array.isArray(value) ? value : []))
  const own = "query" in body || "prefetch" in body ? [body] : []
  return [...own, ...inner.flatMap(searchesIn)]
}

const isSearch = ({ path }: QdrantRequest): boolean => path.includes("/points/query")

/** Conditions that all must hold, of a filter and of filters that it demands whole. */
const demands = (filter: unknown): ReadonlyArray<string> => {
  const must = isFields(filter) && Array.isArray(filter["must"]) ? filter["must"] : []
  return must.flatMap((condition) => [JSON.stringify(condition), ...demands(condition)])
}

const matching = (key: string, value: string): string => JSON.stringify({ key, match: { value } })

const readable = ({ assistant, tenant }: Address, scope: RecallQuery["scope"]): string => {
  const own = { key: "agent", match: { value: `${tenant}/${assistant}` } }
  const named = { key: "readers", match: { value: assistant } }
  const fleet = { key: "readers", match: { value: "*" } }
  return JSON.stringify({ should: { own: [own], shared: [own, named], fleet: [own, named, fleet] }[scope] })
}

const name = fc.stringMatching(/^[A-Za-z0-9._:@#+-]{1,20}$/)
const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("the tide is high", "Kim", "", "\ud800", "潮が高い")
)
const optional = <A>(value: fc.Arbitrary<A>) => fc.option(value, { nil: undefined })

const defined = <A extends object>(fields: A): A =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as A

const aQuery = fc
  .record({
    text: anyText,
    vector: optional(fc.constantFrom([1, 0], [0, 1], [], [1, 2, 3])),
    search: fc.constantFrom("fts", "vector", "hybrid"),
    scope: fc.constantFrom(...recallScopes),
    limit: fc.constantFrom(1, 10, 5_000, 1_000_000),
    kinds: optional(fc.subarray([...memoryKinds])),
    since: optional(fc.double({ noNaN: true, noDefaultInfinity: true })),
    until: optional(fc.integer()),
    entities: optional(fc.array(anyText, { maxLength: 600 })),
    tags: optional(fc.array(anyText, { maxLength: 3 })),
    thread: optional(anyText),
    minTrust: optional(fc.constantFrom(0, 0.3, 1)),
    now: fc.constant(NOW)
  })
  .map((fields) => defined(fields) as RecallQuery)

it.effect("V1 V3 Q1 every search, prefetch and corpus demands the tenant and what the viewer may read", () =>
  withServer((server) =>
    recallOn(
      server,
      Effect.gen(function* () {
        const recall = yield* Recall
        yield* recall.prepareVectors({ id: "north", dimensions: 2 })
        yield* recall.apply(anAddress("ada"), [put("m/1/0", "the tide is high", { readers: "fleet" })], begin(1))
        let seen = 0
        const property = fc.asyncProperty(name, name, aQuery, async (tenant, assistant, query) => {
          const viewer = anAddress(assistant, tenant)
          const from = server.requests.length
          await Effect.runPromise(recall.search(viewer, query))
          const searches = server.requests
            .slice(from)
            .filter(isSearch)
            .flatMap(({ body }) => searchesIn(body))
          for (const { filter, params, using } of searches) {
            seen++
            const idf = isFields(params) && isFields(params["idf"]) ? params["idf"] : {}
            for (const guarded of using === "bm25" ? [filter, idf["corpus"]] : [filter]) {
              const found = demands(guarded)
              assert.include(found, matching("tenant", tenant))
              assert.include(found, readable(viewer, query.scope))
            }
          }
          assert.deepStrictEqual(server.faults, [])
        })
        yield* Effect.promise(() => fc.assert(property, { numRuns: 150 }))
        assert.isAbove(seen, 20)
      })
    )
  )
)
