// Slider: every model call of a life, one after the other; the line above it is how full the window was.
// L1  It moves by mouse, by its own keys, and by ← → from anywhere on the page.

import { useKeys } from "../../shell/keys.ts"
import type { Answer } from "../../api/contract.ts"
import { percent } from "../../parts/format.ts"
import { Ago } from "../../parts/time.tsx"
import { nameOf } from "./pieces.tsx"

export type Point = Answer<"GET /v1/assistants/:id/contexts">["items"][number]

const HEIGHT = 100

const lineOf = (points: ReadonlyArray<Point>): string => {
  const top = Math.max(0.05, ...points.map(({ share }) => share))
  const last = Math.max(1, points.length - 1)
  return points
    .map(({ share }, at) => `${((at / last) * 1_000).toFixed(1)},${(HEIGHT * (1 - share / top)).toFixed(1)}`)
    .join(" ")
}

const Line = ({ at, points }: { readonly points: ReadonlyArray<Point>; readonly at: number }) => {
  const line = lineOf(points)
  const x = (at / Math.max(1, points.length - 1)) * 1_000
  return (
    <svg className="context-line" viewBox={`0 0 1000 ${HEIGHT}`} preserveAspectRatio="none" aria-hidden>
      <polygon points={`0,${HEIGHT} ${line} 1000,${HEIGHT}`} className="context-area" />
      <polyline points={line} className="context-edge" />
      {at < 0 ? null : <line x1={x} x2={x} y1="0" y2={HEIGHT} className="context-mark" />}
    </svg>
  )
}

interface SliderProps {
  /** The oldest first. */
  readonly points: ReadonlyArray<Point>
  /** Which of them is looked at; -1 when it is not among them. */
  readonly at: number
  readonly onPick: (point: Point) => void
  readonly onNewest: (() => void) | undefined
  readonly onEarlier: (() => void) | undefined
}

const Steps = ({ at, go, points }: { points: ReadonlyArray<Point>; at: number; go: (to: number) => void }) => (
  <>
    <button
      type="button"
      className="button button-small"
      disabled={at <= 0}
      onClick={() => go(at - 1)}
      data-step="back"
    >
      <span className="sr-only">The call before</span>
      <span aria-hidden>←</span>
    </button>
    <button
      type="button"
      className="button button-small"
      disabled={at < 0 || at >= points.length - 1}
      onClick={() => go(at + 1)}
      data-step="on"
    >
      <span className="sr-only">The call after</span>
      <span aria-hidden>→</span>
    </button>
  </>
)

/** How much of it a provider's cache knows, and the part that ended that. */
const Repeated = ({ prefix }: Point) =>
  prefix === undefined ? null : (
    <span data-repeated={prefix.share} data-ended-by={prefix.broken?.key}>
      {" · "}
      {percent(prefix.share)} repeats the call before
      {prefix.broken === undefined ? null : `, up to ${nameOf(prefix.broken.key)} (${prefix.broken.how})`}
    </span>
  )

const AsOf = ({ at, points }: { readonly points: ReadonlyArray<Point>; readonly at: number }) => {
  const point = points[at]
  if (point === undefined) return <span className="text-ink-2">This call is not among those of the slider.</span>
  return (
    <span className="tabular" data-as-of={point.tick} data-iteration={point.iteration}>
      As of <strong className="font-semibold">tick {point.tick}</strong>, call {point.iteration}
      <span className="text-ink-2">
        {" · "}
        <Ago at={point.at} />
        {" · "}
        {at + 1} of {points.length}
        <Repeated {...point} />
      </span>
    </span>
  )
}

export const Slider = ({ at, onEarlier, onNewest, onPick, points }: SliderProps) => {
  const go = (to: number) => {
    const point = points[Math.max(0, Math.min(points.length - 1, to))]
    if (point !== undefined) onPick(point)
  }
  useKeys({ ArrowLeft: () => go(at - 1), ArrowRight: () => go(at + 1) })
  const point = points[at]
  const said = point === undefined ? "" : `tick ${point.tick}, call ${point.iteration}, ${percent(point.share)} full`
  return (
    <section className="card px-3 pt-2 pb-1.5" aria-label="Model calls" data-slider="" data-points={points.length}>
      <div className="flex flex-wrap items-center gap-2">
        <Steps at={at} go={go} points={points} />
        <AsOf at={at} points={points} />
        <span className="ml-auto flex gap-2">
          {onEarlier === undefined ? null : (
            <button type="button" className="button button-small button-quiet" onClick={onEarlier} data-earlier="">
              Earlier calls
            </button>
          )}
          {onNewest === undefined ? null : (
            <button type="button" className="button button-small" onClick={onNewest} data-newest="">
              Newest
            </button>
          )}
        </span>
      </div>
      <Line points={points} at={at} />
      <input
        type="range"
        className="context-range"
        aria-label="Model call"
        aria-valuetext={said}
        min={0}
        max={Math.max(0, points.length - 1)}
        value={Math.max(0, at)}
        onChange={({ target }) => go(Number(target.value))}
      />
    </section>
  )
}
