// Lost segment laws: a life that has lost a segment is forgotten in the rest (ledger, lost segments L; bundles R9).

import * as assert from "node:assert/strict"
import {
  type Archive,
  type Bundle,
  bundleOfParts,
  lostSegments,
  type SegmentPlace,
  withoutDamaged,
  withoutText
} from "@reverie/ledger"
import { LANES } from "@reverie/protocol"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { zstdDecompressSync } from "node:zlib"
import type { DataStore } from "../data-store.ts"
import { aMessage, anAddress, anEntry, anEnvelope } from "../fixtures.ts"
import type { Law } from "../law.ts"
import { MemorySegmentPlace } from "../memory-segment-place.ts"
import { plainLife } from "../plain-life.ts"

type Opened = Pick<DataStore, "bundles" | "ledger" | "mailbox"> & { readonly archive: Archive["Service"] }

/** One store, opened again and again, with its segments in a place or none. */
export class ApartStore extends Context.Service<
  ApartStore,
  { readonly open: (place?: SegmentPlace["Service"]) => Effect.Effect<Opened, unknown, Scope.Scope> }
>()("@reverie/testkit/apart-store") {}

const ada = anAddress("ada")
const WORD = "kestrel-9713"
const ENTRIES = 1_000

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

const readings = Effect.fnUntraced(function* ({ ledger, mailbox }: Opened) {
  return {
    entries: yield* ledger.entries(ada, 1, ENTRIES),
    outbox: yield* ledger.outbox(0, ENTRIES),
    totals: yield* ledger.totals,
    record: yield* ledger.inspect(ada),
    waiting: yield* mailbox.pending(ada, LANES, 10)
  }
})

const FIRST = 20
const SECOND = 40
const LAST = 45
/** The entries of the second segment. */
const SPAN = { from: FIRST + 1, to: SECOND }

/** A life in two segments and some rows; in both of them is the word, and in mail that waits. */
const lived = Effect.fnUntraced(function* (attached: ReadonlyArray<string> = []) {
  const { open } = yield* ApartStore
  const place = new MemorySegmentPlace()
  const before = yield* Effect.scoped(
    Effect.gen(function* () {
      const store = yield* open(place.service)
      const digests = yield* store.ledger.blobs.keep(
        ada.tenant,
        attached.map((text) => new TextEncoder().encode(text))
      )
      yield* plainLife(store, 29)
      const { claim } = yield* store.mailbox.claim({ address: ada, worker: "w", leaseMillis: 60_000 })
      yield* store.mailbox.accept(anEnvelope({ id: "m31", to: ada, event: { type: "message", text: WORD } }))
      const [first] = yield* store.mailbox.pending(ada, ["mail"], 1)
      assert.ok(first)
      const parts = digests.map((digest) => ({ type: "file", mediaType: "text/plain", digest, bytes: 9 })) as never
      const entry = anEntry({
        no: 31,
        epoch: claim.epoch,
        cause: { kind: "envelope", lane: "mail", seq: first.seq, id: first.id },
        messages: [{ ...aMessage(WORD), ...(digests.length > 0 && { parts }) }],
        settled: [{ id: first.id, outcome: "handled" }]
      })
      const { state } = (yield* store.ledger.inspect(ada)) ?? assert.fail()
      yield* store.ledger.commit(claim, { entry, state })
      yield* store.mailbox.release(claim)
      yield* plainLife(store, LAST - 31, { from: 31 })
      yield* store.mailbox.accept(
        anEnvelope({ id: "waits", to: ada, event: { type: "message", text: `later ${WORD}` } })
      )
      yield* store.archive.archive(ada, FIRST, 1)
      yield* store.archive.archive(ada, SECOND, 1)
      return yield* readings(store)
    })
  )
  const [first = "", second = ""] = [...place.objects.keys()]
  const bytes = place.objects.get(second) ?? new Uint8Array()
  assert.strictEqual(place.objects.size, 2)
  return { before, bytes, first, open, place, second }
})

const textIn = (place: MemorySegmentPlace): string =>
  [...place.objects.values()].map((bytes) => zstdDecompressSync(bytes).toString()).join("\n")

const damaged = (bytes: Uint8Array): Uint8Array =>
  Uint8Array.from(bytes, (byte, index) => (index === 40 ? byte ^ 1 : byte))

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

export const lostSegmentLaws: ReadonlyArray<Law<ApartStore>> = [
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
