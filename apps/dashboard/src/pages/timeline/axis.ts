// Axis: what took how long within a tick, and where that stands on one line.
// Owns spans as the record has them, the linear axis of an opened tick, and the logarithmic scale of the list.
// A1  A span has the times of the record. What no span covers is shown as that, and no time is made up.
// A2  Every place lies on the line, from 0 to 1, and later is never further left.
// A3  Between two breaks the axis is linear, everywhere in the same scale. A break stands only for a wait, and says how long.

import { defined } from "../../api/defined.ts"
import { activityOf, isTagged } from "../../parts/activity.ts"
import { duration } from "../../parts/time.tsx"
import { stepName, type View } from "./story.ts"

export type SpanKind = "queue" | "person" | "pause" | "reports" | "model" | "tool" | "step" | "agent"

export interface Span {
  readonly id: string
  readonly kind: SpanKind
  readonly name: string
  /** Milliseconds since the epoch. */
  readonly from: number
  readonly to: number
  readonly ok: boolean
  /** It has not ended: it is drawn to where the record ends. */
  readonly isOpen?: true
  /** When the first token came, where that was measured. */
  readonly firstAt?: number
}

export const millisOf = ({ from, to }: Pick<Span, "from" | "to">): number => to - from

const ended = ({ models, steps, tools }: View) => [
  ...models.map((each, n) => ({ id: `model-${n}`, kind: "model" as const, name: each.model ?? "model", ...each })),
  ...tools.map((each, n) => ({ id: `tool-${n}`, kind: "tool" as const, name: each.tool, ...each })),
  ...steps.map((each, n) => ({
    ...each,
    id: `step-${n}`,
    name: each.kind === "child" ? "create sub-agent" : stepName(each),
    kind: "step" as const
  }))
]

/** The last moment that is known of it. */
export const lastOf = (view: View): number =>
  Math.max(
    view.beganAt,
    view.endedAt ?? 0,
    ...view.states.map(({ at }) => at),
    ...view.tools.map(({ resultAt = 0 }) => resultAt),
    ...ended(view).map(({ at }) => at)
  )

/** What it waits for in a state; undefined where it does not wait. */
const waitIn = (
  state: string
): { readonly kind: "person" | "pause" | "reports"; readonly name: string } | undefined => {
  if (isTagged(state, "halted")) return { kind: "pause", name: "halted" }
  if (!isTagged(state, "waiting")) return undefined
  if (isTagged(state, "paused")) return { kind: "pause", name: "paused" }
  return activityOf(state) === "awaitingApproval"
    ? { kind: "person", name: "waiting for a person" }
    : { kind: "reports", name: "waiting for reports" }
}

const spanTo = (view: View, begun: Pick<Span, "id" | "kind" | "name" | "from">, end: number | undefined): Span => ({
  ...begun,
  to: Math.max(begun.from, end ?? lastOf(view)),
  ok: true,
  ...defined({ isOpen: end === undefined ? (true as const) : undefined })
})

const waitsOf = (view: View): ReadonlyArray<Span> =>
  view.states.flatMap(({ at, state }, n): ReadonlyArray<Span> => {
    const wait = waitIn(state)
    if (wait === undefined) return []
    const end = view.states[n + 1]?.at ?? view.endedAt
    return [spanTo(view, { id: `wait-${n}`, ...wait, from: at }, end)]
  })

/** From its creation until its report. */
const agentsOf = (view: View): ReadonlyArray<Span> =>
  view.steps.flatMap(({ at, child }, n): ReadonlyArray<Span> => {
    if (child === undefined) return []
    const end = view.tools.find(({ call }) => call === child.call)?.resultAt
    return [spanTo(view, { id: `agent-${n}`, kind: "agent", name: child.id, from: at }, end)]
  })

/** In the order in which they began. */
export const spansOf = (view: View): ReadonlyArray<Span> => {
  const { beganAt, waitMs = 0 } = view
  const queue: Span = { id: "queue", kind: "queue", name: "queue", from: beganAt - waitMs, to: beganAt, ok: true }
  const done = ended(view).map(({ at, elapsedMs, id, kind, name, ok, ...rest }): Span => {
    const from = at - elapsedMs
    const first = "firstTokenMs" in rest ? rest.firstTokenMs : undefined
    return {
      id,
      kind,
      name,
      from,
      to: at,
      ok,
      ...defined({ firstAt: first === undefined ? undefined : Math.min(at, from + first) })
    }
  })
  const inside = [...done, ...waitsOf(view), ...agentsOf(view)].toSorted((one, other) => one.from - other.from)
  return waitMs === 0 ? inside : [queue, ...inside]
}

export interface Stretch {
  readonly from: number
  readonly to: number
}

/** What no span covers: commits are written, prompts assembled, and what comes next is woken. None of it is measured by itself. */
export const uncovered = (view: View): ReadonlyArray<Stretch> => {
  const gaps: Array<Stretch> = []
  let at = view.beganAt
  for (const { from, to } of spansOf(view)) {
    if (from > at) gaps.push({ from: at, to: from })
    at = Math.max(at, to)
  }
  const last = lastOf(view)
  return last > at ? [...gaps, { from: at, to: last }] : gaps
}

// Linear: the axis of an opened tick. 0 is when it was taken up.

/** A wait is cut out when it is so many times as long as all the rest together. */
const MUCH_LONGER = 2
const MOST_BREAKS = 4
const BREAK_SHARE = 0.17

export interface Break extends Stretch {
  /** What was waited for, and how long. */
  readonly says: string
  readonly took: string
  /** Where it stands on the line. */
  readonly place: number
  readonly width: number
}

export interface Axis {
  readonly breaks: ReadonlyArray<Break>
  readonly marks: ReadonlyArray<{ readonly place: number; readonly label: string }>
  readonly placeOf: (at: number) => number
}

/** Of the axis, that a label takes: its letters, and the gap to what follows. */
const GAP_SHARE = 0.012
const LETTER_SHARE = 0.013
const shareOf = (label: string): number => GAP_SHARE + label.length * LETTER_SHARE
/** Where a label would leave the axis at its right end, it stands to the left of its mark. */
const AT_END = 0.9

export interface Label {
  readonly place: number
  readonly label: string
  readonly isAtEnd: boolean
}

/** The labels that have room: none lies over another one or over a break. */
export const labelsOf = ({ breaks, marks }: Pick<Axis, "breaks" | "marks">): ReadonlyArray<Label> => {
  const taken = breaks.map(({ place, width }) => [place, place + width] as const)
  return marks.flatMap(({ label, place }) => {
    const isAtEnd = place > AT_END
    const [from, to] = isAtEnd ? [place - shareOf(label), place] : [place, place + shareOf(label)]
    if (taken.some(([begins, ends]) => from < ends && begins < to)) return []
    taken.push([from, to])
    return [{ place, label, isAtEnd }]
  })
}

const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000].concat(
  [1, 2, 5, 10, 15, 30, 60, 120, 240, 480, 720, 1_440].map((minutes) => minutes * 60_000)
)

/** The distance of marks that makes some six of them. */
const stepFor = (millis: number): number =>
  steps.find((step) => millis / step <= 8) ?? Math.ceil(millis / 8 / 86_400_000) * 86_400_000

/** `0`, `40 ms`, `1.2 s`, `36.04 s`, `12:05`; as exact as the distance of marks. */
export const offsetText = (millis: number, step: number): string => {
  const sign = millis < 0 ? "−" : ""
  const size = Math.abs(millis)
  if (size === 0) return "0"
  if (size < 1_000) return `${sign}${size} ms`
  const digits = step % 1_000 === 0 ? 0 : step % 100 === 0 ? 1 : step % 10 === 0 ? 2 : 3
  if (size < 60_000) return `${sign}${(size / 1_000).toFixed(digits)} s`
  const two = (value: number): string => String(value).padStart(2, "0")
  const rest = ((size % 60_000) / 1_000).toFixed(digits)
  const seconds = rest.padStart(digits === 0 ? 2 : digits + 3, "0")
  const minutes = Math.floor(size / 60_000)
  return minutes < 60
    ? `${sign}${minutes}:${seconds}`
    : `${sign}${Math.floor(minutes / 60)}:${two(minutes % 60)}:${seconds}`
}

/** Waits in which nothing else goes on. While reports are awaited, sub-agents work. */
const idle = (spans: ReadonlyArray<Span>): ReadonlyArray<Span> =>
  spans.filter(({ from, kind, to }) => (kind === "queue" || kind === "person" || kind === "pause") && to > from)

const cutOut = (spans: ReadonlyArray<Span>, whole: number): ReadonlyArray<Span> => {
  const longest = idle(spans).toSorted((one, other) => millisOf(other) - millisOf(one))
  const cut: Array<Span> = []
  let rest = whole
  for (const span of longest) {
    const without = rest - millisOf(span)
    if (cut.length === MOST_BREAKS || millisOf(span) <= MUCH_LONGER * Math.max(1, without)) break
    cut.push(span)
    rest = without
  }
  return cut.toSorted((one, other) => one.from - other.from)
}

const waited: Readonly<Record<string, string>> = { queue: "waited", person: "a person", pause: "paused" }

/** What is left of a stretch without what was cut out. */
const shownOf = (whole: Stretch, cut: ReadonlyArray<Stretch>): ReadonlyArray<Stretch> =>
  cut.reduce<ReadonlyArray<Stretch>>(
    (all, { from, to }) =>
      all
        .flatMap((each) => [
          { from: each.from, to: Math.min(each.to, from) },
          { from: Math.max(each.from, to), to: each.to }
        ])
        .filter((each) => each.to >= each.from),
    [whole]
  )

/** Multiples of the step within what is shown, counted from when it was taken up. */
const offsetsIn = (shown: ReadonlyArray<Stretch>, zero: number, step: number): ReadonlyArray<number> => {
  const found = shown.flatMap(({ from, to }) => {
    const first = Math.ceil((from - zero) / step)
    const length = Math.max(0, Math.floor((to - zero) / step) - first + 1)
    return Array.from({ length }, (_, n) => (first + n) * step)
  })
  return [...new Set(found)]
}

const placesOn = ({ from: start, to: end }: Stretch, cut: ReadonlyArray<Stretch>, shownMillis: number) => {
  const scale = (1 - cut.length * BREAK_SHARE) / shownMillis
  return (at: number): number => {
    const there = Math.min(end, Math.max(start, at))
    const within = cut.map(({ from, to }) => Math.min(1, Math.max(0, (there - from) / (to - from))))
    const gone = cut.reduce((sum, each, n) => sum + millisOf(each) * (within[n] ?? 0), 0)
    const breaks = within.reduce((sum, share) => sum + share * BREAK_SHARE, 0)
    return Math.min(1, (there - start - gone) * scale + breaks)
  }
}

export const axisOf = (view: View): Axis => {
  const spans = spansOf(view)
  const { beganAt } = view
  const start = Math.min(beganAt, ...spans.map(({ from }) => from))
  const whole = { from: start, to: Math.max(start + 1, lastOf(view)) }
  const cut = cutOut(spans, millisOf(whole))
  const shown = shownOf(whole, cut)
  const millis = Math.max(
    1,
    shown.reduce((sum, each) => sum + millisOf(each), 0)
  )
  const placeOf = placesOn(whole, cut, millis)
  const step = stepFor(millis)
  return {
    placeOf,
    breaks: cut.map(({ from, kind, to }) => ({
      from,
      to,
      says: waited[kind] ?? "waited",
      took: duration(to - from),
      place: placeOf(from),
      width: BREAK_SHARE
    })),
    marks: offsetsIn(shown, beganAt, step).map((offset) => ({
      place: placeOf(beganAt + offset),
      label: offsetText(offset, step)
    }))
  }
}

// Log: one scale for every row of the list, from a millisecond to a day.

const DAY = 86_400_000

/** How far a time reaches on the scale of the list. */
export const reachOf = (millis: number): number =>
  millis <= 0 ? 0 : Math.min(1, Math.max(0.01, Math.log10(millis) / Math.log10(DAY)))

export const scaleMarks = [
  ["1 ms", 1],
  ["100 ms", 100],
  ["10 s", 10_000],
  ["10 min", 600_000],
  ["1 day", DAY]
] as const

export const totalKinds = [
  ["queue", "queue"],
  ["person", "a person"],
  ["model", "model"],
  ["tool", "tools"],
  ["step", "other steps"]
] as const

/** How long each kind of span lasted in all; what is not there is left out. */
export const totalsOf = (
  view: View
): ReadonlyArray<{ readonly kind: string; readonly name: string; readonly millis: number }> => {
  const spans = spansOf(view)
  return totalKinds.flatMap(([kind, name]) => {
    const own = spans.filter((span) => span.kind === kind)
    return own.length === 0 ? [] : [{ kind, name, millis: own.reduce((sum, span) => sum + millisOf(span), 0) }]
  })
}
