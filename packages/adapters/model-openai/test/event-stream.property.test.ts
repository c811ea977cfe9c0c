import { assert, it } from "@effect/vitest"
import * as fc from "fast-check"
import { EventStream } from "../src/wire/answer.ts"

const read = (chunks: ReadonlyArray<string>): ReadonlyArray<string> => {
  const events: Array<string> = []
  const stream = new EventStream((data) => events.push(data))
  for (const chunk of chunks) stream.feed(chunk)
  stream.end()
  return events
}

const line = fc.oneof(
  fc.string({ maxLength: 12 }).map((text) => `data:${text.replace(/[\r\n]/g, "")}`),
  fc.constantFrom("", "", ": ping", "event: error", "data", "id: 7", "data: [DONE]", "retry: 5", "datum: x")
)
const end = fc.constantFrom("\n", "\r", "\r\n")
const text = fc
  .array(fc.tuple(line, end), { maxLength: 20 })
  .map((lines) => lines.map(([said, ending]) => said + ending).join(""))

it("I1 the events do not depend on where the text was cut", () => {
  let seen = 0
  fc.assert(
    fc.property(text, fc.array(fc.nat(200), { maxLength: 30 }), (whole, cuts) => {
      const points = [0, ...cuts.map((cut) => Math.min(cut, whole.length)).toSorted((a, b) => a - b), whole.length]
      const chunks = points.slice(1).map((point, index) => whole.slice(points[index], point))
      const expected = read([whole])
      seen += expected.length
      assert.deepStrictEqual(read(chunks), expected)
      assert.deepStrictEqual(read(whole.split("")), expected)
    }),
    { seed: 4_711, numRuns: 500 }
  )
  assert.isAbove(seen, 100)
})

it("I1 lines of one event are joined, comments and other fields are skipped, the last event needs no blank line", () => {
  assert.deepStrictEqual(read([": hi\nid: 1\ndata: a\ndata:b\n\n\n\ndata:  c\n\r\ndata: d"]), ["a\nb", " c", "d"])
})

it("I2 a line in a hundred thousand pieces is put together once", () => {
  const pieces = Array.from({ length: 100_000 }, () => "xxxxxxxxxx")
  assert.deepStrictEqual(
    read(["data:", ...pieces, "\n\n"]).map((data) => data.length),
    [1_000_000]
  )
})
