// Lost segment laws: a life that has lost a segment is forgotten, and deleted by a policy, in the rest (ledger, lost segments L;
// bundles R9; archive Z6).

import * as assert from "node:assert/strict"
import { type Bundle, bundleOfParts, lostSegments, withoutDamaged, withoutText } from "@reverie/ledger"
import { LANES } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { anEntry } from "../fixtures.ts"
import type { Law } from "../law.ts"
import type { MemorySegmentPlace } from "../memory-segment-place.ts"
import {
  ada,
  type ApartStore,
  damaged,
  ENTRIES,
  FIRST,
  LAST,
  lived,
  type Opened,
  readings,
  SECOND,
  SPAN,
  textIn,
  WORD
} from "./lost-segment-life.ts"

const without = (text: string) => (there: Bundle) => withoutDamaged(there, withoutText(text)(there))

const emptied = ({ head }: Bundle): Bundle => {
  if (head.kind === "tenant") return { head, parts: [] }
  const state = { ...head.state, snapshot: {}, jobs: [], timers: [], receives: LANES, status: "retired" }
  return {
    head: { ...head, version: 1, handled: { control: 0, reply: 0, mail: 0 }, state },
    parts: [{ kind: "entry", entry: anEntry() } as unknown as Bundle["parts"][number]]
  }
}

const standing = ({ bundles }: Opened) =>
  Effect.map(Stream.runCollect(bundles.pack(ada, { marksLost: true })), bundleOfParts)

const messageOf = <A, E extends { readonly message: string }>(effect: Effect.Effect<A, E>) =>
  Effect.map(Effect.result(effect), (outcome) =>
    Result.isFailure(outcome) ? outcome.failure.message : "it did not fail"
  )

const failureOf = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.map(Effect.result(effect), (outcome) => (Result.isFailure(outcome) ? outcome.failure : undefined))

/** That all the rest is forgotten, and stands as it stood. */
const assertRestForgotten = Effect.fnUntraced(function* (
  store: Opened,
  { totals, waiting }: Effect.Success<ReturnType<typeof readings>>
) {
  const rest = [
    ...(yield* store.ledger.entries(ada, 1, FIRST)),
    ...(yield* store.ledger.entries(ada, SECOND + 1, ENTRIES))
  ]
  assert.deepStrictEqual(
    rest.map(({ entry }) => entry.no),
    Array.from({ length: LAST }, (_, index) => index + 1).filter((no) => no <= FIRST || no > SECOND)
  )
  const left = yield* store.mailbox.pending(ada, LANES, 10)
  assert.deepStrictEqual(
    left.map(({ id }) => id),
    waiting.map(({ id }) => id)
  )
  assert.ok(!JSON.stringify([rest, left, yield* store.ledger.outbox(0, ENTRIES)]).includes(WORD))
  assert.deepStrictEqual(yield* store.ledger.totals, totals)
})

/** Reads what was put back as it was. */
const assertReadAgain = Effect.fnUntraced(function* (
  { open, place }: Effect.Success<ReturnType<typeof lived>>,
  before: ReadonlyArray<unknown>
) {
  const again = yield* open(place.service)
  assert.deepStrictEqual(yield* again.ledger.entries(ada, SPAN.from, SECOND - FIRST), before)
})

const wholeWith = (
  state: "missing" | "removed",
  lose: (place: MemorySegmentPlace, key: string, bytes: Uint8Array) => void
): Law<ApartStore> => ({
  id: `L1.whole-${state}`,
  says: "of a life that is forgotten whole nothing refers to a lost one, and what is put back is not read",
  check: Effect.gen(function* () {
    const { bytes, open, place, second } = yield* lived(["picture"])
    lose(place, second, bytes)
    const store = yield* open(place.service)
    const there = yield* standing(store)
    const [digest = ""] = there.parts.flatMap((part) => (part.kind === "blob" ? [part.digest] : []))
    assert.notStrictEqual(yield* store.ledger.blobs.read(ada.tenant, digest), undefined)
    const [made = there] = yield* store.bundles.rewrite([ada], emptied)
    assert.deepStrictEqual(lostSegments(there, made), [{ segment: second, ...SPAN, state, comesBack: false }])
    assert.ok(!place.objects.has(second))
    assert.strictEqual(yield* store.ledger.blobs.read(ada.tenant, digest), undefined)
    place.objects.set(second, bytes)
    assert.strictEqual((yield* store.ledger.entries(ada, 1, ENTRIES)).length, 1)
    const report = yield* store.archive.apart(true)
    assert.deepStrictEqual([report?.missing, report?.unknown], [[], 1])
  })
})

/** Beyond the segment that is lost. */
const DELETED_TO = SECOND + 2
const DELETED = [...Array(DELETED_TO).keys()].map((index) => index + 1)

/** Which of some entries say nothing any more. */
const deletedOf = ({ ledger }: Opened, from: number, limit: number) =>
  Effect.map(ledger.entries(ada, from, limit), (rows) =>
    rows.flatMap(({ entry }) => (entry.deleted === undefined ? [] : [entry.no]))
  )

/** That all is deleted but what is lost, and nothing twice. */
const assertRestDeleted = Effect.fnUntraced(function* (store: Opened, totals: unknown) {
  const done = yield* store.archive.remove(ada, DELETED_TO)
  assert.strictEqual(done.entries, DELETED_TO - (SECOND - FIRST))
  assert.deepStrictEqual(yield* store.archive.remove(ada, DELETED_TO), { entries: 0, envelopes: 0 })
  assert.deepStrictEqual(yield* store.archive.reached(ada), { archived: DELETED_TO, removed: DELETED_TO, left: [SPAN] })
  const rest = DELETED.filter((no) => no <= FIRST || no > SECOND)
  const found = [...(yield* deletedOf(store, 1, FIRST)), ...(yield* deletedOf(store, SECOND + 1, ENTRIES))]
  assert.deepStrictEqual(found, rest)
  assert.deepStrictEqual(yield* store.ledger.totals, totals)
})

/** That what was put back is deleted the next time, as far as the policy reaches. */
const assertDeletedAfterwards = Effect.fnUntraced(function* ({
  before,
  open,
  place
}: Effect.Success<ReturnType<typeof lived>>) {
  const store = yield* open(place.service)
  assert.strictEqual((yield* store.archive.remove(ada, SECOND - 5)).entries, SECOND - FIRST - 5)
  assert.deepStrictEqual((yield* store.archive.reached(ada)).left, [{ from: SECOND - 4, to: SECOND }])
  assert.strictEqual((yield* store.archive.remove(ada, DELETED_TO)).entries, 5)
  assert.deepStrictEqual(yield* store.archive.reached(ada), { archived: DELETED_TO, removed: DELETED_TO, left: [] })
  assert.deepStrictEqual(yield* deletedOf(store, 1, ENTRIES), DELETED)
  assert.ok(!JSON.stringify(yield* store.ledger.entries(ada, 1, ENTRIES)).includes(WORD))
  assert.ok(!textIn(place).includes(WORD))
  assert.deepStrictEqual(yield* store.ledger.totals, before.totals)
})

export const lostSegmentLaws: ReadonlyArray<Law<ApartStore>> = [
  {
    id: "Z6.missing",
    says: "one that is missing holds up no deletion of the rest, and is deleted when it is put back",
    check: Effect.gen(function* () {
      const life = yield* lived()
      const { before, bytes, open, place, second } = life
      place.objects.delete(second)
      yield* Effect.scoped(Effect.flatMap(open(place.service), (store) => assertRestDeleted(store, before.totals)))
      place.objects.set(second, bytes)
      yield* assertDeletedAfterwards(life)
    })
  },
  {
    id: "Z6.damaged",
    says: "one that is damaged goes out of its place when all of it is to be deleted, and before that it stays",
    check: Effect.gen(function* () {
      const life = yield* lived()
      const { before, bytes, open, place, second } = life
      place.objects.set(second, damaged(bytes))
      yield* Effect.scoped(
        Effect.gen(function* () {
          const store = yield* open(place.service)
          yield* store.archive.remove(ada, SECOND - 1)
          assert.ok(place.objects.has(second))
        })
      )
      yield* Effect.scoped(
        Effect.gen(function* () {
          const store = yield* open(place.service)
          assert.strictEqual((yield* store.archive.remove(ada, DELETED_TO)).entries, DELETED_TO - SECOND)
          assert.ok(!place.objects.has(second))
          assert.deepStrictEqual((yield* store.archive.reached(ada)).left, [SPAN])
          assert.deepStrictEqual(yield* store.ledger.totals, before.totals)
        })
      )
      place.objects.set(second, bytes)
      yield* assertDeletedAfterwards(life)
    })
  },
  {
    id: "Z6.withheld",
    says: "where no place is named, or it is out of reach, nothing is deleted instead",
    check: Effect.gen(function* () {
      const { before, open, place } = yield* lived()
      yield* Effect.scoped(
        Effect.gen(function* () {
          assert.match(yield* messageOf((yield* open()).archive.remove(ada, DELETED_TO)), /no place is given/)
        })
      )
      place.refuses.add("get")
      yield* Effect.scoped(
        Effect.gen(function* () {
          const store = yield* open(place.service)
          assert.match(yield* messageOf(store.archive.remove(ada, DELETED_TO)), /cannot be reached/)
        })
      )
      place.refuses.clear()
      assert.deepStrictEqual(yield* readings(yield* open(place.service)), before)
    })
  },
  {
    id: "L2.missing",
    says: "one that is missing stays referred to, and holds up nothing of the rest",
    check: Effect.gen(function* () {
      const life = yield* lived()
      const { before, bytes, open, place, second } = life
      place.objects.delete(second)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const store = yield* open(place.service)
          const there = yield* standing(store)
          const [made = there] = yield* store.bundles.rewrite([ada], without(WORD))
          assert.deepStrictEqual(lostSegments(there, made), [
            { segment: second, ...SPAN, state: "missing", comesBack: true }
          ])
          assert.ok(!textIn(place).includes(WORD))
          yield* assertRestForgotten(store, before)
          const failure = yield* failureOf(store.ledger.entries(ada, 1, ENTRIES))
          assert.match(String(failure), new RegExp(`segment ${second} is missing in memory`))
          assert.deepStrictEqual(Reflect.get(failure ?? {}, "lost"), SPAN)
          assert.deepStrictEqual((yield* store.archive.apart(true))?.missing, [second])
        })
      )
      place.objects.set(second, bytes)
      yield* assertReadAgain(life, before.entries.slice(FIRST, SECOND))
    })
  },
  {
    id: "L5.recent",
    says: "what was said since is read where one is lost, and all of it when it is put back",
    check: Effect.gen(function* () {
      const { bytes, open, place, second } = yield* lived()
      const placesOf = ({ ledger }: Opened) =>
        Effect.map(ledger.recent(ada, 1_000_000), (found) => [...new Set(found.map(({ place: { no } }) => no))])
      const read = (change: () => void) =>
        Effect.scoped(Effect.flatMap(Effect.andThen(Effect.sync(change), open(place.service)), placesOf))
      const all = yield* read(() => undefined)
      const since = all.filter((no) => no > SECOND)
      assert.ok(since.length > 0 && since.length < all.length)
      assert.deepStrictEqual(yield* read(() => place.objects.delete(second)), since)
      assert.deepStrictEqual(yield* read(() => place.objects.set(second, damaged(bytes))), since)
      assert.deepStrictEqual(yield* read(() => place.objects.set(second, bytes)), all)
    })
  },
  {
    id: "L2.damaged",
    says: "one that is damaged goes out of its place, and a whole one that is put back is read again",
    check: Effect.gen(function* () {
      const life = yield* lived()
      const { before, bytes, open, place, second } = life
      place.objects.set(second, damaged(bytes))
      yield* Effect.scoped(
        Effect.gen(function* () {
          const store = yield* open(place.service)
          const there = yield* standing(store)
          const [same = there] = yield* store.bundles.rewrite([ada], (life) => life)
          assert.deepStrictEqual(
            lostSegments(there, same).map(({ state }) => state),
            ["damaged"]
          )
          assert.ok(place.objects.has(second))
          const [made = there] = yield* store.bundles.rewrite([ada], without(WORD))
          assert.deepStrictEqual(lostSegments(there, made), [
            { segment: second, ...SPAN, state: "removed", comesBack: true }
          ])
          assert.ok(!place.objects.has(second))
          assert.ok(!textIn(place).includes(WORD))
          yield* assertRestForgotten(store, before)
        })
      )
      place.objects.set(second, bytes)
      yield* assertReadAgain(life, before.entries.slice(FIRST, SECOND))
    })
  },
  {
    id: "L2.restored",
    says: "one that is put back while the damaged one is to go stays",
    check: Effect.gen(function* () {
      const life = yield* lived()
      const { before, bytes, open, place, second } = life
      place.objects.set(second, damaged(bytes))
      yield* Effect.scoped(
        Effect.gen(function* () {
          const store = yield* open(place.service)
          yield* store.bundles.rewrite([ada], (there) => {
            place.objects.set(second, bytes)
            return without(WORD)(there)
          })
        })
      )
      yield* assertReadAgain(life, before.entries.slice(FIRST, SECOND))
    })
  },
  wholeWith("missing", (place, key) => void place.objects.delete(key)),
  wholeWith("removed", (place, key, bytes) => void place.objects.set(key, damaged(bytes))),
  {
    id: "L3.withheld",
    says: "where no place is named, or it is out of reach, nothing is forgotten and nothing has changed",
    check: Effect.gen(function* () {
      const { before, open, place } = yield* lived()
      yield* Effect.scoped(
        Effect.gen(function* () {
          const bare = yield* open()
          assert.match(yield* messageOf(bare.bundles.rewrite([ada], without(WORD))), /no place is given/)
          assert.match(yield* messageOf(standing(bare)), /no place is given/)
        })
      )
      place.refuses.add("get")
      yield* Effect.scoped(
        Effect.gen(function* () {
          const store = yield* open(place.service)
          assert.match(yield* messageOf(store.bundles.rewrite([ada], without(WORD))), /cannot be reached/)
        })
      )
      place.refuses.clear()
      assert.deepStrictEqual(yield* readings(yield* open(place.service)), before)
    })
  },
  {
    id: "L4.packed",
    says: "who packs a life for others is refused",
    check: Effect.gen(function* () {
      const { open, place, second } = yield* lived()
      place.objects.delete(second)
      const store = yield* open(place.service)
      assert.match(yield* messageOf(Stream.runCollect(store.bundles.pack(ada))), /is missing in memory/)
      yield* store.bundles.rewrite([ada], without(WORD))
      assert.match(yield* messageOf(Stream.runCollect(store.bundles.pack(ada))), /is missing in memory/)
    })
  },
  {
    id: "R9.attached",
    says: "bytes that only a lost segment refers to are forgotten when they hold the text, and stay when they do not",
    check: Effect.gen(function* () {
      const { open, place, second } = yield* lived([`a note of ${WORD}`, "a picture"])
      place.objects.delete(second)
      const store = yield* open(place.service)
      const there = yield* standing(store)
      const [made = there] = yield* store.bundles.rewrite([ada], without(WORD))
      const bytesOf = ({ parts }: Bundle) =>
        parts.flatMap((part) => (part.kind === "blob" ? [Buffer.from(part.bytes, "base64").toString()] : [])).toSorted()
      assert.deepStrictEqual(bytesOf(there), [`a note of ${WORD}`, "a picture"])
      assert.deepStrictEqual(bytesOf(made), ["a picture"])
      assert.deepStrictEqual(bytesOf(yield* standing(store)), ["a picture"])
      const digests = there.parts.flatMap((part) => (part.kind === "blob" ? [part.digest] : []))
      const kept = yield* Effect.forEach(digests, (digest) => store.ledger.blobs.read(ada.tenant, digest))
      assert.deepStrictEqual(
        kept.flatMap((each) => (each === undefined ? [] : [Buffer.from(each).toString()])),
        ["a picture"]
      )
    })
  }
]
