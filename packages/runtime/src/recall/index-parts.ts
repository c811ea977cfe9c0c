// IndexParts: a page of entries in parts that are indexed in milliseconds.
// Owns how long a part is. Leaves reading pages and applying parts to indexer.ts.

import type { Entry } from "@reverie/protocol"

/** Of all texts that are indexed at once, as much of each as an index takes of it. */
const MAX_PART_CHARS = 8_000
const MAX_ENTRY_CHARS = 8_000
export const charsOf = (entries: ReadonlyArray<Entry>): number =>
  entries.reduce(
    (sum, { messages }) =>
      sum + messages.reduce((own, { content }) => own + Math.min(content.length, MAX_ENTRY_CHARS), 0),
    0
  )

/** A page in parts that are indexed in milliseconds: one for most pages, more where texts are long. */
export const partsOf = (page: ReadonlyArray<Entry>): ReadonlyArray<ReadonlyArray<Entry>> => {
  const parts: Array<Array<Entry>> = []
  let chars = MAX_PART_CHARS
  for (const entry of page) {
    if (chars >= MAX_PART_CHARS) {
      parts.push([])
      chars = 0
    }
    parts.at(-1)?.push(entry)
    chars += charsOf([entry])
  }
  return parts
}
