// Scrub: what came from outside is made fit to be shown and kept.
// Owns taking out the key and characters that terminals and stores choke on. Leaves cutting to length to callers.
// I1  No text that passes holds the key.
// I2  No text that passes holds NUL or half a surrogate pair; a shown text holds no control character at all.

import { isJsonObject, type Json } from "@reverie/protocol"

/** Shorter keys are placeholders such as `none`, and ordinary words in a reply. */
const SHORTEST_SECRET = 12

const MAX_SHOWN_CHARS = 300

export interface Scrub {
  /** For errors and logs: one printable line, cut to length, without the key. */
  readonly shown: (text: string) => string
  /** For replies: as it was, without the key, NUL and half pairs. */
  readonly kept: (text: string) => string
  readonly keptJson: (value: Json) => Json
}

// oxlint-disable-next-line no-control-regex
const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g

export const makeScrub = (key: string): Scrub => {
  const secret = key.length >= SHORTEST_SECRET ? key : undefined

  const kept = (text: string): string => {
    let clean = text.isWellFormed() ? text : text.toWellFormed()
    if (clean.includes("\u0000")) clean = clean.replaceAll("\u0000", "\ufffd")
    return secret !== undefined && clean.includes(secret) ? clean.replaceAll(secret, "[redacted]") : clean
  }

  const keptJson = (value: Json): Json => {
    if (typeof value === "string") return kept(value)
    if (Array.isArray(value)) return value.map(keptJson)
    if (!isJsonObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [kept(name), keptJson(inner)]))
  }

  return {
    shown: (text) => {
      // The key goes before the cut, or a key across the cut would leave its first half.
      const safe = key === "" ? text : text.replaceAll(key, "[redacted]")
      return safe
        .slice(0, MAX_SHOWN_CHARS * 4)
        .toWellFormed()
        .replace(control, " ")
        .trim()
        .slice(0, MAX_SHOWN_CHARS)
    },
    kept,
    keptJson
  }
}
