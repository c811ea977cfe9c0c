import { assert, describe, it } from "@effect/vitest"
import { makeFailures, makeScrub, type Problem, retryAfterMs } from "@reverie/model/wire"

const KEY = "sk-harbor-0123456789abcdef"
const failures = makeFailures("harbor:1", makeScrub(KEY))
const headers = (values: { readonly [name: string]: string }) => (name: string) => values[name] ?? null
const NOW = Date.parse("Sat, 21 Nov 2026 10:00:00 GMT")

describe("Retry-After", () => {
  const table: ReadonlyArray<readonly [string, { readonly [name: string]: string }, number | undefined]> = [
    ["seconds", { "retry-after": "2" }, 2_000],
    ["parts of a second", { "retry-after": "0.25" }, 250],
    ["milliseconds of their own header", { "retry-after-ms": "40", "retry-after": "9" }, 40],
    ["a date, by our clock", { "retry-after": "Sat, 21 Nov 2026 10:00:05 GMT" }, 5_000],
    [
      "a date, by the server's clock when it tells it",
      { "retry-after": "Sat, 21 Nov 2026 09:00:05 GMT", date: "Sat, 21 Nov 2026 09:00:00 GMT" },
      5_000
    ],
    ["a date in the past", { "retry-after": "Sat, 21 Nov 2026 09:00:00 GMT" }, 0],
    ["longer than a day", { "retry-after": "999999999999999" }, 86_400_000],
    ["a negative number", { "retry-after": "-5" }, undefined],
    ["an exponent", { "retry-after": "1e9" }, undefined],
    ["words", { "retry-after": "when it suits" }, undefined],
    ["nothing", {}, undefined]
  ]
  it.each(table)("I2 understands %s", (_name, values, expected) => {
    const got = retryAfterMs(headers(values), NOW)
    if (expected === undefined && got !== undefined) assert.strictEqual(got, 0)
    else assert.strictEqual(got, expected)
  })
})

describe("statuses and bodies", () => {
  const table: ReadonlyArray<readonly [string, Problem, string, string | undefined, boolean]> = [
    ["401", { status: 401, message: "no" }, "ModelDenied", undefined, false],
    ["402", { status: 402, message: "pay" }, "ModelDenied", undefined, false],
    ["405", { status: 405, message: "wrong address" }, "ModelDenied", undefined, false],
    ["308", { status: 308 }, "ModelDenied", undefined, false],
    ["302", { status: 302 }, "ModelUnavailable", "server-error", true],
    ["404 of the API", { status: 404, code: "model_not_found", isOfApi: true }, "ModelDenied", undefined, false],
    ["404 of a gateway", { status: 404, message: "<html>", isOfApi: false }, "ModelUnavailable", "server-error", true],
    ["403 of a gateway", { status: 403, message: "<html>", isOfApi: false }, "ModelDenied", undefined, false],
    ["408", { status: 408 }, "ModelUnavailable", "server-error", true],
    ["409", { status: 409 }, "ModelUnavailable", "server-error", true],
    ["429 without a time", { status: 429 }, "ModelUnavailable", "server-error", true],
    ["529", { status: 529 }, "ModelUnavailable", "server-error", true],
    ["413", { status: 413 }, "ModelRefused", "too-long", false],
    ["422", { status: 422, message: "unknown field" }, "ModelRefused", "bad-request", false],
    [
      "400 in words",
      { status: 400, message: "Prompt is too long for the context window" },
      "ModelRefused",
      "too-long",
      false
    ],
    ["400 of a filter", { status: 400, code: "content_policy_violation" }, "ModelRefused", "filtered", false],
    ["a status as code in a 200", { code: 503, message: "x" }, "ModelUnavailable", "server-error", true],
    ["a named code in a 200", { code: "invalid_api_key" }, "ModelDenied", undefined, false],
    ["an unknown code in a 200", { code: "oops" }, "ModelUnavailable", "server-error", true],
    ["a message of the wrong type", { status: 400, message: { a: 1 } }, "ModelRefused", "bad-request", false],
    ["a prototype as code", { code: "__proto__" }, "ModelUnavailable", "server-error", true]
  ]
  it.each(table)("I1 classifies %s", (_name, problem, tag, kind, again) => {
    const failure = failures.answered(problem, headers({}), NOW)
    assert.strictEqual(failure.error._tag, tag)
    assert.strictEqual("kind" in failure.error ? failure.error.kind : undefined, kind)
    assert.strictEqual(failure.again, again)
  })

  it("I1 a message is one printable line without the key, cut to length", () => {
    const message = `\u001b[31mBearer ${KEY}\r\n\u0000${"x".repeat(5_000)}`
    const { error } = failures.answered({ status: 500, message }, headers({}), NOW)
    assert.notInclude(error.message, KEY)
    assert.isAtMost(error.message.length, 300)
    assert.match(error.message, /^\[31mBearer \[redacted\] x+$/)
  })

  it("I1 a key across the cut leaves no half of itself", () => {
    const { error } = failures.answered({ status: 500, message: "y".repeat(290) + KEY }, headers({}), NOW)
    assert.notInclude(error.message, KEY.slice(0, 8))
  })
})
