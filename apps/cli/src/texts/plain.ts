// Plain: text of others made harmless before it reaches a terminal, on a line or in columns.
// Owns the length of a line. Leaves what is taken out, and the bytes that are data (JSON), to `protocol`.
// P1  No text from a message, a model or a tool moves the cursor, rings, recolours, renames the window or hides itself.

import { stripVTControlCharacters } from "node:util"
import { jsonForTerminal as jsonLine, plainForTerminal as plain } from "@reverie/protocol"

export { jsonLine, plain }

const MAX_LINE_CHARS = 160

/** The text on one line, with an ellipsis where it was cut. */
export const onOneLine = (text: string, limit: number = MAX_LINE_CHARS): string => {
  // More is read than kept, for what is stripped takes no room; all of a megabyte would be read for nothing.
  const line = plain(text.slice(0, limit * 8))
    .replaceAll(/\s+/g, " ")
    .trim()
  // A surrogate pair that the cut went through would be half a character.
  return line.length <= limit
    ? line
    : `${line
        .slice(0, limit - 1)
        .toWellFormed()
        .replace(/\uFFFD$/, "")}…`
}

// Moments: when something was or will be, from now on.
// M1  What is near is shown by its distance, what is a month away or more by its date.

const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000]
] as const

const FARTHEST_MS = 30 * 86_400_000

/** "3 min ago", "in 8 h", "now", or a date. */
export const ago = (at: number, now: number = Date.now()): string => {
  const away = Math.abs(now - at)
  if (away >= FARTHEST_MS) return new Date(at).toISOString().slice(0, 10)
  const unit = units.find(([, millis]) => away >= millis)
  if (unit === undefined) return "now"
  const distance = `${Math.floor(away / unit[1])} ${unit[0]}`
  return at > now ? `in ${distance}` : `${distance} ago`
}

// Table: rows for people.
// Owns columns, bars and counted words. What stands in them belongs to the code that reports.
// T1  Columns stand under one another; numbers stand to the right. Colour takes no room.

/** A number, with a sign or a percent sign if any. */
const isNumber = (text: string): boolean => /^[+-]?\d+(?:\.\d+)?(?: ?%)?$/.test(text)

const lengthOf = (text: string): number => stripVTControlCharacters(text).length

export const table = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => lengthOf(row[column] ?? ""))))
  const cell = (text: string, column: number) => {
    const room = " ".repeat(Math.max(0, (widths[column] ?? 0) - lengthOf(text)))
    return isNumber(text) ? room + text : text + room
  }
  return rows.map((row) => row.map(cell).join("  ").trimEnd()).join("\n")
}

const BAR_CELLS = 20

/** A share, 0 to 1, as a bar: what is more than nothing is seen. */
export const bar = (share: number): string => {
  const cells = Math.round(Math.min(1, Math.max(0, share)) * BAR_CELLS)
  return cells === 0 && share > 0 ? "▏" : "█".repeat(cells)
}

export const percent = (share: number): string => `${(share * 100).toFixed(1)} %`

export const counted = (count: number, one: string, many: string = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`
