// Forgetting: what may stand in the place of a life in which something is to be known no more.
// Owns the judging of a rewritten life, taking a text out of one, and the account of what went.
// G1  A rewritten life is a whole bundle of the same assistant and has nowhere more than there was.
// G2  Of a life without a text every message and every text around it that held it is a tombstone, whatever wrote it; numbers,
//     names of kinds and references stay, so that it replays. What was remembered with it is not remembered.
// G3  What went is counted by kind and never named: an account of it holds no text.
// G4  Words of Reverie itself are no text of anyone: what has them alone stays as it is (row-words.ts).

import { Buffer } from "node:buffer"
import {
  type Address,
  FORGOTTEN,
  isJsonObject,
  type Json,
  LANES,
  parseJson,
  type RecordChange,
  recordKinds
} from "@reverie/protocol"
import * as Result from "effect/Result"
import { type Bundle, type BundlePart, digestsIn, flawOfBundle } from "../bundle-part.ts"
import type { BundlePlace } from "../bundles.ts"
import type { BundleRefused } from "../errors.ts"
import { blockOfAnswer } from "../packing.ts"
import { nobodyAt, refused, whoOf } from "../present.ts"
import { evened, evenedBytes, replacedAt, spansOf, unescaped } from "./texts/composed.ts"
import { withoutEmptied } from "./emptied.ts"
import { withFactsLeft } from "./memories/facts-left.ts"
import { reasonsOf, saying, textsOfOrder } from "./hushing.ts"
import {
  type Fields,
  hasGivenNames,
  OwnWords,
  type Place,
  placeIn,
  ROOT,
  SAID,
  withoutContainers
} from "./texts/row-words.ts"

const GROWING = [...LANES.map((lane) => `envelope ${lane}`), "entry", "dead-letter"]

const nameOf = (part: BundlePart): string => (part.kind === "envelope" ? `envelope ${part.lane}` : part.kind)

const countsOf = (
  parts: ReadonlyArray<BundlePart>,
  name: (part: BundlePart) => string
): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const part of parts) counts.set(name(part), (counts.get(name(part)) ?? 0) + 1)
  return counts
}

/** What a change makes of a life, where that may stand in its place. */
const judged = (life: Bundle, change: (life: Bundle) => Bundle): Result.Result<Bundle, BundleRefused> => {
  const made = change(life)
  const [before, after] = [countsOf(life.parts, nameOf), countsOf(made.parts, nameOf)]
  const grown = GROWING.find((name) => (after.get(name) ?? 0) > (before.get(name) ?? 0))
  const flaw =
    flawOfBundle(made) ??
    (whoOf(made.head) === whoOf(life.head) ? undefined : `it would be ${whoOf(made.head)}`) ??
    (grown === undefined ? undefined : `it would have more of this than before: ${grown}`)
  return flaw === undefined ? Result.succeed(made) : Result.fail(refused("broken", whoOf(life.head), flaw))
}

/** What is put in which place; refused where nothing is there. */
export const rewritten = (
  place: BundlePlace,
  there: Bundle | undefined,
  change: (there: Bundle) => Bundle
): Result.Result<{ readonly there: Bundle; readonly made: Bundle }, BundleRefused> => {
  if (there === undefined) return Result.fail(nobodyAt(place as Address))
  return Result.map(judged(there, change), (made) => ({ there, made }))
}

/** The digests that a rewritten life refers to no more. */
export const droppedDigests = (life: Bundle, made: Bundle): ReadonlyArray<string> => {
  const kept = new Set(made.parts.flatMap((part) => (part.kind === "blob" ? [part.digest] : [])))
  return life.parts.flatMap((part) => (part.kind === "blob" && !kept.has(part.digest) ? [part.digest] : []))
}

/** How many parts of each kind are not what they were, by kind: gone, or with something else in their place. */
export const goneBetween = (life: Bundle, made: Bundle): Readonly<Record<string, number>> => {
  const left = countsOf(made.parts, (part) => JSON.stringify(part))
  const used = new Map<string, number>()
  const gone = life.parts.filter((part) => {
    const text = JSON.stringify(part)
    used.set(text, (used.get(text) ?? 0) + 1)
    return (used.get(text) ?? 0) > (left.get(text) ?? 0)
  })
  const counts = Object.fromEntries([...countsOf(gone, ({ kind }) => kind)].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  // What the state alone still held is not nothing.
  const isHeadAlone = gone.length === 0 && JSON.stringify(life.head) !== JSON.stringify(made.head)
  return isHeadAlone ? { state: 1 } : counts
}

/** Under these stand names, of tools and steps among them. */
const NAMES = new Set(["name", "id", "key"])

/** What is taken out of texts. */
export interface Sought {
  readonly isIn: (text: string) => boolean
  /** Whether it is in what can be read of bytes; where not said, as in a text. */
  readonly isInBytes?: (text: string) => boolean
  /** A text without it, and with everything else. */
  readonly cut: (text: string) => string
  /** Whether it is in a name or an id, given also with blanks in the place of what of it is Reverie's own; where not said, if it is in that. */
  readonly isInName?: (name: string, others: string) => boolean
  /** What is left as it is, with all that is in it. */
  readonly spares?: (value: { readonly [key: string]: Json }) => boolean
  /** It is words, which ids and names of kinds have too: outside of what is remembered it is looked for in sentences alone. */
  readonly isProse?: true
}

/**
 * A text, whatever the case of its letters, composed or not, whatever stands for a blank in it. Only the text goes, so that what was made of
 * two texts is made of them again.
 */
export const soughtText = (text: string): Sought => {
  const all = evened(text).trim()
  const inBytes = evenedBytes(text).trim()
  return {
    isIn: (where) => all !== "" && evened(where).includes(all),
    isInBytes: (bytes) => all !== "" && [all, inBytes].some((each) => evenedBytes(bytes).includes(each)),
    cut: (where) => replacedAt(where, spansOf(all, where), "\u2026"),
    isInName: (name, others) => spansOf(all, name).some(([from, to]) => /[\p{L}\p{N}]/u.test(others.slice(from, to)))
  }
}

/** How much of a text is sought. */
export const soughtChars = (text: string): number => evened(text).trim().length

/** One who takes out of lives what is sought. */
class Eraser {
  readonly #sought: Sought
  readonly #words = new OwnWords()
  readonly #digests: ReadonlySet<string>

  constructor(sought: Sought, { head, parts }: Bundle) {
    this.#sought = sought
    for (const part of [head, ...parts]) if (part.kind !== "blob") this.#words.learn(part as unknown as Json)
    const bytes = (part: BundlePart) => (part.kind === "blob" ? Buffer.from(part.bytes, "base64").toString("utf8") : "")
    this.#digests = new Set(
      parts.flatMap((part) =>
        part.kind === "blob" && (sought.isInBytes ?? sought.isIn)(bytes(part)) ? [part.digest] : []
      )
    )
  }

  /** Of what is remembered each text counts, one word among them. */
  isInRecord(key: string, value: Json): boolean {
    return this.isInName(key, "key") || this.#isInside(value, ROOT, true)
  }

  isInAny(value: Json): boolean {
    return this.#isInside(value, ROOT, false)
  }

  /** The texts that say it. */
  textsIn(value: Json, isRemembered: boolean): ReadonlyArray<string> {
    return [...this.#found(value, ROOT, isRemembered)]
  }

  isInName(name: string, under = ""): boolean {
    return this.#isInBare(name, { ...ROOT, name: under })
  }

  #isInBare(name: string, place: Place): boolean {
    if (!this.#sought.isIn(name)) return false
    const others = this.#words.others(name, place)
    return this.#sought.isInName?.(name, others) ?? this.#sought.isIn(others)
  }

  /** Whether a text says it at its place. `isRemembered`: one word says something there too. */
  #says(text: string, place: Place, isRemembered: boolean): boolean {
    if (place.isClosed || text === FORGOTTEN) return false
    if (![text, place.isResult ? unescaped(text) : text].some(this.#sought.isIn)) return false
    if (SAID.has(place.name)) return !place.isResult || this.#isInResult(text)
    const { isProse = false } = this.#sought
    if (/\s/.test(text)) return !isProse || isRemembered || !NAMES.has(place.name)
    return (!isProse || isRemembered) && this.#isInBare(text, place)
  }

  /** What a tool gave back may be JSON, in which the names of members say nothing. */
  #isInResult(text: string): boolean {
    const read = /^\s*[[{]/.test(text) ? parseJson(text) : undefined
    if (read === undefined || Result.isFailure(read)) return true
    return this.#isInside(read.success, { ...ROOT, isFree: true }, true)
  }

  #isInside(value: Json, place: Place, isRemembered: boolean): boolean {
    return this.#found(value, place, isRemembered).next().done !== true
  }

  *#found(value: Json, place: Place, isRemembered: boolean): Generator<string, void> {
    if (typeof value === "string" && this.#says(value, place, isRemembered)) yield value
    if (typeof value === "number" && this.#isInNumber(value, place)) yield String(value)
    if (Array.isArray(value))
      for (const member of value as ReadonlyArray<Json>) yield* this.#found(member, place, isRemembered)
    if (!isJsonObject(value)) return
    const isGiven = hasGivenNames(place, value) && this.#sought.isProse !== true
    for (const [name, inner] of Object.entries(value)) {
      if (isGiven && this.isInName(name)) yield name
      yield* this.#found(inner, placeIn(place, name, value), isRemembered)
    }
  }

  #isInNumber(value: number, { isFree }: Place): boolean {
    return isFree && this.#sought.isProse !== true && this.#sought.isIn(String(value))
  }

  isBytes(digest: string): boolean {
    return this.#digests.has(digest)
  }

  /** Bytes of a document have names of Reverie in them. */
  isInBytes(base64: string): boolean {
    const text = Buffer.from(base64, "base64").toString("utf8")
    const { isIn, isInBytes = isIn } = this.#sought
    if (!isInBytes(text)) return false
    const others = withoutContainers(text)
    return this.#sought.isInName?.(text, others) ?? this.#sought.isIn(others)
  }

  /** Of a key, or the name of a member: words in it stay, for what has it is found by it. */
  cutName(name: string, under = ""): string {
    return this.#sought.isProse !== true && this.isInName(name, under) ? this.#sought.cut(name) : name
  }

  without(value: Json, place: Place = ROOT): Json {
    if (typeof value === "string") {
      if (!this.#says(value, place, false)) return value
      return SAID.has(place.name) ? FORGOTTEN : this.#sought.cut(value)
    }
    if (typeof value === "number") return this.#isInNumber(value, place) ? FORGOTTEN : value
    if (Array.isArray(value)) {
      const members = value as ReadonlyArray<Json>
      const kept = place.name === "parts" ? members.filter((member) => !this.#refers(member)) : members
      return kept.map((member) => this.without(member, place))
    }
    if (!isJsonObject(value) || this.#sought.spares?.(value) === true) return value
    return this.#fieldsWithout(value, place)
  }

  #fieldsWithout(value: Fields, place: Place): Fields {
    const places = new Map(Object.keys(value).map((name) => [name, placeIn(place, name, value)]))
    const placeOf = (name: string) => places.get(name) ?? ROOT
    const isSaid = [...SAID].some((name) => {
      const text = value[name]
      return typeof text === "string" && this.#says(text, placeOf(name), false)
    })
    const isGiven = hasGivenNames(place, value)
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, inner]) =>
        // What was attached to a forgotten message is forgotten with it.
        isSaid && name === "parts" ? [] : [[isGiven ? this.cutName(name) : name, this.without(inner, placeOf(name))]]
      )
    )
  }

  #refers(part: Json): boolean {
    return isJsonObject(part) && typeof part["digest"] === "string" && this.isBytes(part["digest"])
  }
}

/** What work under way leans on; every other record that holds the text goes whole. */
const LEANT_ON = new Set<string>(["assignment", "decision", "replies", "reminder", "state", "team"])
export const REMEMBERED: ReadonlySet<string> = new Set(recordKinds.filter((kind) => !LEANT_ON.has(kind)))

const entryWithout = (eraser: Eraser, entry: Json): Json => {
  if (!isJsonObject(entry) || !Array.isArray(entry["records"])) return eraser.without(entry)
  const { records, ...rest } = entry
  const kept = (records as ReadonlyArray<unknown> as ReadonlyArray<RecordChange>).map(({ key, kind, value }) => ({
    kind,
    key: eraser.cutName(key, "key"),
    value: REMEMBERED.has(kind) && eraser.isInRecord(key, value) ? null : eraser.without(value)
  }))
  const left = { ...(eraser.without(rest) as Fields), records: kept as unknown as Json }
  return Object.fromEntries(Object.keys(entry).map((name) => [name, left[name as keyof typeof left] ?? null]))
}

/** Blocks that hold the text now, or held it in any version. */
const blocksWith = (eraser: Eraser, parts: ReadonlyArray<BundlePart>): ReadonlySet<string> =>
  new Set(
    parts.flatMap((part) => {
      if (part.kind === "block")
        return eraser.isInName(part.label, "label") || eraser.isInAny(part.body) ? [part.id] : []
      if (part.kind === "block-version") {
        return eraser.isInAny(part.body) || eraser.isInBytes(part.patch) ? [part.block] : []
      }
      return part.kind === "block-snapshot" && eraser.isInBytes(part.bytes) ? [part.block] : []
    })
  )

/** Blocks that say what is sought, in any version. */
export const blocksSaying = (sought: Sought, life: Bundle): ReadonlySet<string> =>
  blocksWith(new Eraser(sought, life), life.parts)

const partWithout =
  (eraser: Eraser, blocks: ReadonlySet<string>) =>
  (part: BundlePart): ReadonlyArray<BundlePart> => {
    switch (part.kind) {
      case "entry":
        return [{ kind: "entry", entry: entryWithout(eraser, part.entry as unknown as Json) } as unknown as BundlePart]
      case "record":
        if (REMEMBERED.has(part.of) && eraser.isInRecord(part.key, part.value)) return []
        return [{ ...part, key: eraser.cutName(part.key, "key"), value: eraser.without(part.value) }]
      case "block":
        return blocks.has(part.id) ? [] : [part]
      case "block-version":
      case "block-snapshot":
        return blocks.has(part.block) ? [] : [part]
      case "block-answer":
        // A block of a definition is made again when the fleet is opened, as one that was never made.
        if (blocks.has(blockOfAnswer(part.answer) ?? "")) return []
        return eraser.isInAny(part as unknown as Json) ? [] : [part]
      case "prompt":
        return eraser.isInAny(part as unknown as Json) ? [] : [part]
      case "blob":
      case "limit":
        return [part]
      default:
        return [eraser.without(part as unknown as Json) as unknown as BundlePart]
    }
  }

/** The texts of orders that hold it, as they stand and as a snapshot keeps them: both go whole, so that a replay stands where it stood. */
const ordersWith = (eraser: Eraser, parts: ReadonlyArray<BundlePart>): ReadonlySet<string> =>
  new Set(
    parts.flatMap((part) => {
      const told = part.kind === "entry" ? part.entry : part.kind === "envelope" ? part.body : undefined
      const event = isJsonObject(told as Json) ? (told as Fields)["event"] : undefined
      const reasons = reasonsOf(event).map((reason) => ({ reason }))
      const each = isJsonObject(event) ? Object.entries(event).map(([name, value]) => ({ [name]: value })) : []
      return [...each, ...reasons].flatMap((alone) => (eraser.isInAny({ event: alone }) ? textsOfOrder(alone) : []))
    })
  )

const withoutOrders =
  (ordered: ReadonlySet<string>) =>
  (part: BundlePart): BundlePart => {
    if (part.kind !== "entry" || ordered.size === 0) return part
    const { emitted, event } = part.entry as unknown as { readonly emitted?: Json; readonly event: Json }
    const told = emitted === undefined ? {} : { emitted: saying(emitted, ordered) }
    return { kind: "entry", entry: { ...part.entry, event: saying(event, ordered), ...told } } as unknown as BundlePart
  }

/** The shortest text that is taken out of lives, in characters: a shorter one is in too much that has nothing to do with it. */
export const MIN_FORGOTTEN_CHARS = 4

/** Finds what is sought in rows of a life. */
export interface Finder {
  /** The texts in a row that say it; `isRemembered`: it is a record of what is remembered. */
  readonly textsIn: (value: Json, isRemembered?: boolean) => ReadonlyArray<string>
  /** Whether bytes of a document say it. */
  readonly isInBytes: (base64: string) => boolean
}

export const finderOf = (sought: Sought, life: Bundle): Finder => {
  const eraser = new Eraser(sought, life)
  return {
    textsIn: (value, isRemembered = false) => eraser.textsIn(value, isRemembered),
    isInBytes: (base64) => eraser.isInBytes(base64)
  }
}

/** A life, or what a tenant has, without what is sought; of attached bytes what is still referred to. */
export const withoutSought = (sought: Sought, { head, parts }: Bundle): Bundle => {
  const eraser = new Eraser(sought, { head, parts })
  const ordered = ordersWith(eraser, parts)
  const cut = parts.map(withoutOrders(ordered)).flatMap(partWithout(eraser, blocksWith(eraser, parts)))
  const made = withFactsLeft(parts, withoutEmptied(parts, cut))
  const named = new Set(
    made.flatMap((part) =>
      part.kind === "envelope" ? digestsIn(part.body) : part.kind === "entry" ? digestsIn(part.entry as Json) : []
    )
  )
  const left = made.filter((part) => part.kind !== "blob" || named.has(part.digest))
  if (head.kind === "tenant") return { head, parts: left }
  const said = { ...head.state, snapshot: saying(head.state.snapshot, ordered) }
  const state = eraser.without(said as unknown as Json) as unknown as typeof head.state
  return { head: { ...head, state: { ...state, definition: head.state.definition } }, parts: left }
}

/** The same without a text. */
export const withoutText =
  (text: string) =>
  (life: Bundle): Bundle =>
    withoutSought(soughtText(text), life)
