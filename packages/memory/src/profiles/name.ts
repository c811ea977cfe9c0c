// EntityName: which names mean the same one.
// Owns the id that a name leads to, and finding names in a text. Leaves what is known of whom to `profile.ts`.
// N1  Deterministic and total: a name gives one id or, without a letter or a digit in it, none.
// N2  Case, accents, spaces, punctuation, a leading "the" and a trailing possessive make no difference.
// N3  The id of an id is that id. It has letters, digits and hyphens only, and at most MAX_ID_CHARS of them.

import { createHash } from "node:crypto"
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
