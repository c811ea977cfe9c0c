// Dreams: what each night learnt, linked, changed and forgot, with its sources, and when the next one comes.
// D1  The newest night that did something stands first and open; nights of which nothing came and nothing waits, as the server says, are
//     one line each.
// D2  A report that can not be read is shown as the JSON that it is.

import { createLazyRoute, getRouteApi } from "@tanstack/react-router"
import { useState } from "react"
import type { Answer } from "../../api/contract.ts"
import { useAnswer } from "../../api/questions.ts"
import { Chip } from "../../parts/chip.tsx"
import { count, many, tokens } from "../../parts/format.ts"
import { JsonView } from "../../parts/structured/json.tsx"
import { Export } from "../../parts/export/export.tsx"
import { Page, Section } from "../../parts/page.tsx"
import { Answered, Empty, isReady } from "../../parts/states.tsx"
import { Visible } from "../../parts/text.tsx"
import { absolute, Ago, duration } from "../../parts/time.tsx"
import { StackTable } from "../../parts/structured/stack-table.tsx"
import { ACCOUNT, Items, UndoNight } from "./account.tsx"
import { Reminders } from "./reminders.tsx"

type Dreams = Answer<"GET /v1/assistants/:id/dreams">

interface Line {
  readonly operation: string
  readonly steps: number
  readonly read: number
  readonly proposed: number
  readonly accepted: number
  readonly tokens: number
  readonly elapsed_ms: number
  readonly skipped?: string
  readonly error?: string
}

interface Report {
  readonly id: string
  readonly began_at: number
  readonly ended_at: number
  readonly waiting: number
  readonly isQuiet: boolean
  readonly lines: ReadonlyArray<Line>
}

const isReport = (value: unknown): value is Report =>
  typeof value === "object" &&
  value !== null &&
  typeof Reflect.get(value, "began_at") === "number" &&
  Array.isArray(Reflect.get(value, "lines"))

/** Operations of a whole night, in their order. */
const operations = ["consolidating", "linking", "profiling", "reflecting", "pruning"]

const what: Readonly<Record<string, string>> = {
  consolidating: "journal and conversation become facts",
  linking: "facts are tied to each other",
  profiling: "observations of someone become a profile",
  reflecting: "insights, when enough has gathered",
  pruning: "what matters no more is removed"
}

const route = getRouteApi("/a/$id/dreams")

const Ended = ({ line }: { line: Line }) => {
  const why = line.error ?? line.skipped
  if (why === undefined) return <Chip tone="good" text="done" />
  return (
    <>
      {line.error === undefined ? <Chip tone="retired" text="skipped" /> : <Chip tone="bad" text="failed" />}
      <span className="block break-words text-ink-2">
        <Visible text={why} />
      </span>
    </>
  )
}

/** A night of which nothing came, nothing waits and nothing failed is one line. */
const isOneLine = ({ isQuiet, lines }: Report): boolean => isQuiet && lines.every(({ error }) => error === undefined)

const Operations = ({ lines, name }: { readonly lines: ReadonlyArray<Line>; readonly name: string }) => (
  <details>
    <summary className="label">Step by step</summary>
    <div className="overflow-x-auto" tabIndex={0} role="region" aria-label={name}>
      <StackTable className="tight-table night-table">
        <thead>
          <tr>
            <th scope="col">Operation</th>
            {["Steps", "Read", "Proposed", "Accepted", "Tokens", "Took"].map((title) => (
              <th key={title} scope="col" data-align="end">
                {title}
              </th>
            ))}
            <th scope="col">End</th>
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => (
            <tr key={line.operation} data-operation={line.operation}>
              <td>
                <span className="font-medium">
                  <Visible text={line.operation} />
                </span>
                <span className="block text-ink-2">{what[line.operation]}</span>
              </td>
              {[line.steps, line.read, line.proposed].map((value, at) => (
                <td key={at} data-align="end">
                  {count(value)}
                </td>
              ))}
              <td data-align="end" className={line.accepted > 0 ? "font-medium" : "text-ink-2"}>
                {count(line.accepted)}
              </td>
              <td data-align="end">{tokens(line.tokens)}</td>
              <td data-align="end">{duration(line.elapsed_ms)}</td>
              <td>
                <Ended line={line} />
              </td>
            </tr>
          ))}
        </tbody>
      </StackTable>
    </div>
  </details>
)

/** A night in which something came about: its headline, and opened what that was. */
const Night = ({
  id,
  isFirst,
  report
}: {
  readonly id: string
  readonly isFirst: boolean
  readonly report: Report
}) => {
  const [isOpen, open] = useState(isFirst)
  const account = useAnswer(ACCOUNT, { params: { id, dream: report.id } })
  const { began_at: beganAt, lines } = report
  const missing = operations.filter((name) => !lines.some(({ operation }) => operation === name))
  const failed = lines.filter(({ error }) => error !== undefined)
  return (
    <Section
      title={absolute(beganAt)}
      side={
        <span className="flex flex-wrap items-center gap-3 text-ink-2">
          {report.waiting === 0 ? null : (
            <span data-waiting={report.id}>
              <Chip tone="waiting" text={`${count(report.waiting)} waiting for you`} />
            </span>
          )}
          {missing.length === 0 ? null : <Chip tone="waiting" text={`interrupted before ${missing[0]}`} />}
          {failed.map(({ operation }) => (
            <Chip key={operation} tone="bad" text={`${operation} failed`} />
          ))}
          <code>{report.id}</code>
        </span>
      }
    >
      <div className="space-y-3 p-3" data-dream={report.id}>
        <div className="flex flex-wrap items-center gap-3">
          <button
            type="button"
            className="button button-small"
            aria-expanded={isOpen}
            onClick={() => open(!isOpen)}
            data-open-dream={report.id}
          >
            {isOpen ? "Close" : "Open"}
          </button>
          <span className="font-medium" data-headline="">
            <Visible text={account.data?.headline ?? duration(report.ended_at - beganAt)} />
          </span>
          {account.data === undefined ? null : <UndoNight id={id} account={account.data} />}
        </div>
        {isOpen ? (
          <>
            {account.data === undefined ? null : <Items id={id} account={account.data} />}
            <Operations lines={lines} name={`Dream of ${absolute(beganAt)}`} />
          </>
        ) : null}
      </div>
    </Section>
  )
}

const Quiet = ({ reports }: { readonly reports: ReadonlyArray<Report> }) =>
  reports.length === 0 ? null : (
    <Section title="Nothing changed">
      <ul className="p-3 text-ink-2">
        {reports.map(({ began_at: beganAt, ended_at: endedAt, id }) => (
          <li key={id} data-dream={id} data-quiet="">
            {absolute(beganAt)}, {duration(endedAt - beganAt)} <code>{id}</code>
          </li>
        ))}
      </ul>
    </Section>
  )

const text = (value: unknown): string => (typeof value === "string" || typeof value === "number" ? String(value) : "")

/** `02:00 for 4 h, Europe/Berlin`. */
const hours = (schedule: Dreams["schedule"]): string | undefined => {
  if (schedule === null || typeof schedule !== "object" || Array.isArray(schedule)) return undefined
  const { enabled, sleepDurationHours, sleepStartHour, timeZone } = schedule as Readonly<Record<string, unknown>>
  if (enabled !== true) return undefined
  return `${text(sleepStartHour).padStart(2, "0")}:00 for ${text(sleepDurationHours)} h, ${text(timeZone)}`
}

const Hours = ({ nextAt, schedule }: Pick<Dreams, "schedule" | "nextAt">) => {
  const said = hours(schedule)
  return (
    <span className="text-ink-2" data-schedule={said ?? "none"}>
      {said === undefined
        ? "It has no sleep schedule: it dreams when it is asked to sleep."
        : `Hours of sleep: ${said}.`}{" "}
      {nextAt === null ? null : (
        <>
          The next dream run begins <Ago at={nextAt} />.
        </>
      )}
    </span>
  )
}

const DreamsPage = () => {
  const { id } = route.useParams()
  const dreams = useAnswer("GET /v1/assistants/:id/dreams", { params: { id } })
  return (
    <Page
      name="dreams"
      title="Dreams and reminders"
      ready={isReady(dreams)}
      side={dreams.data === undefined ? null : <Hours nextAt={dreams.data.nextAt} schedule={dreams.data.schedule} />}
    >
      <Answered of={dreams}>
        {({ items }) => (
          <>
            {items.length === 0 ? (
              <section className="card">
                <Empty title="It has not dreamt yet">
                  Asleep it turns its journal and what was said into facts with their sources, links them, keeps
                  profiles, and removes what matters no more. Each dream run leaves a report here.
                </Empty>
              </section>
            ) : (
              <>
                <p className="label flex items-center gap-2">
                  {many(items.length, "dream run")}, the newest first
                  <Export
                    name={`dreams of ${id}`}
                    route="GET /v1/assistants/:id/dreams"
                    asked={{ params: { id } }}
                    isPaged={false}
                  />
                </p>
                {items
                  .filter(isReport)
                  .flatMap((report, at, all) =>
                    isOneLine(report)
                      ? []
                      : [<Night key={report.id} id={id} report={report} isFirst={all.slice(0, at).every(isOneLine)} />]
                  )}
                <Quiet reports={items.filter(isReport).filter(isOneLine)} />
                {items.map((report, at) =>
                  isReport(report) ? null : <JsonView key={at} value={report} label="A report that can not be read" />
                )}
              </>
            )}
          </>
        )}
      </Answered>
      <Reminders id={id} />
    </Page>
  )
}

export const page = createLazyRoute("/a/$id/dreams")({ component: DreamsPage })
