// Json: text from outside becomes a value here, and nowhere else.
// Owns safe parsing of hostile text. Leaves the meaning of the value to a Schema.
// I1  Parsing never throws: the answer is a value or one sentence of why not.
// I2  No parsed object carries a `__proto__`, `constructor` or `prototype` key, at any depth.
// I3  Nesting deeper than the limit is refused before anything recursive walks it.

import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"

export type Json = Schema.Json

/** Deepest nesting of arrays and objects that is accepted, in levels. */
export const MAX_JSON_DEPTH = 64

const hostileKeys = new Set(["__proto__", "constructor", "prototype"])

const depthOf = (text: string): number => {
  let depth = 0
  let deepest = 0
  let inString = false
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (inString) {
      if (code === 92) index++
      else if (code === 34) inString = false
    } else if (code === 34) inString = true
    else if (code === 91 || code === 123) deepest = Math.max(deepest, ++depth)
    else if (code === 93 || code === 125) depth--
  }
  return deepest
}

/** A reviver costs several times the parse, so it runs only where one of the keys can stand, spelt out or escaped. */
const mayHoldHostileKeys = (text: string): boolean =>
  text.includes("__proto__") || text.includes("constructor") || text.includes("prototype") || text.includes("\\u")

const withoutHostileKeys = (key: string, value: unknown): unknown => (hostileKeys.has(key) ? undefined : value)

/** Parses JSON text; hostile keys are dropped. Fails with a sentence, never throws. */
export const parseJson = (text: string, maxDepth: number = MAX_JSON_DEPTH): Result.Result<Json, string> => {
  if (depthOf(text) > maxDepth) return Result.fail(`nested deeper than ${maxDepth} levels`)
  try {
    return Result.succeed(JSON.parse(text, mayHoldHostileKeys(text) ? withoutHostileKeys : undefined) as Json)
  } catch (cause) {
    return Result.fail(cause instanceof Error ? cause.message : "not JSON")
  }
}

/** True for `{...}`, not for null or an array. */
export const isJsonObject = (value: unknown): value is { readonly [key: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value)
