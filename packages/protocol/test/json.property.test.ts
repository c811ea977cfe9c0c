import { assert, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { parseJson } from "../src/index.ts"
import { MAX_JSON_DEPTH } from "../src/json.ts"

const hostile = ["__proto__", "constructor", "prototype"]
const settings = { seed: 4_711, numRuns: 1_000 }

/** An object whose hostile keys are its own, as a parser would make them. */
const objectOf = (entries: ReadonlyArray<readonly [string, unknown]>): object => {
  const made = {}
  for (const [key, inner] of entries) {
    Object.defineProperty(made, key, { value: inner, enumerable: true, configurable: true, writable: true })
  }
  return made
}

const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(null, true, 1, "__proto__", "a constructor in a text", ""),
    fc.string({ unit: "binary", maxLength: 6 }),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.array(fc.tuple(fc.constantFrom(...hostile, "a", "b", "proto"), tie("value")), { maxLength: 4 }).map(objectOf)
  )
})).value

/** Spells some letters of keys and texts as escapes. */
const escaped = (text: string): string => text.replaceAll("_", "\\u005f").replaceAll("ct", "\\u0063t")

const without = (given: unknown): unknown => {
  if (Array.isArray(given)) return given.map(without)
  if (typeof given !== "object" || given === null) return given
  return objectOf(
    Object.entries(given)
      .filter(([key]) => !hostile.includes(key))
      .map(([key, inner]) => [key, without(inner)])
  )
}

it("I1 I2 what is parsed is what was written, without the hostile keys, spelt out or escaped", () => {
  let dropped = 0
  fc.assert(
    fc.property(value, fc.boolean(), (given, isEscaped) => {
      const text = JSON.stringify(given)
      const parsed = parseJson(isEscaped ? escaped(text) : text)
      const expected = without(JSON.parse(text))
      if (JSON.stringify(expected) !== text) dropped++
      assert.deepStrictEqual(Result.getOrThrow(parsed) as unknown, expected)
    }),
    settings
  )
  assert.isAbove(dropped, 100, "too few hostile keys to mean anything")
  assert.isUndefined(({} as { readonly polluted?: unknown }).polluted)
})

it("I1 any text is a value or a sentence, never a throw", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json().map((text) => text.slice(1))
      ),
      (text) => {
        const parsed = parseJson(text)
        if (Result.isFailure(parsed)) assert.isAbove(parsed.failure.length, 0)
      }
    ),
    settings
  )
})

it("I3 the last level allowed is read, one more is refused, brackets in texts do not count", () => {
  const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels)
  assert.isTrue(Result.isSuccess(parseJson(nested(MAX_JSON_DEPTH))))
  assert.isTrue(Result.isFailure(parseJson(nested(MAX_JSON_DEPTH + 1))))
  assert.isTrue(Result.isSuccess(parseJson(JSON.stringify(`\\"${nested(100)}`))))
})

it("I4 as many values as are allowed are read, one more is refused, signs in texts do not count", () => {
  /** Each member of an array or object, and the value itself, as the signs of a text tell. */
  const valuesOf = (text: string): number =>
    1 + text.replaceAll(/"(?:[^"\\]|\\.)*"/gs, "").replaceAll(/[^[{,]/g, "").length
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.boolean(), (text, isEscaped) => {
      const given = isEscaped ? escaped(text) : text
      const values = valuesOf(given)
      fc.pre(values > 1)
      assert.isTrue(Result.isSuccess(parseJson(given, { maxValues: values })), given)
      assert.isTrue(Result.isFailure(parseJson(given, { maxValues: values - 1 })), given)
    }),
    settings
  )
  assert.isTrue(Result.isSuccess(parseJson(JSON.stringify(",[{".repeat(1_000)), { maxValues: 1 })))
})

it("I2 says that something was dropped, and only then", () => {
  fc.assert(
    fc.property(value, (given) => {
      const text = JSON.stringify(given)
      let dropped = 0
      parseJson(text, { onDropped: () => dropped++ })
      assert.strictEqual(dropped > 0, JSON.stringify(without(JSON.parse(text))) !== text)
    }),
    settings
  )
})
