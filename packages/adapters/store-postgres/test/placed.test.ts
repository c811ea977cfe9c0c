// Segments that lie apart from the database: what is put, what is left by whom, and what is said where something lacks.

import { assert, it } from "@effect/vitest"
import { SegmentPlaceUnavailable } from "@reverie/ledger"
import { openPostgresStore } from "@reverie/store-postgres"
import { anAddress, MemorySegmentPlace, plainLife } from "@reverie/testkit"
import { sharePostgres } from "@reverie/testkit/shared-servers"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { zstdDecompressSync } from "node:zlib"
import { aSchema, tablesAt } from "./stores.ts"

const postgres = sharePostgres({ fsync: false })

const ada = anAddress("ada")
const WORD = "kestrel-9713"

const open = (schema: string, place: MemorySegmentPlace, connections = 3) =>
  openPostgresStore(Redacted.make(postgres.server().url), { schema, connections, segments: place.service })

const textsIn = (place: MemorySegmentPlace): string =>
  [...place.objects.values()].map((bytes) => zstdDecompressSync(bytes).toString()).join("\n")

const messageOf = <A, E extends { readonly message: string }>(effect: Effect.Effect<A, E>) =>
  Effect.map(Effect.result(effect), (outcome) =>
    Result.isFailure(outcome) ? outcome.failure.message : "it did not fail"
  )

postgres.describe("PostgreSQL", () => {
  it.effect(
    "S6 what is archived lies apart and reads as before, in another process too; one connection reads it, and says that it puts none",
    () =>
      Effect.gen(function* () {
        const [schema, place] = [aSchema(), new MemorySegmentPlace()]
        const store = yield* open(schema, place)
        yield* plainLife(store, 100)
        const alone = yield* open(schema, place, 1)
        assert.match(yield* messageOf(alone.archive.archive(ada, 90)), /over two connections at least/)
        const before = yield* store.ledger.entries(ada, 1, 200)
        yield* store.archive.archive(ada, 90)
        assert.include(textsIn(place), WORD)
        const other = yield* open(schema, place)
        assert.deepStrictEqual(yield* alone.ledger.entries(ada, 1, 200), before)
        assert.deepStrictEqual(yield* other.ledger.entries(ada, 1, 200), before)
        const { query } = yield* tablesAt(postgres.server().url, schema)
        const [held] = yield* query<{ readonly bytes: number }>(
          "SELECT sum(length(body))::float8 AS bytes FROM segments"
        )
        assert.strictEqual(held?.bytes, 0)
        assert.deepInclude(yield* other.archive.apart(true), { segments: place.objects.size, missing: [], unknown: 0 })
      })
  )

  it.effect("P4 a place that has nothing of what the store refers to is given no more, and a first one it is", () =>
    Effect.gen(function* () {
      const [schema, place] = [aSchema(), new MemorySegmentPlace()]
      const away = new SegmentPlaceUnavailable({ operation: "list", place: "memory", message: "it has nothing of it" })
      Object.assign(place.service, { assertHas: () => Effect.fail(away) })
      const store = yield* open(schema, place)
      yield* plainLife(store, 170)
      assert.isAbove((yield* store.archive.archive(ada, 90)).entries, 0)
      const { size } = place.objects
      assert.match(
        yield* messageOf(store.archive.archive(ada, 160)),
        /the place of older segments cannot be reached: it has nothing of it/
      )
      assert.strictEqual(place.objects.size, size)
    })
  )

  it.effect("S6 what was put for a transaction that never came is known, and goes when that life is forgotten", () =>
    Effect.gen(function* () {
      const [schema, place] = [aSchema(), new MemorySegmentPlace()]
      const lost = new MemorySegmentPlace()
      Object.assign(lost, {
        service: {
          ...place.service,
          put: (key: string, bytes: Uint8Array) =>
            Effect.andThen(
              place.service.put(key, bytes),
              Effect.fail(new SegmentPlaceUnavailable({ operation: "put", place: "memory", message: "no answer" }))
            )
        }
      })
      const crashed = yield* open(schema, lost)
      yield* plainLife(crashed, 100)
      assert.match(yield* messageOf(crashed.archive.archive(ada, 90)), /cannot be reached: no answer/)
      assert.strictEqual(place.objects.size, 1)
      const store = yield* open(schema, place)
      // A transaction of another process might still refer to it.
      assert.strictEqual((yield* store.archive.apart())?.removed, 0)
      yield* store.archive.archive(ada, 90)
      assert.include(textsIn(place), WORD)
      yield* store.bundles.rewrite(
        [ada],
        (there) => JSON.parse(JSON.stringify(there).replaceAll(WORD, "(gone)")) as typeof there
      )
      assert.notInclude(textsIn(place), WORD)
      assert.include(textsIn(place), "(gone)")
      assert.strictEqual(place.objects.size, (yield* store.archive.apart(true))?.segments)
    })
  )

  it.effect(
    "P3 a segment that is missing is one error with its key, and nothing is deleted or exported without it",
    () =>
      Effect.gen(function* () {
        const [schema, place] = [aSchema(), new MemorySegmentPlace()]
        const writer = yield* open(schema, place)
        yield* plainLife(writer, 100)
        const before = yield* writer.ledger.entries(ada, 1, 200)
        yield* writer.archive.archive(ada, 90)
        const [[key, bytes] = ["", new Uint8Array()]] = [...place.objects]
        place.objects.clear()
        const { archive, bundles, ledger } = yield* open(schema, place)
        for (const said of [
          yield* messageOf(ledger.entries(ada, 5, 3)),
          yield* messageOf(Stream.runCollect(bundles.pack(ada)))
        ])
          assert.include(said, `segment ${key} is missing in memory; put it back there`)
        assert.deepStrictEqual(yield* archive.remove(ada, 20), { entries: 0, envelopes: 0 })
        assert.deepStrictEqual((yield* archive.apart(true))?.missing, [key])
        place.objects.set(key, bytes)
        assert.deepStrictEqual(yield* ledger.entries(ada, 1, 200), before)
        place.refuses.add("get")
        const fresh = yield* open(schema, place)
        assert.match(yield* messageOf(fresh.ledger.entries(ada, 5, 3)), /cannot be reached/)
      })
  )
})
