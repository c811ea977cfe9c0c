// Rows: a life, the newest first, as far back as one has looked.
// Owns the pages that have come, and joining what is new to them. Leaves drawing to list.tsx.
// W1  Only the newest page is asked for again when something happens; what lies further back stays as it came.
// W2  No row stands there twice, and none is missing between two that stand there.

import { defined } from "../../api/defined.ts"
import { useQueryClient } from "@tanstack/react-query"
import { useCallback, useEffect, useReducer, useRef, useState } from "react"
import { type Trouble, troubleOf } from "../../api/client.ts"
import type { Answer, Asked } from "../../api/contract.ts"
import { question, useAnswer } from "../../api/questions.ts"

const TICKS = "GET /v1/assistants/:id/ticks"
const PAGE_ROWS = 100

type Page = Answer<typeof TICKS>
export type View = Page["items"][number]

interface Life {
  readonly whose: string
  readonly rows: ReadonlyArray<View>
  /** Where the page before the last row begins; null when there is none. */
  readonly end: number | null
}

interface Came extends Page {
  readonly whose: string
  /** The newest page, or the one before this commit. */
  readonly before: number | "head"
}

const nobody: Life = { whose: "", rows: [], end: null }

export const joined = (life: Life, { before, items, next, whose }: Came): Life => {
  if (before !== "head") {
    if (life.whose !== whose || life.end !== before) return life
    return { ...life, rows: [...life.rows, ...items], end: next }
  }
  const lowest = items.at(-1)?.from ?? 0
  const newest = life.rows[0]?.from ?? 0
  // So much came at once that there is a gap: it is begun anew.
  if (life.whose !== whose || (newest < lowest && next !== null)) return { whose, rows: [...items], end: next }
  return { ...life, rows: [...items, ...life.rows.filter(({ from }) => from < lowest)] }
}

const askedFor = (id: string, before: number | undefined): Asked<typeof TICKS> => ({
  params: { id },
  query: { limit: PAGE_ROWS, ...defined({ before }) }
})

/** The page before what has come; one at a time. */
const useFurther = (id: string, { end, whose }: Life, take: (came: Came) => void) => {
  const client = useQueryClient()
  const busy = useRef(false)
  const [trouble, setTrouble] = useState<Trouble>()
  const further = useCallback(() => {
    if (busy.current || end === null) return
    busy.current = true
    setTrouble(undefined)
    client
      .fetchQuery({ ...question(TICKS, askedFor(id, end)), meta: { live: false }, gcTime: 30_000 })
      .then(
        (page) => take({ ...page, whose, before: end }),
        (error: unknown) => setTrouble(troubleOf(error))
      )
      .finally(() => {
        busy.current = false
      })
  }, [client, end, id, take, whose])
  return { further, trouble }
}

/** From the newest back, or from a tick back. */
export const useLife = (id: string, tick: number | undefined) => {
  const anchor = useAnswer(
    "GET /v1/assistants/:id/ticks/:tick",
    { params: { id, tick: tick ?? 0 } },
    { enabled: tick !== undefined }
  )
  const before = tick === undefined || anchor.data === undefined ? undefined : anchor.data.to + 1
  const head = useAnswer(TICKS, askedFor(id, before), { enabled: tick === undefined || before !== undefined })
  const whose = `${id} ${before ?? ""}`
  const [life, take] = useReducer(joined, nobody)
  useEffect(() => {
    if (head.data !== undefined) take({ ...head.data, whose, before: "head" })
  }, [head.data, whose])
  const { further, trouble } = useFurther(id, life, take)
  const isHere = life.whose === whose && head.data !== undefined
  return {
    rows: isHere ? life.rows : [],
    isWhole: isHere && life.end === null,
    isReady: anchor.isError || head.isError || isHere,
    trouble: anchor.error ?? head.error,
    retry: () => void (anchor.isError ? anchor.refetch() : head.refetch()),
    further,
    furtherTrouble: trouble
  }
}
