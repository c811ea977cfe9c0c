// Activity: how much the assistants in view have done, as a small plot in each row.
// T1  Only rows in view are asked for, many at once, when one no longer scrolls; each at most once a minute.
// T2  A plot that comes is drawn alone: the table and its rows are not drawn again for it.
// T3  It holds MOST_KNOWN of them and no more, whatever is scrolled past.

import type { AssistantRow } from "@reverie/server/api"
import { useEffect, useMemo, useRef, useSyncExternalStore } from "react"
import { ask } from "../../api/client.ts"
import { tokens as tokensText } from "../../parts/format.ts"

const PAUSE_MILLIS = 250
const FRESH_MILLIS = 60_000
const MOST_AT_ONCE = 100
const MOST_KNOWN = 2_000

interface Plot {
  readonly at: number
  readonly path: string
  readonly total: number
  readonly most: number
}

const HEIGHT = 16
const BAR = 3

/** A bar an hour; what is little and not nothing can be seen. */
const pathOf = (tokens: ReadonlyArray<number>, most: number): string =>
  tokens
    .map((value, hour) =>
      value === 0
        ? ""
        : `M${hour * BAR} ${HEIGHT}v-${Math.max(1.5, (value / most) * HEIGHT).toFixed(1)}h${BAR - 0.8}V${HEIGHT}z`
    )
    .join("")

const known = new Map<string, Plot>()
const watchers = new Map<string, Set<() => void>>()

const keep = (id: string, tokens: ReadonlyArray<number>, at: number): void => {
  const most = Math.max(1, ...tokens)
  known.delete(id)
  known.set(id, { at, path: pathOf(tokens, most), total: tokens.reduce((sum, each) => sum + each, 0), most })
  const [oldest] = known.keys()
  if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest)
  for (const watcher of watchers.get(id) ?? []) watcher()
}

const read = async (ids: ReadonlyArray<string>): Promise<void> => {
  const now = Date.now()
  const wanted = ids.filter((id) => now - (known.get(id)?.at ?? 0) > FRESH_MILLIS)
  for (let first = 0; first < wanted.length; first += MOST_AT_ONCE) {
    const some = wanted.slice(first, first + MOST_AT_ONCE)
    const { items } = await ask("GET /v1/activity", { query: { ids: some.join(",") } })
    for (const { id, tokens } of items) keep(id, tokens, now)
  }
}

/** Asks for those in view: `look` says which rows that are. */
export const useActivities = (rowAt: (index: number) => AssistantRow | undefined) => {
  const range = useRef<readonly [number, number]>([0, -1])
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const latest = useRef(rowAt)
  const soon = useMemo(
    () => () => {
      clearTimeout(timer.current)
      timer.current = setTimeout(() => {
        const [first, last] = range.current
        const ids = Array.from({ length: last - first + 1 }, (_, at) => latest.current(first + at)?.id)
        // The list itself says when the server does not answer; a plot that is missing is missing.
        void read(ids.filter((id) => id !== undefined)).catch(() => {})
      }, PAUSE_MILLIS)
    },
    []
  )
  useEffect(() => {
    latest.current = rowAt
    soon()
  }, [rowAt, soon])
  useEffect(() => {
    const again = setInterval(soon, FRESH_MILLIS)
    return () => {
      clearInterval(again)
      clearTimeout(timer.current)
    }
  }, [soon])
  return useMemo(
    () => (first: number, last: number) => {
      range.current = [first, last]
      soon()
    },
    [soon]
  )
}

const watch = (id: string) => (watcher: () => void) => {
  const of = watchers.get(id) ?? new Set()
  watchers.set(id, of)
  of.add(watcher)
  return () => {
    of.delete(watcher)
    if (of.size === 0 && watchers.get(id) === of) watchers.delete(id)
  }
}

export const Spark = ({ id }: { readonly id: string }) => {
  const subscribe = useMemo(() => watch(id), [id])
  const plot = useSyncExternalStore(subscribe, () => known.get(id))
  if (plot === undefined) return null
  const said =
    plot.total === 0
      ? "no tokens in the last 24 hours"
      : `${tokensText(plot.total)} tokens in the last 24 hours, at most ${tokensText(plot.most)} in one of them`
  return (
    <svg
      className="spark"
      viewBox={`0 0 ${24 * BAR} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={said}
      data-spark={plot.total}
    >
      <title>{said}</title>
      <path d={`M0 ${HEIGHT - 0.5}h${24 * BAR}`} className="spark-base" />
      <path d={plot.path} />
    </svg>
  )
}
