// Rows: the fleet, page by page, as far as one has looked.
// Owns which pages are asked for, and asked again. Leaves drawing to the table.
// R1  A page is a question of its own: only those in view are asked again when something happens.
// R2  No one stands in the list twice, though someone may move from one page to another between two answers.

import { defined } from "../../api/defined.ts"
import { useQueries, useQueryClient } from "@tanstack/react-query"
import type { AssistantRow } from "@reverie/server/api"
import { useCallback, useEffect, useRef, useState } from "react"
import type { Answer, Asked } from "../../api/contract.ts"
import { troubleOf } from "../../api/client.ts"
import { keyOf, question } from "../../api/questions.ts"
import { useConnection, useNotices } from "../../live/live.ts"
import type { FleetSearch } from "../../shell/search.ts"
import { filterOf } from "./selection.ts"

const PAGE_ROWS = 250
const AHEAD_ROWS = 60
const AGAIN_MILLIS = 1_500
/** Ages and sums of a day change without any notice. */
const COUNTS_MILLIS = 15_000

const LIST = "GET /v1/assistants"
type List = Answer<typeof LIST>

const askedFor = ({ desc, sort, ...search }: FleetSearch, cursor: string | undefined): Asked<typeof LIST> => ({
  query: {
    limit: PAGE_ROWS,
    // Who says no order is shown first who needs a person.
    sort: sort ?? "attention",
    ...filterOf(search),
    ...defined({
      descending: sort === undefined || desc !== undefined ? ("true" as const) : undefined,
      cursor
    })
  }
})

const flatten = (lists: ReadonlyArray<List | undefined>): ReadonlyArray<AssistantRow> => {
  const seen = new Set<string>()
  return lists.flatMap((list) =>
    (list?.items ?? []).filter(({ id }) => {
      if (seen.has(id)) return false
      seen.add(id)
      return true
    })
  )
}

/** Put together only when a page has changed; how many pages there are changes too, so a list of dependencies is no help. */
const useFlat = (lists: ReadonlyArray<List | undefined>): ReadonlyArray<AssistantRow> => {
  const known = useRef<{ readonly lists: typeof lists; readonly rows: ReadonlyArray<AssistantRow> }>({
    lists: [],
    rows: []
  })
  const { lists: before } = known.current
  const isSame = before.length === lists.length && before.every((list, at) => list === lists[at])
  if (!isSame) known.current = { lists, rows: flatten(lists) }
  return known.current.rows
}

/** The chain of cursors as far as it is known; it only grows, so that what is shown keeps its place. */
const useCursors = (search: FleetSearch, wantedRows: number): ReadonlyArray<string | undefined> => {
  const client = useQueryClient()
  const whose = JSON.stringify(search)
  const chain = useRef<{ whose: string; cursors: Array<string | undefined> }>({ whose, cursors: [undefined] })
  if (chain.current.whose !== whose) chain.current = { whose, cursors: [undefined] }
  const { cursors } = chain.current
  while (cursors.length * PAGE_ROWS < wantedRows) {
    const next = client.getQueryData<List>(keyOf(LIST, askedFor(search, cursors.at(-1))))?.next
    if (next === undefined || next === null) break
    cursors.push(next)
  }
  return [...cursors]
}

/** Asks again for the pages in view, at most every so often; the first one has the counts. */
const useRefresh = (search: FleetSearch, cursors: ReadonlyArray<string | undefined>) => {
  const client = useQueryClient()
  const range = useRef<readonly [number, number]>([0, 0])
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const latest = useRef(() => {})
  useEffect(() => {
    latest.current = () => {
      const [first, last] = range.current.map((row) => Math.floor(row / PAGE_ROWS)) as [number, number]
      cursors.forEach((cursor, page) => {
        if (page !== 0 && (page < first || page > last)) return
        const queryKey = keyOf(LIST, askedFor(search, cursor))
        void client.refetchQueries({ queryKey, exact: true }, { cancelRefetch: false })
      })
    }
  })
  const refresh = useCallback(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      latest.current()
    }, AGAIN_MILLIS)
  }, [])
  useEffect(() => () => clearTimeout(timer.current), [])
  return { refresh, range }
}

export const useFleetRows = (search: FleetSearch) => {
  const [wantedRows, want] = useState(PAGE_ROWS)
  const cursors = useCursors(search, wantedRows)
  const { range, refresh } = useRefresh(search, cursors)
  const pages = useQueries({
    queries: cursors.map((cursor, page) => ({
      ...question(LIST, askedFor(search, cursor)),
      meta: { live: false },
      staleTime: COUNTS_MILLIS,
      ...defined({ refetchInterval: page === 0 ? COUNTS_MILLIS : undefined })
    }))
  })
  useNotices(refresh)
  const { state } = useConnection()
  useEffect(() => {
    if (state === "live") refresh()
  }, [state, refresh])

  const lists = pages.map(({ data }) => data)
  const rows = useFlat(lists)
  const onRange = useCallback(
    (first: number, last: number) => {
      range.current = [first, last]
      want((rows) => Math.max(rows, last + AHEAD_ROWS))
    },
    [range]
  )
  const rowAt = useCallback((index: number): AssistantRow | undefined => rows[index], [rows])
  const [first] = pages
  const failed = pages.find(({ error }) => error !== null)
  const isWhole = lists.length > 0 && lists.at(-1)?.next === null
  return {
    rowAt,
    /** Where everything has come, what has come is right. */
    total: isWhole ? rows.length : (first?.data?.matched ?? 0),
    matched: first?.data?.matched,
    counts: first?.data?.counts,
    outages: first?.data?.outages,
    trouble: failed === undefined ? undefined : troubleOf(failed.error),
    isReady: first?.isPending === false,
    onRange,
    refresh,
    retry: () => void failed?.refetch()
  }
}
