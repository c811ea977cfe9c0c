// Axis: what took how long within a row, as places on a line from 0 to 1.
// A1  Waiting takes at most a quarter of the line, so that the work can be seen beside an hour in the queue.
// A2  Every span lies within the line.

import type { View } from "./rows.ts"
import { stepName } from "./story.ts"

export interface Span {
  readonly id: string
  readonly kind: "wait" | "model" | "tool" | "step"
  readonly name: string
  readonly from: number
  readonly to: number
  readonly millis: number
  readonly ok: boolean
}

const WAIT_SHARE = 0.25

const timed = ({ models, steps, tools }: View) => [
  ...models.map((each, n) => ({ id: `model-${n}`, kind: "model" as const, name: each.model ?? "model", ...each })),
  ...tools.map((each, n) => ({ id: `tool-${n}`, kind: "tool" as const, name: each.tool, ...each })),
  ...steps.map((each, n) => ({ ...each, id: `step-${n}`, name: stepName(each), kind: "step" as const }))
]

export const lastOf = (view: View): number =>
  Math.max(view.beganAt, view.endedAt ?? 0, ...timed(view).map(({ at }) => at))

export const spansOf = (view: View): ReadonlyArray<Span> => {
  const { beganAt, waitMillis = 0 } = view
  const work = Math.max(1, lastOf(view) - beganAt)
  const waiting = waitMillis === 0 ? 0 : Math.min(WAIT_SHARE, waitMillis / (waitMillis + work))
  const placeOf = (at: number): number => waiting + Math.min(1, Math.max(0, (at - beganAt) / work)) * (1 - waiting)
  const wait: Span = { id: "wait", kind: "wait", name: "queue", from: 0, to: waiting, millis: waitMillis, ok: true }
  const spans = timed(view)
    .toSorted((one, other) => one.at - other.at)
    .map(({ at, elapsedMillis, id, kind, name, ok }): Span => ({
      id,
      kind,
      name,
      from: placeOf(at - elapsedMillis),
      to: placeOf(at),
      millis: elapsedMillis,
      ok
    }))
  return waiting === 0 ? spans : [wait, ...spans]
}
