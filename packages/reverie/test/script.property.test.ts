import * as fc from "fast-check"
import { assert, describe, test } from "vitest"
import { defineAssistant, defineFleet, readScript } from "../src/index.ts"

const fleet = defineFleet({
  assistants: [
    defineAssistant({ id: "desk", instructions: "You sit." }),
    defineAssistant({ id: "archive", instructions: "You keep." })
  ],
  defaultAssistant: "desk"
})

const read = (...lines: ReadonlyArray<string>) => readScript(lines.join("\n"), fleet)

const SIX = Date.UTC(2026, 4, 21, 6)

describe("readScript", () => {
  test("S1 any text is letters and problems, one a line that is not empty", () => {
    const line = fc.oneof(
      fc.string({ unit: "binary" }).map((text) => text.replaceAll("\n", "")),
      fc.jsonValue().map((value) => JSON.stringify(value)),
      fc
        .record(
          {
            id: fc.jsonValue(),
            to: fc.constantFrom("desk", "archive", "nobody", 7),
            text: fc.jsonValue(),
            event: fc.jsonValue()
          },
          { requiredKeys: [] }
        )
        .map((value) => JSON.stringify(value))
    )
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const { letters, problems } = read(...lines)
        // A byte order mark may begin the text; it is no part of the first line.
        const expected = lines.filter(
          (each, index) => (index === 0 ? each.replace(/^\uFEFF/, "") : each).trim() !== ""
        ).length
        assert.strictEqual(letters.length + problems.length, expected)
        for (const { message } of problems) assert.notInclude(message, "\n")
      }),
      { numRuns: 500 }
    )
  })

  test("S2 a message, its image, its sender, its addressee, and fields no one knows", () => {
    const { letters, problems } = read(
      `{"id":"a","text":"hello","at":"2026-05-21T06:00:00Z","session":3}`,
      "",
      `{"id":"b","to":"archive","from":"ann","text":"look","image":"a cat"}\r`,
      `{"id":"c","to":"archive","event":{"type":"sleep","forMs":5}}`
    )
    assert.deepStrictEqual(problems, [])
    assert.deepStrictEqual(letters, [
      { line: 1, id: "a", to: "desk", from: "user", event: { type: "message", at: SIX, text: "hello" } },
      { line: 3, id: "b", to: "archive", from: "ann", event: { type: "message", text: "look\n[image: a cat]" } },
      { line: 4, id: "c", to: "archive", from: "user", event: { type: "sleep", forMs: 5 } }
    ])
  })

  test("S3 a line is lived at its own time, in whatever form it is written; a message keeps the time it tells itself", () => {
    const times = ['"2026-05-21T06:00:00Z"', '"2026-05-21T06:00"', '"2026-05-21T08:00:00+02:00"', String(SIX), "null"]
    const { letters, problems } = read(
      ...times.map((at, index) => `{"id":"t${index}","text":"x","at":${at}}`),
      `{"id":"e","at":${SIX},"event":{"type":"message","text":"y"}}`,
      `{"id":"f","at":${SIX},"event":{"type":"message","text":"y","at":7}}`,
      `{"id":"g","at":${SIX},"event":{"type":"sleep"}}`
    )
    assert.deepStrictEqual(problems, [])
    assert.deepStrictEqual(
      letters.map(({ event }) => Reflect.get(event, "at")),
      [SIX, SIX, SIX, SIX, undefined, SIX, 7, undefined]
    )
    const wrong = read(`{"id":"a","text":"x","at":"yesterday"}`, `{"id":"b","text":"x","at":1.5}`).problems
    assert.deepStrictEqual(
      wrong.map(({ line }) => line),
      [1, 2]
    )
    assert.match(wrong[0]?.message ?? "", /"at" is no time, such as 2026-05-21T06:03:00Z .*: "yesterday"$/)
  })

  test("S1 each problem has its line, its kind and its sentence", () => {
    const wrong: ReadonlyArray<readonly [string, string, RegExp]> = [
      ["{oops", "malformed", /JSON/],
      ["[]", "malformed", /no JSON object/],
      [`{"text":"x"}`, "malformed", /no "id"/],
      [`{"id":7,"text":"x"}`, "malformed", /"id" is no text/],
      [`{"id":"","text":"x"}`, "malformed", /id/],
      [`{"id":"a"}`, "malformed", /neither/],
      [`{"id":"a","text":"x","event":{"type":"wake"}}`, "malformed", /both/],
      [`{"id":"a","text":7}`, "malformed", /"text" is no text/],
      [`{"id":"a","to":"a/b","text":"x"}`, "malformed", /to/],
      [`{"id":"a","event":{"type":"dance"}}`, "malformed", /event/],
      [`{"id":"a","to":"nobody","text":"x"}`, "unknown-assistant", /nobody/]
    ]
    const { letters, problems } = read(...wrong.map(([line]) => line))
    assert.deepStrictEqual(letters, [])
    for (const [index, [, kind, words]] of wrong.entries()) {
      assert.deepInclude(problems[index] ?? {}, { line: index + 1, kind })
      assert.match(problems[index]?.message ?? "", words)
    }
  })
})
