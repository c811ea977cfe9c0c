// What holds for every text, every cut, every stream and every address.

import { assert, describe, it } from "@effect/vitest"
import { plain } from "@reverie/protocol"
import * as fc from "fast-check"
import { judgeAddress, redirected } from "../src/transport/egress.ts"
import { checkedSchema, shownSchema, toolNameOf } from "../src/tools.ts"
import { cutBytes, oneLine } from "../src/listing.ts"
import { lineSplitter } from "../src/transport/http.ts"

const text = fc.string({ unit: "binary" })
const rough = fc
  .array(
    fc.oneof(
      text,
      fc.constantFrom("\u001b[31m", "\u001b]0;t\u0007", "\u009b2J", "\u202e", "\u{e0041}", "\r\n", "😀", "\u001b")
    )
  )
  .map((parts) => parts.join(""))

describe("words of a server", () => {
  it("P1 nothing that a terminal obeys or an eye misses is left, and cleaning twice is cleaning once", () => {
    fc.assert(
      fc.property(rough, (words) => {
        const clean = plain(words)
        // oxlint-disable-next-line no-control-regex -- it looks for control characters
        assert.notMatch(clean, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u202a-\u202e\u{e0000}-\u{e0fff}]/u)
        assert.isTrue(clean.isWellFormed())
        assert.strictEqual(plain(clean), clean)
        assert.isAtMost(oneLine(words, 40).length, 40)
        assert.notMatch(oneLine(words, 40), /[\n\t]/)
      })
    )
  })

  it("P1 a sequence goes whole, with what it says to the terminal", () => {
    const said =
      "a\u001b[1;31mred\u001b[0m \u001b]0;title\u0007b \u001b]8;;http://x\u001b\\link \u009b2Jc \u001bcd\u001bPq#0\u001b\\e"
    assert.strictEqual(plain(said), "ared b link c de")
    assert.strictEqual(plain("👩‍👩‍👧 é ❤️ שלום"), "👩‍👩‍👧 é ❤️ שלום")
  })

  it("P2 a cut is within its limit, at a character, and the beginning of the whole", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", minLength: 0, maxLength: 2_000 }),
        fc.integer({ min: 256, max: 2_000 }),
        (words, max) => {
          const cut = cutBytes(words, max)
          assert.isAtMost(Buffer.byteLength(cut), max)
          const [kept = "", note] = cut.split("\n[Cut here: ")
          if (note === undefined) assert.strictEqual(cut, words)
          else {
            assert.isTrue(words.startsWith(kept))
            assert.notInclude(kept, "\ufffd")
          }
        }
      )
    )
  })
})

describe("names and schemas", () => {
  it("O1 every name is one that tools may have", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (tool) => {
        assert.match(toolNameOf("server_one", tool), /^[a-z][a-z0-9_]{0,63}$/)
      })
    )
    assert.strictEqual(toolNameOf("files", "readTextFile"), "files__read_text_file")
    assert.strictEqual(toolNameOf("files", "read/text-file.v2"), "files__read_text_file_v2")
    const long = [toolNameOf("files", `${"a".repeat(80)}x`), toolNameOf("files", `${"a".repeat(80)}y`)]
    assert.strictEqual(new Set(long).size, 2)
  })

  it("O2 no pattern is left to run, and a schema without any stays as it is", () => {
    const patterned = {
      type: "object",
      properties: {
        pattern: { type: "string", pattern: "^a" },
        b: { anyOf: [{ pattern: "x" }, { const: { pattern: "y" } }] }
      },
      patternProperties: { "^z": { type: "number" } },
      additionalProperties: false
    }
    assert.deepStrictEqual(checkedSchema(patterned), {
      type: "object",
      properties: { pattern: { type: "string" }, b: { anyOf: [{}, { const: { pattern: "y" } }] } }
    })
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom("type", "title", "items", "enum", "x"), fc.jsonValue({ maxDepth: 3 })),
        (schema) => {
          const copy = JSON.parse(JSON.stringify(schema)) as Parameters<typeof checkedSchema>[0]
          assert.deepStrictEqual(checkedSchema(copy), checkedSchema(checkedSchema(copy) as typeof copy))
          assert.deepStrictEqual(shownSchema(copy), shownSchema(shownSchema(copy) as typeof copy))
        }
      )
    )
  })
})

describe("streams", () => {
  it("V1 lines come out as they went in, however they were cut, and none that is too long", () => {
    const lines = fc.array(fc.string({ unit: "grapheme", maxLength: 30 }).filter((line) => !line.includes("\n")))
    fc.assert(
      fc.property(lines, fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }), (said, sizes) => {
        const whole = Buffer.from(said.map((line) => `${line}\n`).join(""))
        const split = lineSplitter(40)
        const heard: Array<string | undefined> = []
        for (let at = 0, turn = 0; at < whole.length; turn++) {
          const size = sizes[turn % sizes.length] ?? 1
          heard.push(...split(whole.subarray(at, at + size)))
          at += size
          if (heard.at(-1) === undefined && heard.length > 0) break
        }
        const tooLong = said.findIndex((line) => Buffer.byteLength(line) > 40)
        const expected = tooLong === -1 ? said : [...said.slice(0, tooLong), undefined]
        assert.deepStrictEqual(heard, expected)
      })
    )
  })
})

describe("addresses", () => {
  const octet = fc.integer({ min: 0, max: 255 })
  it("A2 an IPv4 address is judged the same inside an IPv6 one", () => {
    fc.assert(
      fc.property(octet, octet, octet, octet, (a, b, c, d) => {
        const inside = `${a}.${b}.${c}.${d}`
        const alone = judgeAddress(inside)
        assert.isDefined(alone)
        assert.deepStrictEqual(judgeAddress(`::ffff:${inside}`), alone)
        assert.deepStrictEqual(judgeAddress(`64:ff9b::${inside}`), alone)
        for (const tunnel of [`::${inside}`, `::ffff:0:${inside}`, `64:ff9b:1::${inside}`]) {
          assert.notStrictEqual(judgeAddress(tunnel)?.standing, "open", tunnel)
        }
      })
    )
  })

  it("A1 nothing outside 2000::/3 is open", () => {
    const group = fc.integer({ min: 0, max: 0xffff })
    fc.assert(
      fc.property(fc.tuple(group, group, group, group, group, group, group, group), (groups) => {
        const [first] = groups
        const verdict = judgeAddress(groups.map((one) => one.toString(16)).join(":"))
        if (first < 0x2000 || first > 0x3fff) {
          const isMapped = groups.slice(0, 5).every((one) => one === 0)
          if (!isMapped && !(first === 0x64 && groups[1] === 0xff9b)) assert.notStrictEqual(verdict?.standing, "open")
        }
      })
    )
  })
})

describe("redirects", () => {
  it("R1 R2 none leads from https to http or changes a method, and secrets stay", () => {
    const headers = new Headers({ authorization: "Bearer x", accept: "text/html", "mcp-session-id": "s" })
    const from = (url: string, method: string, status: number, location: string) =>
      redirected({ url: new URL(url), method, headers }, { status, location })
    assert.throws(() => from("https://a/", "GET", 302, "http://a/"), /from https to http/)
    assert.throws(() => from("https://a/", "POST", 302, "/b"), /would change it to a GET/)
    const near = from("https://a/b", "POST", 308, "/c")
    assert.strictEqual(near.url.href, "https://a/c")
    assert.strictEqual(near.headers.get("authorization"), "Bearer x")
    const far = from("http://a/", "GET", 301, "https://a/")
    assert.deepStrictEqual([...far.headers.keys()], ["accept"])
  })
})
