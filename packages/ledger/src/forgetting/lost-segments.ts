// LostSegments: what stands for rows whose segment cannot be read, while the rest of a life is rewritten.
// Owns its form, which of it is taken away, and the account of it. Leaves finding out what is lost to the stores.
// L1  What stands for a lost row says nothing: its number, and where the store refers. Rewriting leaves the row as it stands, unless it
//     goes altogether.
// L2  A segment that is missing stays referred to, so that it reads again once it is put back: a place that is only out of sight costs
//     nothing. One that is damaged goes out of its place where it may hold what is forgotten, for it cannot be proved clean.
// L3  Where it may well be whole, because its place is not named or this Node does not know its codec, nothing is forgotten instead.
// L4  Nothing that stands for a lost row leaves its store: who packs a life for others is refused.

import { ENTRY_VERSION, isJsonObject, type Json } from "@reverie/protocol"
import type { Bundle, BundlePart, PartOf } from "../bundle-part.ts"
import { placeOfText } from "../segment.ts"
import type { Ticks } from "./meant-ticks.ts"

/** A row whose text is in a segment that cannot be read. */
export interface LostRow {
  /** The key of the segment in its place, or its number in the store. */
  readonly segment: string
  /** `taken`: it was damaged, and is to go. */
  readonly why: "missing" | "damaged" | "taken"
  /** What stands in the row. */
  readonly reference: string
}

// The names are those under which no one's words stand, so that none is sought there.
const lostMember = ({ reference, segment, why }: LostRow): Json => ({ src: segment, kind: why, v: reference })

/** In no tick. */
const NO_TICK = -1

/** In the place of an entry; it names the bytes that the segment refers to. */
export const lostEntryText = (lost: LostRow, no: number, digests: ReadonlyArray<string>): string =>
  JSON.stringify({
    v: ENTRY_VERSION,
    no,
    at: 0,
    epoch: 0,
    tick: NO_TICK,
    iteration: 0,
    cause: { kind: "creation" },
    event: { parts: digests.map((digest) => ({ digest })) },
    status: "",
    messages: [],
    lost: lostMember(lost)
  })

/** In the place of an envelope. */
export const lostMailText = (lost: LostRow): string => JSON.stringify({ lost: lostMember(lost) })

/** What an entry or the body of an envelope stands for, where that is lost. */
export const lostRowOf = (value: unknown): LostRow | undefined => {
  const lost: unknown = typeof value === "object" && value !== null ? Reflect.get(value, "lost") : undefined
  if (!isJsonObject(lost as Json)) return undefined
  const { kind, src, v } = lost as { readonly src: string; readonly kind: LostRow["why"]; readonly v: string }
  return { segment: src, why: kind, reference: v }
}

const lostIn = (part: BundlePart): LostRow | undefined =>
  part.kind === "entry" ? lostRowOf(part.entry) : part.kind === "envelope" ? lostRowOf(part.body) : undefined

/** A segment of a life that cannot be read, and what became of it. */
interface LostSegment {
  readonly segment: string
  /** Numbers of its entries, both included. */
  readonly from: number
  readonly to: number
  /** `missing`: it is not in its place. `damaged`: it is, and holds nothing of it. `removed`: it was damaged, and went. */
  readonly state: "missing" | "damaged" | "removed"
  /** It is still referred to: a whole one that is put back is read again. */
  readonly comesBack: boolean
}

type EntryOf = PartOf<"entry">["entry"]

const entriesIn = ({ parts }: Bundle): ReadonlyArray<EntryOf> =>
  parts.flatMap((part) => (part.kind === "entry" ? [part.entry] : []))

const lostEntries = (
  life: Bundle
): ReadonlyMap<string, ReadonlyArray<{ readonly no: number; readonly row: LostRow }>> =>
  Map.groupBy(
    entriesIn(life).flatMap((entry) => {
      const row = lostRowOf(entry)
      return row === undefined ? [] : [{ no: entry.no, row }]
    }),
    ({ row }) => row.segment
  )

/** What of a life is lost, and what of that a rewriting leaves. */
export const lostSegments = (there: Bundle, made: Bundle): ReadonlyArray<LostSegment> => {
  const left = lostEntries(made)
  return [...lostEntries(there)].map(([segment, rows]) => {
    const whys = [rows[0]?.row.why, left.get(segment)?.[0]?.row.why]
    const isLeft = whys[1] !== undefined
    const isRemoved = whys[0] === "damaged" && whys[1] !== "damaged"
    const numbers = rows.map(({ no }) => no)
    return {
      segment,
      from: Math.min(...numbers),
      to: Math.max(...numbers),
      state: isRemoved ? "removed" : whys[0] === "damaged" ? "damaged" : "missing",
      comesBack: isLeft
    }
  })
}

/** What of lost segments is still referred to, and what is to go out of its place, by their numbers in the store. */
export interface LeftOfLost {
  readonly segments: ReadonlySet<number>
  readonly taken: ReadonlySet<number>
  /** Bytes that one of them refers to, as far as they stay. */
  readonly digests: ReadonlyMap<number, ReadonlySet<string>>
}

const digestsOf = (entry: EntryOf): ReadonlyArray<string> => {
  const parts = isJsonObject(entry.event) ? entry.event["parts"] : undefined
  return (Array.isArray(parts) ? (parts as ReadonlyArray<Json>) : []).flatMap((part) =>
    isJsonObject(part) && typeof part["digest"] === "string" ? [part["digest"]] : []
  )
}

export const leftOfLost = ({ parts }: Bundle): LeftOfLost => {
  const segments = new Set<number>()
  const taken = new Set<number>()
  const digests = new Map<number, Set<string>>()
  for (const part of parts) {
    const row = lostIn(part)
    const number = row === undefined ? undefined : placeOfText(row.reference)?.segment
    if (number === undefined) continue
    segments.add(number)
    if (row?.why === "taken") taken.add(number)
    const named = digests.get(number) ?? new Set<string>()
    digests.set(number, named)
    if (part.kind === "entry") for (const digest of digestsOf(part.entry)) named.add(digest)
  }
  return { segments, taken, digests }
}

/** Whether entries up to a number may hold something of what is named: what was said before it can not. */
const mayHold =
  (life: Bundle, { messages, since }: Ticks) =>
  (to: number): boolean => {
    const known = entriesIn(life).filter((entry) => lostRowOf(entry) === undefined)
    const next = known.find(({ no }) => no > to)
    if (next === undefined) return true
    if (since !== undefined && next.at < since) return false
    const first = messages?.reduce((least, { no }) => Math.min(least, no), Infinity) ?? 0
    const tick = known.find(({ no }) => no === first)?.tick
    return tick === undefined || tick === next.tick || first <= to
  }

/** A changed life whose damaged segments go, where they may hold what is forgotten of it; all of them where no ticks are named. */
export const withoutDamaged = (there: Bundle, made: Bundle, what?: Ticks): Bundle => {
  const holds = what === undefined ? () => true : mayHold(there, what)
  const going = new Set(
    lostSegments(there, there).flatMap(({ segment, state, to }) => (state === "damaged" && holds(to) ? [segment] : []))
  )
  if (going.size === 0) return made
  const taken = (value: object): object => {
    const row = lostRowOf(value)
    return row === undefined || !going.has(row.segment)
      ? value
      : { ...value, lost: lostMember({ ...row, why: "taken" }) }
  }
  const parts = made.parts.map((part): BundlePart => {
    if (part.kind === "entry") return { ...part, entry: taken(part.entry) as EntryOf }
    return part.kind === "envelope" && isJsonObject(part.body) ? { ...part, body: taken(part.body) as Json } : part
  })
  return { head: made.head, parts }
}
