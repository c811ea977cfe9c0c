// A store of which segments lie apart becomes encrypted, and is given other keys: they are sealed with it, and the former ones go.

import { assert, describe, it } from "@effect/vitest"
import { SegmentPlaceUnavailable, type SegmentPlace } from "@reverie/ledger"
import { encryptDirectory, openSqliteStore, rotateKeys } from "@reverie/store-sqlite"
import { MemorySegmentPlace } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { aDirectory } from "./directories.ts"
import { anEncryption } from "./encryption.ts"
import { ada, failureOf, keysNoted, readingsOf, settled, textIn, WORD } from "./placed-life.ts"

const unavailable = (operation: SegmentPlaceUnavailable["operation"]) =>
  new SegmentPlaceUnavailable({ operation, place: "memory", message: `it does not ${operation}` })

/** A data directory in the clear with two segments apart, and how it reads. */
const apart = Effect.gen(function* () {
  const [data, place] = [aDirectory(), new MemorySegmentPlace()]
  const before = yield* Effect.scoped(
    Effect.gen(function* () {
      const { before, store } = yield* settled(data, place.service, 70)
      yield* store.archive.archive(ada, 140)
      return before
    })
  )
  assert.strictEqual(place.objects.size, 2)
  assert.include(textIn(place), WORD)
  return { data, place, before, keys: [...place.objects.keys()] }
})

const readsAs = (...[data, options]: Parameters<typeof openSqliteStore>) =>
  Effect.scoped(Effect.flatMap(openSqliteStore(data, options), readingsOf))

/** Whether any of them is what it was, a compressed text in the clear. */
const isClear = (place: MemorySegmentPlace): boolean =>
  [...place.objects.values()].some((bytes) => Buffer.from(bytes).readUInt32LE(0) === 0xfd2fb528)

const other = (place: MemorySegmentPlace, keys: ReadonlyArray<string>) =>
  assert.deepStrictEqual(
    keys.filter((key) => place.objects.has(key)),
    []
  )

describe("segments apart, sealed anew", () => {
  it.effect(
    "A1 what lies apart of a directory that becomes encrypted is sealed, what lay there before is gone, and all reads as before",
    () =>
      Effect.gen(function* () {
        const { before, data, keys, place } = yield* apart
        const encryption = anEncryption()
        assert.isTrue(isClear(place))
        yield* encryptDirectory(data, encryption, { segments: place.service })
        assert.isFalse(isClear(place))
        assert.strictEqual(place.objects.size, 2)
        other(place, keys)
        assert.deepStrictEqual(keysNoted(data), [])
        assert.deepStrictEqual(yield* readsAs(data, { segments: place.service, encryption }), before)
      })
  )

  it.effect("A1 other data keys seal it with them, and the former ones open nothing that is there", () =>
    Effect.gen(function* () {
      const { before, data, place } = yield* apart
      const encryption = anEncryption()
      yield* encryptDirectory(data, encryption, { segments: place.service })
      const keys = [...place.objects.keys()]
      yield* rotateKeys(data, encryption, { renew: true, segments: place.service })
      other(place, keys)
      assert.strictEqual(place.objects.size, 2)
      assert.deepStrictEqual(keysNoted(data), [])
      assert.deepStrictEqual(yield* readsAs(data, { segments: place.service, encryption }), before)
    })
  )

  it.effect("A2 without the place, with one that lacks a segment and with one that takes none, nothing changes", () =>
    Effect.gen(function* () {
      const { before, data, keys, place } = yield* apart
      const encryption = anEncryption()
      const [first = ""] = keys
      const held = place.objects.get(first)
      assert.isDefined(held)
      let puts = 0
      const takesOne: SegmentPlace["Service"] = {
        ...place.service,
        put: (key, bytes) => (puts++ === 0 ? place.service.put(key, bytes) : Effect.fail(unavailable("put")))
      }
      const without = yield* failureOf(encryptDirectory(data, encryption))
      assert.match(without.message, /lie in a place apart; name that, with REVERIE_SEGMENTS/)
      place.objects.delete(first)
      const lacking = yield* failureOf(encryptDirectory(data, encryption, { segments: place.service }))
      assert.include(lacking.message, `segment ${first} is missing`)
      place.objects.set(first, held ?? new Uint8Array())
      const refusing = yield* failureOf(encryptDirectory(data, encryption, { segments: takesOne }))
      assert.include(refusing.message, "it does not put")
      // What was put by then goes with the next opening; the rest is as it was.
      assert.deepStrictEqual(yield* readsAs(data, { segments: place.service }), before)
      assert.sameMembers([...place.objects.keys()], keys)
      assert.deepStrictEqual(keysNoted(data), [])
    })
  )

  it.effect(
    "A1 where those of before can not be removed it is sealed all the same, that is said, and the next opening does it",
    () =>
      Effect.gen(function* () {
        const { before, data, keys, place } = yield* apart
        const encryption = anEncryption()
        const keeps: SegmentPlace["Service"] = { ...place.service, remove: () => Effect.fail(unavailable("remove")) }
        const failure = yield* failureOf(encryptDirectory(data, encryption, { segments: keeps }))
        assert.match(
          failure.message,
          /its former segments are not removed yet \(it does not remove\); the next start does it/
        )
        assert.sameMembers([...keysNoted(data)], keys)
        assert.deepStrictEqual(yield* readsAs(data, { segments: place.service, encryption }), before)
        other(place, keys)
        assert.isFalse(isClear(place))
        assert.deepStrictEqual(keysNoted(data), [])
      })
  )

  for (const how of ["missing", "damaged"] as const) {
    it.effect(
      `A2 without a segment that is ${how} it goes on where that is said, and says which; put back, it does not open`,
      () =>
        Effect.gen(function* () {
          const { before, data, keys, place } = yield* apart
          const encryption = anEncryption()
          const reach = { segments: place.service, encryption }
          const lose = (key: string): Uint8Array => {
            const held = place.objects.get(key) ?? new Uint8Array()
            if (how === "missing") place.objects.delete(key)
            else place.objects.set(key, held.subarray(1))
            return held
          }
          const [first = ""] = keys
          const held = lose(first)
          const failure = yield* failureOf(encryptDirectory(data, encryption, { segments: place.service }))
          assert.match(failure.message, /or go on without it, with --without-lost/)
          const made = yield* encryptDirectory(data, encryption, { segments: place.service, withoutLost: true })
          assert.deepStrictEqual(made.lost, [first])
          assert.strictEqual(place.objects.size, 1, "what is in the clear and damaged stays")
          const entriesOf = (from: number) =>
            Effect.scoped(
              Effect.flatMap(openSqliteStore(data, reach), ({ ledger }) => ledger.entries(ada, from, 1_000))
            )
          assert.deepStrictEqual(yield* entriesOf(80), before.entries.slice(79))
          assert.strictEqual((yield* failureOf(entriesOf(1)))._tag, "UnreadableRecord")
          place.objects.set(first, held)
          assert.strictEqual((yield* failureOf(entriesOf(1)))._tag, "UnreadableRecord")
          place.objects.delete(first)

          const [second = ""] = place.objects.keys()
          const sealed = lose(second)
          yield* failureOf(rotateKeys(data, encryption, { renew: true, segments: place.service }))
          const renewed = yield* rotateKeys(data, encryption, {
            renew: true,
            segments: place.service,
            withoutLost: true
          })
          assert.sameMembers([...renewed.lost], [first, second])
          assert.strictEqual(place.objects.size, 0)
          assert.deepStrictEqual(yield* entriesOf(141), before.entries.slice(140))
          place.objects.set(second, sealed)
          assert.strictEqual((yield* failureOf(entriesOf(80)))._tag, "UnreadableRecord")
        })
    )
  }
})
