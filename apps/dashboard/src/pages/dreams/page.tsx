// Dreams: what each night made of a day, step by step, and when the next one comes.
// D1  A report that can not be read is shown as the JSON that it is.

import { createLazyRoute, getRouteApi } from "@tanstack/react-router"
import type { Answer } from "../../api/contract.ts"
import { useAnswer } from "../../api/questions.ts"
import { Chip } from "../../parts/chip.tsx"
import { count, many, tokens } from "../../parts/format.ts"
import { JsonView } from "../../parts/json.tsx"
import { Page, Section } from "../../parts/page.tsx"
import { Answered, Empty, isReady } from "../../parts/states.tsx"
import { Visible } from "../../parts/text.tsx"
import { absolute, Ago, duration } from "../../parts/time.tsx"
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

const Night = ({ report }: { report: Report }) => {
  const { began_at: beganAt, ended_at: endedAt, id, lines } = report
  const spent = lines.reduce((sum, line) => sum + line.tokens, 0)
  const missing = operations.filter((name) => !lines.some(({ operation }) => operation === name))
  return (
    <Section
      title={absolute(beganAt)}
      side={
        <span className="flex flex-wrap items-center gap-3 text-ink-2">
          {missing.length === 0 ? null : <Chip tone="waiting" text={`interrupted before ${missing[0]}`} />}
          <span className="tabular">{duration(endedAt - beganAt)}</span>
          <span className="tabular">{tokens(spent)} tokens</span>
          <code>{id}</code>
        </span>
      }
    >
      <div className="overflow-x-auto" tabIndex={0} role="region" aria-label={`Night of ${absolute(beganAt)}`}>
        <table className="plain-table tight-table night-table" data-dream={id}>
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
        </table>
      </div>
    </Section>
  )
}

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
                <p className="label">{many(items.length, "night")}, the newest first</p>
                {items.map((report, at) =>
                  isReport(report) ? (
                    <Night key={report.id} report={report} />
                  ) : (
                    <JsonView key={at} value={report} label="A report that can not be read" />
                  )
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
