// Present: is a bundle that arrives the life that is led here already?
// Owns the comparison. Leaves both bundles to the code that has them.
// N1  A life is present when everything of it that only grows is here: its entries one by one, its accepted envelopes, and
//     of each of its blocks as many versions. What is here may be later, never earlier.
// N2  What is compared is what was written, not what it was written as: the order of the members of an object counts for
//     nothing.

import { type Address, addressKey, isJsonObject, type Json, longWork, type TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import {
  type Bundle,
  type BundleHead,
  type BundlePart,
  flawOfBundle,
  type PartKind,
  type PartOf
} from "./bundle-part.ts"
import { BundleRefused, type UnreadableRecord } from "./errors.ts"
import { MAX_PAGE_CHARS } from "./ledger.ts"
import { isUnopened, unopenedReason } from "./sealing/sealed-rows.ts"
import { unreadReason } from "./segment.ts"

const ordered = (value: Json): Json => {
  if (Array.isArray(value)) return (value as ReadonlyArray<Json>).map(ordered)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, ordered(member)])
  )
}

/** One text for all ways to write the same JSON. */
export const canonical = (value: unknown): string => JSON.stringify(ordered(value as Json))

const named = <Kind extends PartKind>(
  parts: ReadonlyArray<BundlePart>,
  kind: Kind,
  nameOf: (part: PartOf<Kind>) => string
): ReadonlyMap<string, PartOf<Kind>> =>
  new Map(parts.flatMap((part) => (part.kind === kind ? [[nameOf(part as PartOf<Kind>), part as PartOf<Kind>]] : [])))

/** The first part of this kind that is not here, or not the same here. */
const missing = <Kind extends PartKind>(
  bundle: Bundle,
  here: Bundle,
  kind: Kind,
  nameOf: (part: PartOf<Kind>) => string,
  isSame: (part: PartOf<Kind>, found: PartOf<Kind>) => boolean = (part, found) => canonical(part) === canonical(found)
): string | undefined => {
  const found = named(here.parts, kind, nameOf)
  for (const [name, part] of named(bundle.parts, kind, nameOf)) {
    const same = found.get(name)
    if (same === undefined || !isSame(part, same)) return `${kind} ${name}`
  }
  return undefined
}

/** What of a bundle is not led here, named for people; undefined when all of it is. */
const missingOf = (bundle: Bundle, here: Bundle): string | undefined =>
  missing(bundle, here, "entry", ({ entry }) => String(entry.no)) ??
  missing(
    bundle,
    here,
    "envelope",
    ({ id }) => id,
    (part, found) => part.lane === found.lane
  ) ??
  missing(
    bundle,
    here,
    "block",
    ({ id }) => id,
    (part, found) => part.owner === found.owner && part.label === found.label
  ) ??
  missing(bundle, here, "block-version", ({ block, version }) => `${block} ${version}`) ??
  missing(bundle, here, "block-answer", ({ key }) => key) ??
  missing(bundle, here, "prompt", ({ key, of, version }) => `${of} ${key} ${version}`) ??
  // What was set here stays.
  missing(
    bundle,
    here,
    "limit",
    ({ name }) => name,
    () => true
  )

const lineOf = ({ key, of }: PartOf<"prompt">): string => JSON.stringify([of, key])

/** The parts of a bundle whose line, block or key has nothing here yet: what is the same here is not put down twice. */
const newParts = ({ parts }: Bundle, here: Bundle | undefined): ReadonlyArray<BundlePart> => {
  if (here === undefined) return parts
  const lines = new Set(here.parts.flatMap((part) => (part.kind === "prompt" ? [lineOf(part)] : [])))
  const blocks = new Set(here.parts.flatMap((part) => (part.kind === "block" ? [part.id] : [])))
  const keys = new Set(here.parts.flatMap((part) => (part.kind === "block-answer" ? [part.key] : [])))
  const limits = new Set(here.parts.flatMap((part) => (part.kind === "limit" ? [part.name] : [])))
  return parts.filter((part) => {
    if (part.kind === "limit") return !limits.has(part.name)
    if (part.kind === "prompt") return !lines.has(lineOf(part))
    if (part.kind === "block") return !blocks.has(part.id)
    if (part.kind === "block-version" || part.kind === "block-snapshot") return !blocks.has(part.block)
    return part.kind !== "block-answer" || !keys.has(part.key)
  })
}

/** What is here under the name of something in a tenant's bundle and is not the same; undefined when nothing is. */
const clashOf = (bundle: Bundle, here: Bundle): string | undefined => {
  const fresh = new Set(newParts(bundle, here))
  return missingOf({ ...bundle, parts: bundle.parts.filter((part) => !fresh.has(part)) }, here)
}

/** A life whose data keys are not there can only be forgotten whole: what it says is not known. */
export const isUnopenedLife = ({ head }: Bundle): boolean =>
  head.kind === "assistant" && typeof head.state === "string" && unopenedReason(head.state) !== undefined

// Readable: pages of rows of which some may be damaged, or written by a newer Reverie.
// R1  A page is full unless nothing more follows, or its texts come to MAX_PAGE_CHARS: paging on by its last row misses nothing.
//     It is empty only when nothing more follows.
// R2  What is skipped is reported once, with its name, in the life of a store; of a segment that is lost only the first row is, and of
//     what a page has that does not open for want of keys the first, with how many more there are.
// R3  The event loop turns between rows with long texts.

interface ReadablePage<Row, A, E, R> {
  readonly limit: number
  /** Rows behind the given one, in order; the first ones when there is none. Fewer than asked for where they are long. */
  readonly fetch: (last: Row | undefined, limit: number) => Effect.Effect<ReadonlyArray<Row>, E, R>
  /** What is read of a row, in characters; none when rows are always short. */
  readonly lengthOf?: (row: Row) => number
  readonly decode: (row: Row) => Result.Result<A, UnreadableRecord>
}

const TELLS_MORE = "reverie doctor --deep tells more"

export class Readable {
  readonly #said = new Set<string>()

  page<Row, A, E, R>(query: ReadablePage<Row, A, E, R>): Effect.Effect<ReadonlyArray<A>, E, R> {
    const { decode, fetch, lengthOf = () => 0, limit } = query
    const skip = (unreadable: UnreadableRecord) => this.#skip(unreadable)
    const skipSealed = (unopened: ReadonlyArray<UnreadableRecord>) => this.#skipSealed(unopened)
    return Effect.gen(function* () {
      const found: Array<A> = []
      const unopened: Array<UnreadableRecord> = []
      let last: Row | undefined
      for (let isMore = limit > 0; isMore;) {
        const wanted = limit - found.length
        const rows = yield* fetch(last, wanted)
        let characters = 0
        for (const row of rows) {
          const length = lengthOf(row)
          characters += length
          yield* longWork.begin(length)
          const decoded = decode(row)
          if (Result.isSuccess(decoded)) found.push(decoded.success)
          else if (isUnopened(decoded.failure)) unopened.push(decoded.failure)
          else yield* skip(decoded.failure)
        }
        last = rows.at(-1)
        const isCutShort = characters >= MAX_PAGE_CHARS
        const isLongEnough = found.length >= limit || (isCutShort && found.length > 0)
        isMore = !isLongEnough && (isCutShort || rows.length === wanted)
      }
      yield* skipSealed(unopened)
      return found
    })
  }

  #skip({ message, record }: UnreadableRecord): Effect.Effect<void> {
    const segment = unreadReason(message)
    const name = segment ?? record
    if (this.#said.has(name)) return Effect.void
    this.#said.add(name)
    const what = segment === undefined ? `${record} cannot` : `${record}, and what else lies with it, cannot`
    return Effect.logWarning(`${what} be read and is skipped: ${message}; ${TELLS_MORE}`)
  }

  #skipSealed(unopened: ReadonlyArray<UnreadableRecord>): Effect.Effect<void> {
    const fresh = unopened.filter(({ record }) => !this.#said.has(record))
    for (const { record } of fresh) this.#said.add(record)
    const [first] = fresh
    if (first === undefined) return Effect.void
    const [more, are] = fresh.length === 1 ? ["", "is"] : [` and ${fresh.length - 1} more`, "are"]
    return Effect.logWarning(
      `${first.record}${more} cannot be read and ${are} skipped: ${first.message}; ${TELLS_MORE}`
    )
  }
}

// Judging: may a bundle be put down in this data store, and what of it?

export const tenantOf = (head: BundleHead): TenantId => (head.kind === "tenant" ? head.tenant : head.address.tenant)

export const whoOf = (head: BundleHead): string =>
  head.kind === "tenant" ? `tenant ${head.tenant}` : addressKey(head.address)

export const refused = (reason: BundleRefused["reason"], who: string, why: string): BundleRefused =>
  new BundleRefused({ reason, who, message: `${who}: ${why}` })

export const nobodyAt = (address: Address): BundleRefused =>
  refused("unknown", addressKey(address), "there is no such assistant")

/** `what` stands where something of the bundle would be put. */
export const occupiedBy = (head: BundleHead, what: string): BundleRefused =>
  refused("occupied", whoOf(head), `there is ${what} here already`)

/** What is to be put down of a bundle over what is here of its life or tenant; undefined when all of it is here already. */
export const judgeBundle = (
  bundle: Bundle,
  here: Bundle | undefined
): Result.Result<ReadonlyArray<BundlePart> | undefined, BundleRefused> => {
  const { head, parts } = bundle
  const flaw = flawOfBundle(bundle)
  if (flaw !== undefined) return Result.fail(refused("broken", whoOf(head), flaw))
  if (here === undefined) return Result.succeed(parts)
  const missing = missingOf(bundle, here)
  if (missing === undefined) return Result.succeed(undefined)
  if (head.kind === "assistant") {
    return Result.fail(refused("occupied", whoOf(head), `another life is led here, without ${missing}`))
  }
  const clash = clashOf(bundle, here)
  return clash === undefined
    ? Result.succeed(newParts(bundle, here))
    : Result.fail(occupiedBy(head, `another ${clash}`))
}
