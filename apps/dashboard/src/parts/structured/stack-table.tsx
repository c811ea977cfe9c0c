// StackTable: a table that is one line a value where the window is narrow, each with the title of its column.

import { type ComponentProps, useLayoutEffect, useRef } from "react"

/** The title of each column, once for each that a heading spans; none where the heading is for screen readers: a button says itself what it does. */
const titlesOf = (head: HTMLTableSectionElement | null): ReadonlyArray<string> =>
  [...(head?.rows[0]?.cells ?? [])].flatMap((cell) =>
    Array.from({ length: cell.colSpan }, () => (cell.querySelector(".sr-only") === null ? cell.textContent.trim() : ""))
  )

export const StackTable = ({ className = "", ...props }: ComponentProps<"table">) => {
  const table = useRef<HTMLTableElement>(null)
  // The titles are those of the head, so that they stand once; a row may have come with any rendering.
  useLayoutEffect(() => {
    const titles = titlesOf(table.current?.tHead ?? null)
    for (const body of table.current?.tBodies ?? []) {
      for (const row of body.rows) {
        let column = 0
        for (const cell of row.cells) {
          if (cell.tagName === "TD" && cell.colSpan === 1) cell.dataset["title"] = titles[column] ?? ""
          column += cell.colSpan
        }
      }
    }
  })
  return <table ref={table} className={`plain-table stack-table ${className}`} {...props} />
}
