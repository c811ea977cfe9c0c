// Sheets: rows of entries, and where in a sealed index their bodies stand.
// Owns reading and writing bodies. Leaves their form to row.ts, and what hangs on a row to entries.ts.
// H1  In a sealed index entries that are reported together are sealed together, on a sheet: to seal each by itself would cost more
//     than all the rest of reporting it. In the clear each row has its body.
// H2  An entry that is reported anew has its body in its row; it leaves its sheet, and a sheet goes with its last entry.
// H3  A line of a sheet begins with the name of its entry: a row that was moved to another sheet, or given another name, does not
//     open, no more than one whose own body was moved.

import type { DatabaseSync } from "node:sqlite"
import { change, query, type Query } from "../connection.ts"
import { sealedIn, Unopened } from "../sealed-index.ts"

/** Entries of one sheet: to read one costs opening all of them. */
const MOST_LINES = 32

/** Names have no blanks, and bodies, which are JSON, no line breaks. */
const BREAK = "\n"
const startOf = (name: string): string => `${name} `
const isOf = (name: string) => (line: string) => line.startsWith(startOf(name))

interface SheetColumns {
  readonly id: string
  readonly body: string | null
  readonly sheet: number | null
  readonly lines: string | null
}

const bodyOn = ({ id, lines }: SheetColumns): string => {
  const line = lines?.split(BREAK).find(isOf(id))
  if (line === undefined) throw new Unopened("an entry stands on a sheet that does not have it")
  return line.slice(startOf(id).length)
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
  names.push("sheets.key AS sheet", "sheets.owner AS holder", "sheets.body AS lines")
  const rows = query<Omit<Row, "body"> & SheetColumns>(
    database,
    `SELECT ${names.join()} FROM entries LEFT JOIN sheets ON sheets.key = entries.sheet ${rest}`
  )
  const whole = (row: Omit<Row, "body"> & SheetColumns): Row =>
    ({ ...row, body: row.body ?? bodyOn(row) }) as unknown as Row
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

interface SheetRow {
  readonly owner: number
  readonly key: number
  readonly lines: string
  readonly name: string
}

const sheetsOf = (database: DatabaseSync) => {
  const of = query<SheetRow>(
    database,
    `SELECT sheets.owner, sheets.key, sheets.body AS lines, entries.id AS name FROM entries
     JOIN sheets ON sheets.key = entries.sheet WHERE entries.key = ?`
  )
  const insert = change(database, "INSERT INTO sheets (owner, key, body) VALUES (?, ?, ?)")
  const update = change(database, "UPDATE sheets SET body = ? WHERE owner = ? AND key = ?")
  const remove = change(database, "DELETE FROM sheets WHERE key = ?")
  return {
    /** Answers the key of a sheet of entries. */
    insert: (owner: number, fresh: ReadonlyArray<Fresh>): number => {
      // The number of an entry is given once, so that of its first is a sheet's own.
      const key = fresh[0]?.doc ?? 0
      insert(owner, key, fresh.map(({ body, name }) => startOf(name) + body).join(BREAK))
      return key
    },
    /** Takes an entry off its sheet, if it stands on one. */
    leave: (entry: number): void => {
      const sheet = of.one(entry)
      if (sheet === undefined) return
      const { key, lines, name, owner } = sheet
      const left = lines.split(BREAK).filter((line) => !isOf(name)(line))
      if (left.length === 0) remove(key)
      else update(left.join(BREAK), owner, key)
    }
  }
}

/** Writes the rows of entries. */
export const entryWriter = (database: DatabaseSync) => {
  const insert = change(database, "INSERT INTO entries (owner, id, doc, body) VALUES (?, ?, ?, ?)")
  const update = change(
    database,
    "UPDATE entries SET doc = ?, body = ?, sheet = NULL WHERE key = ? AND owner = ? AND id = ?"
  )
  const remove = change(database, "DELETE FROM entries WHERE key = ?")
  const alone = (owner: number, { body, doc, name }: Fresh): number => insert(owner, name, doc, body)
  if (sealedIn(database) === undefined) {
    return {
      /** Answers the keys of rows, in the order of their entries. */
      insert: (owner: number, fresh: ReadonlyArray<Fresh>): ReadonlyArray<number> =>
        fresh.map((each) => alone(owner, each)),
      update,
      remove
    }
  }
  const sheets = sheetsOf(database)
  const place = change(database, "INSERT INTO entries (owner, id, doc, sheet) VALUES (?, ?, ?, ?)")
  const together = (owner: number, fresh: ReadonlyArray<Fresh>): ReadonlyArray<number> => {
    if (fresh.length === 1) return fresh.map((each) => alone(owner, each))
    const sheet = sheets.insert(owner, fresh)
    return fresh.map(({ doc, name }) => place(owner, name, doc, sheet))
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
      sheets.leave(key)
      return update(doc, body, key, owner, name)
    },
    remove: (key: number): number => {
      sheets.leave(key)
      return remove(key)
    }
  }
}
