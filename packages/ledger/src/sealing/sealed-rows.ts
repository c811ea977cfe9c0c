// SealedRows: which columns of which tables are sealed, applied to statements as they are prepared.
// Owns finding what a statement writes and reads of sealed columns. Leaves the tables to the adapters, sealing to `sealing.ts`.
// R1  A statement that touches a sealed column and does not tell whose it is, or which row, is not prepared: no query can forget it.
// R2  A value that does not open is read as UNOPENED, or as no bytes, which no reader of rows takes for anything: it fails there,
//     and the others are read. Clear text in the place of a sealed one does not open either.

import { columnText, namesText, type Opened, type PlaceColumn, type Sealing, type Subject } from "./sealing.ts"

export interface SealedTable {
  readonly columns: ReadonlyArray<string>
  /** The columns that tell the subject, two at most, several ways; the first whose columns a statement has counts. */
  readonly subject: ReadonlyArray<ReadonlyArray<string>>
  /** The columns that tell the row, and that nothing changes without writing the sealed ones anew. */
  readonly place: ReadonlyArray<string>
  /** Those of the columns that hold bytes and no text. */
  readonly bytes?: ReadonlyArray<string>
  /** Whether what is written is read once, and soon. */
  readonly isForNow?: boolean
}

export type SealedTables = Readonly<Record<string, SealedTable>>

type Value = string | number | bigint | null | NodeJS.ArrayBufferView

/** Whose row it is, by the columns that tell it, or by what is written where none do; undefined when no one is there. */
export type SubjectOf = (first: unknown, second: unknown, content: unknown) => Subject | undefined

/** The sealed tables of an open database. */
export interface SealedRows {
  readonly tables: SealedTables
  readonly sealing: Sealing
  /** How the columns that tell whose a row is are read. Asked for once a statement. */
  readonly subjectIn: (table: string, columns: ReadonlyArray<string>) => SubjectOf
  /** Called with the table where a value does not open, in the place of reading on. */
  readonly unopened?: (table: string) => never
}

/** What stands in the place of a text that does not open. */
const UNOPENED = "sealed, and does not open: it was changed, it is not in its place, or its key is gone"

const REASON = `it is ${UNOPENED}`

/** Why a text can not be read; undefined of one that is no sealed one. */
export const unopenedReason = (text: string): string | undefined => (text === UNOPENED ? REASON : undefined)

/** Whether a record can not be read for that reason. */
export const isUnopened = ({ message }: { readonly message: string }): boolean => message === REASON

/** The expressions of a list, cut at the commas that stand in no brackets. */
const listed = (text: string): ReadonlyArray<string> => {
  const parts: Array<string> = []
  let [depth, from] = [0, 0]
  for (const [at, sign] of [...text].entries()) {
    if (sign === "(") depth++
    else if (sign === ")") depth--
    else if (sign === "," && depth === 0) {
      parts.push(text.slice(from, at))
      from = at + 1
    }
  }
  return [...parts, text.slice(from)].map((part) => part.trim())
}

/** What stands between the bracket at a place and the one that closes it. */
const bracketed = (text: string, from: number): string => {
  let depth = 0
  for (let at = from; at < text.length; at++) {
    if (text[at] === "(") depth++
    else if (text[at] === ")" && --depth === 0) return text.slice(from + 1, at)
  }
  return ""
}

interface Written {
  readonly table: string
  /** The number of the parameter that each column is written with, or compared with. */
  readonly parameters: ReadonlyMap<string, number>
}

const INSERT = /^\s*INSERT (?:OR \w+ )?INTO (\w+)\s*\(([^)]*)\)\s*VALUES\s*(?=\()/
const UPDATE = /^\s*UPDATE (\w+) SET/

/** What a change writes, with which of its parameters; undefined for what writes no row. */
const writtenBy = (sql: string): Written | undefined => {
  const insert = INSERT.exec(sql)
  const parameters = new Map<string, number>()
  if (insert !== null) {
    const [head, table = "", columns = ""] = insert
    const names = listed(columns)
    let count = 0
    for (const [index, value] of listed(bracketed(sql, head.length)).entries()) {
      if (value === "?") parameters.set(names[index] ?? "", count)
      count += value.split("?").length - 1
    }
    return { table, parameters }
  }
  const table = UPDATE.exec(sql)?.[1]
  if (table === undefined) return undefined
  let count = 0
  for (const [, name] of sql.matchAll(/(?:(\w+) = )?\?/g)) {
    if (name !== undefined && !parameters.has(name)) parameters.set(name, count)
    count++
  }
  return { table, parameters }
}

const forgot = (sql: string, column: string): never => {
  throw new Error(`a statement touches the sealed ${column} and does not tell its row: ${sql}`)
}

const toldBy = ({ subject }: SealedTable, has: (column: string) => boolean): ReadonlyArray<string> | undefined =>
  subject.find((columns) => columns.every(has))

/** What a change does to its values before they are written; undefined when it writes nothing that is sealed. */
export const sealingIn = <V extends Value>(
  rows: SealedRows,
  sql: string
): ((values: ReadonlyArray<V>) => ReadonlyArray<V>) | undefined => {
  const written = writtenBy(sql)
  const table = written === undefined ? undefined : rows.tables[written.table]
  if (written === undefined || table === undefined) return undefined
  const { parameters } = written
  const sealed = table.columns.filter((column) => parameters.has(column))
  if (sealed.length === 0) return undefined
  const told = toldBy(table, (column) => parameters.has(column))
  if (told === undefined || !table.place.every((column) => parameters.has(column))) {
    return forgot(sql, `${written.table}.${sealed.join()}`)
  }
  const at = (column: string): number => parameters.get(column) ?? -1
  const subjectOf = rows.subjectIn(written.table, told)
  const [first = -1, second = -1] = told.map(at)
  const placeAt = table.place.map(at)
  const sealedAt = sealed.map((column) => ({ index: at(column), names: namesText(written.table, column) }))
  const content = sealedAt[0]?.index ?? -1
  return (values) => {
    const made = [...values]
    const subject = subjectOf(values[first], values[second], values[content])
    if (subject === undefined) throw new Error(`no one is known whose ${written.table} these are`)
    let row = ""
    for (const each of placeAt) row += columnText(values[each] as PlaceColumn)
    for (const { index, names } of sealedAt) {
      const value = values[index]
      if (typeof value !== "string" && !(value instanceof Uint8Array)) continue
      made[index] = rows.sealing.sealAt(subject, names + row, value, table.isForNow) as V & Value as V
    }
    return made
  }
}

/** A column of what a query answers, and where it is from. */
export interface Origin {
  readonly name: string
  readonly table: string | null
  readonly column: string | null
}

type Row = Record<string | number, unknown>

const isSame = (one: Subject | undefined, other: Subject): boolean =>
  one?.tenant === other.tenant && one.assistant === other.assistant

/** What a query does to each row that it answers; undefined when nothing in it is sealed. */
export const openingOf = (
  rows: SealedRows,
  sql: string,
  origins: ReadonlyArray<Origin>,
  asArrays = false
): (<R>(row: R) => R) | undefined => {
  const openings = origins.flatMap(({ column, name, table: from }, index) => {
    const table = from === null ? undefined : rows.tables[from]
    if (from === null || column === null || table?.columns.includes(column) !== true) return []
    const keyOf = (wanted: string): string | number => {
      const found = origins.findIndex((each) => each.table === from && each.column === wanted)
      if (found < 0) return forgot(sql, `${from}.${column}`)
      return asArrays ? found : (origins[found]?.name ?? "")
    }
    const told = toldBy(table, (wanted) => origins.some((each) => each.table === from && each.column === wanted))
    if (told === undefined) return forgot(sql, `${from}.${column}`)
    const key = asArrays ? index : name
    const flawed = table.bytes?.includes(column) === true ? new Uint8Array() : UNOPENED
    return [
      {
        from,
        flawed,
        key,
        names: namesText(from, column),
        isTold: told.length > 0,
        subjectOf: rows.subjectIn(from, told),
        told: told.map(keyOf),
        place: table.place.map(keyOf)
      }
    ]
  })
  if (openings.length === 0) return undefined
  const opened = (
    row: Row,
    { isTold, names, place, subjectOf, told: [first = "", second = ""] }: (typeof openings)[number],
    value: Uint8Array
  ): Opened | undefined => {
    let text = names
    for (const each of place) text += columnText(row[each] as PlaceColumn)
    const found = rows.sealing.openAt(text, value)
    if (found === undefined || !isTold) return found
    return isSame(subjectOf(row[first], row[second], found.content), found.subject) ? found : undefined
  }
  return (given) => {
    const row = given as Row
    for (const opening of openings) {
      const value = row[opening.key]
      if (value === null) continue
      const found = value instanceof Uint8Array ? opened(row, opening, value)?.content : undefined
      if (found === undefined) rows.unopened?.(opening.from)
      row[opening.key] = found ?? opening.flawed
    }
    return given
  }
}
