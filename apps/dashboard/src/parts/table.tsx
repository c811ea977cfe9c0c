// Table: many rows, of which those in view are drawn.
// Owns drawing, the keyboard and the roles. Leaves what is sorted and chosen to the page, which keeps it in the URL.
// B1  A row is drawn again only when it, or its place, has changed, into elements that are there already: ten thousand
//     scroll as smoothly as ten.
// B2  Everything goes by keyboard: j k or arrows move, Enter opens, x chooses, Home and End lead to the ends.
// B3  Its height is that of all rows there are: those that have not come are drawn as skeletons, and asked for.

import { type Range, useVirtualizer } from "@tanstack/react-virtual"
import { type KeyboardEvent, memo, type ReactNode, useCallback, useEffect, useId, useRef, useState } from "react"
import { useKeys } from "../shell/keys.ts"

export interface Column<Row> {
  readonly id: string
  readonly title: string
  /** What it tells, where one points at its title. */
  readonly hint?: string
  /** A CSS grid track, e.g. `minmax(12rem, 2fr)` or `6rem`. */
  readonly width: string
  /** The head sorts by this. */
  readonly sort?: string
  readonly align?: "end"
  readonly cell: (row: Row) => ReactNode
}

export interface TableProps<Row> {
  readonly label: string
  /** Kept between renderings: a new array draws every row again. */
  readonly columns: ReadonlyArray<Column<Row>>
  /** How many there are, also those that have not come. */
  readonly total: number
  readonly rowAt: (index: number) => Row | undefined
  readonly keyOf: (row: Row) => string
  readonly rowHeight?: number
  /** The least width; narrower, it scrolls sideways. */
  readonly minWidth?: string
  readonly sort?: string | undefined
  readonly descending?: boolean | undefined
  readonly onSort?: (sort: string) => void
  readonly onOpen?: (row: Row) => void
  readonly chosen?: Pick<ReadonlySet<string>, "has">
  readonly onChoose?: (row: Row) => void
  /** What is in view, whenever that changes. */
  readonly onRange?: (first: number, last: number) => void
  /** More attributes of a row: `data-*`. */
  readonly dataOf?: (row: Row) => Readonly<Record<`data-${string}`, string>>
  readonly empty?: ReactNode
}

interface LineProps<Row> {
  readonly row: Row | undefined
  readonly isSkimmed: boolean
  readonly index: number
  readonly start: number
  readonly height: number
  readonly id: string
  readonly tracks: string
  readonly columns: ReadonlyArray<Column<Row>>
  readonly current: boolean
  readonly chosen: boolean | undefined
  readonly data: TableProps<Row>["dataOf"]
  readonly onPress: (index: number, open: boolean) => void
}

const Cells = <Row,>({
  columns,
  row
}: {
  readonly row: Row | undefined
  readonly columns: ReadonlyArray<Column<Row>>
}): ReactNode =>
  columns.map((column, at) => (
    <div key={column.id} role="gridcell" aria-colindex={at + 1} data-column={column.id} data-align={column.align}>
      {row === undefined ? <span className="skeleton h-2.5 w-3/5" /> : column.cell(row)}
    </div>
  ))
const MemoCells = memo(Cells) as typeof Cells

const Line = <Row,>({
  chosen,
  columns,
  current,
  data,
  height,
  id,
  index,
  isSkimmed,
  onPress,
  row,
  start,
  tracks
}: LineProps<Row>) => (
  <div
    role="row"
    id={id}
    className="grid-row"
    aria-rowindex={index + 2}
    aria-selected={chosen}
    data-row={index}
    {...(current ? { "data-current": "" } : {})}
    {...(row === undefined ? { "data-missing": "" } : data?.(row))}
    style={{ height, gridTemplateColumns: tracks, transform: `translateY(${start}px)` }}
    onClick={({ target }) =>
      onPress(index, target instanceof Element && target.closest("a, button, input, label") === null)
    }
  >
    <MemoCells row={isSkimmed ? undefined : row} columns={columns} />
  </div>
)
const MemoLine = memo(Line) as typeof Line

const Head = <Row,>({ columns, descending, onSort, sort, tracks }: TableProps<Row> & { readonly tracks: string }) => (
  <div role="row" aria-rowindex={1} className="grid-head" style={{ gridTemplateColumns: tracks }}>
    {columns.map((column, at) => {
      const isSorted = column.sort !== undefined && column.sort === sort
      return (
        <div
          key={column.id}
          role="columnheader"
          aria-colindex={at + 1}
          data-align={column.align}
          title={column.hint}
          {...(isSorted ? { "aria-sort": descending === true ? ("descending" as const) : ("ascending" as const) } : {})}
        >
          {column.sort === undefined || onSort === undefined ? (
            column.title
          ) : (
            <button type="button" className="sort" data-sort={column.sort} onClick={() => onSort(column.sort ?? "")}>
              {column.title}
              <span aria-hidden className="sort-arrow">
                {descending === true ? "↓" : "↑"}
              </span>
            </button>
          )}
        </div>
      )
    })}
  </div>
)

const moves: Readonly<Record<string, (at: number, page: number, total: number) => number>> = {
  ArrowDown: (at) => at + 1,
  ArrowUp: (at) => at - 1,
  PageDown: (at, page) => at + page,
  PageUp: (at, page) => at - page,
  Home: () => 0,
  End: (_, __, total) => total - 1
}

const OVERSCAN = 6
/** So many rows from one frame to the next are not read by anybody: they are drawn when it gets slower. */
const SKIMMED_ROWS = 8

/** As many rows wherever one stands: those that leave at one end come in at the other, and no element is made anew. */
const alwaysAsMany = ({ count, startIndex }: Range, inView: number): Array<number> => {
  const drawn = Math.min(count, inView + 1 + 2 * OVERSCAN)
  const first = Math.max(0, Math.min(startIndex - OVERSCAN, count - drawn))
  return Array.from({ length: drawn }, (_, at) => first + at)
}

/** Which rows are drawn, which one is current, and the keys that move between them. */
const useGrid = <Row,>({ onChoose, onOpen, onRange, rowAt, rowHeight = 34, total }: TableProps<Row>) => {
  const scroller = useRef<HTMLDivElement>(null)
  const [current, setCurrent] = useState(-1)
  const virtual = useVirtualizer({
    count: total,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: OVERSCAN,
    rangeExtractor: (range) => alwaysAsMany(range, Math.ceil((scroller.current?.clientHeight ?? 0) / rowHeight)),
    // The head lies over the first of them.
    scrollPaddingStart: rowHeight,
    useFlushSync: false
  })
  const items = virtual.getVirtualItems()
  const first = items[0]?.index ?? 0
  const last = items.at(-1)?.index ?? 0
  useEffect(() => onRange?.(first, last), [onRange, first, last])
  const offset = virtual.scrollOffset ?? 0
  const before = useRef(offset)
  const isSkimmed = virtual.isScrolling && Math.abs(offset - before.current) > SKIMMED_ROWS * rowHeight
  useEffect(() => {
    before.current = offset
  })

  const go = (to: number) => {
    const next = Math.max(0, Math.min(total - 1, to))
    setCurrent(next)
    virtual.scrollToIndex(next, { align: "auto" })
    scroller.current?.focus({ preventScroll: true })
  }
  const withRow = (act: ((row: Row) => void) | undefined) => {
    const row = rowAt(current)
    if (row !== undefined) act?.(row)
  }
  useKeys({ j: () => go(current + 1), k: () => go(current - 1), x: () => withRow(onChoose) })
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== scroller.current) return
    const move = moves[event.key]
    if (move !== undefined) go(move(current, Math.max(1, items.length - 2 * OVERSCAN - 2), total))
    else if (event.key === "Enter") withRow(onOpen)
    else if (event.key === " ") withRow(onChoose)
    else return
    event.preventDefault()
  }
  const latest = useRef((_index: number, _open: boolean) => {})
  useEffect(() => {
    latest.current = (index, open) => {
      setCurrent(index)
      const row = rowAt(index)
      if (open && row !== undefined) onOpen?.(row)
    }
  })
  const onPress = useCallback((index: number, open: boolean) => latest.current(index, open), [])
  return { scroller, current, items, isSkimmed, height: virtual.getTotalSize(), onKeyDown, onPress, rowHeight }
}

const Lines = <Row,>({ grid, ids, props, tracks }: LinesProps<Row>) => {
  const { chosen, columns, dataOf, keyOf, minWidth, rowAt } = props
  return (
    <div role="rowgroup" className="relative" style={{ height: grid.height, minWidth }}>
      {grid.items.map(({ index, start }) => {
        const row = rowAt(index)
        return (
          <MemoLine
            key={index % grid.items.length}
            row={row}
            isSkimmed={grid.isSkimmed}
            index={index}
            start={start}
            height={grid.rowHeight}
            id={`${ids}-${index}`}
            tracks={tracks}
            columns={columns}
            current={index === grid.current}
            chosen={row === undefined || chosen === undefined ? undefined : chosen.has(keyOf(row))}
            data={dataOf}
            onPress={grid.onPress}
          />
        )
      })}
    </div>
  )
}

interface LinesProps<Row> {
  readonly props: TableProps<Row>
  readonly grid: ReturnType<typeof useGrid<Row>>
  readonly ids: string
  readonly tracks: string
}

export const Table = <Row,>(props: TableProps<Row>) => {
  const { chosen, columns, empty, label, minWidth, total } = props
  const grid = useGrid(props)
  const ids = useId()
  const tracks = columns.map(({ width }) => width).join(" ")
  return (
    <div
      ref={grid.scroller}
      role="grid"
      aria-label={label}
      aria-rowcount={total + 1}
      aria-colcount={columns.length}
      aria-multiselectable={chosen === undefined ? undefined : true}
      aria-activedescendant={grid.current < 0 ? undefined : `${ids}-${grid.current}`}
      tabIndex={0}
      className="grid-table h-full"
      data-table={label}
      data-total={total}
      onKeyDown={grid.onKeyDown}
    >
      <div role="rowgroup" style={{ minWidth }} className="sticky top-0 z-2">
        <Head {...props} tracks={tracks} />
      </div>
      {total === 0 ? empty : <Lines props={props} grid={grid} ids={ids} tracks={tracks} />}
    </div>
  )
}
