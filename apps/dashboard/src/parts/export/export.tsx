// Export: a table as a file: all rows that its filters mean, and not only those that are drawn.
// E1  Rows come out of the API page by page, MAX_ROWS at most; where there are more, that is said and the file has the first.

import { useState } from "react"
import { ask, type Trouble, troubleOf } from "../../api/client.ts"
import type { Answer, Asked, Reading } from "../../api/contract.ts"
import { count, many } from "../format.ts"
import { fileName, saveCsv, saveJson } from "./save.ts"

const MAX_ROWS = 100_000
const PAGE_ROWS = 500

interface Rows {
  readonly rows: ReadonlyArray<object>
  readonly isWhole: boolean
}

interface PageOfRows {
  readonly items: ReadonlyArray<object>
  readonly next?: string | number | null
}

type ItemOf<Of extends Reading> = Answer<Of> extends { readonly items: ReadonlyArray<infer Item> } ? Item : never

interface Wanted<Of extends Reading> {
  readonly route: Of
  /** What the filters mean; how many rows a page has is up to the export. */
  readonly asked: Asked<Of>
  /** The list comes in pages; where it does not, it is asked as it is. */
  readonly isPaged?: boolean
  /** A filter that is the page's own. */
  readonly isMeant?: (item: ItemOf<Of>) => boolean
}

/** All rows of a list of the API, as far as MAX_ROWS. */
const rowsOf = async <Of extends Reading>({ asked, isMeant, isPaged = true, route }: Wanted<Of>): Promise<Rows> => {
  const { query, ...whom } = asked as { readonly query?: object }
  const limit = isPaged ? { limit: PAGE_ROWS } : {}
  const rows: Array<object> = []
  let next: string | number | null | undefined
  let isCut = false
  do {
    const place = next === undefined ? {} : { [typeof next === "number" ? "before" : "cursor"]: next }
    const page = (await ask(route, {
      ...whom,
      query: { ...query, ...limit, ...place }
    } as Asked<Of>)) as unknown as PageOfRows
    rows.push(...(isMeant === undefined ? page.items : page.items.filter((item) => isMeant(item as never))))
    next = page.next
    // A list without places to go on from has no more than it gives at once.
    isCut = next === undefined && page.items.length >= PAGE_ROWS
  } while (next !== null && next !== undefined && rows.length < MAX_ROWS)
  return { rows: rows.slice(0, MAX_ROWS), isWhole: !isCut && (next === null || next === undefined) }
}

/** `name` is that of the file. */
export const Export = <Of extends Reading>({ name, ...wanted }: Wanted<Of> & { readonly name: string }) => {
  const [busy, setBusy] = useState(false)
  const [trouble, setTrouble] = useState<Trouble>()
  const [cut, setCut] = useState(false)
  const [said, say] = useState("")
  const save = async (kind: "csv" | "json"): Promise<void> => {
    setBusy(true)
    setTrouble(undefined)
    try {
      const { isWhole, rows } = await rowsOf<Of>(wanted)
      const file = fileName(name, new Date().toISOString().slice(0, 19).replaceAll(":", ""))
      if (kind === "csv") saveCsv(file, rows)
      else saveJson(file, rows)
      setCut(!isWhole)
      say(`${many(rows.length, "row")} saved`)
    } catch (error) {
      setTrouble(troubleOf(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <span className="flex items-center gap-1" role="group" aria-label={`Save ${name}`} data-export={name}>
      {(["csv", "json"] as const).map((kind) => (
        <button
          key={kind}
          type="button"
          className="button button-small button-quiet"
          disabled={busy}
          data-export-as={kind}
          title={`All rows that the filters mean, ${count(MAX_ROWS)} at most, as ${kind === "csv" ? "a table for spreadsheets" : "JSON"}`}
          onClick={() => void save(kind)}
        >
          {kind.toUpperCase()}
        </button>
      ))}
      <span role="status" className={trouble === undefined && !cut ? "sr-only" : "text-bad"}>
        {trouble === undefined ? (cut ? `${said}, there are more` : said) : trouble.message}
      </span>
    </span>
  )
}
