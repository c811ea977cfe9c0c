// Segments apart while several are at them: what one lets go of, another still reads; what comes late to a place is known there.

import { randomBytes } from "node:crypto"
import { DatabaseSync } from "node:sqlite"
import { zstdCompressSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { placedAs, SegmentPlaceUnavailable } from "@reverie/ledger"
import { openSqliteStore } from "@reverie/store-sqlite"
import { MemorySegmentPlace, plainLife } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Scheduler from "effect/Scheduler"
import { Segments } from "../src/ledger/segments.ts"
import type { Wanted } from "../src/sql.ts"
import { aDirectory } from "./directories.ts"
import { ada, failureOf, keysNoted } from "./placed-life.ts"

/** A database that refers to segments in a place. */
const placedIn = (place: MemorySegmentPlace, bodies: ReadonlyArray<Uint8Array>): Segments => {
  const database = new DatabaseSync(":memory:")
  database.exec(`CREATE TABLE segments (key INTEGER PRIMARY KEY, assistant, up_to, deleted_at, codec, digests, body,
    place_key, place_bytes, place_digest)`)
  const insert = database.prepare("INSERT INTO segments VALUES (?, 1, 1, NULL, 'zstd', '', x'', ?, ?, ?)")
  for (const [index, bytes] of bodies.entries()) {
    const placed = placedAs(`s/${index + 1}`, bytes)
    place.objects.set(placed.key, bytes)
    insert.run(index + 1, placed.key, placed.bytes, placed.digest)
  }
  const segments = new Segments(database)
  segments.place = place.service
  return segments
}

/** Gives way once, after so many operations. */
class GivesWay extends Scheduler.MixedScheduler {
  #left: number

  constructor(operations: number) {
    super()
    this.#left = operations
  }

  override shouldYield(): boolean {
    return this.#left-- === 0
  }
}

const wantedOf = (segments: Segments, segment: number): Wanted =>
  segments.wanted([[segment, segments.find(segment) ?? assert.fail()]])

describe("segments apart, with several at them", () => {
  it.effect("S4 one that another look lets go of, while it is asked for again, is fetched again and not missing", () =>
    Effect.gen(function* () {
      const small = zstdCompressSync(Buffer.from("[1,4]\ntext"))
      const large = randomBytes(9 * 1024 * 1024)
      for (let operations = 0; operations < 30; operations++) {
        const segments = placedIn(new MemorySegmentPlace(), [small, large])
        const letGo = yield* wantedOf(segments, 1).fetch
        letGo()
        const release = yield* wantedOf(segments, 2).fetch
        const asking = yield* wantedOf(segments, 1).fetch.pipe(
          Effect.provideService(Scheduler.Scheduler, new GivesWay(operations)),
          Effect.forkChild
        )
        yield* Effect.yieldNow
        release()
        yield* Fiber.join(asking)
        assert.deepStrictEqual(
          segments.rowsOf(1),
          [{ table: "ledger", seq: 1, text: "text" }],
          `after ${operations} operations`
        )
      }
    })
  )

  it.effect("W3 what is put while another of the same part is refused is known until it is there, and goes", () =>
    Effect.gen(function* () {
      const [data, place] = [aDirectory(), new MemorySegmentPlace()]
      const late: Array<() => void> = []
      let puts = 0
      const slowly = (key: string, bytes: Uint8Array) =>
        Effect.promise(
          () =>
            new Promise<void>((resolve) => {
              late.push(() => {
                place.objects.set(key, bytes)
                resolve()
              })
            })
        )
      const refused = Effect.fail(
        new SegmentPlaceUnavailable({ operation: "put", place: "memory", message: "403 Forbidden" })
      )
      const put = (key: string, bytes: Uint8Array) => {
        puts++
        if (puts === 1) return place.service.put(key, bytes)
        return puts === 2 ? slowly(key, bytes) : refused
      }
      const store = yield* openSqliteStore(data, { segments: { ...place.service, put } })
      yield* plainLife(store, 100)
      yield* store.archive.archive(ada, 90)
      // What is deleted and what is left of the segment are put at once.
      assert.match((yield* failureOf(store.archive.remove(ada, 40))).message, /403 Forbidden/)
      assert.strictEqual(late.length, 1)
      yield* store.archive.apart()
      assert.strictEqual(keysNoted(data).length, 1)
      late[0]?.()
      yield* Effect.yieldNow
      yield* Effect.yieldNow
      assert.deepInclude(yield* store.archive.apart(), { segments: 1, removed: 1, unknown: 0 })
      assert.strictEqual(place.objects.size, 1)
      assert.deepStrictEqual(keysNoted(data), [])
    })
  )
})
