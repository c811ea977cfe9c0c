// Bundles on SQLite: who moves out of a directory or into it.
// Owns the judging of a bundle inside the transaction that puts it down, and the mark on the data store. Leaves the rows to
// moving-out.ts and moving-in.ts.
// I1  Judged and written in one transaction of the writer: no one moves in between.

import type { DatabaseSync } from "node:sqlite"
import {
  type Bundle,
  type BundleHead,
  type BundlePart,
  type BundleRefused,
  type Bundles,
  judgeBundle,
  type LedgerUnavailable,
  nobodyAt,
  occupiedBy,
  tenantOf
} from "@reverie/ledger"
import type { Address } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { type Leases, ledgerUnavailable } from "../ledger/assistants.ts"
import type { Marks } from "../ledger/marks.ts"
import { type MovingIn, movingIn } from "./moving-in.ts"
import { type MovingOut, movingOut } from "./moving-out.ts"
import { reading } from "../sql.ts"
import type { Writer } from "../writer.ts"

const MOVER = "bundle"
const FOR_EVER = Number.MAX_SAFE_INTEGER
const PAGE = 512

const pages = (parts: Iterator<BundlePart>): Stream.Stream<BundlePart, LedgerUnavailable> =>
  Stream.paginate(undefined, () =>
    reading(ledgerUnavailable("pack"), () => {
      const page: Array<BundlePart> = []
      for (let count = 0; count < PAGE; count++) {
        const next = parts.next()
        if (next.done === true) return Result.succeed([page, Option.none<undefined>()] as const)
        page.push(next.value)
      }
      return Result.succeed([page, Option.some(undefined)] as const)
    })
  )

const packing = (out: () => MovingOut): Pick<Bundles["Service"], "pack" | "packTenant" | "tenants"> => ({
  pack: (address) =>
    Stream.unwrap(
      Effect.map(
        reading(ledgerUnavailable("pack"), () => {
          const found = out().life(address)
          return found === undefined ? Result.fail(nobodyAt(address)) : Result.succeed(found)
        }),
        pages
      )
    ),
  packTenant: (tenant) =>
    Stream.fromIterableEffect(reading(ledgerUnavailable("pack"), () => Result.succeed(out().tenantParts(tenant)))),
  tenants: reading(ledgerUnavailable("tenants"), () => Result.succeed(out().tenants()))
})

const collected = (parts: Iterable<BundlePart> | undefined): Bundle | undefined => {
  if (parts === undefined) return undefined
  const [head, ...rest] = parts
  return { head: head as BundleHead, parts: rest }
}

/** What is to be put down of a bundle; undefined when it is here already. */
const judged = (
  out: MovingOut,
  into: MovingIn,
  bundle: Bundle
): Result.Result<ReadonlyArray<BundlePart> | undefined, BundleRefused> => {
  const { head } = bundle
  const here = collected(head.kind === "tenant" ? out.tenantParts(head.tenant) : out.life(head.address))
  return Result.flatMap(judgeBundle(bundle, here), (fresh) => {
    const obstacle = fresh === undefined ? undefined : into.obstacle(tenantOf(head), fresh)
    return obstacle === undefined ? Result.succeed(fresh) : Result.fail(occupiedBy(head, obstacle))
  })
}

const onceAsked = <A>(make: () => A): (() => A) => {
  let made: A | undefined
  return () => (made ??= make())
}

export const sqliteBundles = (
  database: DatabaseSync,
  writer: Writer,
  leases: Leases,
  marks: Marks
): Bundles["Service"] => {
  // Most openings move no one.
  const out = onceAsked(() => movingOut(database))
  const into = onceAsked(() => movingIn(database))

  const tried = (bundle: Bundle) =>
    Result.map(judged(out(), into(), bundle), (fresh) => (fresh === undefined ? "present" : "unpacked"))

  const unpacked = (bundle: Bundle, now: number, onUndo: (undo: () => void) => void) =>
    Result.map(judged(out(), into(), bundle), (fresh) => {
      if (fresh === undefined) return "present"
      const { head, parts } = bundle
      if (head.kind === "assistant") {
        const key = into().life(head, parts, now)
        onUndo(leases.grant(key, { worker: MOVER, until: FOR_EVER }, now))
      }
      into().entryRows(tenantOf(head), fresh)
      return "unpacked"
    })

  const admitted = (address: Address): void => {
    const key = into().keyOf(address)
    if (key !== undefined && leases.live(key, FOR_EVER - 1)?.worker === MOVER) leases.end(key)
  }

  return {
    ...packing(out),
    unpack: (bundle, { isTrial = false } = {}) =>
      isTrial
        ? reading(ledgerUnavailable("unpack"), () => tried(bundle))
        : Effect.flatMap(Clock.currentTimeMillis, (now) =>
            writer.write(ledgerUnavailable("unpack"), (onUndo) => unpacked(bundle, now, onUndo))
          ),
    admit: (addresses) => reading(ledgerUnavailable("admit"), () => Result.succeed(addresses.forEach(admitted))),
    mark: (mark) => reading(ledgerUnavailable("mark"), () => Result.succeed(marks.write(mark))),
    marked: reading(ledgerUnavailable("marked"), () => Result.succeed(marks.read()))
  }
}
