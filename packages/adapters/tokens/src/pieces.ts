// Pieces: how a text is cut before a vocabulary sees it.
// Owns the bound on unbroken runs and on pieces, and the characters that are replaced. Leaves encoding to the vocabularies.
// Byte pair encoding takes time in the square of an unbroken run, so a megabyte of one letter would stall it. A run is
// what the vocabulary's own pattern takes as one word: letters, symbols, space, or the line ends after symbols.
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
