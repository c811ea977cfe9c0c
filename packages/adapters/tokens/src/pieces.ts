// Pieces: how a text is cut before a vocabulary sees it.
// Owns the bound on unbroken runs, and the characters that are replaced. Leaves encoding to the vocabularies.
// Byte pair encoding takes time in the square of an unbroken run, so a megabyte of one letter would stall it. A run is
// what the vocabulary's own pattern takes as one word: letters, symbols, space, or the line ends after symbols.
// P1  No word of the vocabulary's pattern inside a piece is longer than LONGEST_WORD code points.
// P2  A text without a run longer than MAX_RUN is one piece, as it is: ordinary text is counted exactly.
// P3  The pieces joined are the text with its lone surrogates and byte order marks replaced, and none is empty.
// P4  There are at most 1 + length / MAX_RUN pieces: the calls to an encoder are bounded by the length.

/** Longest run left whole, in code points: the longest token of o200k_base, 128 spaces, so that it stays one token. */
export const MAX_RUN = 128

/** A mark belongs to letters and to symbols: the end of a cut run, a run of symbols and its line ends can join. */
export const LONGEST_WORD = 4 * MAX_RUN

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

export const piecesOf = (text: string): ReadonlyArray<string> => {
  if (text === "") return []
  const whole = encodable(text)
  if (whole.length <= MAX_RUN) return [whole]
  const pieces: Array<string> = []
  let start = 0
  for (const run of whole.matchAll(longRun)) {
    for (const cut of cutsIn(run[0], run.index)) {
      pieces.push(whole.slice(start, cut))
      start = cut
    }
  }
  pieces.push(whole.slice(start))
  return pieces
}
