// Chart: how full the window was with every call of the slider, in tokens, with what a compaction is measured by.
// Owns the scale, the lines of window and thresholds, and the marks of compactions and dreams. Leaves moving to slider.tsx.
// C1  What lies above the scale is named in words below it, with its number: no line is drawn at a wrong height.
// C2  A mark stands before the first call after it.

import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import type { Answer } from "../../api/contract.ts"
import { useAnswer } from "../../api/questions.ts"
import { count, percent, tokens } from "../../parts/format.ts"
import { absolute } from "../../parts/time.tsx"

export type Point = Answer<"GET /v1/assistants/:id/contexts">["items"][number]

const HEIGHT = 100
const LISTED = 100

/** What prompt and answer of these calls may be together. */
const windowIn = (points: ReadonlyArray<Point>): number =>
  Math.max(1, ...points.map(({ share, tokens: used }) => (share > 0 ? Math.round(used / share) : 0)))

const steps = [1, 2, 5, 10]

/** Round numbers up to the top, four or five of them. */
const marksUpTo = (top: number): ReadonlyArray<number> => {
  const unit = 10 ** Math.floor(Math.log10(Math.max(1, top / 4)))
  const step = unit * (steps.find((each) => top / (each * unit) <= 5) ?? 10)
  return Array.from({ length: Math.floor(top / step) + 1 }, (_, n) => n * step)
}

const placeOf = (points: ReadonlyArray<Point>, at: number): number => (at / Math.max(1, points.length - 1)) * 100

const lineOf = (points: ReadonlyArray<Point>, top: number, of: (point: Point) => number): string =>
  points
    .map(
      (point, at) =>
        `${(placeOf(points, at) * 10).toFixed(1)},${(HEIGHT * (1 - Math.min(1, of(point) / top))).toFixed(1)}`
    )
    .join(" ")

interface Level {
  readonly name: string
  readonly tokens: number
  readonly says: string
}

/** The window, and where a compaction begins by itself, as far as that is known. */
const useLevels = (id: string, points: ReadonlyArray<Point>): ReadonlyArray<Level> | undefined => {
  const { data } = useAnswer("GET /v1/assistants/:id/window", { params: { id } })
  if (data === undefined) return undefined
  const { emergencyShare, maxTokens = windowIn(points), sleepShare } = data
  const level = (name: string, share: number | undefined, says: string): ReadonlyArray<Level> =>
    share === undefined ? [] : [{ name, tokens: share * maxTokens, says }]
  return [
    ...level("window", 1, "all that prompt and answer may be"),
    ...level(percent(emergencyShare ?? 0), emergencyShare, "awake, it compacts when the conversation reaches this"),
    ...level(percent(sleepShare ?? 0), sleepShare, "asleep, it compacts when the conversation reaches this")
  ]
}

interface Mark {
  readonly kind: "compaction" | "dream"
  readonly id: string
  readonly at: number
}

const useMarks = (id: string): ReadonlyArray<Mark> => {
  const compactions = useAnswer("GET /v1/assistants/:id/compactions", { params: { id }, query: { limit: LISTED } })
  const dreams = useAnswer("GET /v1/assistants/:id/dreams", { params: { id } })
  return [
    ...(compactions.data?.items ?? []).map((each): Mark => ({ kind: "compaction", id: each.id, at: each.at })),
    ...(dreams.data?.items ?? []).map((each): Mark => ({ kind: "dream", id: each.id, at: each.began_at }))
  ].filter(({ at }) => Number.isFinite(at))
}

const Marks = ({ id, points }: { readonly id: string; readonly points: ReadonlyArray<Point> }) => {
  const marks = useMarks(id)
  const [first, last] = [points[0]?.at ?? 0, points.at(-1)?.at ?? 0]
  const within = marks.filter(({ at }) => at >= first && at <= last)
  if (within.length === 0) return null
  const afterOf = (moment: number): number => points.findIndex((point) => point.at >= moment)
  return (
    <div className="context-marks" data-marks={within.length}>
      {within.map(({ at, id: of, kind }, n) => {
        const after = afterOf(at)
        // Those before one call stand on one line: their letters stand beside each other.
        const beside = within.slice(0, n).filter((other) => afterOf(other.at) === after).length
        const says = `${kind}, ${absolute(at)}, before call ${after + 1}`
        const props = {
          className: "context-mark-link",
          style: {
            left: `calc(${placeOf(points, Math.max(0, after - 0.5))}% + ${beside * 0.75}rem)`,
            borderLeftStyle: beside > 0 ? ("none" as const) : undefined
          },
          title: says,
          "aria-label": says,
          "data-mark": kind
        }
        return kind === "compaction" ? (
          <Link key={of} to="/a/$id/compactions" params={{ id }} search={{ open: of }} {...props}>
            C
          </Link>
        ) : (
          <Link key={of} to="/a/$id/dreams" params={{ id }} {...props}>
            D
          </Link>
        )
      })}
    </div>
  )
}

const Levels = ({ levels, top }: { readonly levels: ReadonlyArray<Level>; readonly top: number }) =>
  levels
    .filter((level) => level.tokens <= top)
    .map(({ name, says, tokens: at }, n) => (
      <span
        key={name}
        className="context-level"
        data-level={name}
        title={`${count(Math.round(at))} tokens: ${says}`}
        style={{ bottom: `${(at / top) * 100}%` }}
      >
        {/* Two that are near each other have their names beside each other. */}
        <span style={{ right: `${0.25 + n * 2.7}rem` }}>{name}</span>
      </span>
    ))

const Words = ({ levels, top }: { readonly levels: ReadonlyArray<Level> | undefined; readonly top: number }) => (
  <p className="context-words" data-levels={levels?.length}>
    <span>
      <span className="context-patch" data-of="prompt" aria-hidden /> prompt
    </span>
    <span>
      <span className="context-patch" data-of="conversation" aria-hidden /> conversation in it
    </span>
    {(levels ?? []).map(({ name, says, tokens: at }) => (
      <span key={name} title={says}>
        {name} {count(Math.round(at))}
        {at > top ? " (above this scale)" : ""}
      </span>
    ))}
    {levels !== undefined && levels.length < 3 ? <span>thresholds not known: no definition here</span> : null}
    <span>C compaction, D dream</span>
  </p>
)

interface ChartProps {
  readonly id: string
  readonly points: ReadonlyArray<Point>
  /** Which of them is looked at; -1 when it is not among them. */
  readonly at: number
  /** Up to the whole window, or to the fullest of the calls. */
  readonly isWhole: boolean
}

export const Chart = ({ at, id, isWhole, points }: ChartProps): ReactNode => {
  const levels = useLevels(id, points)
  const fullest = Math.max(1, ...points.map((point) => point.tokens))
  const top = isWhole ? Math.max(fullest, windowIn(points)) * 1.05 : fullest * 1.1
  const x = placeOf(points, at) * 10
  const [line, inner] = [lineOf(points, top, (point) => point.tokens), lineOf(points, top, (p) => p.conversationTokens)]
  return (
    <>
      <div className="context-chart" data-chart={isWhole ? "window" : "used"} data-top={Math.round(top)}>
        {marksUpTo(top).map((value) => (
          <span key={value} className="context-grid" style={{ bottom: `${(value / top) * 100}%` }}>
            <span className="tabular">{tokens(value)}</span>
          </span>
        ))}
        <svg className="context-line" viewBox={`0 0 1000 ${HEIGHT}`} preserveAspectRatio="none" aria-hidden>
          <polygon points={`0,${HEIGHT} ${line} 1000,${HEIGHT}`} className="context-area" />
          <polygon points={`0,${HEIGHT} ${inner} 1000,${HEIGHT}`} className="context-area" data-of="conversation" />
          <polyline points={line} className="context-edge" />
          {at < 0 ? null : <line x1={x} x2={x} y1="0" y2={HEIGHT} className="context-mark" />}
        </svg>
        <Levels levels={levels ?? []} top={top} />
        <Marks id={id} points={points} />
      </div>
      <Words levels={levels} top={top} />
    </>
  )
}
