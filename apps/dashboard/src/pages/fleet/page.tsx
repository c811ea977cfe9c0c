// Fleet: everybody, with what one wants to see at night first.

import type { AssistantRow, Counts } from "@reverie/server/api"
import { defined } from "../../api/defined.ts"
import { createLazyRoute, getRouteApi, Link } from "@tanstack/react-router"
import { memo, useCallback, useMemo, useState } from "react"
import { Export } from "../../parts/export/export.tsx"
import { count } from "../../parts/format.ts"
import { Page } from "../../parts/page.tsx"
import { SearchField } from "../../parts/search-field.tsx"
import { Empty, Failed, Loading } from "../../parts/states.tsx"
import { type Column, Table } from "../../parts/table.tsx"
import { Banner } from "./banner.tsx"
import { fleetColumns } from "./columns.tsx"
import { Orders } from "./orders.tsx"
import { useFleetRows } from "./rows.ts"
import { type FleetSearch, sortOf } from "../../shell/search.ts"
import type { Tone } from "../../parts/chip.tsx"

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
const StillFile = memo(({ q, state }: Pick<FleetSearch, "q" | "state">) => (
  <Export name="fleet" route="GET /v1/assistants" asked={{ query: defined({ q, state }) }} />
))

const useChosen = () => {
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set())
  const onChoose = useCallback(
    ({ id }: AssistantRow) =>
      choose((before) => {
        const next = new Set(before)
        if (!next.delete(id)) next.add(id)
        return next
      }),
    []
  )
  const clear = useCallback(() => choose(new Set()), [])
  const columns = useMemo(
    (): ReadonlyArray<Column<AssistantRow>> => [
      {
        id: "chosen",
        title: "",
        width: "2.4rem",
        cell: (row) => (
          <input
            type="checkbox"
            className="size-4 accent-accent"
            aria-label={`Choose ${row.id}`}
            checked={chosen.has(row.id)}
            onChange={() => onChoose(row)}
          />
        )
      },
      ...fleetColumns
    ],
    [chosen, onChoose]
  )
  return { chosen, onChoose, clear, columns }
}

const Nobody = ({ search }: { readonly search: FleetSearch }) =>
  search.q === undefined && search.state === undefined ? (
    <Empty title="No assistants yet">
      Assistants come with a definition: <code>reverie agents create ada --definition pilot</code>
    </Empty>
  ) : (
    <Empty title="No matches">Search for something else, or choose All above.</Empty>
  )

const FleetPage = () => {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const rows = useFleetRows(search)
  const { chosen, clear, columns, onChoose } = useChosen()
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
          <StillFile q={search.q} state={search.state} />
          <div className="ml-auto">
            <StillOrders search={search} matched={rows.matched} chosen={chosen} onClear={clear} onDone={rows.refresh} />
          </div>
        </>
      }
    >
      <StillBanner counts={rows.counts} outages={rows.outages} />
      <StillCounters counts={rows.counts} search={search} />
      {rows.trouble === undefined ? null : <Failed trouble={rows.trouble} onRetry={rows.retry} />}
      <div className="card min-h-48 flex-1 overflow-hidden" hidden={rows.isReady && rows.matched === undefined}>
        {rows.matched !== undefined ? (
          <Table
            label="Assistants"
            columns={columns}
            total={rows.total}
            rowAt={rows.rowAt}
            keyOf={({ id }) => id}
            minWidth="84rem"
            sort={search.sort}
            descending={search.desc === true}
            onSort={onSort}
            onOpen={({ id }) => void navigate({ to: "/a/$id", params: { id } })}
            chosen={chosen}
            onChoose={onChoose}
            onRange={rows.onRange}
            dataOf={({ id, state }) => ({ "data-assistant": id, "data-state": state })}
            empty={<Nobody search={search} />}
          />
        ) : (
          <Loading lines={12} />
        )}
      </div>
    </Page>
  )
}

export const page = createLazyRoute("/fleet")({ component: FleetPage })
