// Counters: how many are in each state, each a filter of the table.

import { Link } from "@tanstack/react-router"
import type { Counts } from "@reverie/server/api"
import type { Tone } from "../../parts/chip.tsx"
import { count } from "../../parts/format.ts"
import type { FleetSearch } from "./search.ts"

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

export const Counters = ({ counts, search }: { readonly counts: Counts | undefined; readonly search: FleetSearch }) => (
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
