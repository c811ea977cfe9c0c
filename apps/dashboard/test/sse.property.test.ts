// Sse: the reader of the event stream.

import * as fc from "fast-check"
import { expect, test } from "vitest"
import { sseReader, waitMs } from "../src/live/stream.ts"

const read = (pieces: ReadonlyArray<string>) => {
  const reader = sseReader()
  return { events: pieces.flatMap((piece) => reader.read(piece)), last: reader.lastId() }
}

const line = fc.string().map((text) => text.replaceAll(/[\r\n]/g, ""))
const frame = fc.record({
  event: fc.constantFrom("part", "created", ""),
  data: fc.array(line, { minLength: 1, maxLength: 3 })
})
const end = fc.constantFrom("\n", "\r\n", "\r")

test("E1 however the text is cut, the same events come out", () => {
  fc.assert(
    fc.property(
      fc.array(frame, { maxLength: 6 }),
      end,
      fc.array(fc.nat(400), { maxLength: 8 }),
      (frames, eol, cuts) => {
        const text = frames
          .map(({ data, event }, at) => {
            const head = event === "" ? [] : [`event: ${event}`]
            return [`id: ${at + 1}`, ...head, ...data.map((each) => `data: ${each}`), "", ""].join(eol)
          })
          .join("")
        const whole = `: hello${eol}${text}: bye${eol}`
        const at = [0, ...cuts.map((cut) => cut % (whole.length + 1)), whole.length].toSorted((a, b) => a - b)
        const pieces = at.slice(1).map((to, index) => whole.slice(at[index], to))
        const { events, last } = read(pieces)
        expect(events).toEqual(
          frames.map(({ data, event }) => ({ event: event === "" ? "message" : event, data: data.join("\n") }))
        )
        expect(last).toBe(frames.length === 0 ? undefined : String(frames.length))
      }
    )
  )
})

test("T1 a place without data is a place too, one that was cut off is none", () => {
  expect(read([": here\nid: 7\n\n"])).toEqual({ events: [], last: "7" })
  expect(read(["id: 7\ndata: a\n\nid: 8\ndata: b\n"]).last).toBe("7")
})

test("T3 one waits longer after each failure, and never longer than the bound", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 }), fc.double({ min: 0, max: 1, noNaN: true }), (attempt, chance) => {
      const millis = waitMs(attempt, chance)
      expect(millis).toBeGreaterThanOrEqual(400)
      expect(millis).toBeLessThanOrEqual(17_500)
      expect(waitMs(attempt + 1, chance)).toBeGreaterThanOrEqual(millis)
    })
  )
})
