// Timeline: a life, one row a tick, as a story or as a trace.
// T1  The URL holds the level, the filter, where it begins, and what is open.

import { createLazyRoute, getRouteApi, Link } from "@tanstack/react-router"
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react"
import { troubleOf } from "../../api/client.ts"
import { useKeys } from "../../shell/keys.ts"
import { Export } from "../../parts/export/export.tsx"
import { count } from "../../parts/format.ts"
import { Page } from "../../parts/page.tsx"
import { Empty, Failed, Loading } from "../../parts/states.tsx"
import { List } from "./list.tsx"
import { Heads } from "./row.tsx"
import { useLife, type View } from "./story.ts"
import { kinds, levels, openedIn, outcomeNames, outcomes, type TimelineSearch, toggled } from "./search.ts"
import { SearchField } from "../../parts/search-field.tsx"

// Filters: which rows are shown, and how they are shown.

const kindNames: Readonly<Record<(typeof kinds)[number], string>> = {
  tick: "runs",
  dream: "dreams",
  compaction: "compactions",
  order: "orders"
}

const textsOf = ({ reply, sender, text, tools }: View): ReadonlyArray<string | undefined> => [
  sender,
  text,
  reply,
  ...tools.flatMap((run) => [run.tool, run.arguments, run.result])
]

/** Whether a row is one of those that are looked for. */
const isMeant = ({ kind, outcome, q }: TimelineSearch): ((view: View) => boolean) => {
  const words = q?.toLowerCase()
  return (view) =>
    (kind === undefined || view.kind === kind) &&
    (outcome === undefined || (view.outcome ?? (view.kind === "tick" ? "open" : "")) === outcome) &&
    (words === undefined || textsOf(view).some((text) => text?.toLowerCase().includes(words) === true))
}

const isFiltered = ({ kind, outcome, q }: TimelineSearch): boolean =>
  kind !== undefined || outcome !== undefined || q !== undefined

interface FiltersProps {
  readonly search: TimelineSearch
  readonly onChange: (next: TimelineSearch) => void
}

const Pick = <Each extends string>({
  all,
  label,
  names,
  onPick,
  value
}: {
  readonly label: string
  readonly all: ReadonlyArray<Each>
  readonly names?: Readonly<Record<string, string>>
  readonly value: Each | undefined
  readonly onPick: (value: Each | undefined) => void
}) => (
  <select
    className="field"
    aria-label={label}
    value={value ?? ""}
    data-filter={label}
    onChange={({ target }) => onPick(all.find((each) => each === target.value))}
  >
    <option value="">any {label}</option>
    {all.map((each) => (
      <option key={each} value={each}>
        {names?.[each] ?? each}
      </option>
    ))}
  </select>
)

const Filters = ({ onChange, search }: FiltersProps) => {
  const { all, kind, level = "story", outcome, q } = search
  return (
    <div className="flex flex-1 flex-wrap items-center gap-2 max-md:basis-full">
      <div className="segmented" role="group" aria-label="How it is shown" title="v changes between the two">
        {levels.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={each === level}
            onClick={() => onChange({ level: each === "story" ? undefined : each })}
            data-level={each}
          >
            {each === "story" ? "Story" : "Trace"}
          </button>
        ))}
      </div>
      <SearchField label="Search what has come" value={q} onSearch={(words) => onChange({ q: words })} />
      <Pick label="kind" all={kinds} names={kindNames} value={kind} onPick={(picked) => onChange({ kind: picked })} />
      <Pick
        label="outcome"
        all={outcomes}
        names={outcomeNames}
        value={outcome}
        onPick={(picked) => onChange({ outcome: picked })}
      />
      <button
        type="button"
        className="button button-small ml-auto"
        aria-pressed={all === true}
        title="e opens or closes them all"
        onClick={() => onChange({ all: all === true ? undefined : true, open: undefined })}
        data-expand-all=""
      >
        {all === true ? "Close all" : "Open all"}
      </button>
    </div>
  )
}

/** So many rows are looked through without finding one to show; more only when asked. */
const LOOK_ROWS = 1_500

const route = getRouteApi("/a/$id/timeline")

/** Goes on by itself while there is something to show for it. */
const useOnward = (loaded: number, shown: number, life: ReturnType<typeof useLife>) => {
  const { further, isWhole } = life
  const [allowed, allow] = useState(LOOK_ROWS)
  const seen = useRef(0)
  if (shown !== seen.current) {
    seen.current = shown
    if (allowed < loaded + LOOK_ROWS) allow(loaded + LOOK_ROWS)
  }
  const isPaused = !isWhole && loaded >= allowed
  const onEnd = useCallback(() => {
    if (!isPaused) further()
  }, [further, isPaused])
  // A page without any row that is meant leaves the end in view: nothing scrolls, so nothing asks.
  useEffect(() => {
    if (loaded > 0 && shown < 20) onEnd()
  }, [loaded, shown, onEnd])
  return { onEnd, isPaused, lookFurther: () => allow(loaded + LOOK_ROWS) }
}

const useOpened = (search: TimelineSearch, change: (next: TimelineSearch) => void) => {
  const { all, open, tick } = search
  const opened = useMemo(() => openedIn({ open }), [open])
  const latest = useRef((_from: number) => {})
  useEffect(() => {
    latest.current = (from) => change({ open: toggled(search, from) })
  })
  const onToggle = useCallback((from: number) => latest.current(from), [])
  const isOpen = (from: number, no: number) => (all === true || no === tick) !== opened.has(from)
  return { isOpen, onToggle }
}

interface FootProps {
  readonly loaded: number
  readonly shown: number
  readonly search: TimelineSearch
  readonly life: ReturnType<typeof useLife>
  readonly onward: ReturnType<typeof useOnward>
}

const Foot = ({ life, loaded, onward, search, shown }: FootProps): ReactNode => {
  if (life.furtherTrouble !== undefined) {
    return <Failed trouble={life.furtherTrouble} onRetry={life.further} />
  }
  if (!life.isWhole) {
    return onward.isPaused ? (
      <div className="p-3 text-center text-ink-2" data-paused="">
        Looked through the last {count(loaded)} rows.{" "}
        <button type="button" className="button button-small" onClick={onward.lookFurther} data-look-further="">
          Look further back
        </button>
      </div>
    ) : (
      <Loading lines={2} />
    )
  }
  if (shown > 0) return <p className="p-3 text-center text-ink-3">Start of history.</p>
  return isFiltered(search) ? (
    <Empty title="No matches">Choose another kind or outcome, or search for other words.</Empty>
  ) : (
    <Empty title="Nothing has happened yet">Its first run begins with the first message.</Empty>
  )
}

const Side = ({ id, onChange, search }: Parameters<typeof Filters>[0] & { readonly id: string }) => {
  const { kind, outcome, q } = search
  return (
    <>
      <Filters search={search} onChange={onChange} />
      <Export
        name={`timeline of ${id}`}
        route="GET /v1/assistants/:id/ticks"
        asked={{ params: { id } }}
        isMeant={isMeant({ kind, outcome, q })}
      />
    </>
  )
}

const TimelinePage = () => {
  const { id } = route.useParams()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { kind, level = "story", outcome, q, tick } = search
  const life = useLife(id, tick)
  const change = (next: TimelineSearch) => void navigate({ search: { ...search, ...next }, replace: true })
  const rows = useMemo(() => life.rows.filter(isMeant({ kind, outcome, q })), [life.rows, kind, outcome, q])
  const onward = useOnward(life.rows.length, rows.length, life)
  const { isOpen, onToggle } = useOpened(search, change)
  const ticks = useMemo(() => new Map(rows.map((view) => [view.from, view.kind === "tick" ? view.tick : -1])), [rows])
  useKeys({
    v: () => change({ level: level === "story" ? "trace" : undefined }),
    e: () => change({ all: search.all === true ? undefined : true, open: undefined })
  })
  return (
    <Page
      name="timeline"
      title="Timeline"
      ready={life.isReady}
      fill
      side={<Side id={id} search={search} onChange={change} />}
    >
      {tick === undefined ? null : (
        <p className="text-ink-2">
          From run {tick} back.{" "}
          <Link to="/a/$id/timeline" params={{ id }} search={{ ...search, tick: undefined }} data-newest="">
            From the newest
          </Link>
        </p>
      )}
      {life.trouble === null ? null : <Failed trouble={troubleOf(life.trouble)} onRetry={life.retry} />}
      <section className="card flex min-h-48 flex-1 flex-col overflow-hidden" aria-label="Runs">
        <Heads level={level} />
        {life.isReady ? (
          <List
            id={id}
            rows={rows}
            level={level}
            isOpen={(from) => isOpen(from, ticks.get(from) ?? -1)}
            onToggle={onToggle}
            onEnd={onward.onEnd}
            foot={
              life.trouble === null ? (
                <Foot life={life} loaded={life.rows.length} shown={rows.length} search={search} onward={onward} />
              ) : null
            }
          />
        ) : (
          <Loading lines={12} />
        )}
      </section>
    </Page>
  )
}

export const page = createLazyRoute("/a/$id/timeline")({ component: TimelinePage })
