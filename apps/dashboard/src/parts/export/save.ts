// Save: gives a text to the browser as a file: JSON for programs, CSV for spreadsheets.
// V1  A cell of text that a spreadsheet would take for a formula is given as the text it is: an apostrophe stands before it.
// V2  CSV is that of RFC 4180, with a mark of UTF-8 before it; what is nested stands under `outer.inner`, a list as its JSON.

/** A name that every file system takes. */
export const fileName = (...parts: ReadonlyArray<string | number>): string =>
  parts
    .join("-")
    .replaceAll(/[^A-Za-z0-9._-]+/g, "_")
    .slice(0, 120)

const save = (name: string, type: string, text: string): void => {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement("a")
  link.href = url
  link.download = name
  link.click()
  // The browser has taken hold of it by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

export const saveJson = (name: string, value: unknown): void =>
  save(`${name}.json`, "application/json", `${JSON.stringify(value, null, 2)}\n`)

/** One value as a line of a file of JSON lines. */
export const saveLine = (name: string, value: unknown): void =>
  save(name, "application/jsonl", `${JSON.stringify(value)}\n`)

/** What spreadsheets begin a formula with, in the widths of East Asia too, and what makes them skip to it. */
const FORMULA = /^[\s\u200b\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/

const textOf = (value: unknown): string => {
  if (value === null || value === undefined) return ""
  if (typeof value === "number" || typeof value === "boolean") return String(value)
  const text = typeof value === "string" ? value : JSON.stringify(value)
  return FORMULA.test(text) ? `'${text}` : text
}

const cellOf = (value: unknown): string => {
  const text = textOf(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const isNested = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const flattened = (row: object, before = ""): ReadonlyArray<readonly [string, unknown]> =>
  Object.entries(row).flatMap(([name, value]) =>
    isNested(value) ? flattened(value, `${before}${name}.`) : [[`${before}${name}`, value] as const]
  )

/** Rows as CSV; the columns are all names that any row has. */
export const csvOf = (rows: ReadonlyArray<object>): string => {
  const flat = rows.map((row) => new Map(flattened(row)))
  const names = [...new Set(flat.flatMap((row) => [...row.keys()]))]
  const lines = [names.map(cellOf), ...flat.map((row) => names.map((name) => cellOf(row.get(name))))]
  return `\ufeff${lines.map((cells) => `${cells.join(",")}\r\n`).join("")}`
}

export const saveCsv = (name: string, rows: ReadonlyArray<object>): void =>
  save(`${name}.csv`, "text/csv;charset=utf-8", csvOf(rows))
