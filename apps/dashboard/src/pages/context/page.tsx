// Context: what the model was shown with one call, part by part, in words and in tokens.
// X1  Every view of it stands in the URL: the call, what it is held against, and the part that is open.
// X2  Of one call the words of its newest part are open until another one is, or all are closed.

import { createLazyRoute, getRouteApi } from "@tanstack/react-router"
import { defined } from "../../api/defined.ts"
import { useAnswer } from "../../api/questions.ts"
import { count, percent } from "../../parts/format.ts"
import { Page, Section } from "../../parts/page.tsx"
import { Answered, Empty, isReady } from "../../parts/states.tsx"
import { Figures, hasWords, type Piece, piecesOf, type Report, windowOf } from "./pieces.tsx"
import { CameToMind, Missing } from "./missing.tsx"
import { PartsTable } from "./parts-table.tsx"
import type { ContextSearch } from "../../shell/search.ts"
import type { Point } from "./chart.tsx"
import { Slider } from "./slider.tsx"
import { Words, WordsOfTwo } from "./words.tsx"

// Stack: one context window as a bar; each piece as wide as its share of it.
// The table below it says the same in words, and is what the keyboard uses.

interface StackProps {
  readonly label: string
  readonly pieces: ReadonlyArray<Piece>
  /** What the whole bar stands for. */
  readonly window: number
  readonly open?: string | undefined
  readonly onPick: (key: string) => void
}

/** Narrower than this its name does not fit. */
const NAMED_SHARE = 0.075

const Stack = ({ label, onPick, open, pieces, window }: StackProps) => (
  <div className="context-stack" role="img" aria-label={label} data-stack={label}>
    {pieces.map((piece) => {
      const { colour, key, kind, name, tokens } = piece
      const share = tokens / window
      if (tokens === 0) return null
      return (
        <span
          key={key}
          className={hasWords(piece) ? "cursor-pointer" : ""}
          data-segment={key}
          data-kind={kind}
          data-tokens={tokens}
          {...(share < NAMED_SHARE ? {} : { "data-named": "" })}
          {...(key === open ? { "data-open": "" } : {})}
          title={`${name}: ${count(tokens)} tokens, ${percent(share)}`}
          style={{ width: `${share * 100}%`, background: colour }}
          onClick={hasWords(piece) ? () => onPick(key) : undefined}
        >
          {share < NAMED_SHARE ? null : name}
        </span>
      )
    })}
  </div>
)

const POINTS = 500
/** So full, a window is shown whole. */
const HALF = 0.5

const route = getRouteApi("/a/$id/context")

type Change = (next: ContextSearch) => void

const Against = ({
  onPick,
  tick,
  value
}: {
  value: number | undefined
  tick: number
  onPick: (tick: number | undefined) => void
}) => (
  <form
    className="flex flex-wrap items-center gap-2 text-ink-2"
    onSubmit={(event) => {
      event.preventDefault()
      const written = Number(new FormData(event.currentTarget).get("with"))
      onPick(Number.isSafeInteger(written) && written > 0 ? written : undefined)
    }}
  >
    <label className="flex items-center gap-2">
      against run
      <input
        key={value ?? "none"}
        className="field w-20"
        name="with"
        inputMode="numeric"
        defaultValue={value ?? (tick > 1 ? tick - 1 : "")}
        data-compare-tick=""
      />
    </label>
    <button type="submit" className="button button-small" data-compare="">
      Compare
    </button>
    {value === undefined ? null : (
      <button
        type="button"
        className="button button-small button-quiet"
        onClick={() => onPick(undefined)}
        data-compare-end=""
      >
        One alone
      </button>
    )}
  </form>
)

interface Shown {
  readonly isWhole: boolean
  readonly report: Report
  readonly before: Report | undefined
  readonly open: string | undefined
  readonly onPick: (key: string) => void
}

const said = (report: Report): string =>
  `Run ${report.tick}: ${count(report.tokens)} tokens, ${percent(report.share)} of the window`

/** Without what is free and what is kept for the output. */
const isUsed = ({ kind }: Piece): boolean => kind === "part" || kind === "tools"

const Bars = ({ before, isWhole, onPick, open, report }: Shown) => {
  const both = before === undefined ? [report] : [report, before]
  const window = Math.max(...both.map((one) => (isWhole ? windowOf(one) : Math.max(1, one.tokens))))
  const bar = (one: Report, pieces: ReadonlyArray<Piece>) => (
    <Stack
      label={said(one)}
      pieces={isWhole ? pieces : pieces.filter(isUsed)}
      window={window}
      open={open}
      onPick={onPick}
    />
  )
  return (
    <div className="space-y-2 border-b border-line p-3">
      {before === undefined ? null : (
        <div className="grid grid-cols-[5rem_minmax(0,1fr)] items-center gap-2" data-bar="before">
          <span className="tabular text-ink-2">run {before.tick}</span>
          {bar(before, piecesOf(before))}
        </div>
      )}
      <div
        className={before === undefined ? "" : "grid grid-cols-[5rem_minmax(0,1fr)] items-center gap-2"}
        data-bar="after"
      >
        {before === undefined ? null : <span className="tabular">run {report.tick}</span>}
        {bar(report, piecesOf(report))}
      </div>
      <p className="flex justify-between text-ink-3 tabular" data-stack-scale={isWhole ? "window" : "used"}>
        <span>0</span>
        <span>
          {count(window)} tokens:{" "}
          {isWhole ? "the whole window" : `the used part, ${percent(report.share)} of the window`}
        </span>
      </p>
    </div>
  )
}

const Prompt = ({
  side,
  id,
  onClose,
  shown
}: {
  id: string
  shown: Shown
  onClose: () => void
  side: React.ReactNode
}) => {
  const { before, onPick, open, report } = shown
  return (
    <div className="grid min-w-0 items-start gap-4 xl:grid-cols-[minmax(0,1.15fr)_minmax(0,1fr)]">
      <Section
        title={before === undefined ? "The prompt" : `Run ${before.tick} and run ${report.tick}, their last calls`}
        side={side}
      >
        <Figures report={report} />
        <Bars {...shown} />
        <div className="overflow-x-auto">
          <PartsTable
            pieces={piecesOf(report)}
            window={windowOf(report)}
            before={before === undefined ? undefined : piecesOf(before)}
            open={open}
            onPick={onPick}
          />
        </div>
      </Section>
      <div className="grid min-w-0 gap-4">
        {open === undefined ? null : before === undefined ? (
          <Words id={id} tick={report.tick} iteration={report.iteration} open={open} onClose={onClose} />
        ) : (
          <WordsOfTwo id={id} tick={report.tick} other={before.tick} open={open} onClose={onClose} />
        )}
        <Missing report={report} />
        <CameToMind id={id} report={report} />
      </div>
    </div>
  )
}

/** What stands in the address where all parts are closed. */
const CLOSED = "none"

/** The part that the call was made for: the event, or what a tool said. */
const newestPart = (report: Report): string | undefined => piecesOf(report).findLast(({ kind }) => kind === "part")?.key

const callOf = ({ iteration, tick }: ContextSearch) => defined({ tick, iteration })

/** The report with the provider's count; where it does not tell that itself, the row of the timeline does. */
const useCounted = (id: string, report: Report | undefined): Report | undefined => {
  const wants = report !== undefined && report.usage === undefined
  const row = useAnswer(
    "GET /v1/assistants/:id/ticks/:tick",
    { params: { id, tick: report?.tick ?? 0 } },
    { enabled: wants, staleMillis: 60_000 }
  )
  const usage = row.data?.models.findLast(({ iteration }) => iteration === report?.iteration)?.usage
  return report === undefined || usage === undefined ? report : { ...report, usage }
}

const OfOne = ({
  change,
  id,
  isWhole,
  search
}: {
  id: string
  isWhole: boolean
  search: ContextSearch
  change: Change
}) => {
  const report = useAnswer("GET /v1/assistants/:id/context", { params: { id }, query: callOf(search) }, { keep: true })
  const counted = useCounted(id, report.data)
  return (
    <Answered of={report} lines={10}>
      {(found) => {
        const open = search.open ?? newestPart(found)
        return (
          <Prompt
            id={id}
            shown={{
              isWhole,
              report: counted ?? found,
              before: undefined,
              open: open === CLOSED ? undefined : open,
              onPick: (key) => change({ open: key === open ? CLOSED : key })
            }}
            onClose={() => change({ open: CLOSED })}
            side={
              <Against
                tick={found.tick}
                value={undefined}
                onPick={(other) => change({ tick: found.tick, with: other })}
              />
            }
          />
        )
      }}
    </Answered>
  )
}

const OfTwo = ({
  change,
  id,
  isWhole,
  other,
  search,
  tick
}: {
  id: string
  isWhole: boolean
  tick: number
  other: number
  search: ContextSearch
  change: Change
}) => {
  const compared = useAnswer(
    "GET /v1/assistants/:id/context/compare",
    { params: { id }, query: { tick: other, with: tick } },
    { keep: true }
  )
  const side = <Against tick={tick} value={other} onPick={(next) => change({ with: next })} />
  return (
    <Answered of={compared} lines={10}>
      {(found) => (
        <Prompt
          id={id}
          shown={{
            isWhole,
            report: found.other,
            before: found.one,
            open: search.open,
            onPick: (key) => change({ open: key === search.open ? undefined : key })
          }}
          onClose={() => change({ open: undefined })}
          side={side}
        />
      )}
    </Answered>
  )
}

const isAt =
  ({ iteration, tick }: ContextSearch) =>
  (point: Point): boolean =>
    point.tick === tick && (iteration === undefined || point.iteration === iteration)

const None = () => (
  <section className="card">
    <Empty title="Its model was not asked yet">
      Every call of the model leaves a report here of what it was shown: parts, tokens, and what had no room.
    </Empty>
  </section>
)

const ContextPage = () => {
  const { id } = route.useParams()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { before, tick, with: other } = search
  const change: Change = (next) => void navigate({ search: { ...search, ...next }, replace: true })
  const asked = { limit: POINTS, ...defined({ before }) }
  const points = useAnswer("GET /v1/assistants/:id/contexts", { params: { id }, query: asked }, { keep: true })
  const ordered = (points.data?.items ?? []).toReversed()
  const at = tick === undefined ? (before === undefined ? ordered.length - 1 : -1) : ordered.findLastIndex(isAt(search))
  const next = points.data?.next
  const isWhole = search.scale === undefined ? (ordered.at(-1)?.share ?? 0) > HALF : search.scale === "window"
  const isNew = points.data !== undefined && ordered.length === 0 && tick === undefined && before === undefined
  return (
    <Page name="context" title="Context" ready={isReady(points)}>
      <Answered of={points} lines={3}>
        {() =>
          isNew ? (
            <None />
          ) : (
            <Slider
              id={id}
              isWhole={isWhole}
              onScale={(whole) => change({ scale: whole ? "window" : "used" })}
              points={ordered}
              at={at}
              onPick={(point) => change({ tick: point.tick, iteration: point.iteration })}
              onNewest={
                tick === undefined && before === undefined
                  ? undefined
                  : () => change({ tick: undefined, iteration: undefined, before: undefined })
              }
              onEarlier={typeof next === "number" ? () => change({ before: next }) : undefined}
            />
          )
        }
      </Answered>
      {points.data === undefined || isNew ? null : other !== undefined && tick !== undefined ? (
        <OfTwo id={id} isWhole={isWhole} tick={tick} other={other} search={search} change={change} />
      ) : (
        <OfOne id={id} isWhole={isWhole} search={search} change={change} />
      )}
    </Page>
  )
}

export const page = createLazyRoute("/a/$id/context")({ component: ContextPage })
