// Growth: texts that make a pattern work hard, and how its work grows with them.
// Owns making such texts out of the pattern itself. Leaves counting to steps.ts.
// G1  What is asked for is the worst of many texts, each a short piece over and over again: what makes an engine go back
//     again and again is made of pieces of its own pattern.

import { searchSteps } from "./steps.ts"

/** What stands in a pattern as it is: words and signs, and what most texts are made of. */
export const piecesOfPattern = ({ source }: RegExp): ReadonlyArray<string> => {
  const words = source.replaceAll(/\\[pP]\{[^}]*\}|\\[a-zA-Z]/g, " ").match(/[a-z]{2,}/gi) ?? []
  const signs = source.match(/[^\w\s\\]/g) ?? []
  return [...new Set([...words.slice(0, 40), ...signs, "a", "A", "1", "é", " ", "\n", ".", "@", "a b ", "é\u0301"])]
}

export interface Growth {
  /** The piece that it was worst with. */
  readonly piece: string
  /** How many times as many steps the text of double length takes. */
  readonly factor: number
  /** Steps for each code point of the longer one. */
  readonly perPoint: number
}

/** How the work grows when a text of a piece over and over again gets twice as long. */
export const growthWith = (pattern: RegExp, piece: string, points: number): Growth => {
  const length = Array.from(piece).length
  const [short, long] = [points, 2 * points].map((wanted) => {
    const text = piece.repeat(Math.max(1, Math.floor(wanted / length)))
    return { points: Array.from(text).length, steps: searchSteps(pattern, text).steps }
  }) as [{ points: number; steps: number }, { points: number; steps: number }]
  const stretched = long.points / short.points
  return { piece, factor: (2 * long.steps) / short.steps / stretched, perPoint: long.steps / long.points }
}
