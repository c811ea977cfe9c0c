// Fleet: everybody, with what one wants to see at night first.

import type { AssistantRow, Counts } from "@reverie/server/api"
import { createLazyRoute, getRouteApi, Link } from "@tanstack/react-router"
import { memo, useCallback, useMemo, useSyncExternalStore } from "react"
import { useMayChange } from "../../parts/action.tsx"
import { Export } from "../../parts/export/export.tsx"
import { count } from "../../parts/format.ts"
import { Page } from "../../parts/page.tsx"
import { SearchField } from "../../parts/search-field.tsx"
import { Empty, Failed, Loading } from "../../parts/states.tsx"
import { type Column, Table } from "../../parts/table.tsx"
import { useActivities } from "./activity.tsx"
import { Banner } from "./banner.tsx"
import { briefColumns, fleetColumns } from "./columns.tsx"
import { CreateAssistant } from "./create.tsx"
import { Groups } from "./groups.tsx"
import { Orders } from "./orders.tsx"
import { useFleetRows } from "./rows.ts"
import { type Filter, filterOf, type Selection, useSelection } from "./selection.ts"
import { type FleetSearch, sortOf } from "../../shell/search.ts"
import type { Tone } from "../../parts/chip.tsx"
import { Views } from "./views.tsx"

// Narrow: whether the window is that of a phone, as the styles say it too.

const narrow = matchMedia("(width < 48rem)")

const watch = (watcher: () => void): (() => void) => {
  narrow.addEventListener("change", watcher)
  return () => narrow.removeEventListener("change", watcher)
}

const useNarrow = (): boolean => useSyncExternalStore(watch, () => narrow.matches)

// Counters: how many are in each state, each a filter of the table.

interface Counter {
  readonly of: keyof Counts
  readonly title: string
  readonly tone: Tone
  /** What the list is asked for. */
  readonly state: string | undefined
}

const counters: ReadonlyArray<Counter> = [
  { of: "total", title: "All", tone: "idle", state: undefined },
  { of: "idle", title: "Idle", tone: "idle", state: "awake.idle" },
  { of: "thinking", title: "Thinking", tone: "thinking", state: "awake.thinking" },
  { of: "acting", title: "Acting", tone: "acting", state: "awake.acting" },
  { of: "awaitingApproval", title: "Awaiting approval", tone: "waiting", state: "awake.awaitingApproval" },
  { of: "dreaming", title: "Dreaming", tone: "dreaming", state: "dreaming" },
  { of: "compacting", title: "Compacting", tone: "compacting", state: "compacting" },
  { of: "halted", title: "Halted", tone: "halted", state: "halted" },
  { of: "retired", title: "Retired", tone: "retired", state: "retired" }
]

const Counters = ({ counts, search }: { readonly counts: Counts | undefined; readonly search: FleetSearch }) => (
  <nav aria-label="By state" className="counters">
    {counters.map(({ of, state, title, tone }) => (
      <Link
        key={of}
        to="/fleet"
        search={{ ...search, state }}
        className="counter"
        data-counter={of}
        data-count={counts?.[of]}
        {...(search.state === state ? { "data-active": "", "aria-current": "true" } : {})}
      >
        <span className="flex items-center gap-1.5 text-ink-2">
          {of === "total" ? null : <span className="dot" data-tone={tone} aria-hidden />}
          {title}
        </span>
        <span className="tabular text-[1.15rem] font-semibold">
          {counts === undefined ? <span className="skeleton h-3 w-8" /> : count(counts[of])}
        </span>
      </Link>
    ))}
  </nav>
)

const route = getRouteApi("/fleet")

// Pages of rows come while one scrolls: what is above the table is not drawn again for them.
const StillBanner = memo(Banner)
const StillCounters = memo(Counters)
const StillOrders = memo(Orders)
const StillViews = memo(Views)
const StillFile = memo(({ filter }: { readonly filter: Filter }) => (
  <Export name="fleet" route="GET /v1/assistants" asked={{ query: filter }} />
))

const useColumns = ({ has, of, toggle }: Selection, isNarrow: boolean): ReadonlyArray<Column<AssistantRow>> =>
  useMemo(
    () => [
      {
        id: "chosen",
        title: "",
        width: "2.4rem",
        cell: (row) => (
          <input
            type="checkbox"
            className="size-4 accent-accent"
            aria-label={`Select ${row.id}`}
            title={of === "all" ? "All that match are selected." : undefined}
            disabled={of === "all"}
            checked={has.has(row.id)}
            onChange={() => toggle(row)}
          />
        )
      },
      ...(isNarrow ? briefColumns : fleetColumns)
    ],
    [has, isNarrow, of, toggle]
  )

const Nobody = ({ search }: { readonly search: FleetSearch }) =>
  Object.keys(filterOf(search)).length === 0 ? (
    <Empty title="No assistants yet">
      Each is created from a definition.{" "}
      <Link to="/fleet" search={{ create: true }}>
        Create an assistant
      </Link>
    </Empty>
  ) : (
    <Empty title="No matches">Search for something else, or choose All above.</Empty>
  )

/** Heights in pixels: of one line, and of two that a thumb finds. */
const ROW = 34
/** Room for two lines of trouble below the state. */
const NARROW_ROW = 76

interface RowsProps {
  readonly rows: ReturnType<typeof useFleetRows>
  readonly selection: Selection
  readonly search: FleetSearch
  readonly onSort: (sort: string) => void
}

const Rows = ({ onSort, rows, search, selection }: RowsProps) => {
  const navigate = route.useNavigate()
  const isNarrow = useNarrow()
  const columns = useColumns(selection, isNarrow)
  const look = useActivities(rows.rowAt)
  const { onRange } = rows
  const onView = useCallback(
    (first: number, last: number) => {
      onRange(first, last)
      look(first, last)
    },
    [look, onRange]
  )
  return (
    <div className="card min-h-48 flex-1 overflow-hidden" hidden={rows.isReady && rows.matched === undefined}>
      {rows.matched !== undefined ? (
        <Table
          label="Assistants"
          columns={columns}
          total={rows.total}
          rowAt={rows.rowAt}
          keyOf={({ id }) => id}
          rowHeight={isNarrow ? NARROW_ROW : ROW}
          {...(isNarrow ? {} : { minWidth: "87rem" })}
          sort={search.sort}
          descending={search.desc === true}
          onSort={onSort}
          onOpen={({ id }) => void navigate({ to: "/a/$id", params: { id } })}
          chosen={selection.has}
          onChoose={selection.toggle}
          onRange={onView}
          dataOf={({ id, state }) => ({ "data-assistant": id, "data-state": state })}
          empty={<Nobody search={search} />}
        />
      ) : (
        <Loading lines={12} />
      )}
    </div>
  )
}

const FleetPage = () => {
  const mayChange = useMayChange()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const rows = useFleetRows(search)
  const selection = useSelection(search)
  const { definition, q, state, tag } = search
  const filter = useMemo(() => filterOf({ definition, q, state, tag }), [definition, q, state, tag])
  const set = (next: FleetSearch) => void navigate({ search: { ...search, ...next }, replace: true })
  const onSort = (sort: string) => {
    const [known, isSame] = [sortOf(sort), search.sort === sort]
    // Numbers are looked at from the greatest, names from the first.
    const desc = isSame ? search.desc !== true : sort !== "id" && sort !== "since"
    set({ sort: known, desc: desc ? true : undefined })
  }
  return (
    <Page
      name="fleet"
      title="Fleet"
      ready={rows.isReady}
      fill
      side={
        <>
          <SearchField label="Search assistants" value={search.q} onSearch={(q) => set({ q })} />
          <span className="tabular text-ink-2" data-matched={rows.matched}>
            {rows.matched === undefined ? "" : `${count(rows.matched)} of ${count(rows.counts?.total ?? 0)}`}
          </span>
          <StillFile filter={filter} />
          {mayChange ? (
            <Link to="/fleet" search={{ ...search, create: true }} className="button button-small" data-create="">
              Create an assistant
            </Link>
          ) : null}
          <div className="ml-auto">
            <StillOrders
              filter={filter}
              matched={rows.matched}
              selection={selection.of}
              onSelectAll={selection.selectAll}
              onClear={selection.clear}
              onDone={rows.refresh}
            />
          </div>
        </>
      }
    >
      {search.create === true && mayChange ? (
        <CreateAssistant definition={search.definition} onClose={() => set({ create: undefined })} />
      ) : null}
      <StillBanner counts={rows.counts} outages={rows.outages} />
      <StillCounters counts={rows.counts} search={search} />
      <StillViews search={search} />
      {rows.trouble === undefined ? null : <Failed trouble={rows.trouble} onRetry={rows.retry} />}
      {search.group === undefined ? (
        <Rows rows={rows} selection={selection} search={search} onSort={onSort} />
      ) : (
        <Groups by={search.group} search={search} />
      )}
    </Page>
  )
}

export const page = createLazyRoute("/fleet")({ component: FleetPage })
