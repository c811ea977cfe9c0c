// Plain: text of others made harmless before it reaches a terminal.
// Owns what is taken out. Leaves the bytes that are data (JSON) whole, only written differently.
// P1  No text from a message, a model or a tool moves the cursor, rings, recolours, renames the window or hides itself.
// P2  What is left reads as before: line breaks, tabs and every visible character stay.
// P3  JSON keeps its meaning: what could act on a terminal is written as \u escapes.

// ESC with a control string (OSC, DCS, SOS, PM, APC) up to its end, ESC or C1 with a CSI sequence, any other ESC pair.
const sequences =
  // oxlint-disable-next-line no-control-regex -- control characters are the subject here
  /(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c|$)|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|\u001b[ -/]*[0-~]?/g

// C0 but tab and line feed, DEL, C1.
// oxlint-disable-next-line no-control-regex -- control characters are the subject here
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

// Zero width, direction marks and overrides, line separators, variation selectors, byte order mark, tags.
const invisibles =
  /\u00ad|\u034f|\u061c|\u115f|\u1160|\u17b4|\u17b5|\u180e|[\u200b-\u200f]|[\u2028-\u202e]|[\u2060-\u206f]|\u3164|[\ufe00-\ufe0f]|\ufeff|\uffa0|[\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/gu

/** The text without anything that acts on a terminal. */
export const plain = (text: string): string =>
  text.toWellFormed().replaceAll("\r\n", "\n").replace(sequences, "").replace(controls, "").replace(invisibles, "")

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

const escaped = (unit: string): string =>
  [...Array(unit.length).keys()].map((index) => `\\u${unit.charCodeAt(index).toString(16).padStart(4, "0")}`).join("")

/** One line of JSON that a terminal can be shown. */
export const jsonLine = (value: unknown): string =>
  JSON.stringify(value).replace(controls, escaped).replace(invisibles, escaped)

// Table: rows for people.
// Owns columns, bars and counted words. Leaves what stands in them to whoever reports.
// T1  Columns stand under one another; numbers stand to the right.

/** A number, with a sign or a percent sign if any. */
const isNumber = (text: string): boolean => /^[+-]?\d+(?:\.\d+)?(?: ?%)?$/.test(text)

export const table = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const cell = (text: string, column: number) =>
    isNumber(text) ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0)
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
