import { assert, describe, it } from "@effect/vitest"
import { jsonIn, linesIn, listIn, rowsIn } from "../src/index.ts"

describe("answer", () => {
  it("finds what was asked for, whatever stands around it", () => {
    assert.deepStrictEqual(listIn('Sure:\n```json\n[{"id":"a"}]\n```'), [{ id: "a" }])
    assert.deepStrictEqual(listIn('{"items": [1, 2]} done'), [1, 2])
    assert.deepStrictEqual(jsonIn('so {"a": 1}!'), { a: 1 })
    assert.strictEqual(jsonIn("nothing here"), undefined)
    assert.deepStrictEqual(linesIn("1. one\n- two\nno"), ["one", "two"])
  })

  it("I2 gives the rows that are whole when the answer was cut off", () => {
    assert.deepStrictEqual(rowsIn('[{"id":"a","facts":[{"text":"}"}]},{"id":"b","facts":[{"te', "id"), [
      { id: "a", facts: [{ text: "}" }] }
    ])
    assert.deepStrictEqual(rowsIn('{"items":[{"id":"a"},{"id":"b"', "id"), [{ id: "a" }])
  })

  it("reads rows from an array, an object, one row, and lines of rows", () => {
    const rows = [{ id: "a" }, { id: "b" }]
    assert.deepStrictEqual(rowsIn('[{"id":"a"},{"id":"b"}]', "id"), rows)
    assert.deepStrictEqual(rowsIn('{"items":[{"id":"a"},{"id":"b"}]}', "id"), rows)
    assert.deepStrictEqual(rowsIn('{"id":"a","facts":[{"text":"x"}]}', "id"), [{ id: "a", facts: [{ text: "x" }] }])
    assert.deepStrictEqual(rowsIn('About [2] items: {"id":"a"}\n{"id":"b"} [end]', "id"), rows)
    assert.deepStrictEqual(rowsIn("[]", "id"), [])
    assert.deepStrictEqual(rowsIn("I would rather not.", "id"), [])
  })
})
