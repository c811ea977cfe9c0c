// Segment place laws: bytes that come back, whole and under their key alone (ledger, segment place P).
// Not held here: that what a crash cut off is not there, which takes a process that dies.

import * as assert from "node:assert/strict"
import { isSegmentKey, SegmentPlace, SegmentPlaceUnavailable } from "@reverie/ledger"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Law } from "../law.ts"

/** So many bytes, each value among them. */
const some = (length: number, salt = 0): Uint8Array =>
  Uint8Array.from({ length }, (_, index) => (index * 131 + (index >> 8) * 7 + salt) % 256)

const put = (key: string, bytes: Uint8Array) => SegmentPlace.use((place) => place.put(key, bytes))
const get = (key: string) => SegmentPlace.use((place) => place.get(key))
const remove = (...keys: ReadonlyArray<string>) => SegmentPlace.use((place) => place.remove(keys))
const listed = (prefix: string) =>
  Effect.map(
    SegmentPlace.use((place) => place.list(prefix)),
    (found) => found.map(({ bytes, key }) => [key, bytes] as const).toSorted(([a], [b]) => (a < b ? -1 : 1))
  )

const hex = (bytes: Uint8Array | undefined): string | undefined =>
  bytes === undefined ? undefined : Buffer.from(bytes).toString("hex")

const HOSTILE = [
  "",
  "/a",
  "a/",
  "a//b",
  "../a",
  "a/../b",
  "a/./b",
  ".",
  "A",
  "a b",
  "a\0b",
  "a\\b",
  "a.new",
  "x".repeat(65)
]

/** Laws of a place for segments. */
export const segmentPlaceLaws: ReadonlyArray<Law<SegmentPlace>> = [
  {
    id: "P1.bytes",
    says: "bytes of every value and of any length come back as they were put, each under its own key",
    check: Effect.gen(function* () {
      const all = [some(0), some(1), some(256), some(100_003), some(400_000, 9)]
      for (const [index, bytes] of all.entries()) yield* put(`s1/k${index}`, bytes)
      for (const [index, bytes] of all.entries()) assert.equal(hex(yield* get(`s1/k${index}`)), hex(bytes))
    })
  },
  {
    id: "P1.own",
    says: "what was put does not change with the array that was given, nor with one that was read",
    check: Effect.gen(function* () {
      const given = some(64)
      yield* put("s1/a", given)
      given.fill(7)
      const found = yield* get("s1/a")
      assert.equal(hex(found), hex(some(64)))
      found?.fill(9)
      assert.equal(hex(yield* get("s1/a")), hex(some(64)))
    })
  },
  {
    id: "P1.absent",
    says: "what was never put is not there, beside keys that begin or end like it",
    check: Effect.gen(function* () {
      yield* put("s1/ab", some(3))
      for (const key of ["s1/a", "s1/abc", "s1", "ab", "s2/ab"]) assert.equal(yield* get(key), undefined, key)
    })
  },
  {
    id: "P2.again",
    says: "the same under the same key is put again without harm",
    check: Effect.gen(function* () {
      yield* put("s1/a", some(9))
      yield* put("s1/a", some(9))
      assert.equal(hex(yield* get("s1/a")), hex(some(9)))
      assert.deepEqual(yield* listed("s1/"), [["s1/a", 9]])
    })
  },
  {
    id: "P2.remove",
    says: "what is removed is gone, also from the list; what is not there is removed without harm, and all others stay",
    check: Effect.gen(function* () {
      for (const key of ["s1/a", "s1/b", "s1/c", "s2/a"]) yield* put(key, some(5))
      yield* remove("s1/a", "s1/missing", "s1/c")
      yield* remove("s1/a")
      yield* remove()
      assert.equal(yield* get("s1/a"), undefined)
      assert.equal(hex(yield* get("s1/b")), hex(some(5)))
      assert.deepEqual(yield* listed(""), [
        ["s1/b", 5],
        ["s2/a", 5]
      ])
    })
  },
  {
    id: "P1.list",
    says: "all that begins so is listed with its length, however many there are, and nothing else",
    check: Effect.gen(function* () {
      const keys = Array.from({ length: 40 }, (_, index) => `s1/k-${index}`).toSorted()
      for (const [index, key] of keys.entries()) yield* put(key, some(index))
      yield* put("s10/a", some(1))
      assert.deepEqual(
        yield* listed("s1/"),
        keys.map((key, index) => [key, index])
      )
      assert.deepEqual(yield* listed("none/"), [])
    })
  },
  {
    id: "P2.keys",
    says: "a key that has not the form of one is refused, and leads nowhere",
    check: Effect.gen(function* () {
      for (const key of HOSTILE) {
        assert.ok(!isSegmentKey(key), key)
        const outcome = yield* Effect.result(put(key, some(3)))
        assert.ok(Result.isFailure(outcome) && outcome.failure instanceof SegmentPlaceUnavailable, `put ${key}`)
        assert.ok(Result.isFailure(yield* Effect.result(get(key))), `get ${key}`)
        assert.ok(Result.isFailure(yield* Effect.result(remove(key))), `remove ${key}`)
      }
      assert.deepEqual(yield* listed(""), [])
    })
  }
]
