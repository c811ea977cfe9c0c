// Bundles on SQLite: one reader and one writer, and the mark on the data store.
// Owns that a bundle is judged inside the transaction that writes it. The rows are read by bundle-reader.ts and written by
// bundle-writer.ts.
// I1  A bundle is judged and written in one transaction of the writer: no other one comes in between.

import type { DatabaseSync } from "node:sqlite"
import {
  type Bundle,
  type BundlePart,
  type BundlePlace,
  bundleOfParts,
  type BundleRefused,
  type Bundles,
  judgeBundle,
  type LedgerUnavailable,
  nobodyAt,
  occupiedBy,
  Pause,
  type PlacedSegment,
  rewritten,
  type Subject,
  tenantOf
} from "@reverie/ledger"
import type { Address } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import { assistantQueries, type Leases, ledgerUnavailable } from "../ledger/assistants.ts"
import { placingIn, segmentWriter } from "../ledger/segment-writer.ts"
import type { Marks } from "../ledger/marks.ts"
import { type BundleReader, bundleReader } from "./bundle-reader.ts"
import { type BundleWriter, bundleWriter } from "./bundle-writer.ts"
import { leavingUnopened } from "./unopened.ts"
import type { Keyring } from "../sealing/keyring.ts"
import { resealedOf } from "../sealing/resealing.ts"
import { reading, Wanted } from "../sql.ts"
import type { Writer } from "../writer.ts"

const MOVER = "bundle"
const FOR_EVER = Number.MAX_SAFE_INTEGER
const PAGE = 512

interface Gathered {
  readonly page: ReadonlyArray<BundlePart>
  readonly wanted?: Wanted
  readonly isEnd: boolean
}

const gathered = (parts: Iterator<BundlePart | Pause>): Gathered => {
  const page: Array<BundlePart> = []
  while (page.length < PAGE) {
    const next = parts.next()
    if (next.done === true) return { page, isEnd: true }
    if (next.value instanceof Wanted) return { page, wanted: next.value, isEnd: false }
    if (!(next.value instanceof Pause)) page.push(next.value)
  }
  return { page, isEnd: false }
}

/** Page by page; what lies apart is fetched between two of them. */
const pages = (parts: Iterator<BundlePart | Pause>): Stream.Stream<BundlePart, LedgerUnavailable> => {
  const unavailable = ledgerUnavailable("pack")
  let held: (() => void) | undefined
  const letGo = Effect.sync(() => {
    held?.()
    held = undefined
  })
  const gather = Effect.gen(function* () {
    const found = yield* Effect.ensuring(
      reading(unavailable, () => Result.succeed(gathered(parts))),
      letGo
    )
    if (found.wanted !== undefined) held = yield* Effect.mapError(found.wanted.fetch, unavailable)
    return [found.page, found.isEnd ? Option.none<undefined>() : Option.some(undefined)] as const
  })
  return Stream.ensuring(
    Stream.paginate(undefined, () => gather),
    letGo
  )
}

const packing = (reader: () => BundleReader): Pick<Bundles["Service"], "pack" | "packTenant" | "tenants"> => ({
  pack: (address, { marksLost = false } = {}) =>
    Stream.unwrap(
      Effect.map(
        reading(ledgerUnavailable("pack"), () => {
          const found = reader().life(address, marksLost)
          return found === undefined ? Result.fail(nobodyAt(address)) : Result.succeed(found)
        }),
        pages
      )
    ),
  packTenant: (tenant) =>
    Stream.fromIterableEffect(reading(ledgerUnavailable("pack"), () => Result.succeed(reader().tenant(tenant)))),
  tenants: reading(ledgerUnavailable("tenants"), () => Result.succeed(reader().tenants()))
})

/** What is to be put down of a bundle; undefined when it is here already. */
const judged = (
  reader: BundleReader,
  writer: BundleWriter,
  bundle: Bundle
): Result.Result<ReadonlyArray<BundlePart> | undefined, BundleRefused> => {
  const { head } = bundle
  const parts = head.kind === "tenant" ? reader.tenant(head.tenant) : reader.life(head.address)
  const here = parts === undefined ? undefined : bundleOfParts(parts)
  return Result.flatMap(judgeBundle(bundle, here), (fresh) => {
    const obstacle = fresh === undefined ? undefined : writer.obstacle(tenantOf(head), fresh)
    return obstacle === undefined ? Result.succeed(fresh) : Result.fail(occupiedBy(head, obstacle))
  })
}

const onceAsked = <A>(make: () => A): (() => A) => {
  let made: A | undefined
  return () => (made ??= make())
}

interface Rewritten {
  readonly made: Bundle
  /** What goes out of its place, because it cannot be proved clean. */
  readonly damaged: ReadonlyArray<PlacedSegment>
}

const rewriting = (
  database: DatabaseSync,
  reader: () => BundleReader,
  rows: () => BundleWriter,
  writer: Writer,
  leases: Leases,
  marks: Marks
): Bundles["Service"]["rewrite"] => {
  const placing = () => placingIn(database, writer)
  const leaveUnopened = onceAsked(() => leavingUnopened(database))
  const bundleAt = ({ assistant, tenant }: BundlePlace): Bundle | undefined => {
    if (assistant !== undefined) rows().fetchAll({ assistant, tenant })
    const parts = assistant === undefined ? reader().tenant(tenant) : reader().life({ assistant, tenant }, true)
    return parts === undefined ? undefined : bundleOfParts(parts)
  }

  const put = (
    places: ReadonlyArray<BundlePlace>,
    change: (there: Bundle) => Bundle,
    now: number,
    onUndo: (undo: () => void) => void
  ): Result.Result<ReadonlyArray<Rewritten>, BundleRefused> =>
    Result.map(Result.all(places.map((place) => rewritten(place, bundleAt(place), change))), (pairs) =>
      pairs.map(({ made, there }) => {
        const { damaged, key } = rows().rewrite(there, made, now)
        if (key !== undefined) leaveUnopened()(key, there)
        const lease = key === undefined ? undefined : leases.live(key, now)
        if (key === undefined || lease === undefined) return { made, damaged }
        leases.end(key)
        onUndo(() => leases.grant(key, lease, now))
        return { made, damaged }
      })
    )

  // Of two at once one would take the mark away under which the other one works.
  const oneByOne = Semaphore.makeUnsafe(1)

  return (places, change) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const mark = (isUnderWay: boolean) =>
        reading(ledgerUnavailable("rewrite"), () => Result.succeed(marks.purging(isUnderWay)))
      yield* mark(true)
      const made = yield* Effect.result(
        writer.write(ledgerUnavailable("rewrite"), (onUndo) => placing().moving(() => put(places, change, now, onUndo)))
      )
      if (Result.isSuccess(made)) {
        yield* writer.purge(ledgerUnavailable("rewrite"))
        yield* placing().leave(made.success.flatMap(({ damaged }) => damaged))
        yield* placing().sweep
      }
      yield* mark(false)
      return (yield* Effect.fromResult(made)).map((each) => each.made)
    }).pipe(Effect.uninterruptible, oneByOne.withPermits(1))
}

/** What is left of a life is sealed with another key before the one of before goes: the tombstones stay readable. */
const shredding = (
  database: DatabaseSync,
  writer: Writer,
  keyring: Keyring,
  places: ReadonlyArray<BundlePlace>
): Effect.Effect<void, LedgerUnavailable> => {
  const subjects = places.map(({ assistant = "", tenant }): Subject => ({ tenant, assistant }))
  const unavailable = ledgerUnavailable("shred")
  const placing = placingIn(database, writer)
  const rows = segmentWriter(database)
  const assistants = assistantQueries(database)
  const keys = () =>
    places.flatMap(({ assistant, tenant }) => {
      const key = assistant === undefined ? undefined : assistants.find({ assistant, tenant })?.key
      return key === undefined ? [] : [key]
    })
  const reseal = () => {
    for (const key of keys()) rows.fetchAll(key)
    resealedOf(database, subjects)
    for (const key of keys()) rows.renewAll(key, true)
    return Result.void
  }
  // What goes to a place is sealed before the transaction: with the new keys already.
  return reading(unavailable, () => Result.succeed(subjects.forEach((each) => keyring.renew(each)))).pipe(
    Effect.andThen(writer.write(unavailable, () => placing.moving(reseal))),
    Effect.andThen(reading(unavailable, () => Result.succeed(subjects.forEach((each) => keyring.destroyFormer(each))))),
    Effect.andThen(placing.sweep),
    Effect.asVoid,
    Effect.uninterruptible
  )
}

export const sqliteBundles = (
  database: DatabaseSync,
  writer: Writer,
  leases: Leases,
  marks: Marks,
  keyring?: Keyring
): Bundles["Service"] => {
  // Most openings move no bundle.
  const reader = onceAsked(() => bundleReader(database))
  const rows = onceAsked(() => bundleWriter(database))

  const judging = (bundle: Bundle) => {
    if (bundle.head.kind === "assistant") rows().fetchAll(bundle.head.address)
    return judged(reader(), rows(), bundle)
  }

  const tried = (bundle: Bundle) =>
    Result.map(judging(bundle), (fresh) => (fresh === undefined ? "present" : "unpacked"))

  const unpacked = (bundle: Bundle, now: number, onUndo: (undo: () => void) => void) =>
    Result.map(judging(bundle), (fresh) => {
      if (fresh === undefined) return "present"
      const { head, parts } = bundle
      if (head.kind === "assistant") {
        const key = rows().life(head, parts, now)
        onUndo(leases.grant(key, { worker: MOVER, until: FOR_EVER }, now))
      }
      rows().entryRows(tenantOf(head), fresh)
      return "unpacked"
    })

  const admitted = (address: Address): void => {
    const key = rows().keyOf(address)
    if (key !== undefined && leases.live(key, FOR_EVER - 1)?.worker === MOVER) leases.end(key)
  }

  return {
    ...packing(reader),
    unpack: (bundle, { isTrial = false } = {}) =>
      isTrial
        ? reading(ledgerUnavailable("unpack"), () => tried(bundle))
        : Effect.flatMap(Clock.currentTimeMillis, (now) =>
            writer.write(ledgerUnavailable("unpack"), (onUndo) => unpacked(bundle, now, onUndo))
          ),
    rewrite: rewriting(database, reader, rows, writer, leases, marks),
    shred: (places) => (keyring === undefined ? Effect.void : shredding(database, writer, keyring, places)),
    admit: (addresses) => reading(ledgerUnavailable("admit"), () => Result.succeed(addresses.forEach(admitted))),
    mark: (mark) => reading(ledgerUnavailable("mark"), () => Result.succeed(marks.write(mark))),
    marked: reading(ledgerUnavailable("marked"), () => Result.succeed(marks.read()))
  }
}
