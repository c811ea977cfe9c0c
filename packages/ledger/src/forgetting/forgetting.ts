// Forgetting: what may stand in the place of a life in which something is to be known no more.
// Owns the judging of a rewritten life, taking a text out of one, and the account of what went.
// G1  A rewritten life is a whole bundle of the same assistant and has nowhere more than there was.
// G2  Of a life without a text every message and every text around it that held it is a tombstone, whatever wrote it; numbers,
//     names of kinds and references stay, so that it replays. What was remembered with it is not remembered.
// G3  What went is counted by kind and never named: an account of it holds no text.

import { Buffer } from "node:buffer"
import {
  type Address,
  defined,
  isJsonObject,
  type Json,
  LANES,
  type RecordChange,
  recordKinds
} from "@reverie/protocol"
import * as Result from "effect/Result"
import { type Bundle, type BundlePart, digestsIn, flawOfBundle } from "../bundle-part.ts"
import type { BundlePlace } from "../bundles.ts"
import type { BundleRefused } from "../errors.ts"
import { nobodyAt, refused, whoOf } from "../present.ts"

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
  return Object.fromEntries([...countsOf(gone, ({ kind }) => kind)].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Stands in the place of a message that was forgotten. */
export const FORGOTTEN = "[forgotten]"

/** What words of a closed list stand under: no text of anyone is there. */
const STRUCTURE = new Set(["v", "type", "kind", "of", "role", "lane", "status", "outcome", "src", "receives", "digest"])
/** What a message says stands under these, and goes whole. */
const SAID = new Set(["content", "text", "reasoning"])
/** Under these stand names, of tools and steps among them. */
const NAMES = new Set(["name", "id", "key"])

/** What is taken out of texts. */
export interface Sought {
  readonly isIn: (text: string) => boolean
  /** A text without it, and with everything else. */
  readonly cut: (text: string) => string
  /** What is left as it is, with all that is in it. */
  readonly spares?: (value: { readonly [key: string]: Json }) => boolean
  /** It is words, which ids and names of kinds have too: outside of what is remembered it is looked for in sentences alone. */
  readonly isProse?: true
}

/** A text, whatever the case of its letters. Only the text goes, so that what was made of two texts is made of them again. */
const soughtText = (wanted: string): Sought => {
  const text = wanted.toLowerCase()
  return {
    isIn: (where) => where.toLowerCase().includes(text),
    cut: (where) => {
      let left = where
      for (let at = left.toLowerCase().indexOf(text); at >= 0; at = left.toLowerCase().indexOf(text)) {
        left = `${left.slice(0, at)}\u2026${left.slice(at + text.length)}`
      }
      return left
    }
  }
}

const inside = (value: Json): ReadonlyArray<readonly [string | undefined, Json]> => {
  if (Array.isArray(value)) return (value as ReadonlyArray<Json>).map((member) => [undefined, member])
  return isJsonObject(value) ? Object.entries(value) : []
}

/** One who takes out of lives what is sought. */
class Eraser {
  readonly #sought: Sought
  readonly #digests: ReadonlySet<string>

  constructor(sought: Sought, parts: ReadonlyArray<BundlePart>) {
    this.#sought = sought
    const bytes = (part: BundlePart) => (part.kind === "blob" ? Buffer.from(part.bytes, "base64").toString("utf8") : "")
    this.#digests = new Set(
      parts.flatMap((part) => (part.kind === "blob" && this.isIn(bytes(part)) ? [part.digest] : []))
    )
  }

  isIn(text: string): boolean {
    return this.#sought.isIn(text)
  }

  isInAny(value: Json): boolean {
    if (this.#sought.isProse === true) return this.#saysIn(value, (text, name) => this.#isSentence(text, name))
    return this.isIn(JSON.stringify(value)) || this.#isDeep(value)
  }

  /** Of what is remembered each text counts, one word among them. */
  isInRecord(key: string, value: Json): boolean {
    return this.#sought.isProse === true
      ? this.isIn(key) || this.#saysIn(value, () => true)
      : this.isInAny([key, value])
  }

  #isSentence(text: string, name: string): boolean {
    return this.#sought.isProse !== true || SAID.has(name) || (/\s/.test(text) && !NAMES.has(name))
  }

  /** Whether a text says it, of those that count under their names. */
  #saysIn(value: Json, counts: (text: string, name: string) => boolean, name = ""): boolean {
    if (typeof value === "string") return !STRUCTURE.has(name) && counts(value, name) && this.isIn(value)
    return inside(value).some(([member, inner]) => this.#saysIn(inner, counts, member ?? name))
  }

  isBytes(digest: string): boolean {
    return this.#digests.has(digest)
  }

  #isDeep(value: Json): boolean {
    if (typeof value === "string") return this.isIn(value)
    if (Array.isArray(value)) return (value as ReadonlyArray<Json>).some((member) => this.#isDeep(member))
    return (
      isJsonObject(value) && Object.entries(value).some(([name, member]) => this.isIn(name) || this.#isDeep(member))
    )
  }

  cut(text: string): string {
    return this.#sought.cut(text)
  }

  /** Of a key, or the name of a member: words in it stay, for what has it is found by it. */
  cutKey(key: string): string {
    return this.#sought.isProse === true ? key : this.cut(key)
  }

  without(value: Json, name = ""): Json {
    if (typeof value === "string") {
      if (STRUCTURE.has(name) || !this.#isSentence(value, name) || !this.isIn(value)) return value
      return SAID.has(name) ? FORGOTTEN : this.cut(value)
    }
    if (Array.isArray(value)) {
      const members = value as ReadonlyArray<Json>
      const kept = name === "parts" ? members.filter((member) => !this.#refers(member)) : members
      return kept.map((member) => this.without(member, name))
    }
    if (!isJsonObject(value) || this.#sought.spares?.(value) === true) return value
    const isSaid = [...SAID].some((member) => typeof value[member] === "string" && this.isIn(value[member]))
    return Object.fromEntries(
      Object.entries(value).flatMap(([member, inner]) =>
        // What was attached to a forgotten message is forgotten with it.
        isSaid && member === "parts" ? [] : [[this.cutKey(member), this.without(inner, member)]]
      )
    )
  }

  #refers(part: Json): boolean {
    return isJsonObject(part) && typeof part["digest"] === "string" && this.isBytes(part["digest"])
  }
}

/** What work under way leans on; every other record that holds the text goes whole. */
const LEANT_ON = new Set<string>(["assignment", "replies", "reminder", "state", "team"])
export const REMEMBERED: ReadonlySet<string> = new Set(recordKinds.filter((kind) => !LEANT_ON.has(kind)))

const entryWithout = (eraser: Eraser, entry: Json): Json => {
  if (!isJsonObject(entry)) return eraser.without(entry)
  const records = Array.isArray(entry["records"])
    ? (entry["records"] as ReadonlyArray<unknown> as ReadonlyArray<RecordChange>)
    : undefined
  const kept = records?.map(({ key, kind, value }) => ({
    kind,
    key: eraser.cutKey(key),
    value: REMEMBERED.has(kind) && eraser.isInRecord(key, value) ? null : eraser.without(value)
  }))
  const { records: _, ...rest } = entry
  return { ...(eraser.without(rest) as object), ...defined({ records: kept }) } as unknown as Json
}

const bytesHold = (eraser: Eraser, text: string): boolean => eraser.isIn(Buffer.from(text, "base64").toString("utf8"))

/** Blocks that hold the text now, or held it in any version. */
const blocksWith = (eraser: Eraser, parts: ReadonlyArray<BundlePart>): ReadonlySet<string> =>
  new Set(
    parts.flatMap((part) => {
      if (part.kind === "block")
        return eraser.isIn(part.label) || eraser.isInAny([part.label, part.body]) ? [part.id] : []
      if (part.kind === "block-version") {
        return eraser.isInAny(part.body) || bytesHold(eraser, part.patch) ? [part.block] : []
      }
      return part.kind === "block-snapshot" && bytesHold(eraser, part.bytes) ? [part.block] : []
    })
  )

const partWithout =
  (eraser: Eraser, blocks: ReadonlySet<string>) =>
  (part: BundlePart): ReadonlyArray<BundlePart> => {
    switch (part.kind) {
      case "entry":
        return [{ kind: "entry", entry: entryWithout(eraser, part.entry as unknown as Json) } as unknown as BundlePart]
      case "record":
        if (REMEMBERED.has(part.of) && eraser.isInRecord(part.key, part.value)) return []
        return [{ ...part, key: eraser.cutKey(part.key), value: eraser.without(part.value) }]
      case "block":
        return blocks.has(part.id) ? [] : [part]
      case "block-version":
      case "block-snapshot":
        return blocks.has(part.block) ? [] : [part]
      case "block-answer":
      case "prompt":
        return eraser.isInAny(part as unknown as Json) ? [] : [part]
      case "blob":
      case "limit":
        return [part]
      default:
        return [eraser.without(part as unknown as Json) as unknown as BundlePart]
    }
  }

/** The shortest text that is taken out of lives, in characters: a shorter one is in too much that has nothing to do with it. */
export const MIN_FORGOTTEN_CHARS = 4

/** A life, or what a tenant has, without what is sought; of attached bytes what is still referred to. */
export const withoutSought = (sought: Sought, { head, parts }: Bundle): Bundle => {
  const eraser = new Eraser(sought, parts)
  const made = parts.flatMap(partWithout(eraser, blocksWith(eraser, parts)))
  const named = new Set(
    made.flatMap((part) =>
      part.kind === "envelope" ? digestsIn(part.body) : part.kind === "entry" ? digestsIn(part.entry as Json) : []
    )
  )
  const left = made.filter((part) => part.kind !== "blob" || named.has(part.digest))
  if (head.kind === "tenant") return { head, parts: left }
  const state = eraser.without(head.state as unknown as Json) as unknown as typeof head.state
  return { head: { ...head, state: { ...state, definition: head.state.definition } }, parts: left }
}

/** The same without a text. */
export const withoutText =
  (text: string) =>
  (life: Bundle): Bundle =>
    withoutSought(soughtText(text), life)
