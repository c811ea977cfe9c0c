// Segments that lie apart: what is put where and when, what is left by whom, and what is said where something lacks.

import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { zstdDecompressSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { SegmentPlaceUnavailable } from "@reverie/ledger"
import { openSqliteStore, segmentDirectory } from "@reverie/store-sqlite"
import { anEnvelope, MemorySegmentPlace, plainLife } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { aDirectory } from "./directories.ts"
import { anEncryption } from "./encryption.ts"
import { ada, failureOf, keysNoted, readingsOf, settled, type Store, textIn, WORD } from "./placed-life.ts"

describe("segments apart", () => {
  it.effect(
    "S1 what is archived lies in the place, reads as before, and nothing of it is in the file once compacted",
    () =>
      Effect.gen(function* () {
        const [data, place] = [aDirectory(), new MemorySegmentPlace()]
        yield* Effect.scoped(
          Effect.gen(function* () {
            const { before, store } = yield* settled(data, place.service)
            assert.deepStrictEqual(yield* readingsOf(store), before)
            assert.include(textIn(place), WORD)
            yield* store.archive.compact()
          })
        )
        assert.isFalse(readFileSync(join(data, "reverie.db")).includes(WORD))
        const again = yield* openSqliteStore(data, { segments: place.service })
        assert.strictEqual(
          (yield* again.ledger.entries(ada, 9, 1))[0]?.entry.messages[0]?.content,
          `it was the ${WORD}`
        )
        assert.deepStrictEqual(yield* again.archive.apart(true), {
          place: "memory",
          segments: place.objects.size,
          bytes: [...place.objects.values()].reduce((sum, { length }) => sum + length, 0),
          removed: 0,
          missing: [],
          unknown: 0
        })
      })
  )

  it.effect("W2 a place that refuses leaves every row where it was, and the same is archived when it takes them", () =>
    Effect.gen(function* () {
      const [data, place] = [aDirectory(), new MemorySegmentPlace()]
      const store = yield* openSqliteStore(data, { segments: place.service })
      yield* plainLife(store, 100)
      const before = yield* readingsOf(store)
      place.refuses.add("put")
      const failure = yield* failureOf(store.archive.archive(ada, 90))
      assert.deepInclude(failure, { _tag: "LedgerUnavailable", recovery: "retry" })
      assert.match(failure.message, /the place of older segments cannot be reached: it is out of reach/)
      assert.deepStrictEqual(yield* store.archive.reached(ada), { archived: 0, removed: 0, left: [] })
      place.refuses.clear()
      assert.strictEqual((yield* store.archive.archive(ada, 90)).entries, 90)
      assert.deepStrictEqual(yield* readingsOf(store), before)
      assert.deepStrictEqual(keysNoted(data), [])
    })
  )

  it.effect("W3 what was put for a transaction that never came goes with the next opening", () =>
    Effect.gen(function* () {
      const [data, place] = [aDirectory(), new MemorySegmentPlace()]
      yield* Effect.scoped(
        Effect.gen(function* () {
          const store = yield* openSqliteStore(data, {
            segments: {
              ...place.service,
              put: (key, bytes) =>
                Effect.andThen(
                  place.service.put(key, bytes),
                  Effect.fail(new SegmentPlaceUnavailable({ operation: "put", place: "memory", message: "no answer" }))
                )
            }
          })
          yield* plainLife(store, 100)
          yield* failureOf(store.archive.archive(ada, 90))
          assert.strictEqual(place.objects.size, 1)
        })
      )
      assert.strictEqual(keysNoted(data).length, 1)
      yield* openSqliteStore(data, { segments: place.service })
      assert.strictEqual(place.objects.size, 0)
      assert.deepStrictEqual(keysNoted(data), [])
    })
  )

  it.effect("W3 what a place did not let go is swept by the next look, and a trial only counts", () =>
    Effect.gen(function* () {
      const [data, place] = [aDirectory(), new MemorySegmentPlace()]
      const { store } = yield* settled(data, place.service)
      const former = place.objects.size
      place.refuses.add("remove")
      yield* store.archive.remove(ada, 40)
      assert.isAbove(place.objects.size, former)
      place.refuses.clear()
      assert.strictEqual((yield* store.archive.apart(true))?.removed, 0)
      const report = yield* store.archive.apart()
      assert.isAbove(report?.removed ?? 0, 0)
      assert.strictEqual(place.objects.size, report?.segments)
      assert.notInclude(textIn(place), WORD)
    })
  )

  it.effect(
    "P3 a segment that is missing, damaged or cut is one error with its key, in every reading; put back, it is read",
    () =>
      Effect.gen(function* () {
        const [data, place] = [aDirectory(), new MemorySegmentPlace()]
        const before = yield* Effect.scoped(Effect.map(settled(data, place.service), (found) => found.before))
        const [[key, right] = ["", new Uint8Array()]] = [...place.objects]
        const damaged = Uint8Array.from(right, (byte, index) => (index === 40 ? byte ^ 1 : byte))
        const ways = {
          missing: undefined,
          "other bytes than were written": damaged,
          "30 bytes instead": right.slice(0, 30)
        }
        for (const [words, bytes] of Object.entries(ways)) {
          if (bytes === undefined) place.objects.delete(key)
          else place.objects.set(key, bytes)
          yield* Effect.scoped(
            Effect.gen(function* () {
              const { archive, bundles, ledger } = yield* openSqliteStore(data, { segments: place.service })
              const texts = [
                yield* failureOf(ledger.entries(ada, 5, 3)),
                yield* failureOf(Stream.runCollect(bundles.pack(ada)))
              ].map(({ message }) => message)
              for (const text of texts) {
                assert.include(text, `segment ${key}`)
                assert.include(text, words)
                assert.include(text, "put it back")
              }
              assert.deepStrictEqual(yield* archive.remove(ada, 20), { entries: 0, envelopes: 0 })
              // What is passed over in the outbox is all of it, and nothing behind it.
              const seen = (yield* ledger.outbox(0, 1_000)).map(({ entry }) => entry.no)
              assert.deepStrictEqual(
                seen,
                before.outbox.map(({ entry }) => entry.no).filter((no) => no > 140)
              )
              if (words !== "other bytes than were written")
                assert.deepStrictEqual((yield* archive.apart(true))?.missing, [key])
              place.objects.set(key, right)
              assert.deepStrictEqual(yield* readingsOf({ archive, bundles, ledger } as Store), before)
            })
          )
        }
      })
  )

  it.effect("P3 a place that is out of reach, or not given, is said, and no reading is shorter by it", () =>
    Effect.gen(function* () {
      const [data, place] = [aDirectory(), new MemorySegmentPlace()]
      const before = yield* Effect.scoped(Effect.map(settled(data, place.service), (found) => found.before))
      place.refuses.add("get")
      yield* Effect.scoped(
        Effect.gen(function* () {
          const store = yield* openSqliteStore(data, { segments: place.service })
          for (const reading of [
            store.ledger.entries(ada, 5, 3),
            store.ledger.outbox(0, 9),
            store.ledger.recent(ada, 1e6)
          ]) {
            const failure = yield* failureOf(reading as Effect.Effect<unknown, unknown>)
            assert.deepInclude(failure, { _tag: "LedgerUnavailable", recovery: "retry" })
          }
          place.refuses.clear()
          assert.deepStrictEqual(yield* readingsOf(store), before)
        })
      )
      const store = yield* openSqliteStore(data)
      assert.match((yield* failureOf(store.ledger.entries(ada, 5, 3))).message, /no place is given; say `segments`/)
      assert.strictEqual((yield* store.ledger.entries(ada, 145, 3)).length, 3)
    })
  )

  it.effect("S4 who writes meanwhile does not wait for one that reads what lies apart", () =>
    Effect.gen(function* () {
      const [data, place] = [aDirectory(), new MemorySegmentPlace()]
      yield* Effect.scoped(settled(data, place.service))
      let written = 0
      const store: Store = yield* openSqliteStore(data, {
        segments: {
          ...place.service,
          get: (key) =>
            Effect.andThen(
              Effect.suspend(() => store.mailbox.accept(anEnvelope({ id: `meanwhile ${++written}`, to: ada }))).pipe(
                Effect.orDie
              ),
              place.service.get(key)
            )
        }
      })
      assert.strictEqual((yield* store.ledger.entries(ada, 1, 200)).length, 151)
      assert.isAbove(written, 0)
    })
  )

  it.effect(
    "R9 forgetting reaches a directory: no byte is left, sealed or not, and what was crashed away goes too",
    () =>
      Effect.gen(function* () {
        for (const encryption of [undefined, anEncryption()]) {
          const [data, directory] = [aDirectory(), aDirectory()]
          const options = { segments: segmentDirectory(directory), ...(encryption && { encryption }) }
          const store = yield* openSqliteStore(data, options)
          yield* plainLife(store, 150)
          yield* store.archive.archive(ada, 140)
          const before = yield* readingsOf(store)
          const texts = () =>
            readdirSync(directory, { recursive: true, withFileTypes: true })
              .filter((entry) => entry.isFile())
              .map((entry) => readFileSync(join(entry.parentPath, entry.name)))
              .map((bytes) => (encryption === undefined ? zstdDecompressSync(bytes) : bytes))
          assert.strictEqual(
            texts().some((bytes) => bytes.includes(WORD)),
            encryption === undefined
          )
          const hide = <A>(value: A): A => JSON.parse(JSON.stringify(value).replaceAll(WORD, "(gone)")) as A
          const former = texts()
          yield* store.bundles.rewrite([ada], hide)
          yield* store.bundles.shred([ada])
          assert.deepStrictEqual(yield* store.ledger.entries(ada, 1, 1_000), hide(before.entries))
          assert.isFalse(texts().some((bytes) => bytes.includes(WORD)))
          assert.isFalse(texts().some((bytes) => former.some((each) => each.equals(bytes))))
          assert.deepStrictEqual(keysNoted(data), [])
        }
      })
  )

  it.effect(
    "a place that is given later takes what is archived from then on, and what was archived before stays readable",
    () =>
      Effect.gen(function* () {
        const [data, place] = [aDirectory(), new MemorySegmentPlace()]
        const before = yield* Effect.scoped(
          Effect.gen(function* () {
            const store = yield* openSqliteStore(data)
            yield* plainLife(store, 150)
            yield* store.archive.archive(ada, 70)
            return yield* readingsOf(store)
          })
        )
        const store = yield* openSqliteStore(data, { segments: place.service })
        yield* store.archive.archive(ada, 140)
        assert.strictEqual(place.objects.size, 1)
        assert.deepStrictEqual(yield* readingsOf(store), before)
      })
  )
})
