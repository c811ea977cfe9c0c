import { assert, it } from "@effect/vitest"
import { Recall } from "@reverie/memory"
import { anAddress } from "@reverie/testkit"
import type { QdrantServer } from "@reverie/testkit/qdrant-server"
import * as Effect from "effect/Effect"
import { applied, lines, put, recallOn, textsFound, withServer } from "./bench.ts"

const ada = anAddress("ada")
const north = { id: "north", dimensions: 2 }

const snapshotsOf = Recall.use(({ snapshots }) =>
  snapshots === undefined ? Effect.die(new Error("it has no snapshots")) : Effect.succeed(snapshots)
)

const send = (server: QdrantServer, method: string, path: string, body?: object) =>
  Effect.promise(async () => {
    const text = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(`${server.url}/${path}`, { method, ...text })
    return (await response.json()) as { result: never }
  })

const collections = (server: QdrantServer) =>
  Effect.map(send(server, "GET", "collections"), ({ result }) =>
    (result as { collections: ReadonlyArray<{ name: string }> }).collections.map(({ name }) => name).toSorted()
  )

/** An index with a snapshot of its first day, and a second day. */
const twoDays = Effect.gen(function* () {
  const recall = yield* Recall
  yield* recall.prepareVectors(north)
  yield* applied(ada, [put("m/1/0", "the tide is high")], 1)
  const snapshot = yield* (yield* snapshotsOf).make
  yield* applied(ada, [put("m/2/0", "the ebb is low")], 2)
  return snapshot
})

it.effect("N1 a snapshot is listed, and restored as it was; what came since is missing as the position says", () =>
  withServer((server) =>
    recallOn(
      server,
      Effect.gen(function* () {
        const recall = yield* Recall
        const snapshots = yield* snapshotsOf
        assert.deepStrictEqual(yield* snapshots.list, [])
        const first = yield* twoDays
        const second = yield* snapshots.make
        assert.isAbove(second.bytes, first.bytes)
        assert.isDefined(first.at)
        assert.deepStrictEqual(yield* snapshots.list, [second, first])
        const from = server.requests.length
        yield* snapshots.restore(first.name)
        const asked = lines(server, from)
        assert.isBelow(asked.indexOf("PUT snapshots/recover"), asked.indexOf("POST "))
        assert.strictEqual(server.requests.slice(from).filter(({ path }) => path === "/collections/aliases").length, 1)
        assert.strictEqual((yield* recall.position(ada)).no, 1)
        assert.deepStrictEqual((yield* recall.vectorModels).current, north)
        assert.deepStrictEqual(yield* textsFound(ada, "tide ebb"), ["the tide is high"])
        assert.deepStrictEqual(yield* collections(server), ["reverie-restored"])
        yield* applied(ada, [put("m/2/0", "the ebb is low")], 2)
        assert.lengthOf(yield* textsFound(ada, "tide ebb"), 2)
        // One more time, by its location at the server.
        yield* snapshots.restore((yield* snapshots.make).name)
        assert.deepStrictEqual(yield* collections(server), ["reverie-restored-again"])
        assert.lengthOf(yield* textsFound(ada, "tide ebb"), 2)
      })
    )
  )
)

it.effect("N1 N3 a restore that breaks off at any step leaves one that finds; the next one leaves nothing else", () =>
  withServer((server) =>
    Effect.gen(function* () {
      let isWhole = false
      for (let fuse = 1; !isWhole; fuse++) {
        const collection = `f${fuse}`
        const snapshot = yield* recallOn(server, twoDays, { collection })
        let served = 0
        const restore = Effect.flatMap(snapshotsOf, ({ restore: restored }) => restored(snapshot.name))
        const crashing = Effect.gen(function* () {
          yield* textsFound(ada, "tide")
          server.decide(() => (++served < fuse ? undefined : { after: "no-answer" }))
          isWhole = (yield* Effect.exit(restore))._tag === "Success"
          server.decide(() => undefined)
        })
        yield* recallOn(server, crashing, { collection })
        const after = Effect.gen(function* () {
          assert.deepStrictEqual(yield* textsFound(ada, "tide"), ["the tide is high"])
          const own = (yield* collections(server)).filter((name) => name.startsWith(`${collection}-`))
          // Only what was not finished before it had the alias is left, for the next restore.
          assert.isAtMost(own.length, 2)
          const again = yield* (yield* snapshotsOf).make
          yield* (yield* snapshotsOf).restore(again.name)
          assert.deepStrictEqual(yield* textsFound(ada, "tide"), ["the tide is high"])
          const left = (yield* collections(server)).filter((name) => name.startsWith(`${collection}-`))
          assert.lengthOf(left, 1)
        })
        yield* recallOn(server, after, { collection })
      }
    })
  )
)

it.effect("N2 a snapshot that is not there, or of a newer Reverie, takes no place and leaves nothing", () =>
  withServer((server) =>
    recallOn(
      server,
      Effect.gen(function* () {
        const snapshots = yield* snapshotsOf
        yield* twoDays
        const missing = yield* Effect.flip(snapshots.restore("no-such.snapshot"))
        assert.match(missing.message, /404: Not found/)
        yield* send(server, "PATCH", "collections/reverie", { metadata: { schema: 99 } })
        const { name } = (yield* send(server, "POST", "collections/reverie/snapshots")).result as { name: string }
        yield* send(server, "PATCH", "collections/reverie", { metadata: { schema: 2 } })
        const newer = yield* Effect.flip(snapshots.restore(name))
        assert.match(newer.message, /has format 99, this Reverie reads up to format 2/)
        assert.deepStrictEqual(yield* collections(server), ["reverie-2"])
        assert.lengthOf(yield* textsFound(ada, "tide ebb"), 2)
      })
    )
  )
)

it.effect("a snapshot is fetched at the server's own address, with the key there and nowhere else", () =>
  withServer(
    (server) =>
      recallOn(
        server,
        Effect.gen(function* () {
          const snapshots = yield* snapshotsOf
          const { name } = yield* twoDays
          yield* snapshots.restore(name)
          yield* Effect.flip(snapshots.restore("https://elsewhere.example/collections/c/snapshots/s"))
          yield* snapshots.restore(`file:///qdrant/snapshots/reverie-restored/${(yield* snapshots.make).name}`)
          const asked = server.requests.filter(({ path }) => path.endsWith("/recover")).map(({ body }) => body)
          assert.deepStrictEqual(asked, [
            { location: `${server.url}/collections/reverie-2/snapshots/${name}`, priority: "snapshot", api_key: "key" },
            { location: "https://elsewhere.example/collections/c/snapshots/s", priority: "snapshot" },
            asked[2]
          ])
          assert.notProperty(asked[2], "api_key")
        }),
        { apiKey: "key" }
      ),
    { apiKey: "key" }
  )
)
