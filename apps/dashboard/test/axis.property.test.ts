// Axis: places of times that no one has thought of, and the words at its marks.

import * as fc from "fast-check"
import { expect, test } from "vitest"
import {
  axisOf,
  labelsOf,
  lastOf,
  millisOf,
  offsetText,
  reachOf,
  spansOf,
  totalsOf,
  uncovered
} from "../src/pages/timeline/axis.ts"
import type { View } from "../src/pages/timeline/story.ts"
import { LONG_TICK, timelineHandlers } from "./fake/timeline.ts"
import { makeWorld } from "./fake/world.ts"

const BEGAN = 1_790_000_000_000

const millis = fc.oneof(fc.nat(50), fc.nat(5_000), fc.nat(7_200_000))
const state = fc.constantFrom(
  "awake.thinking.inferring",
  "awake.awaitingApproval",
  "awake.acting.running",
  "awake.awaitingReports",
  "awake.thinking.parked",
  "halted"
)

/** A tick whose pieces follow one another, each after a gap and with a wait before it. */
const view = fc
  .record({
    waitMs: fc.option(millis, { nil: 0 }),
    pieces: fc.array(fc.tuple(millis, millis, state, fc.boolean(), fc.option(millis, { nil: undefined })), {
      maxLength: 8
    }),
    isOver: fc.boolean()
  })
  .map(({ isOver, pieces, waitMs }): View => {
    let at = BEGAN
    const states: Array<View["states"][number]> = []
    const models: Array<View["models"][number]> = []
    const tools: Array<View["tools"][number]> = []
    for (const [gap, took, path, isModel, first] of pieces) {
      states.push({ at, state: path })
      at += gap + took
      const ended = { at, ok: true, elapsedMs: took }
      const firstTokenMs = first === undefined ? {} : { firstTokenMs: Math.min(first, took) }
      if (isModel) models.push({ ...ended, iteration: models.length + 1, ...firstTokenMs })
      else tools.push({ ...ended, call: `${at}`, tool: "look", result: "" })
    }
    const base = { kind: "tick", tick: 1, from: 1, to: 4, beganAt: BEGAN, iterations: 1, steps: [] } as const
    return { ...base, models, tools, states, waitMs, ...(isOver ? { endedAt: at + 3 } : {}) }
  })

test("every place lies on the line, later is never further left, and between breaks the scale is one (A2, A3)", () => {
  fc.assert(
    fc.property(view, (one) => {
      const { breaks, placeOf } = axisOf(one)
      const spans = spansOf(one)
      const moments = [...spans.flatMap(({ from, to }) => [from, to]), one.beganAt, lastOf(one)].toSorted(
        (before, after) => before - after
      )
      const places = moments.map(placeOf)
      expect(places.every((place) => place >= 0 && place <= 1)).toBe(true)
      expect(places).toEqual(places.toSorted((before, after) => before - after))
      const scales = moments.slice(1).flatMap((to, n) => {
        const from = moments[n] ?? to
        const isBroken = breaks.some((each) => each.from < to && each.to > from)
        return to === from || isBroken ? [] : [(placeOf(to) - placeOf(from)) / (to - from)]
      })
      for (const scale of scales) expect(scale).toBeCloseTo(scales[0] ?? 0, 9)
    })
  )
})

test("what is cut out is a wait that is much longer than all the rest, and the break says how long it was (A3)", () => {
  fc.assert(
    fc.property(view, (one) => {
      const { breaks } = axisOf(one)
      const waits = spansOf(one).filter(({ kind }) => ["queue", "person", "pause"].includes(kind))
      for (const { from, says, to, took } of breaks) {
        expect(waits.some((wait) => wait.from === from && wait.to === to)).toBe(true)
        expect(`${says} ${took}`).toMatch(/^(waited|a person|paused) \d/)
      }
      const [longest] = waits.toSorted((before, after) => millisOf(after) - millisOf(before))
      const start = Math.min(BEGAN, ...waits.map(({ from }) => from))
      const whole = lastOf(one) - start
      const isMuch = longest !== undefined && millisOf(longest) > 2 * Math.max(1, whole - millisOf(longest))
      expect(breaks.length > 0).toBe(isMuch)
    })
  )
})

test("spans and what no span covers are the whole time, and no first token lies outside its call (A1)", () => {
  fc.assert(
    fc.property(view, (one) => {
      const outside = spansOf(one).filter(({ firstAt = Infinity, from, to }) => firstAt < from || firstAt > to)
      expect(outside.filter(({ firstAt }) => firstAt !== undefined)).toEqual([])
      const covered = [...spansOf(one).filter(({ kind }) => kind !== "queue"), ...uncovered(one)].toSorted(
        (before, after) => before.from - after.from
      )
      let at = one.beganAt
      for (const { from, to } of covered) {
        expect(from).toBeLessThanOrEqual(at)
        at = Math.max(at, to)
      }
      expect(at).toBe(Math.max(one.beganAt, lastOf(one)))
    })
  )
})

test("a longer time reaches further on the scale of the list, whatever the row (A2)", () => {
  fc.assert(
    fc.property(millis, millis, (one, other) => {
      const [less, more] = one <= other ? [one, other] : [other, one]
      expect(reachOf(less)).toBeLessThanOrEqual(reachOf(more))
      expect(reachOf(more)).toBeLessThanOrEqual(1)
    })
  )
  // 32 s in the queue beside 2 ms of a model: what was shorter before.
  expect(reachOf(32_000)).toBeGreaterThan(5 * reachOf(2))
})

test("no label lies over another one or over a break, and the beginning has its own", () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true })
  const marks = fc
    .uniqueArray(share, { maxLength: 12 })
    .map((places) =>
      [0, ...places]
        .toSorted((one, other) => one - other)
        .map((place) => ({ place, label: place === 0 ? "0" : `${place.toFixed(2)} s` }))
    )
  const breaks = fc
    .array(share, { maxLength: 3 })
    .map((places) => places.map((place) => ({ place: 0.05 + place * 0.8, width: 0.08, says: "waits", took: "1 h" })))
  fc.assert(
    fc.property(marks, breaks, (all, cut) => {
      const labels = labelsOf({ breaks: cut as never, marks: all })
      expect(labels[0]?.place).toBe(0)
      const boxes = [
        ...labels.map(({ isAtEnd, label, place }) => {
          const share = 0.012 + label.length * 0.013
          return isAtEnd ? [place - share, place] : [place, place + share]
        }),
        ...cut.map(({ place, width }) => [place, place + width])
      ]
      const over = labels.flatMap((_, n) =>
        boxes.filter(([begins = 0, ends = 0], m) => {
          const [from = 0, to = 0] = boxes[n] ?? []
          return m !== n && from < ends && begins < to
        })
      )
      expect(over).toEqual([])
    })
  )
})

test("marks are as exact as their distance", () => {
  const said = [
    [0, 20],
    [40, 20],
    [1_200, 100],
    [36_040, 20],
    [-200, 100],
    [65_000, 5_000],
    [725_500, 500],
    [3_725_000, 60_000]
  ].map(([offset = 0, step = 1]) => offsetText(offset, step))
  expect(said).toEqual(["0", "40 ms", "1.2 s", "36.04 s", "−200 ms", "1:05", "12:05.5", "1:02:05"])
})

test("a tick in which a person was asked and a task handed on shows each wait and the sub-agent (A1)", () => {
  const tick = timelineHandlers["GET /v1/assistants/:id/ticks/:tick"]
  const query = { id: "a", tick: String(LONG_TICK) }
  const long = tick?.(makeWorld(4), { params: query, query: {}, payload: {} }) as View
  const spans = spansOf(long).map((span) => [span.kind, span.name, millisOf(span)])
  expect(spans).toContainEqual(["person", "waiting for a person", 36_090])
  expect(spans).toContainEqual(["reports", "waiting for reports", 4_990])
  expect(spans).toContainEqual(["agent", "sub-agent-1", 5_000])
  expect(axisOf(long).breaks.map(({ says, took }) => `${says} ${took}`)).toContain("a person 36 s")
  expect(totalsOf(long).find(({ kind }) => kind === "model")?.millis).toBe(2_700)
})
