// Fleet: everybody, with what one wants to see at night first.

import type { AssistantRow, Counts, Outage } from "@reverie/server/api"
import { createLazyRoute, getRouteApi, Link } from "@tanstack/react-router"
import { memo, useCallback, useMemo, useState } from "react"
import { count, many } from "../../parts/format.ts"
import { Page } from "../../parts/page.tsx"
import { SearchField } from "../../parts/search-field.tsx"
import { Empty, Failed, Loading } from "../../parts/states.tsx"
import { type Column, Table } from "../../parts/table.tsx"
import { fleetColumns } from "./columns.tsx"
import { Orders } from "./orders.tsx"
import { useFleetRows } from "./rows.ts"
import { type FleetSearch, sortOf } from "../../shell/search.ts"
import type { Tone } from "../../parts/chip.tsx"
import { useAnswer } from "../../api/questions.ts"
import { Visible } from "../../parts/text.tsx"
import { Ago, Since } from "../../parts/time.tsx"

// Banner: what is wrong in the fleet, said first.

const EVERY_MILLIS = 15_000

/** A model that is away: no one need act for those that wait, but someone may for the server. */
const Away = ({ away: { assistants, nextTry, reason, server, since } }: { readonly away: Outage }) => (
  <Link to="/" search={{ state: "awake.thinking.parked", sort: "since" }} data-banner-item="away" data-server={server}>
    the model at <Visible text={server} /> has not answered for <Since at={since} /> (<Visible text={reason} />
    ): {many(assistants, "assistant waits", "assistants wait")}
    {nextTry === undefined ? ", it is being tried" : ", tried again "}
    {nextTry === undefined ? null : <Ago at={nextTry} />}
  </Link>
)

interface BannerProps {
  readonly counts: Counts | undefined
  readonly outages: ReadonlyArray<Outage> | undefined
}

const Banner = ({ counts, outages = [] }: BannerProps) => {
  const dead = useAnswer("GET /v1/dead-letters", {}, { everyMillis: EVERY_MILLIS }).data?.items.length ?? 0
  const queues = useAnswer("GET /v1/queues", {}, { everyMillis: EVERY_MILLIS }).data?.queues ?? []
  const paused = queues.filter((queue) => queue.paused)
  const { awaitingApproval = 0, halted = 0, stuck = 0 } = counts ?? {}
  const failures = halted + stuck + dead + paused.length + outages.length
  if (failures + awaitingApproval === 0) return null
  // Red is for what has failed. One who waits for a person does as it should.
  const isBad = failures > 0
  return (
    <div className="notice" data-tone={isBad ? "bad" : "waiting"} role="status" data-banner="">
      <strong className={isBad ? "text-bad" : "text-warn"}>Needs attention</strong>
      {awaitingApproval === 0 ? null : (
        <Link to="/approvals" data-banner-item="approvals">
          {many(awaitingApproval, "assistant waits for an approval", "assistants wait for an approval")}
        </Link>
      )}
      {outages.map((away) => (
        <Away key={away.server} away={away} />
      ))}
      {halted === 0 ? null : (
        <Link to="/" search={{ state: "halted", sort: "since" }} data-banner-item="halted">
          {many(halted, "assistant is halted", "assistants are halted")}
        </Link>
      )}
      {stuck === 0 ? null : (
        <Link to="/" search={{ sort: "attention" }} data-banner-item="stuck">
          {many(stuck, "has been busy for more than 15 minutes", "have been busy for more than 15 minutes")}
        </Link>
      )}
      {dead === 0 ? null : (
        <Link to="/queues" data-banner-item="dead">
          {many(dead, "dead letter")}
          {dead === 50 ? " or more" : ""}
        </Link>
      )}
      {paused.map(({ name }) => (
        <Link key={name} to="/queues" data-banner-item="paused">
          queue <Visible text={name} /> is paused
        </Link>
      ))}
    </div>
  )
}

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
        to="/"
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

const route = getRouteApi("/")

// Pages of rows come while one scrolls: what is above the table is not drawn again for them.
const StillBanner = memo(Banner)
const StillCounters = memo(Counters)
const StillOrders = memo(Orders)

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

export const page = createLazyRoute("/")({ component: FleetPage })
