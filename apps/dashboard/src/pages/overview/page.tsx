// Overview: what needs a person, what the fleet does, and what it did last. The page that one opens first.
// O1  What needs a person stands first, by its name and with its reason, and an approval is given right here.
// O2  Figures are those of the server's pulse. Where the span reaches back to what it does not know, that is said.

import { createLazyRoute, getRouteApi, Link } from "@tanstack/react-router"
import { lazy, Suspense } from "react"
import type { Answer } from "../../api/contract.ts"
import { useAnswer } from "../../api/questions.ts"
import { count, many, money, spentText, tokens } from "../../parts/format.ts"
import { Page, Section } from "../../parts/page.tsx"
import { Answered, Empty, isReady, Loading } from "../../parts/states.tsx"
import { Visible } from "../../parts/text.tsx"
import { absolute, Ago, duration } from "../../parts/time.tsx"
import { Banner } from "../fleet/banner.tsx"
import { Near } from "./near.tsx"
import { MOST_STUCK, Stuck } from "./stuck.tsx"

type Pulse = Answer<"GET /v1/pulse">
type Point = Pulse["hour"][number]
type Line = Pulse["feed"][number]

const route = getRouteApi("/")

const EVERY_MILLIS = 5_000
const MINUTE_MILLIS = 60_000

/** Those who need a person most. */
const attention = { sort: "attention", descending: "true", limit: MOST_STUCK } as const

const Card = lazy(() => import("../approvals/card.tsx").then(({ Card }) => ({ default: Card })))

type Asked = Answer<"GET /v1/approvals">["items"]

/** The oldest call that waits for a person, and how many wait behind it. */
const Approvals = ({ open: [first, ...others] }: { readonly open: Asked }) =>
  first === undefined ? null : (
    <section aria-label="Approvals" className="grid min-w-0 gap-2" data-approvals={others.length + 1}>
      <Suspense fallback={<Loading lines={12} />}>
        <Card key={`${first.assistant} ${first.approval}`} asked={first} onDecided={() => {}} />
      </Suspense>
      {others.length === 0 ? null : (
        <Link to="/approvals" data-more={others.length}>
          {many(others.length, "more call waits", "more calls wait")}
        </Link>
      )}
    </section>
  )

const sumOf = (points: ReadonlyArray<Point>, of: (point: Point) => number): number =>
  points.reduce((sum, point) => sum + of(point), 0)

// Series: one figure over time as bars, a point each. The picture is for the eye; what it says stands in words beside it.

interface SeriesPoint {
  readonly at: number
  /** Null where there was nothing to measure. */
  readonly value: number | null
  /** The part of it that failed. */
  readonly bad: number
}

interface SeriesProps {
  readonly name: string
  readonly title: string
  /** What it comes to, in words. */
  readonly now: string
  readonly points: ReadonlyArray<SeriesPoint>
  readonly textOf: (value: number) => string
  /** What was measured, where the bars are no numbers of it. */
  readonly of?: string | undefined
}

const HEIGHT = 40

const Bar = ({
  at,
  bad,
  left,
  most,
  textOf,
  value
}: SeriesPoint & Pick<SeriesProps, "textOf"> & { readonly left: number; readonly most: number }) => {
  const high = (part: number): number => (most === 0 ? 0 : Math.max(part > 0 ? 1.5 : 0, (part / most) * HEIGHT))
  const all = high(value ?? 0)
  const failed = high(bad)
  return (
    <g>
      <title>{`${absolute(at)}: ${value === null ? "nothing" : textOf(value)}${bad > 0 ? `, ${bad} failed` : ""}`}</title>
      <rect x={left} y={0} width={1} height={HEIGHT} className="series-place" />
      <rect x={left + 0.1} y={HEIGHT - all} width={0.8} height={all} className="series-bar" />
      {failed === 0 ? null : (
        <rect x={left + 0.1} y={HEIGHT - failed} width={0.8} height={failed} className="series-bad" />
      )}
    </g>
  )
}

const Series = ({ name, now, of, points, textOf, title }: SeriesProps) => {
  const most = points.reduce((greatest, { value }) => Math.max(greatest, value ?? 0), 0)
  return (
    <figure className="card min-w-0 p-3" data-series={name} data-most={most}>
      <figcaption className="flex flex-wrap items-baseline justify-between gap-x-3">
        <span className="text-ink-2">{title}</span>
        <strong className="tabular text-[1.15rem]">{now}</strong>
      </figcaption>
      <svg
        viewBox={`0 0 ${points.length} ${HEIGHT}`}
        preserveAspectRatio="none"
        className="mt-2 h-12 w-full"
        role="img"
        aria-label={`${title}: ${now}; at most ${textOf(most)}`}
      >
        {points.map((point, left) => (
          <Bar key={point.at} {...point} left={left} most={most} textOf={textOf} />
        ))}
      </svg>
      <p className="tabular flex flex-wrap justify-between gap-x-3 text-ink-2">
        <span aria-hidden>at most {textOf(most)}</span>
        {of === undefined ? null : <span data-of-series={name}>{of}</span>}
      </p>
    </figure>
  )
}

interface FiguresProps {
  readonly pulse: Pulse
  readonly span: "hour" | "day"
  /** Something stands beside them. */
  readonly isBeside: boolean
}

/** The newest that was measured. */
const newest = (points: ReadonlyArray<Point>, of: (point: Point) => number | null): string => {
  const found = points.map(of).findLast((value) => value !== null)
  return found === undefined || found === null ? "–" : duration(found)
}

const costOf = (points: ReadonlyArray<Point>): string =>
  spentText({
    calls: sumOf(points, ({ modelCalls }) => modelCalls),
    costMicros: sumOf(points, ({ costMicros }) => costMicros),
    unpricedCalls: sumOf(points, ({ unpricedCalls }) => unpricedCalls)
  })

const callsOf = (points: ReadonlyArray<Point>): string => {
  const failed = sumOf(points, ({ modelFailed }) => modelFailed)
  return `${count(sumOf(points, ({ modelCalls }) => modelCalls))} answered, ${failed === 0 ? "none" : count(failed)} failed`
}

/** In all, and a second while the most of them ran. */
const runsOf = (points: ReadonlyArray<Point>): string => {
  const step = ((points[1]?.at ?? 0) - (points[0]?.at ?? 0)) / 1_000
  const most = Math.max(0, ...points.map(({ runs }) => runs))
  const rate = step > 0 ? `, at most ${Number((most / step).toPrecision(2))} a second` : ""
  return `${many(
    sumOf(points, ({ runs }) => runs),
    "run"
  )}${rate}`
}

/** What is drawn of a point, and what all of them come to. */
interface Figure {
  readonly title: string
  readonly of: (point: Point) => number | null
  readonly bad?: (point: Point) => number
  readonly now: (points: ReadonlyArray<Point>) => string
  readonly textOf: (value: number) => string
  /** It is a number of so many in each place of the picture. */
  readonly isSum: boolean
  /** How many were measured, and how many a second. */
  readonly measured?: (points: ReadonlyArray<Point>) => string
}

const summed = (title: string, of: (point: Point) => number, textOf: (value: number) => string): Figure => {
  return { title, of, now: (points) => textOf(sumOf(points, of)), textOf, isSum: true }
}

const measured = (title: string, of: (point: Point) => number | null): Figure => {
  return {
    title: `${title}, 95 of 100 within`,
    of,
    now: (points) => newest(points, of),
    textOf: duration,
    isSum: false
  }
}

const figures: Readonly<Record<string, Figure>> = {
  messages: summed("Messages", ({ messages }) => messages, count),
  runs: { ...measured("Runs", ({ runP95Ms }) => runP95Ms), measured: runsOf },
  model: measured("Model calls", ({ modelP95Ms }) => modelP95Ms),
  calls: {
    ...summed("Model calls", ({ modelCalls, modelFailed }) => modelCalls + modelFailed, count),
    bad: ({ modelFailed }) => modelFailed,
    now: callsOf
  },
  tokens: summed("Tokens", (point) => point.tokens, tokens),
  cost: { ...summed("Cost", ({ costMicros }) => costMicros, money), now: costOf }
}

/** What the figures of a span come to, beside each other. */
const Figures = ({ isBeside, pulse, span }: FiguresProps) => {
  const all = pulse[span]
  const step = (all[1]?.at ?? 0) - (all[0]?.at ?? 0)
  const isKnown = ({ at }: Point): boolean => at + step > pulse.since
  const known = all.filter(isKnown)
  const each = span === "hour" ? "a minute" : "in 15 minutes"
  return (
    <div
      className={`grid gap-3 max-sm:grid-cols-1 ${isBeside ? "grid-cols-2" : "grid-cols-3 max-lg:grid-cols-2"}`}
      data-figures={span}
    >
      {Object.entries(figures).map(([name, { bad = () => 0, isSum, measured: told, now, of, textOf, title }]) => (
        <Series
          key={name}
          name={name}
          title={isSum ? `${title} in the last ${span}` : title}
          now={now(known)}
          of={told?.(known)}
          points={all.map((point) => ({ at: point.at, value: isKnown(point) ? of(point) : null, bad: bad(point) }))}
          textOf={isSum ? (value) => `${textOf(value)} ${each}` : textOf}
        />
      ))}
    </div>
  )
}

const LineView = ({ assistant, at, lead, seq, subject, text, tone }: Line) => (
  <li className="feed-line" data-feed={seq} data-tone={tone}>
    <span className="text-ink-2">
      <Ago at={at} />
    </span>
    <Link to="/a/$id" params={{ id: assistant }} className="font-mono text-[0.92em] wrap-anywhere">
      <Visible text={assistant} />
    </Link>
    <span className="min-w-0 break-words">
      {/* The mark of a terminal: here the one who spoke says it. */}
      {lead === "" || tone === "heard" ? null : <span className="feed-lead">{lead} </span>}
      {subject === undefined ? null : (
        <>
          <Visible text={subject} />:{" "}
        </>
      )}
      <Visible text={text} />
    </span>
  </li>
)

const Spans = ({ span }: { readonly span: "hour" | "day" }) => (
  <nav className="segmented" aria-label="How far back">
    <Link
      to="/"
      search={{}}
      activeOptions={{ exact: true }}
      aria-current={span === "hour" ? "true" : undefined}
      data-span="hour"
    >
      last hour
    </Link>
    <Link to="/" search={{ span: "day" }} aria-current={span === "day" ? "true" : undefined} data-span="day">
      last day
    </Link>
  </nav>
)

const OverviewPage = () => {
  const { span = "hour" } = route.useSearch()
  const pulse = useAnswer("GET /v1/pulse", {}, { everyMillis: EVERY_MILLIS })
  const fleet = useAnswer("GET /v1/assistants", { query: attention }, { everyMillis: EVERY_MILLIS })
  const open = useAnswer("GET /v1/approvals", {}, { everyMillis: EVERY_MILLIS }).data?.items ?? []
  const counts = fleet.data?.counts
  return (
    <Page
      name="overview"
      title="Overview"
      ready={isReady(pulse, fleet)}
      side={
        <>
          <Link to="/fleet" className="text-ink-2" data-total={counts?.total}>
            {counts === undefined ? "" : many(counts.total, "assistant")}
          </Link>
          <span className="ml-auto">
            <Spans span={span} />
          </span>
        </>
      }
    >
      <Banner counts={counts} outages={fleet.data?.outages} />
      <Stuck rows={fleet.data?.items ?? []} total={(counts?.halted ?? 0) + (counts?.stuck ?? 0)} />
      <Near counts={counts} />
      <Answered of={pulse} lines={10}>
        {(known) => (
          <>
            <div className={open.length === 0 ? "" : "grid items-start gap-4 xl:grid-cols-2"}>
              <Approvals open={open} />
              <Figures pulse={known} span={span} isBeside={open.length > 0} />
            </div>
            {known.since > known.now - (span === "hour" ? 60 : 1_440) * MINUTE_MILLIS ? (
              <p className="text-ink-2" data-since={known.since}>
                What was before <Ago at={known.since} /> is not among these figures.
              </p>
            ) : null}
            <Section title="What happened last">
              {known.feed.length === 0 ? (
                <Empty title="Nothing yet">
                  Write to an assistant: <code>reverie chat</code>, or the field on its page.
                </Empty>
              ) : (
                <ul className="feed" data-lines={known.feed.length}>
                  {known.feed.map((line) => (
                    <LineView key={`${line.seq} ${line.lead} ${line.text}`} {...line} />
                  ))}
                </ul>
              )}
            </Section>
          </>
        )}
      </Answered>
    </Page>
  )
}

export const page = createLazyRoute("/")({ component: OverviewPage })
