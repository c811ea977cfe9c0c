// EntityName: which names mean the same one.
// Owns the id that a name leads to, and finding names in a text. Leaves what is known of whom to `profile.ts`.
// N1  Deterministic and total: a name gives one id or, without a letter or a digit in it, none.
// N2  Case, accents, spaces, punctuation, a leading "the" and a trailing possessive make no difference.
// N3  The id of an id is that id. It has letters, digits and hyphens only, and at most MAX_ID_CHARS of them.

import { createHash } from "node:crypto"
import * as Schema from "effect/Schema"
import { cleanLine } from "../integrity/clean-text.ts"

const MAX_ID_CHARS = 64
const HASH_CHARS = 8

const possessive = /(?:['\u2019\u02bc]s|(?<=s)['\u2019\u02bc])\s*$/iu

/** By way of the capitals, in which more letters are the same. */
const compacted = (text: string): string =>
  text
    .normalize("NFKD")
    .toUpperCase()
    .toLowerCase()
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .normalize("NFC")

const wordsOf = (text: string): ReadonlyArray<string> => compacted(text).match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu) ?? []

/** A name without what only its place in a sentence gave it. */
export const bareName = (name: string): string => {
  const bare = cleanLine(name)
    .replace(possessive, "")
    .replace(/^(?:the\s+)+(?=\S)/i, "")
  return bare === "" ? cleanLine(name) : bare
}

const nameWords = (name: string): ReadonlyArray<string> => {
  const words = wordsOf(bareName(name))
  const first = words.findIndex((word) => word !== "the")
  return first > 0 ? words.slice(first) : words
}

/** A long name keeps its beginning, and a hash that tells it from others with the same one. */
const shortened = (id: string): string => {
  if (id.length <= MAX_ID_CHARS) return id
  const hash = createHash("sha256").update(id).digest("hex").slice(0, HASH_CHARS)
  const head = id.slice(0, MAX_ID_CHARS - HASH_CHARS - 1).replace(/[\ud800-\udbff]$/, "")
  return `${head.replace(/-$/, "")}-${hash}`
}

/** The id of whom or what a name means; undefined when the name says nothing. */
export const entityIdOf = (name: string): string | undefined => {
  const words = nameWords(name)
  return words.length === 0 ? undefined : shortened(words.join("-"))
}

/** Scripts that put no spaces between words. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u

const placeIn = (said: string, name: string): number => {
  const words = nameWords(name).join(" ")
  if (words === "") return -1
  return said.indexOf(unspaced.test(words) ? words : ` ${words} `)
}

/** Whose names stand in a text as whole words; the first one to be named first. */
export const namedIn = <Named extends { readonly name: string; readonly aliases: ReadonlyArray<string> }>(
  text: string,
  known: Iterable<Named>
): ReadonlyArray<Named> => {
  const said = ` ${wordsOf(cleanLine(text)).join(" ")} `
  const places: Array<{ readonly at: number; readonly named: Named }> = []
  for (const named of known) {
    const found = [named.name, ...named.aliases].map((name) => placeIn(said, name)).filter((at) => at >= 0)
    if (found.length > 0) places.push({ at: Math.min(...found), named })
  }
  return places.toSorted((a, b) => a.at - b.at).map(({ named }) => named)
}

/** Most words of a name that is looked for in a text, and most ids that a text is taken for. */
const MAX_NAME_WORDS = 5
const MAX_UNSPACED_CHARS = 8
const MAX_IDS = 2_000

/** The beginnings of a run without spaces, from a place on, the longest first. */
const unspacedNames = (characters: ReadonlyArray<string>, from: number): ReadonlyArray<string> =>
  Array.from({ length: Math.min(MAX_UNSPACED_CHARS, characters.length - from) }, (_, length) =>
    characters.slice(from, from + length + 1).join("")
  ).toReversed()

/**
 * The ids of all that a text could name, in the order in which they are named, longer names first: for who looks names up
 * one by one, because those that are known are too many.
 */
export const idsIn = (text: string): ReadonlyArray<string> => {
  const ids = new Set<string>()
  const words = wordsOf(cleanLine(text))
  for (const [at, word] of words.entries()) {
    for (let length = Math.min(MAX_NAME_WORDS, words.length - at); length > 0; length--) {
      ids.add(shortened(words.slice(at, at + length).join("-")))
    }
    if (unspaced.test(word)) {
      const characters = [...word]
      for (const from of characters.keys()) for (const name of unspacedNames(characters, from)) ids.add(name)
    }
    if (ids.size >= MAX_IDS) break
  }
  return [...ids].slice(0, MAX_IDS)
}

// People: those who have spoken, named in what is proposed.
// P1  Who speaks to the assistant is found in a fact whatever the case of letters: written large anywhere, or as called where it begins.
// P2  A month or a day is no one, though someone may be called so.

const calendar = /^(?:april|may|june|august|sunday|monday|friday)$/i

const isMeant = (text: string, name: string): boolean => {
  const large = name.charAt(0).toUpperCase() + name.slice(1)
  return !calendar.test(name) && (text.startsWith(name) || text.includes(large))
}

const MAX_ENTITIES = 8

interface Naming {
  readonly text: string
  readonly entities: ReadonlyArray<string>
}

/** With those among the entities who have spoken, now or before, under the names that they speak under. */
export const namingPeople = <Of extends Naming>(of: Of, speakers: Iterable<string>): Of => {
  const ids = new Map(of.entities.map((name) => [entityIdOf(name), name]))
  for (const { name } of namedIn(
    of.text,
    [...speakers].map((each) => ({ name: each, aliases: [] }))
  )) {
    const id = entityIdOf(name)
    if (!ids.has(id) && isMeant(of.text, name)) ids.set(id, name)
  }
  return ids.size === of.entities.length ? of : { ...of, entities: [...ids.values()].slice(0, MAX_ENTITIES) }
}

// Relationship: how near someone or something is to an assistant, from how often and how lately it came up.
// R1  Strength is 0 to 1. It never falls by a further contact, and never rises by waiting.
// R2  Hearing of the same contact again changes nothing.
// R3  A nearer tier needs more strength; of many, no tier holds more than its size together with the nearer ones.
//
// The tiers are the layers of a social world that Dunbar describes: about 5, 15, 50 and 150 people, each layer holding
// the nearer ones, and kept up by contact about once a week, a month, half a year and a year. A layer's least strength
// is what an old relation is left with after that time without contact, so that it falls to the next layer when it
// is not renewed at the pace of its own.

const DAY_MILLIS = 86_400_000

/** What comes up again within this time belongs to the same contact: a talk has breaks, and a fact has neighbours. */
export const CONTACT_GAP_MILLIS = 6 * 3_600_000

/** Without contact half of the strength is left after this time. It spreads the paces of the layers over the scale. */
export const HALF_LIFE_MILLIS = 60 * DAY_MILLIS

/** After so many contacts half of what familiarity can give is reached; a first contact makes no friend. */
export const HALF_FAMILIAR_CONTACTS = 6

/** The nearest first. `size` counts the nearer layers in; `minStrength` is rounded down. */
export const layers = [
  { tier: "intimate", size: 5, paceDays: 7, minStrength: 0.92 },
  { tier: "close", size: 15, paceDays: 30, minStrength: 0.7 },
  { tier: "friend", size: 50, paceDays: 182, minStrength: 0.12 },
  { tier: "acquaintance", size: 150, paceDays: 365, minStrength: 0.014 }
] as const

/** `known`: beyond all layers. */
export const tiers = ["intimate", "close", "friend", "acquaintance", "known"] as const
type Tier = (typeof tiers)[number]

export const Relationship = Schema.Struct({
  /** Contacts: times at which it came up, CONTACT_GAP_MILLIS or more apart. */
  interactions: Schema.Int,
  /** Milliseconds since the epoch. */
  first_at: Schema.Finite,
  last_at: Schema.Finite,
  /** As of `last_at`; `strengthAt` tells that of another time. */
  strength: Schema.Finite,
  tier: Schema.Literals(tiers)
})
export type Relationship = typeof Relationship.Type

/** Four digits tell more than anybody can feel. */
const rounded = (strength: number): number => Math.round(strength * 10_000) / 10_000

export const strengthOf = (interactions: number, silenceMillis: number): number => {
  const familiarity = 1 - 2 ** (-Math.max(0, interactions) / HALF_FAMILIAR_CONTACTS)
  const recency = 2 ** (-Math.max(0, silenceMillis) / HALF_LIFE_MILLIS)
  return rounded(familiarity * recency)
}

export const tierOf = (strength: number): Tier =>
  layers.find(({ minStrength }) => strength >= minStrength)?.tier ?? "known"

export const strengthAt = ({ interactions, last_at }: Relationship, now: number): number =>
  strengthOf(interactions, now - last_at)

export const tierAt = (relationship: Relationship, now: number): Tier => tierOf(strengthAt(relationship, now))

const relating = (interactions: number, first_at: number, last_at: number): Relationship => {
  const strength = strengthOf(interactions, 0)
  return { interactions, first_at, last_at, strength, tier: tierOf(strength) }
}

export const strangers = (at: number): Relationship => relating(0, at, at)

/** After something was heard of it at that time. */
export const met = (relationship: Relationship, at: number): Relationship => {
  const { first_at, interactions, last_at } = relationship
  if (interactions === 0) return relating(1, at, at)
  const isNew = at >= last_at + CONTACT_GAP_MILLIS || at <= first_at - CONTACT_GAP_MILLIS
  if (!isNew && at >= first_at && at <= last_at) return relationship
  return relating(interactions + (isNew ? 1 : 0), Math.min(first_at, at), Math.max(last_at, at))
}

/** The tier of each of many: its own, or a farther one when those that are stronger fill it. */
export const tiersOf = (
  related: Iterable<{ readonly id: string; readonly relationship: Relationship }>,
  now: number
): ReadonlyMap<string, Tier> => {
  const ranked = [...related]
    .map(({ id, relationship }) => ({ id, strength: strengthAt(relationship, now), last_at: relationship.last_at }))
    .toSorted((a, b) => b.strength - a.strength || b.last_at - a.last_at || (a.id < b.id ? -1 : 1))
  return new Map(
    ranked.map(({ id, strength }, place) => {
      const roomy = layers.find(({ size }) => place < size)?.tier ?? "known"
      return [id, tiers[Math.max(tiers.indexOf(roomy), tiers.indexOf(tierOf(strength)))] ?? "known"] as const
    })
  )
}
