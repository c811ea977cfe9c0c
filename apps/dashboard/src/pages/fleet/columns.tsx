// Columns: what the table of the fleet shows of one assistant.

import { Link } from "@tanstack/react-router"
import type { AssistantRow } from "@reverie/server/api"
import { StateChip } from "../../parts/chip.tsx"
import { count, money, serversIn, spentText, tokens } from "../../parts/format.ts"
import type { Column } from "../../parts/table.tsx"
import { Visible } from "../../parts/text.tsx"
import { Ago, Since } from "../../parts/time.tsx"
import { Fill } from "../../parts/token-bar.tsx"
import { Spark } from "./activity.tsx"

const Dash = () => (
  <span className="text-ink-3" aria-label="none">
    –
  </span>
)

/** The id comes first: where there is no room for both, the definition is on a second line, which no one sees. */
const Who = ({ row }: { readonly row: AssistantRow }) => (
  <span className="flex h-[1.45em] min-w-0 flex-wrap items-baseline gap-2 overflow-hidden">
    <Link to="/a/$id" params={{ id: row.id }} className="max-w-full truncate font-medium text-ink" title={row.id}>
      <Visible text={row.id} />
    </Link>
    <span className="max-w-full truncate text-ink-3">
      <Visible text={row.definition} />
    </span>
  </span>
)

const Waiting = ({ row }: { readonly row: AssistantRow }) =>
  row.waiting === 0 ? (
    <Dash />
  ) : (
    <span className="flex items-baseline gap-1">
      <span>{count(row.waiting)}</span>
      {row.oldestWaitingAt === undefined ? null : (
        <span className="text-ink-3">
          for <Since at={row.oldestWaitingAt} />
        </span>
      )}
    </span>
  )

const Left = ({ row: { left } }: { readonly row: AssistantRow }) => {
  if (left === undefined) return <Dash />
  const isSpent = left.costMicros === 0 || left.tokens === 0 || left.calls === 0
  const said =
    left.costMicros !== null
      ? money(left.costMicros)
      : left.tokens !== null
        ? `${tokens(left.tokens)} tokens`
        : left.calls !== null
          ? `${count(left.calls)} calls`
          : "unbounded"
  return <span className={isSpent ? "font-medium text-bad" : undefined}>{said}</span>
}

/** It goes on: it has its beginning in the state, and no moment of its own. */
const isLasting = ({ haltReason, outage }: AssistantRow): boolean => haltReason !== undefined || outage !== undefined

/** Trouble that lasts comes before trouble that was. */
const saidOf = ({ haltReason, lastError, outage }: AssistantRow): string | undefined => {
  if (haltReason !== undefined) return haltReason
  return outage === undefined ? lastError?.message : `waits for the model at ${serversIn(outage)}: ${outage.reason}`
}

const Trouble = ({ row }: { readonly row: AssistantRow }) => {
  const { haltReason, lastError } = row
  const said = saidOf(row)
  if (said === undefined) return <Dash />
  return (
    <span className="flex w-full min-w-0 items-baseline gap-2">
      <span className={`trouble flex-1 ${haltReason === undefined ? "" : "text-bad"}`} title={said}>
        <Visible text={said} />
      </span>
      {lastError === undefined || isLasting(row) ? null : (
        <span className="flex-none text-ink-3">
          <Ago at={lastError.at} />
        </span>
      )}
    </span>
  )
}

/** What a phone has room for: who, and below it how it is. */
const Brief = ({ row }: { readonly row: AssistantRow }) => {
  const said = saidOf(row)
  return (
    <span className="grid w-full min-w-0 gap-0.5">
      <Who row={row} />
      <span className="tabular flex min-w-0 items-center gap-2.5 text-ink-2">
        <StateChip path={row.state} />
        <Since at={row.since} />
        {row.day.calls === 0 ? null : <span title="Used in 24 h">{spentText(row.day)}</span>}
        {row.waiting === 0 ? null : <span>{count(row.waiting)} queued</span>}
      </span>
      {said === undefined ? null : (
        <span className={`trouble ${row.haltReason === undefined ? "text-ink-2" : "text-bad"}`} title={said}>
          <Visible text={said} />
        </span>
      )}
    </span>
  )
}

export const briefColumns: ReadonlyArray<Column<AssistantRow>> = [
  {
    id: "brief",
    title: "Assistant, state, cost of 24 h, queue, last error",
    hint: "Who it is; its state, and for how long; what it cost in 24 hours, what waits for it, and its last error.",
    width: "minmax(0, 1fr)",
    cell: (row) => <Brief row={row} />
  }
]

export const fleetColumns: ReadonlyArray<Column<AssistantRow>> = [
  {
    id: "id",
    title: "Assistant",
    hint: "Its id, and the definition that it was created from.",
    sort: "id",
    width: "minmax(11.8rem, 1.5fr)",
    cell: (row) => <Who row={row} />
  },
  {
    id: "state",
    title: "State",
    hint: "The state of its statechart.",
    width: "13.1rem",
    cell: ({ state }) => <StateChip path={state} />
  },
  {
    id: "since",
    title: "In state",
    hint: "How long it has been in this state.",
    sort: "since",
    width: "5.6rem",
    align: "end",
    cell: ({ since }) => <Since at={since} />
  },
  {
    id: "context",
    title: "Context",
    hint: "How full the context window of its model is.",
    sort: "context",
    width: "6.5rem",
    align: "end",
    cell: ({ contextShare }) => (contextShare === undefined ? <Dash /> : <Fill share={contextShare} />)
  },
  {
    id: "waiting",
    title: "Queued",
    hint: "How many messages wait in its mailbox, and for how long the oldest has.",
    sort: "waiting",
    width: "5.9rem",
    align: "end",
    cell: (row) => <Waiting row={row} />
  },
  {
    id: "activity",
    title: "Activity",
    hint: "Tokens of its model calls in the last 24 hours, a bar an hour, each row on its own scale.",
    width: "6.2rem",
    cell: ({ id }) => <Spark id={id} />
  },
  {
    id: "cost",
    title: "Tokens, cost 24 h",
    hint: "Tokens of its model calls in the last 24 hours, and what they cost.",
    sort: "cost",
    width: "7.6rem",
    align: "end",
    cell: ({ day }) =>
      day.calls === 0 ? (
        <Dash />
      ) : (
        <span className="flex items-baseline gap-2" title={`${count(day.tokens)} tokens in ${count(day.calls)} calls`}>
          <span className="text-ink-3">{tokens(day.tokens)}</span>
          <span>{spentText(day)}</span>
        </span>
      )
  },
  {
    id: "left",
    title: "Budget left",
    hint: "What it may still spend in its whole life; nothing where no budget was set for it.",
    width: "6rem",
    align: "end",
    cell: (row) => <Left row={row} />
  },
  {
    id: "ticks",
    title: "Runs",
    hint: "How many events it has handled since it was created. The API calls such a run a tick.",
    sort: "ticks",
    width: "4rem",
    align: "end",
    cell: ({ ticks }) => count(ticks)
  },
  {
    id: "subAgents",
    title: "Sub-agents",
    hint: "How many sub-agents work for it now.",
    width: "5.6rem",
    align: "end",
    cell: ({ subAgents }) => (subAgents === 0 ? <Dash /> : count(subAgents))
  },
  {
    id: "errors",
    title: "Last error",
    hint: "Why it is halted, what it waits for, or the last error and when it was.",
    sort: "errors",
    width: "minmax(13rem, 2.2fr)",
    cell: (row) => <Trouble row={row} />
  }
]
