import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { storedTraceparent, spanIn, traceparentOf } from "../../src/telemetry/spans.ts"

const hexOf = (chars: number) =>
  fc
    .array(
      fc.nat(15).map((digit) => digit.toString(16)),
      { minLength: chars, maxLength: chars }
    )
    .map((digits) => digits.join(""))
    .filter((id) => /[^0]/.test(id))

describe("a trace context", () => {
  it("P2 comes back as it was written, sampled or not", () => {
    fc.assert(
      fc.property(hexOf(32), hexOf(16), fc.boolean(), (traceId, spanId, sampled) => {
        const text = `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`
        const span = spanIn(text)
        assert.deepInclude(span, { traceId, spanId, sampled })
        assert.strictEqual(span && traceparentOf(span), text)
        // A newer version may say more after it, and knows more flags.
        const newer = `cc-${traceId}-${spanId}-${sampled ? "ff" : "fe"}-what the future holds`
        assert.strictEqual(storedTraceparent(newer), text)
      })
    )
  })

  it("P1 is what is kept of any text, or nothing is", () => {
    const near = fc
      .tuple(fc.constantFrom("00", "01", "ff", "0", "FF"), fc.string(), fc.string(), fc.string())
      .map((parts) => parts.join("-"))
    fc.assert(
      fc.property(fc.oneof(fc.string(), near, fc.string({ minLength: 257 })), (text) => {
        const kept = storedTraceparent(text)
        if (kept !== undefined) assert.match(kept, /^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/)
      })
    )
    const [traceId, spanId] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"]
    const wrong = [
      `00-${traceId}-${spanId}-01-more`,
      `00-${"0".repeat(32)}-${spanId}-01`,
      `00-${traceId}-${"0".repeat(16)}-01`,
      `ff-${traceId}-${spanId}-01`,
      `00-${traceId.toUpperCase()}-${spanId}-01`,
      ` 00-${traceId}-${spanId}-01`,
      `cc-${traceId}-${spanId}-01-${"x".repeat(256)}`
    ]
    for (const text of [undefined, ...wrong]) assert.isUndefined(storedTraceparent(text), text)
  })
})
