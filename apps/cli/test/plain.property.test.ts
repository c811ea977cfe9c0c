import * as fc from "fast-check"
import { assert, describe, test } from "vitest"
import { withoutJson } from "@reverie/protocol"
import { jsonLine, onOneLine, plain } from "../src/texts/plain.ts"

const acting =
  // oxlint-disable-next-line no-control-regex -- they are what must not be there
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/u

const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "\u001b[31m",
        "\u001b]8;;http://x\u001b\\",
        "\u001b]0;t\u0007",
        "\u009b2J",
        "\u001bc",
        "\u001bP1$r\u001b\\"
      ),
      fc.constantFrom(
        "\u0007",
        "\r",
        "\r\n",
        "\b",
        "\u202e",
        "\u2066",
        "\u200b",
        "\ufeff",
        "\u{e0041}",
        "\u001b",
        "\u009d"
      ),
      fc.string({ unit: "grapheme" }),
      fc.string({ unit: "binary" })
    )
  )
  .map((parts) => parts.join(""))

describe("plain", () => {
  test("P1 nothing that acts on a terminal is left, whatever it was made of", () => {
    fc.assert(
      fc.property(hostile, (text) => assert.notMatch(plain(text), acting)),
      { numRuns: 2_000 }
    )
  })

  test("P1 what is harmless stays so when it is made harmless again", () => {
    fc.assert(
      fc.property(hostile, (text) => assert.strictEqual(plain(plain(text)), plain(text))),
      { numRuns: 1_000 }
    )
  })

  test("P2 printable text, line breaks and tabs stay", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme-ascii" }), fc.string({ unit: "grapheme-ascii" }), (one, other) => {
        assert.strictEqual(plain(`${one}\n\t${other} é 漢字 🙂`), `${one}\n\t${other} é 漢字 🙂`)
      })
    )
  })

  test("one line has no more characters than allowed, and no half ones", () => {
    fc.assert(
      fc.property(hostile, fc.integer({ min: 1, max: 40 }), (text, limit) => {
        const line = onOneLine(text, limit)
        assert.notMatch(line, /[\n\t]/)
        assert.isAtMost(line.length, limit)
        assert.isTrue(line.isWellFormed())
      }),
      { numRuns: 1_000 }
    )
  })

  test("P3 a line of JSON means the same, and does not act", () => {
    fc.assert(
      fc.property(fc.jsonValue(), hostile, (value, text) => {
        const line = jsonLine({ value, text })
        assert.notMatch(line, acting)
        assert.notInclude(line, "\n")
        assert.deepStrictEqual(JSON.parse(line), JSON.parse(JSON.stringify({ value, text })))
      }),
      { numRuns: 1_000 }
    )
  })
})

test("known tricks, and what is left of them", () => {
  const tricks = {
    "a\u001b[31mred\u001b[0mb": "aredb",
    "link \u001b]8;;https://x.test\u001b\\here\u001b]8;;\u001b\\": "link here",
    "\u001b]0;root@host\u0007$": "$",
    "unfinished \u001b]0;never ends": "unfinished ",
    "safe\rEVIL": "safeEVIL",
    "two\r\nlines": "two\nlines",
    "\u202etxt.exe": "txt.exe",
    "pass\u200bword": "password",
    "half \ud800": "half \ufffd"
  }
  for (const [trick, left] of Object.entries(tricks)) assert.strictEqual(plain(trick), left)
})

describe("spoken", () => {
  test("data stands as words", () => {
    assert.strictEqual(
      withoutJson(
        '/add_goal {"description":"Open the regatta","priority":"high"} then {"success":true,"ids":["a","b"]}'
      ),
      "/add_goal description Open the regatta, priority high then ids a; b"
    )
    assert.strictEqual(
      withoutJson('{"success":false,"error":"no such {berth}"}'),
      "success false, error no such {berth}"
    )
  })

  test("S1 what is no JSON is left as it is", () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 900 }).filter((text) => !text.includes("{")),
        (text) => {
          assert.strictEqual(withoutJson(text), text)
        }
      )
    )
    for (const text of ["{", "{{{", "a {b} c", '{"open', "}{", "fn() { return {} ; }"]) {
      assert.strictEqual(withoutJson(text).replaceAll(" ", ""), text.replace("{}", "").replaceAll(" ", ""), text)
    }
  })

  test("no JSON object is left in what it tells, whatever its strings hold", () => {
    const name = fc.stringMatching(/^[a-z]{1,8}$/)
    const data = fc.object({
      key: name,
      values: [name, fc.integer(), fc.boolean(), fc.constant('say "{" ')],
      maxDepth: 3
    })
    fc.assert(
      fc.property(data, (value) => {
        const text = JSON.stringify(value)
        fc.pre(text.length < 900)
        assert.notMatch(withoutJson(`said ${text}.`), /\{"[a-z]/)
        assert.match(withoutJson(`said ${text}.`), /^said .*\.$/s)
      })
    )
  })
})
