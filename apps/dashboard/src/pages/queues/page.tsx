// Queues: what waits, who works, and dead letters.
// Q1  Figures and dead letters are of one answer, so they agree whenever they are looked at, and the figures add up.

import { createLazyRoute, getRouteApi, Link } from "@tanstack/react-router"
import type { Answer } from "../../api/contract.ts"
import { useAnswer } from "../../api/questions.ts"
import { Chip } from "../../parts/chip.tsx"
import { count, many } from "../../parts/format.ts"
import { Page, Section } from "../../parts/page.tsx"
import { Answered, Empty, isReady } from "../../parts/states.tsx"
import { Visible } from "../../parts/text.tsx"
import { duration } from "../../parts/time.tsx"
import { StackTable } from "../../parts/structured/stack-table.tsx"
import { DeadLetters } from "./dead-letters.tsx"

// Workers: who works, and what each holds.

const SHOWN = 8

const Workers = ({ workers }: { readonly workers: Answer<"GET /v1/queues">["workers"] }) => (
  <Section title="Workers">
    {workers === undefined ? (
      <Empty title="Workers unknown">The queue does not say which processes work.</Empty>
    ) : workers.length === 0 ? (
      <Empty title="No workers">
        Events are taken in and kept; they are handled as soon as a worker comes:{" "}
        <code>reverie serve --role worker</code>
      </Empty>
    ) : (
      <ul>
        <li className="strip-line text-[0.857rem] text-ink-2" data-columns="workers">
          <span className="w-32 flex-none">Worker</span>
          <span className="w-16 flex-none">Role</span>
          <span className="min-w-0 flex-1">Leases</span>
        </li>
        {workers.map(({ holds, name, role }) => (
          <li key={name} className="strip-line" data-worker={name} data-holds={holds?.length}>
            <span className="w-32 flex-none truncate font-mono">
              <Visible text={name} />
            </span>
            <span className="w-16 flex-none text-ink-2">{role}</span>
            <span className="min-w-0 flex-1">
              {holds?.length === 0 ? <span className="text-ink-3">idle, no leases</span> : null}
              {holds?.slice(0, SHOWN).map((id) => (
                <Link key={id} to="/a/$id" params={{ id }} className="mr-2 inline-block">
                  <Visible text={id} />
                </Link>
              ))}
              {holds !== undefined && holds.length > SHOWN ? (
                <span className="text-ink-2">and {count(holds.length - SHOWN)} more</span>
              ) : null}
            </span>
          </li>
        ))}
      </ul>
    )}
  </Section>
)

const EVERY_MILLIS = 3_000
const LETTERS = 200
const LATE_MILLIS = 60_000

type Queues = Answer<"GET /v1/queues">

const Totals = ({ accepted, discarded, dead, settled }: NonNullable<Queues["totals"]>) => {
  const parts = [
    [
      "received",
      "Received",
      accepted,
      "every message, timer and command that was ever taken in: the sum of the others"
    ],
    ["processed", "Processed", settled, "ended in a run"],
    ["pending", "Pending", Math.max(0, accepted - settled - dead), "received, and neither processed nor dead-lettered"],
    ["dead", "Dead letters", dead - discarded, "dead-lettered with a reason, and waiting for a person: listed below"],
    [
      "discarded",
      "Retried or discarded",
      discarded,
      "dead letters that a person has dealt with; a retry counts as received anew"
    ]
  ] as const
  return (
    <dl className="grid grid-cols-5 max-lg:grid-cols-3 max-sm:grid-cols-2" data-totals="">
      {parts.map(([key, title, value, what]) => (
        <div key={key} className="totals" title={what} data-totals-of={key} data-count={value}>
          <dt className="text-ink-2">{title}</dt>
          <dd className={`tabular text-[1.35rem] font-semibold ${key === "dead" && value > 0 ? "text-bad" : ""}`}>
            {count(value)}
          </dd>
        </div>
      ))}
    </dl>
  )
}

const Oldest = ({ millis }: { readonly millis: number | undefined }) =>
  millis === undefined ? (
    <span className="text-ink-3">–</span>
  ) : (
    <span className={millis > LATE_MILLIS ? "font-medium text-bad" : undefined}>{duration(millis)}</span>
  )

const Rows = ({ queues }: { readonly queues: Queues["queues"] }) => (
  <StackTable>
    <thead>
      <tr>
        <th scope="col">Queue</th>
        <th scope="col">State</th>
        {["Waiting", "Active", "Delayed", "Failed", "Completed", "Oldest"].map((title) => (
          <th key={title} scope="col" data-align="end">
            {title}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {queues.map(({ active, completed, delayed, failed, name, oldestMs, paused, waiting }) => (
        <tr key={name} data-queue={name} data-state={paused ? "paused" : "running"}>
          <th scope="row" className="font-mono text-ink">
            <Visible text={name} />
          </th>
          <td>{paused ? <Chip tone="halted" text="paused" /> : <Chip tone="good" text="running" />}</td>
          <td data-align="end">{count(waiting)}</td>
          <td data-align="end">{count(active)}</td>
          <td data-align="end">{count(delayed)}</td>
          <td data-align="end">
            <span className={failed > 0 ? "font-medium text-bad" : undefined}>{count(failed)}</span>
          </td>
          <td data-align="end">{completed === undefined ? "–" : count(completed)}</td>
          <td data-align="end">
            <Oldest millis={oldestMs} />
          </td>
        </tr>
      ))}
    </tbody>
  </StackTable>
)

const route = getRouteApi("/queues")

const QueuesPage = () => {
  const { q } = route.useSearch()
  const navigate = route.useNavigate()
  const queues = useAnswer("GET /v1/queues", { query: { letters: LETTERS } }, { everyMillis: EVERY_MILLIS })
  return (
    <Page
      name="queues"
      title="Queues"
      ready={isReady(queues)}
      side={
        queues.data === undefined ? null : (
          <span className="text-ink-2">
            {queues.data.workers === undefined ? null : `${many(queues.data.workers.length, "worker")} · `}
            <Visible text={queues.data.backend} />
          </span>
        )
      }
    >
      <Answered of={queues}>
        {({ deadLetters = [], queues: rows, totals, workers }) => (
          <>
            {totals === undefined ? null : (
              <section className="card" aria-label="Everything that came">
                <Totals {...totals} />
              </section>
            )}
            <div className="grid gap-4 xl:grid-cols-[minmax(0,1.6fr)_minmax(0,1fr)]">
              <Section title="Queues" className="overflow-x-auto">
                {rows.length === 0 ? (
                  <Empty title="No queue">An in-process queue: wake-ups stay in this process.</Empty>
                ) : (
                  <Rows queues={rows} />
                )}
              </Section>
              <Workers workers={workers} />
            </div>
            <DeadLetters
              items={deadLetters}
              words={q}
              onSearch={(q) => void navigate({ search: { q }, replace: true })}
            />
          </>
        )}
      </Answered>
    </Page>
  )
}

export const page = createLazyRoute("/queues")({ component: QueuesPage })
