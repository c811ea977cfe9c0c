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
