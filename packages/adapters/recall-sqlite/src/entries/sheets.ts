// Sheets: rows of entries, and where in a sealed index their bodies stand.
// Owns reading and writing bodies. Leaves their form to row.ts, and what hangs on a row to entries.ts.
// H1  In a sealed index entries that are reported together are sealed together, as lines of a sheet: to seal each by itself would cost
//     more than all the rest of reporting it. In the clear each row has its body.
// H2  An entry that is reported anew has its body in its row; the line it had is empty from then on, and a sheet goes with its last.

import type { DatabaseSync } from "node:sqlite"
import { change, query, type Query } from "../connection.ts"
import { sealedIn, Unopened } from "../sealed-index.ts"

/** Entries of one sheet: to read one costs opening all of them. */
const MOST_LINES = 32

interface SheetColumns {
  readonly body: string | null
  readonly sheet: number | null
  readonly line: number | null
  readonly lines: string | null
}

interface SheetRow {
  readonly owner: number
  readonly key: number
  readonly body: string
}

/** Bodies are JSON, which has no line breaks. */
const BREAK = "\n"

const lineOf = ({ line, lines }: SheetColumns): string => {
  const body = lines?.split(BREAK)[line ?? -1]
  if (body === undefined || body === "") throw new Unopened("an entry stands on a sheet that does not have it")
  return body
}

/**
 * Prepares a query of entries. `columns` besides key, owner, id and body; `rest` is what follows their table, in which a join
 * may stand.
 */
export const entryQuery = <Row extends { readonly body: string }>(
  database: DatabaseSync,
  columns: ReadonlyArray<string>,
  rest: string
): Query<Row> => {
  const names = ["entries.key", "entries.owner", "entries.id", "entries.body", ...columns]
  if (sealedIn(database) === undefined) return query<Row>(database, `SELECT ${names.join()} FROM entries ${rest}`)
  names.push("entries.line", "sheets.key AS sheet", "sheets.owner AS holder", "sheets.body AS lines")
  const rows = query<Omit<Row, "body"> & SheetColumns>(
    database,
    `SELECT ${names.join()} FROM entries LEFT JOIN sheets ON sheets.key = entries.sheet ${rest}`
  )
  const whole = (row: Omit<Row, "body"> & SheetColumns): Row =>
    ({ ...row, body: row.body ?? lineOf(row) }) as unknown as Row
  return {
    one: (...values) => {
      const row = rows.one(...values)
      return row === undefined ? undefined : whole(row)
    },
    all: (...values) => rows.all(...values).map(whole)
  }
}

/** An entry that is not there yet. */
export interface Fresh {
  readonly name: string
  readonly doc: number
  readonly body: string
}

const sheetsOf = (database: DatabaseSync) => {
  const of = query<SheetRow>(
    database,
    "SELECT owner, key, body FROM sheets WHERE key = (SELECT sheet FROM entries WHERE key = ?)"
  )
  const place = query<{ readonly line: number | null }>(database, "SELECT line FROM entries WHERE key = ?")
  const insert = change(database, "INSERT INTO sheets (owner, key, body) VALUES (?, ?, ?)")
  const update = change(database, "UPDATE sheets SET body = ? WHERE owner = ? AND key = ?")
  const remove = change(database, "DELETE FROM sheets WHERE key = ?")
  return {
    insert,
    /** Empties the line of an entry, if it has one. */
    empty: (entry: number): void => {
      const sheet = of.one(entry)
      if (sheet === undefined) return
      const line = place.one(entry)?.line ?? -1
      const lines = sheet.body.split(BREAK).map((body, index) => (index === line ? "" : body))
      if (lines.every((body) => body === "")) remove(sheet.key)
      else update(lines.join(BREAK), sheet.owner, sheet.key)
    }
  }
}

/** Writes the rows of entries; each answers with keys. */
export const entryWriter = (database: DatabaseSync) => {
  const insert = change(database, "INSERT INTO entries (owner, id, doc, body) VALUES (?, ?, ?, ?)")
  const update = change(
    database,
    "UPDATE entries SET doc = ?, body = ?, sheet = NULL, line = NULL WHERE key = ? AND owner = ? AND id = ?"
  )
  const remove = change(database, "DELETE FROM entries WHERE key = ?")
  const alone = (owner: number, { body, doc, name }: Fresh): number => insert(owner, name, doc, body)
  if (sealedIn(database) === undefined) {
    return {
      insert: (owner: number, fresh: ReadonlyArray<Fresh>): ReadonlyArray<number> =>
        fresh.map((each) => alone(owner, each)),
      update,
      remove
    }
  }
  const sheets = sheetsOf(database)
  const place = change(database, "INSERT INTO entries (owner, id, doc, sheet, line) VALUES (?, ?, ?, ?, ?)")
  const together = (owner: number, fresh: ReadonlyArray<Fresh>): ReadonlyArray<number> => {
    const [first] = fresh
    if (first === undefined || fresh.length === 1) return fresh.map((each) => alone(owner, each))
    // The number of an entry is given once, so that of its first is a sheet's own.
    sheets.insert(owner, first.doc, fresh.map(({ body }) => body).join(BREAK))
    return fresh.map(({ doc, name }, line) => place(owner, name, doc, first.doc, line))
  }
  return {
    insert: (owner: number, fresh: ReadonlyArray<Fresh>): ReadonlyArray<number> => {
      const keys: Array<number> = []
      for (let from = 0; from < fresh.length; from += MOST_LINES) {
        keys.push(...together(owner, fresh.slice(from, from + MOST_LINES)))
      }
      return keys
    },
    update: (doc: number, body: string, key: number, owner: number, name: string): number => {
      sheets.empty(key)
      return update(doc, body, key, owner, name)
    },
    remove: (key: number): number => {
      sheets.empty(key)
      return remove(key)
    }
  }
}
