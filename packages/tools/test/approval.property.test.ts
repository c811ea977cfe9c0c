import { isDeepStrictEqual } from "node:util"
import { assert, it } from "@effect/vitest"
import { AssistantId, DEFAULT_TENANT, isJsonObject, type Json } from "@reverie/protocol"
import * as fc from "fast-check"
import { describe } from "vitest"
import { approvalId, canonicalJson, isApprovalFor } from "../src/index.ts"
import { type ApprovalSubject } from "../src/tool.ts"

const subjectOf = (args: Json, epoch?: number): ApprovalSubject => ({
  tenant: DEFAULT_TENANT,
  assistant: AssistantId.make("desk"),
  tick: 7,
  call: "7.1.0",
  tool: "fine",
  arguments: args,
  ...(epoch === undefined ? {} : { epoch })
})

const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>

/** The same value with every object written backwards. */
const backwards = (value: Json): Json => {
  if (Array.isArray(value)) return value.map((item: Json) => backwards(item))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, member]) => [name, backwards(member)])
  )
}

/** As it comes back from JSON text: -0 is 0 there. */
const stored = (value: Json): Json => JSON.parse(JSON.stringify(value)) as Json

describe("approval I1, I3: between asking and running", () => {
  it("arguments that changed have another id, so that the old decision does not allow them", () => {
    fc.assert(
      fc.property(json, json, (asked, ran) => {
        const approval = approvalId(subjectOf(asked))
        assert.strictEqual(isApprovalFor(subjectOf(ran), approval), isDeepStrictEqual(stored(asked), stored(ran)))
      })
    )
  })

  it("one changed leaf, however deep, is another call", () => {
    fc.assert(
      fc.property(json, fc.array(fc.string(), { maxLength: 5 }), fc.nat(), (beside, path, amount) => {
        const nested = (leaf: number): Json =>
          path.reduceRight<Json>((inner, name) => ({ [`n${name}`]: [beside, inner] }), leaf)
        const approval = approvalId(subjectOf(nested(amount)))
        assert.isTrue(isApprovalFor(subjectOf(nested(amount)), approval))
        assert.isFalse(isApprovalFor(subjectOf(nested(amount + 1)), approval))
      })
    )
  })

  it("a decision of one epoch does not hold in another", () => {
    fc.assert(
      fc.property(
        json,
        fc.option(fc.nat(), { nil: undefined }),
        fc.option(fc.nat(), { nil: undefined }),
        (args, a, b) => {
          assert.strictEqual(isApprovalFor(subjectOf(args, a), approvalId(subjectOf(args, b))), a === b)
        }
      )
    )
  })
})

describe("approval I2: canonical JSON", () => {
  it("is the same for any order of keys, and JSON of the same value", () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = canonicalJson(value)
        assert.strictEqual(canonicalJson(backwards(value)), text)
        assert.isTrue(isDeepStrictEqual(JSON.parse(text), stored(value)))
      })
    )
  })

  it("is different for different values", () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        assert.strictEqual(canonicalJson(a) === canonicalJson(b), isDeepStrictEqual(stored(a), stored(b)))
      })
    )
  })
})
