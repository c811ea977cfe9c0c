// Counter: from the encoder of a vocabulary to the count of any text.
// Owns cutting, adding up, the memory of short pieces, and counting long texts in slices. Leaves encoding to the vocabulary.
// C1  An encoder sees pieces only, never the empty text, and each remembered piece once while it is remembered.
// C2  What is remembered is bounded: at most REMEMBERED pieces of at most REMEMBERED_CHARS each, and long texts of at most
//     KEPT_CHARS together.
// C3  A text has the same count in slices and at once.
// C4  In slices, no more than one stretch is counted before the event loop turns, however many count at the same time.

import { Tokens } from "@reverie/model"
import { longWork } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

// Generations: what was found out about short texts, remembered within a bound.
// G1  At most `most` texts are remembered; of those that were noted, the newest half is always among them.
// G2  What is remembered keeps nothing else in memory: a part of a text would keep the whole text, a megabyte for a word.

/** The engine copies shorter parts by itself. */
const COPIED_CHARS = 12

const apartFromItsText = (text: string): string =>
  text.length <= COPIED_CHARS ? text : Buffer.from(text, "utf16le").toString("utf16le")

export class Generations {
  readonly #half: number
  #young = new Map<string, number>()
  #old: ReadonlyMap<string, number> = new Map()

  constructor(most: number) {
    this.#half = Math.max(1, Math.floor(most / 2))
  }

  get(text: string): number | undefined {
    return this.#young.get(text) ?? this.#old.get(text)
  }

  note(text: string, value: number): void {
    if (this.#young.size >= this.#half) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(apartFromItsText(text), value)
  }
}

// Pieces: how a text is cut before a vocabulary sees it.
// P1  No word of the vocabulary's pattern inside a piece is longer than LONGEST_WORD code points.
// P2  A text without a run longer than MAX_RUN and no longer than LONGEST_PIECE is one piece, as it is.
// P3  The pieces joined are the text with its lone surrogates and byte order marks replaced, and none is empty.
// P4  There are at most 1 + length / MAX_RUN pieces: the calls to an encoder are bounded by the length.
// P5  A stretch has at most LONGEST_PIECE UTF-16 units, however long the text is: it is what is counted at once.
// P6  A stretch ends between two words of the pattern where its second half has such a place: text with spaces or lines in
//     it is counted exactly. Else it ends where a long run is cut, else after LONGEST_PIECE units.

/** Longest run left whole, in code points: the longest token of o200k_base, 128 spaces, so that it stays one token. */
export const MAX_RUN = 128

/** A mark belongs to letters and to symbols: the end of a cut run, a run of symbols and its line ends can join. */
export const LONGEST_WORD = 4 * MAX_RUN

/** In UTF-16 units. Takes milliseconds at most, whatever stands in it. */
export const LONGEST_PIECE = 64 * MAX_RUN

/** What is counted at once. */
export interface Stretch {
  readonly pieces: ReadonlyArray<string>
  /** Where the next stretch begins. */
  readonly end: number
}

const over = `{${MAX_RUN + 1},}`
const longRun = new RegExp(String.raw`[\p{L}\p{M}]${over}|[^\s\p{L}\p{N}]${over}|\s${over}|[\r\n/]${over}`, "gu")

// A lone surrogate has no UTF-8, and a byte order mark is dropped by some decoders: vocabularies disagree about both.
const encodable = (text: string): string => text.toWellFormed().replaceAll("\uFEFF", "\uFFFD")

/** Where a run is to be cut: after every MAX_RUN code points, as long as something of the run follows. */
const cutsIn = (run: string, start: number): ReadonlyArray<number> => {
  const cuts: Array<number> = []
  let points = 0
  let at = start
  for (const point of run) {
    if (points === MAX_RUN) {
      cuts.push(at)
      points = 0
    }
    points++
    at += point.length
  }
  return cuts
}

const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff
const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff

const SPACE = 0x20
const LINE_END = 0x0a
const isWordUnit = (unit: number): boolean =>
  (unit >= 0x30 && unit <= 0x39) || (unit >= 0x41 && unit <= 0x5a) || (unit >= 0x61 && unit <= 0x7a)
const closing = new Set(Array.from(".,;:!?)", (sign) => sign.charCodeAt(0)))

/** Between `at - 1` and `at` two words of the pattern meet, whatever stands around them. */
const isBetweenWords = (text: string, at: number): boolean => {
  const unit = text.charCodeAt(at)
  const before = text.charCodeAt(at - 1)
  if (unit === SPACE) return isWordUnit(text.charCodeAt(at + 1)) && (isWordUnit(before) || closing.has(before))
  return before === LINE_END && isWordUnit(unit)
}

/** The last such place in the second half of what is looked at; 0 when there is none. */
const lastBetweenWords = (text: string): number => {
  for (let at = text.length - 2; at > text.length / 2; at--) if (isBetweenWords(text, at)) return at
  return 0
}

/** At most LONGEST_PIECE units from `start` on, no pair cut in two. */
const viewOf = (text: string, start: number): string => {
  const end = start + LONGEST_PIECE
  const isPair = isHigh(text.charCodeAt(end - 1)) && isLow(text.charCodeAt(end))
  return text.slice(start, isPair ? end - 1 : end)
}

/** What is counted next from `start` on, which is within the text. */
export const stretchAt = (text: string, start: number): Stretch => {
  const view = encodable(viewOf(text, start))
  const isLast = start + view.length === text.length
  const cuts = view.length <= MAX_RUN ? [] : [...view.matchAll(longRun)].flatMap((run) => cutsIn(run[0], run.index))
  const place = isLast ? view.length : Math.max(lastBetweenWords(view), cuts.at(-1) ?? 0)
  const end = place > view.length / 2 ? place : view.length
  const bounds = [0, ...cuts.filter((cut) => cut < end), end]
  const pieces = bounds.slice(1).map((bound, index) => view.slice(bounds[index], bound))
  return { pieces, end: start + end }
}

export const piecesOf = (text: string): ReadonlyArray<string> => {
  const all: Array<string> = []
  for (let at = 0; at < text.length;) {
    const { end, pieces } = stretchAt(text, at)
    for (const piece of pieces) all.push(piece)
    at = end
  }
  return all
}

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

  const inSlices = <A>(work: () => A, have = new Map<string, number>()): Effect.Effect<A> =>
    Effect.suspend(() => {
      const outcome = attempt(work, have)
      if (!(outcome instanceof NotCounted)) return Effect.succeed(outcome.made)
      const { text } = outcome
      const found = long.get(text)
      return Effect.flatMap(found === undefined ? countInSlices(text) : Effect.succeed(found), (tokens) =>
        inSlices(work, have.set(text, tokens))
      )
    })

  return { count, inSlices }
}

/** The port by a counter that is loaded once, when it is first needed or as the layer is built. */
export const tokensBy = (loading: Effect.Effect<Effect.Effect<Counter>>): Layer.Layer<Tokens> =>
  Layer.effect(
    Tokens,
    Effect.map(loading, (loaded) => ({
      ready: Effect.map(loaded, ({ count }) => count),
      inSlices: (work) => Effect.flatMap(loaded, ({ inSlices }) => inSlices(work))
    }))
  )
