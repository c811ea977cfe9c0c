// Counter: from the encoder of a vocabulary to the count of any text.
// Owns the adding up, the memory of short pieces, and counting long texts in slices. Leaves cutting to pieces.ts, encoding
// to the vocabulary.
// C1  An encoder sees pieces only, never the empty text, and each remembered piece once while it is remembered.
// C2  What is remembered is bounded: at most REMEMBERED pieces of at most REMEMBERED_CHARS each, and long texts of at most
//     KEPT_CHARS together.
// C3  A text has the same count in slices and at once.
// C4  In slices, no more than one stretch is counted before the event loop turns, however many count at the same time.

import type { Tokens } from "@reverie/model"
import { longWork } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { Generations } from "./generations.ts"
import { LONGEST_PIECE, MAX_RUN, piecesOf, stretchAt } from "./pieces.ts"

/** How many tokens a piece has. */
export type Encoder = (piece: string) => number

/** Pieces remembered, the oldest half forgotten first. */
export const REMEMBERED = 2_048

/** Long enough for a cut run of any script: a code point has one or two UTF-16 units. */
export const REMEMBERED_CHARS = 2 * MAX_RUN

/** Longer texts are counted in slices where that was asked for: two stretches, which take milliseconds. */
export const LONG_TEXT = 2 * LONGEST_PIECE

/** What a character costs in the worst case, by what reading one costs. */
const SLICE_WORK = 40 * LONGEST_PIECE

/** Of all long texts whose counts are kept: a tick asks for the same several times. */
export const KEPT_CHARS = 8_000_000

/** Thrown by a count inside `inSlices`, and caught there: nothing else ever sees it. */
class NotCounted extends Error {
  readonly text: string

  constructor(text: string) {
    super("a long text is not counted yet")
    this.text = text
  }
}

/** Counts of long texts, the newest ones. */
class LongCounts {
  readonly #counts = new Map<string, number>()
  #chars = 0

  get(text: string): number | undefined {
    return this.#counts.get(text)
  }

  note(text: string, tokens: number): void {
    if (text.length > KEPT_CHARS || this.#counts.has(text)) return
    this.#counts.set(text, tokens)
    this.#chars += text.length
    for (const [oldest] of this.#counts) {
      if (this.#chars <= KEPT_CHARS) return
      this.#counts.delete(oldest)
      this.#chars -= oldest.length
    }
  }
}

export interface Counter extends Pick<Tokens["Service"], "inSlices"> {
  readonly count: (text: string) => number
}

/** Counts by the encoder. Each counter has a memory of its own. */
export const counterOf = (encode: Encoder, work = longWork): Counter => {
  const known = new Generations(REMEMBERED)
  const long = new LongCounts()
  /** What the work at hand has had counted for it; undefined outside `inSlices`. */
  let counted: Map<string, number> | undefined

  const tokensOf = (piece: string): number => {
    if (piece.length > REMEMBERED_CHARS) return encode(piece)
    const before = known.get(piece)
    if (before !== undefined) return before
    const tokens = encode(piece)
    known.note(piece, tokens)
    return tokens
  }
  const sum = (pieces: ReadonlyArray<string>): number => pieces.reduce((tokens, piece) => tokens + tokensOf(piece), 0)

  const count = (text: string): number => {
    if (text.length <= LONG_TEXT) return sum(piecesOf(text))
    const before = counted?.get(text) ?? long.get(text)
    if (before !== undefined) return before
    if (counted !== undefined) throw new NotCounted(text)
    const tokens = sum(piecesOf(text))
    long.note(text, tokens)
    return tokens
  }

  const countInSlices = Effect.fnUntraced(function* (text: string) {
    let tokens = 0
    for (let at = 0; at < text.length;) {
      yield* work.roomForSlice
      work.note(SLICE_WORK)
      const { end, pieces } = stretchAt(text, at)
      tokens += sum(pieces)
      at = end
    }
    long.note(text, tokens)
    return tokens
  })

  /** What the work makes, or the text that it could not go on without. */
  const attempt = <A>(work: () => A, have: Map<string, number>): { readonly made: A } | NotCounted => {
    const before = counted
    counted = have
    try {
      return { made: work() }
    } catch (error) {
      if (error instanceof NotCounted) return error
      throw error
    } finally {
      counted = before
    }
  }

  const inSlices = Effect.fnUntraced(function* <A>(work: () => A) {
    const have = new Map<string, number>()
    for (;;) {
      const outcome = attempt(work, have)
      if (!(outcome instanceof NotCounted)) return outcome.made
      have.set(outcome.text, long.get(outcome.text) ?? (yield* countInSlices(outcome.text)))
    }
  })

  return { count, inSlices }
}
