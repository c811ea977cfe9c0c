import { assert, it } from "@effect/vitest"
import { Recall } from "@reverie/memory"
import { anAddress } from "@reverie/testkit"
import { atLength } from "@reverie/testkit/length"
import type { QdrantServer } from "@reverie/testkit/qdrant-server"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { applied, asking, put, recallOn, textsFound, withServer } from "./bench.ts"

const ada = anAddress("ada")
const bob = anAddress("bob")
const north = { id: "north", dimensions: 2 }

const send = (server: QdrantServer, method: string, path: string, body?: object) =>
  Effect.promise(async () => {
    const response = await fetch(`${server.url}/${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    return (await response.json()) as { result: never }
  })

interface Point {
  readonly id: string
  readonly payload: Record<string, unknown>
  readonly vector: object
}

const ENTRIES = 230

/** An index as an older Reverie made it: of its format, without the newest index, standings without a digest. */
const older = (server: QdrantServer, name: string, entries = ENTRIES) =>
  Effect.gen(function* () {
    const mould = `${name}-mould`
    const from = server.requests.length
    const puts = Array.from({ length: entries }, (_, n) =>
      put(`m/${n}/0`, n === 7 ? "the lantern is lit" : `tide ${n}`)
    )
    yield* recallOn(
      server,
      Effect.gen(function* () {
        const recall = yield* Recall
        yield* recall.prepareVectors(north)
        yield* applied(ada, puts, entries)
        yield* applied(bob, [put("m/1/0", "the anchor of bob", { readers: "fleet" })], 1)
        yield* recall.putVectors(north.id, [{ address: ada, id: "m/7/0", vector: [1, 0] }])
      }),
      { collection: mould }
    )
    const made = server.requests.slice(from).find(({ method, path }) => method === "PUT" && path.endsWith(`${mould}-2`))
    const { config } = (yield* send(server, "GET", `collections/${mould}`)).result as {
      config: { params: { vectors: object }; metadata: object }
    }
    const own = `${name}-1`
    const body = { ...(made?.body as object), vectors: config.params.vectors }
    yield* send(server, "PUT", `collections/${own}`, { ...body, metadata: { ...config.metadata, schema: 1 } })
    for (const field_name of ["agent", "tenant", "kind", "readers"]) {
      yield* send(server, "PUT", `collections/${own}/index`, { field_name, field_schema: { type: "keyword" } })
    }
    const { points } = (yield* send(server, "POST", `collections/${mould}/points/scroll`, {
      limit: 10_000,
      with_vector: true
    })).result as { points: ReadonlyArray<Point> }
    const without = points.map(({ payload: { digest: _digest, ...payload }, ...point }) => ({ ...point, payload }))
    for (let at = 0; at < without.length; at += 100) {
      yield* send(server, "PUT", `collections/${own}/points`, { points: without.slice(at, at + 100) })
    }
    const actions = [{ create_alias: { collection_name: own, alias_name: name } }]
    yield* send(server, "POST", "collections/aliases", { actions })
    yield* send(server, "DELETE", `collections/${mould}-2`)
  })

const collections = (server: QdrantServer, name: string) =>
  Effect.map(send(server, "GET", "collections"), ({ result }) =>
    (result as { collections: ReadonlyArray<{ name: string }> }).collections
      .map((each) => each.name)
      .filter((each) => each.startsWith(`${name}-`))
      .toSorted()
  )

/** Searches until the new collection is alone; says how often. No search may find nothing. */
const searchedUntilDone = (server: QdrantServer, name: string) =>
  Effect.gen(function* () {
    for (let times = 1; times < 2_000; times++) {
      assert.deepStrictEqual(yield* textsFound(ada, "lantern"), ["the lantern is lit"])
      if (times % 4 === 0 && (yield* collections(server, name)).join() === `${name}-2`) return times
    }
    return assert.fail("the new collection never was alone")
  })

it.effect("L3 G1 one of an older format answers until the new one has everything, vectors of meaning among it", () =>
  withServer((server) =>
    Effect.gen(function* () {
      yield* older(server, "reverie")
      yield* recallOn(
        server,
        Effect.gen(function* () {
          const recall = yield* Recall
          assert.isAbove(yield* searchedUntilDone(server, "reverie"), 4)
          assert.strictEqual(yield* recall.count(ada), ENTRIES)
          assert.deepStrictEqual((yield* recall.vectorModels).current, north)
          const [hit] = yield* recall.search(ada, asking("lantern", { search: "hybrid", vector: [1, 0] }))
          assert.strictEqual(hit?.why.vector?.score, 1)
          const { config } = (yield* send(server, "GET", "collections/reverie")).result as {
            config: { metadata: Record<string, unknown> }
          }
          assert.hasAllKeys(config.metadata, ["schema", "current"])
          assert.strictEqual(config.metadata["schema"], 2)
          // It is indexed anew from the start, and what is there already is not written again.
          assert.deepStrictEqual(yield* recall.position(ada), { no: 0, digest: "" })
          yield* applied(ada, [put("m/900/0", "the newest word")], ENTRIES)
          assert.strictEqual((yield* recall.position(ada)).no, ENTRIES)
        })
      )
    })
  )
)

it.effect(
  "G4 a crash at any step ends in one of the two, and nothing is left over in the end",
  () =>
    withServer((server) =>
      Effect.gen(function* () {
        let isWhole = false
        for (let fuse = 1; !isWhole; fuse += atLength(3, 1)) {
          const collection = `f${fuse}`
          yield* older(server, collection, 12)
          let served = 0
          server.decide(({ path }) => {
            if (path.includes("/points/query")) return undefined
            served++
            return served < fuse ? undefined : { after: "no-answer" }
          })
          // The one that crashes: it is searched while it can be, and ends without a word.
          yield* recallOn(
            server,
            Effect.gen(function* () {
              yield* Effect.ignore(textsFound(ada, "lantern"))
              for (let times = 0; times < 60 && served < fuse; times++) yield* Effect.ignore(textsFound(ada, "lantern"))
              isWhole = served < fuse
              server.decide(() => "no-answer")
            }),
            { collection }
          )
          server.decide(() => undefined)
          yield* TestClock.adjust(180_000)
          yield* recallOn(server, searchedUntilDone(server, collection), { collection })
        }
      })
    ),
  120_000
)

it.effect("G2 G3 what is applied meanwhile is missing as the position says; who is erased meanwhile is gone", () =>
  withServer((server) =>
    Effect.gen(function* () {
      yield* older(server, "reverie")
      const services = yield* Effect.context()
      let isOver = false
      server.decide(({ method, path }) => {
        if (isOver || method !== "PUT" || !path.endsWith("/reverie-2/points")) return undefined
        isOver = true
        const meanwhile = Effect.gen(function* () {
          yield* applied(ada, [put("m/950/0", "the late anchor")], 950)
          yield* Recall.use((recall) => recall.erase(bob))
        })
        return { before: () => Effect.runPromiseWith(services)(recallOn(server, meanwhile)) }
      })
      yield* recallOn(
        server,
        Effect.gen(function* () {
          const recall = yield* Recall
          yield* searchedUntilDone(server, "reverie")
          assert.isTrue(isOver)
          assert.strictEqual((yield* recall.position(ada)).no, 0)
          assert.deepStrictEqual([yield* recall.count(bob), (yield* recall.position(bob)).no], [0, 0])
          assert.deepStrictEqual(yield* textsFound(ada, "anchor", { scope: "fleet" }), [])
          yield* applied(ada, [put("m/950/0", "the late anchor")], 950)
          assert.deepStrictEqual(yield* textsFound(ada, "anchor", { scope: "fleet" }), ["the late anchor"])
        })
      )
    })
  )
)

it.effect(
  "G1 an embedder of another dimension comes in beside the present one: no search finds nothing, in any process",
  () =>
    withServer((server) =>
      recallOn(
        server,
        Effect.gen(function* () {
          const recall = yield* Recall
          const long = { id: "long", dimensions: 3 }
          const ids = Array.from({ length: 40 }, (_, n) => `m/${n}/0`)
          yield* recall.prepareVectors(north)
          yield* applied(
            ada,
            ids.map((id, n) => put(id, n === 7 ? "the lantern is lit" : `tide ${n}`)),
            ids.length
          )
          yield* recall.putVectors(
            north.id,
            ids.map((id, n) => ({ address: ada, id, vector: n === 7 ? [1, 0] : [0, 1] }))
          )
          let [isPromoted, isOver] = [false, false]
          const change = Effect.gen(function* () {
            const other = yield* Recall
            yield* other.prepareVectors(long)
            for (const id of ids) yield* other.putVectors(long.id, [{ address: ada, id, vector: [0, 0, 1] }])
            isPromoted = true
            yield* other.promoteVectors(long.id)
            isOver = true
          })
          const searches = Effect.gen(function* () {
            let [times, after] = [0, 0]
            for (; after < 3; times++) {
              if (isOver) after++
              const [near] = yield* recall.search(ada, asking("", { search: "vector", vector: [1, 0] }))
              // From then on a vector of the old model is compared with nothing.
              if (!isPromoted) assert.strictEqual(near?.entry.text, "the lantern is lit")
              const [found] = yield* recall.search(ada, asking("lantern", { search: "hybrid", vector: [1, 0] }))
              assert.strictEqual(found?.entry.text, "the lantern is lit")
            }
            return times
          })
          const [times] = yield* Effect.all([searches, recallOn(server, change)], { concurrency: "unbounded" })
          assert.isAbove(times, 10)
          assert.deepStrictEqual((yield* recall.vectorModels).next, undefined)
          yield* TestClock.adjust(5_000)
          assert.deepStrictEqual(yield* recall.vectorModels, { current: long })
        })
      )
    )
)

it.effect("G5 of many processes one does it, and the others go on searching", () =>
  withServer((server) =>
    Effect.gen(function* () {
      yield* older(server, "reverie")
      const from = server.requests.length
      yield* Effect.all(
        Array.from({ length: 4 }, () => recallOn(server, searchedUntilDone(server, "reverie"))),
        { concurrency: "unbounded" }
      )
      const switches = server.requests.slice(from).filter(({ path }) => path === "/collections/aliases")
      assert.lengthOf(switches, 1)
    })
  )
)
