// Slider: every model call of a life, one after the other, below the chart of how full the window was.
// L1  It moves by mouse, by its own keys, and by ← → from anywhere on the page.

import { useKeys } from "../../shell/keys.ts"
import { percent } from "../../parts/format.ts"
import { Ago } from "../../parts/time.tsx"
import { Chart, type Point } from "./chart.tsx"
import { nameOf } from "./pieces.tsx"

interface SliderProps {
  readonly id: string
  readonly isWhole: boolean
  readonly onScale: (isWhole: boolean) => void
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
      {prefix.broken === undefined
        ? ": the prompt cache holds"
        : `: the prompt cache is broken by ${nameOf(prefix.broken.key)} (${prefix.broken.how})`}
    </span>
  )

/** Which parts broke the prompt cache in these calls, the most frequent first, each with its newest call. */
const breaksIn = (points: ReadonlyArray<Point>) => {
  const found = new Map<string, { readonly times: number; readonly point: Point }>()
  for (const point of points) {
    const key = point.prefix?.broken?.key
    if (key !== undefined) found.set(key, { times: (found.get(key)?.times ?? 0) + 1, point })
  }
  return [...found].toSorted(([, one], [, other]) => other.times - one.times)
}

const Breaks = ({ onPick, points }: Pick<SliderProps, "onPick" | "points">) => {
  const breaks = breaksIn(points)
  const held = points.filter(({ prefix }) => prefix !== undefined).length
  if (held === 0) return null
  return (
    <p className="context-words" data-breaks={breaks.length}>
      {breaks.length === 0
        ? `In ${held} calls nothing broke the prompt cache.`
        : `In ${held} calls the prompt cache was broken by`}
      {breaks.map(([key, { point, times }]) => (
        <button
          key={key}
          type="button"
          className="quiet-link"
          title={`to the newest of them, run ${point.tick}`}
          onClick={() => onPick(point)}
          data-break={key}
        >
          {nameOf(key)} {times}×
        </button>
      ))}
    </p>
  )
}

const AsOf = ({ at, points }: { readonly points: ReadonlyArray<Point>; readonly at: number }) => {
  const point = points[at]
  if (point === undefined) return <span className="text-ink-2">This call is not among those of the slider.</span>
  return (
    <span className="tabular" data-as-of={point.tick} data-iteration={point.iteration}>
      As of <strong className="font-semibold">run {point.tick}</strong>, call {point.iteration}
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

export const Slider = ({ at, id, isWhole, onEarlier, onNewest, onPick, onScale, points }: SliderProps) => {
  const go = (to: number) => {
    const point = points[Math.max(0, Math.min(points.length - 1, to))]
    if (point !== undefined) onPick(point)
  }
  useKeys({ ArrowLeft: () => go(at - 1), ArrowRight: () => go(at + 1) })
  const point = points[at]
  const said = point === undefined ? "" : `run ${point.tick}, call ${point.iteration}, ${percent(point.share)} full`
  return (
    <section className="card px-3 pt-2 pb-1.5" aria-label="Model calls" data-slider="" data-points={points.length}>
      <div className="flex flex-wrap items-center gap-2">
        <Steps at={at} go={go} points={points} />
        <AsOf at={at} points={points} />
        <span className="ml-auto flex flex-wrap gap-2">
          <span className="segmented" role="group" aria-label="Scale of chart and stack">
            {([false, true] as const).map((whole) => (
              <button
                key={String(whole)}
                type="button"
                aria-pressed={whole === isWhole}
                onClick={() => onScale(whole)}
                data-scale={whole ? "window" : "used"}
              >
                {whole ? "Whole window" : "Used part"}
              </button>
            ))}
          </span>
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
      <Chart id={id} points={points} at={at} isWhole={isWhole} />
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
      <Breaks points={points} onPick={onPick} />
    </section>
  )
}
