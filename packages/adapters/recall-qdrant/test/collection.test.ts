import { assert, it } from "@effect/vitest"
import { Recall } from "@reverie/memory"
import { anAddress } from "@reverie/testkit"
import type { QdrantServer } from "@reverie/testkit/qdrant-server"
import * as Effect from "effect/Effect"
import { applied, lines, put, recallOn, textsFound, withServer } from "./bench.ts"

const ada = anAddress("ada")

const remember = (text: string, no = 1) => applied(ada, [put("m/1/0", text)], no)

const positionOf = Recall.use((recall) => Effect.map(recall.position(ada), ({ no }) => no))

const send = (server: QdrantServer, method: string, path: string, body?: object) =>
  Effect.promise(async () => {
    const text = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(`${server.url}/${path}`, { method, ...text })
    return (await response.json()) as { result: { config: Record<string, unknown>; collections?: unknown } }
  })

it.effect("L1 U1 the collection gets its indexes before its alias, and its alias before its first point", () =>
  withServer((server) =>
    Effect.gen(function* () {
      yield* recallOn(server, remember("the tide is high"))
      const asked = lines(server)
      assert.deepStrictEqual([asked[0], asked[1]], ["GET ", "PUT "])
      const alias = asked.indexOf("POST ")
      assert.isAbove(alias, 0)
      assert.deepStrictEqual(new Set(asked.slice(2, alias)), new Set(["PUT index"]))
      assert.deepStrictEqual(asked.slice(alias + 1), ["POST points", "POST points", "POST points/batch", "POST points"])
      assert.isTrue(server.requests.slice(alias + 1).every(({ path }) => path.startsWith("/collections/reverie/")))
      const tenant = server.requests.find(({ body }) => JSON.stringify(body ?? null).includes("is_tenant"))
      assert.deepStrictEqual(tenant?.body, { field_name: "agent", field_schema: { type: "keyword", is_tenant: true } })
      const { config } = (yield* send(server, "GET", "collections/reverie")).result
      assert.deepStrictEqual(config["metadata"], { schema: 2 })
    })
  )
)

it.effect("L1 a collection that was begun is finished, wherever it broke off", () =>
  withServer((server) =>
    Effect.gen(function* () {
      let served = 0
      for (let fuse = 1; ; fuse++) {
        served = 0
        server.decide(() => (++served < fuse ? undefined : { after: "no-answer" }))
        const exit = yield* Effect.exit(recallOn(server, positionOf))
        server.decide(() => undefined)
        if (exit._tag === "Success") break
        assert.deepStrictEqual(yield* recallOn(server, positionOf), 0)
        yield* send(server, "DELETE", "collections/reverie-2")
      }
      assert.isAbove(served, 10)
    })
  )
)

it.effect("L4 a collection that is gone is made anew at the next request, and is empty", () =>
  withServer((server) =>
    recallOn(
      server,
      Effect.gen(function* () {
        yield* remember("the tide is high", 5)
        yield* send(server, "DELETE", "collections/reverie-2")
        assert.match((yield* Effect.flip(positionOf)).message, /404: Not found/)
        assert.strictEqual(yield* positionOf, 0)
        yield* remember("the tide is high", 5)
        assert.deepStrictEqual(yield* textsFound(ada, "tide"), ["the tide is high"])
      })
    )
  )
)

it.effect("L3 a collection of a newer format is refused, told clearly and left alone", () =>
  withServer((server) =>
    Effect.gen(function* () {
      yield* recallOn(server, remember("the tide is high"))
      yield* send(server, "PATCH", "collections/reverie", { metadata: { schema: 3 } })
      const from = server.requests.length
      const error = yield* Effect.flip(recallOn(server, remember("the ebb is low", 2)))
      assert.strictEqual(
        error.message,
        "the collection reverie has format 3, this Reverie reads up to format 2; upgrade Reverie, or name another collection"
      )
      assert.deepStrictEqual(lines(server, from), ["GET "])
    })
  )
)

it.effect("L3 a collection of someone else is refused and left alone", () =>
  withServer((server) =>
    Effect.gen(function* () {
      yield* send(server, "PUT", "collections/theirs", { vectors: { size: 3, distance: "Cosine" } })
      const from = server.requests.length
      const error = yield* Effect.flip(recallOn(server, remember("the tide is high"), { collection: "theirs" }))
      assert.match(error.message, /^the collection theirs is not one of Reverie; name another one$/)
      assert.deepStrictEqual(lines(server, from), ["GET "])
    })
  )
)

it.effect("L1 many at once make one collection", () =>
  withServer((server) =>
    Effect.gen(function* () {
      yield* recallOn(
        server,
        Effect.all(
          Array.from({ length: 20 }, () => positionOf),
          { concurrency: "unbounded" }
        )
      )
      assert.strictEqual(lines(server).filter((line) => line === "PUT ").length, 1)
    })
  )
)

it.effect("fleets with collections of their own do not meet on one server", () =>
  withServer((server) =>
    Effect.gen(function* () {
      yield* recallOn(server, remember("the tide is high"), { collection: "north" })
      assert.deepStrictEqual(yield* recallOn(server, textsFound(ada, "tide"), { collection: "south" }), [])
      assert.deepStrictEqual(yield* recallOn(server, textsFound(ada, "tide"), { collection: "north" }), [
        "the tide is high"
      ])
    })
  )
)
