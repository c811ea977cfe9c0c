// Counter: from the encoder of a vocabulary to the count of any text.
// Owns the adding up and the memory of short pieces. Leaves cutting to `pieces.ts`, encoding to the vocabulary.
// C1  An encoder sees pieces only, never the empty text, and each remembered piece once while it is remembered.
// C2  What is remembered is bounded: at most REMEMBERED pieces of at most REMEMBERED_CHARS each.

import { MAX_RUN, piecesOf } from "./pieces.ts"

/** How many tokens a piece has. */
export type Encoder = (piece: string) => number

/** Pieces remembered, the longest known one forgotten first. */
export const REMEMBERED = 2_048

/** Long enough for a cut run of any script: a code point has one or two UTF-16 units. */
export const REMEMBERED_CHARS = 2 * MAX_RUN

/** Counts by the encoder. Each counter has a memory of its own. */
export const counterOf = (encode: Encoder): ((text: string) => number) => {
  const known = new Map<string, number>()
  const tokensOf = (piece: string): number => {
    if (piece.length > REMEMBERED_CHARS) return encode(piece)
    const before = known.get(piece)
    if (before !== undefined) return before
    const tokens = encode(piece)
    if (known.size >= REMEMBERED) known.delete(known.keys().next().value ?? "")
    known.set(piece, tokens)
    return tokens
  }
  return (text) => piecesOf(text).reduce((sum, piece) => sum + tokensOf(piece), 0)
}
