// Save: what a spreadsheet is given.

import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import { csvOf } from "../src/parts/export/save.ts"

/** Reads CSV as RFC 4180 writes it. */
const read = (text: string): ReadonlyArray<ReadonlyArray<string>> => {
  const rows: Array<Array<string>> = []
  let [row, cell, isQuoted]: [Array<string>, string, boolean] = [[], "", false]
  for (let at = 1; at < text.length; at++) {
    const char = text[at] ?? ""
    if (isQuoted) {
      if (char !== '"') cell += char
      else if (text[at + 1] === '"') cell += text[at++] ?? ""
      else isQuoted = false
    } else if (char === '"') isQuoted = true
    else if (char === ",") {
      row.push(cell)
      cell = ""
    } else if (char === "\r" && text[at + 1] === "\n") {
      row.push(cell)
      rows.push(row)
      ;[row, cell] = [[], ""]
      at++
    } else cell += char
  }
  return rows
}

describe("a table as CSV", () => {
  it("V1 no text is taken for a formula, and numbers stay numbers", () => {
    const hostile = [
      '=HYPERLINK("http://x","a")',
      "+1+1",
      "-2+3",
      "@SUM(A1)",
      "\t=1",
      " =1",
      "\uff1d1",
      "\r=1",
      "plain",
      "a=b"
    ]
    const rows = read(csvOf(hostile.map((text, n) => ({ text, n: -n }))))
    assert.deepStrictEqual(rows[0], ["text", "n"])
    for (const [n, text] of hostile.entries()) {
      const isSafe = n >= hostile.length - 2
      assert.deepStrictEqual(rows[n + 1], [isSafe ? text : `'${text}`, String(-n)])
    }
  })

  it("V2 whatever stands in a cell, the table that is read is the one that was written", () => {
    const value = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom('"', ",", "\r\n", "=1", "a\nb"),
      fc.integer(),
      fc.boolean(),
      fc.constant(null)
    )
    fc.assert(
      fc.property(fc.array(fc.record({ a: value, b: value, c: fc.record({ d: value }) }), { minLength: 1 }), (rows) => {
        const [head, ...body] = read(csvOf(rows))
        assert.deepStrictEqual(head, ["a", "b", "c.d"])
        assert.strictEqual(body.length, rows.length)
        for (const [at, { a, b, c }] of rows.entries()) {
          const texts = [a, b, c.d].map((each) => (each === null ? "" : String(each)))
          assert.deepStrictEqual(
            body[at]?.map((cell, place) => (cell === `'${texts[place]}` ? texts[place] : cell)),
            texts
          )
          for (const cell of body[at] ?? []) assert.notMatch(cell, /^[=+@]/)
        }
      })
    )
  })

  it("V2 columns are all names of all rows, what is nested under its path, a list as JSON", () => {
    const text = csvOf([
      { id: "a", left: { tokens: 1 } },
      { id: "b", tags: ["x", "y"], left: { calls: null } }
    ])
    assert.deepStrictEqual(read(text), [
      ["id", "left.tokens", "tags", "left.calls"],
      ["a", "1", "", ""],
      ["b", "", '["x","y"]', ""]
    ])
    assert.strictEqual(csvOf([]), "\ufeff\r\n")
  })
})
