// Chart: what was used over time, a bar a place, and in each bar those that used most.
// C1  What is drawn is what the answer says: a bar is the whole of its hour or day, and what no row on the page has stands on top.

import { Link } from "@tanstack/react-router"
import type { Answer } from "../../api/contract.ts"
import { count, money, percent, tokens } from "../../parts/format.ts"
import { Visible } from "../../parts/text.tsx"
import type { UsageMeasure } from "../../shell/search.ts"

export type Usage = Answer<"GET /v1/usage">
type Point = NonNullable<Usage["series"]>["points"][number]

const HOUR_MILLIS = 3_600_000
const DAY_MILLIS = 86_400_000
const HEIGHT = 100
/** Others stand together. */
const SHADES = 8

const textIn: Readonly<Record<UsageMeasure, (value: number) => string>> = {
  costMicros: money,
  tokens: (value) => `${tokens(value)} tokens`,
  calls: (value) => `${count(value)} calls`
}

/** One part of each bar: a row, or those that are not named. */
interface Layer {
  readonly key: string | undefined
  readonly shade: number
  readonly sum: number
  readonly at: ReadonlyMap<number, number>
}

const layersOf = ({ items, series, total }: Usage, measure: UsageMeasure): ReadonlyArray<Layer> => {
  const valuesOf = (points: ReadonlyArray<Point> = []) => new Map(points.map((point) => [point.at, point[measure]]))
  const named = items
    .toSorted((a, b) => b[measure] - a[measure])
    .slice(0, SHADES)
    .filter((row) => row[measure] > 0)
    .map((row, shade): Layer => ({ key: row.key, shade, sum: row[measure], at: valuesOf(row.points) }))
  const rest = new Map(
    [...valuesOf(series?.points)].map(([at, whole]) => [
      at,
      Math.max(0, whole - named.reduce((sum, layer) => sum + (layer.at.get(at) ?? 0), 0))
    ])
  )
  const left = total[measure] - named.reduce((sum, layer) => sum + layer.sum, 0)
  return left > 0 ? [...named, { key: undefined, shade: SHADES, sum: left, at: rest }] : named
}

/** The beginnings of all hours or days, also of those in which nothing was used. */
const placesOf = ({ from, series }: Usage, now: number): ReadonlyArray<number> => {
  const step = series?.step === "day" ? DAY_MILLIS : HOUR_MILLIS
  const first = Math.floor(from / step) * step
  return Array.from({ length: Math.floor((now - first) / step) + 1 }, (_, place) => first + place * step)
}

const placeText = (at: number, step: "hour" | "day" | undefined): string => {
  const text = new Date(at).toISOString()
  return step === "day" ? text.slice(0, 10) : `${text.slice(0, 16).replace("T", " ")} UTC`
}

interface ChartProps {
  readonly usage: Usage
  readonly measure: UsageMeasure
  readonly now: number
}

const Bar = ({ at, layers, left, most, said }: BarProps) => {
  let under = 0
  return (
    <g data-at={at}>
      <title>{said}</title>
      <rect x={left} y={0} width={1} height={HEIGHT} className="series-place" />
      {layers.map(({ at: values, key, shade }) => {
        const high = ((values.get(at) ?? 0) / most) * HEIGHT
        under += high
        return high === 0 ? null : (
          <rect
            key={key ?? ""}
            x={left + 0.08}
            y={HEIGHT - under}
            width={0.84}
            height={high}
            className="stack"
            data-shade={shade}
          />
        )
      })}
    </g>
  )
}

interface BarProps {
  readonly at: number
  readonly left: number
  readonly most: number
  readonly layers: ReadonlyArray<Layer>
  readonly said: string
}

const Legend = ({ by, layers, measure, whole }: LegendProps) => (
  <ul className="flex flex-wrap gap-x-4 gap-y-1 px-3 pb-3" data-legend={layers.length}>
    {layers.map(({ key, shade, sum }) => (
      <li key={key ?? ""} className="flex items-baseline gap-1.5">
        <span className="stack-dot" data-shade={shade} aria-hidden />
        {key === undefined ? (
          <span className="text-ink-2">all others</span>
        ) : (
          <Link
            to="/usage"
            search={(before) => ({ ...before, [by]: key })}
            className="max-w-64 truncate"
            data-filter={key}
          >
            <Visible text={key} />
          </Link>
        )}
        <span className="tabular text-ink-2">
          {textIn[measure](sum)}, {percent(whole === 0 ? 0 : sum / whole)}
        </span>
      </li>
    ))}
  </ul>
)

interface LegendProps {
  readonly by: Usage["by"]
  readonly layers: ReadonlyArray<Layer>
  readonly measure: UsageMeasure
  readonly whole: number
}

export const Chart = ({ measure, now, usage }: ChartProps) => {
  const layers = layersOf(usage, measure)
  const places = placesOf(usage, now)
  const wholes = new Map((usage.series?.points ?? []).map((point) => [point.at, point[measure]]))
  const most = Math.max(1, ...wholes.values())
  const text = textIn[measure]
  const step = usage.series?.step
  const barText = (at: number): string => {
    const parts = layers.flatMap(({ at: values, key = "all others" }) => {
      const value = values.get(at) ?? 0
      return value === 0 ? [] : [`${key} ${text(value)}`]
    })
    return `${placeText(at, step)}: ${text(wholes.get(at) ?? 0)}${parts.length === 0 ? "" : ` (${parts.join(", ")})`}`
  }
  return (
    <figure data-chart={measure} data-most={most}>
      <div className="flex gap-2 p-3 pb-1">
        <div className="tabular flex flex-none flex-col justify-between text-right text-ink-2" aria-hidden>
          <span>{text(most)}</span>
          <span>0</span>
        </div>
        <svg
          viewBox={`0 0 ${places.length} ${HEIGHT}`}
          preserveAspectRatio="none"
          className="h-44 min-w-0 flex-1 border-b border-line-strong"
          role="img"
          aria-label={`${text(usage.total[measure])} in all; at most ${text(most)} in one ${step ?? "hour"}`}
        >
          {places.map((at, left) => (
            <Bar key={at} at={at} left={left} most={most} layers={layers} said={barText(at)} />
          ))}
        </svg>
      </div>
      <p className="tabular flex justify-between px-3 pb-2 text-ink-2" aria-hidden>
        <span>{placeText(places[0] ?? now, step)}</span>
        <span>{placeText(places.at(-1) ?? now, step)}</span>
      </p>
      <Legend by={usage.by} layers={layers} measure={measure} whole={usage.total[measure]} />
    </figure>
  )
}
