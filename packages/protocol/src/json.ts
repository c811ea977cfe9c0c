// Json: text from outside becomes a value here, and nowhere else.
// Owns safe parsing of hostile text. Leaves the meaning of the value to a Schema.
// I1  Parsing never throws: the answer is a value or one sentence of why not.
// I2  No parsed object carries a `__proto__`, `constructor` or `prototype` key, at any depth.
// I3  Nesting deeper than the limit is refused before anything recursive walks it.
// I4  Work grows with the length of the text, and little of it is done where a text is one long string.

import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** Any JSON value. */
export type Json = Schema.Json

/** Deepest nesting of arrays and objects that is accepted, in levels. */
export const MAX_JSON_DEPTH = 64

const hostileKeys = new Set(["__proto__", "constructor", "prototype"])

const QUOTE = 34
const COMMA = 44
const BACKSLASH = 92

/** Where the string ends whose text begins at `from`; the end of all when it is not closed. */
const stringEnd = (text: string, from: number): number => {
  for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at + 1)) {
    let escapes = 0
    while (at - escapes > from && text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes++
    if (escapes % 2 === 0) return at
  }
  return text.length
}

/** What is wrong with the levels and values of a text, as far as its signs tell. */
const flawIn = (text: string, maxDepth: number, maxValues: number): string | undefined => {
  let depth = 0
  let values = 1
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === QUOTE) index = stringEnd(text, index + 1)
    else if (code === COMMA) values++
    else if (code === 91 || code === 123) {
      values++
      if (++depth > maxDepth) return `nested deeper than ${maxDepth} levels`
    } else if (code === 93 || code === 125) depth--
    if (values > maxValues) return `made of more than ${maxValues} values`
  }
  return undefined
}

/** True where a text holds more of some signs than that, in its strings or outside of them. */
const holdsMore = (text: string, signs: string, most: number): boolean => {
  let found = 0
  for (const sign of signs) {
    for (let at = text.indexOf(sign); at !== -1; at = text.indexOf(sign, at + 1)) if (++found > most) return true
  }
  return false
}

export interface JsonBounds {
  readonly maxDepth?: number
  /** Values that it may hold, each member of an array or an object one; unbounded when not said. */
  readonly maxValues?: number
  /** Called where a hostile key was dropped. */
  readonly onDropped?: () => void
}

/** It is walked only where enough signs stand in it: a long message is not. */
const flawOfShape = (text: string, maxDepth: number, maxValues: number): string | undefined =>
  holdsMore(text, "[{", maxDepth) || holdsMore(text, "[{,", maxValues - 1)
    ? flawIn(text, maxDepth, maxValues)
    : undefined

/** Keys are looked for only where one of them can stand, spelt out or escaped. */
const mayHoldHostileKeys = (text: string): boolean =>
  text.includes("__proto__") || text.includes("constructor") || text.includes("prototype") || text.includes("\\u")

const holdsHostileKeys = (value: unknown): boolean => {
  const waiting: Array<unknown> = [value]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (!Array.isArray(next) && Object.keys(next as object).some((key) => hostileKeys.has(key))) return true
    for (const each of Object.values(next as object)) if (typeof each === "object" && each !== null) waiting.push(each)
  }
  return false
}

/** A reviver costs many times the parse, so it runs only where there is something to take out. */
const withoutHostileKeys = (text: string, onDropped: () => void): Json => {
  const value = JSON.parse(text) as Json
  if (typeof value !== "object" || value === null || !mayHoldHostileKeys(text) || !holdsHostileKeys(value)) return value
  onDropped()
  return JSON.parse(text, (key, each: unknown) => (hostileKeys.has(key) ? undefined : each)) as Json
}

/** Parses JSON text; hostile keys are dropped. Fails with a sentence, never throws. */
export const parseJson = (text: string, bounds: JsonBounds = {}): Result.Result<Json, string> => {
  const { maxDepth = MAX_JSON_DEPTH, maxValues = Number.POSITIVE_INFINITY, onDropped = () => {} } = bounds
  const flaw = flawOfShape(text, maxDepth, maxValues)
  if (flaw !== undefined) return Result.fail(flaw)
  try {
    return Result.succeed(withoutHostileKeys(text, onDropped))
  } catch (cause) {
    return Result.fail(cause instanceof Error ? cause.message : "not JSON")
  }
}

/** True for `{...}`, not for null or an array. */
export const isJsonObject = (value: unknown): value is { readonly [key: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

// Defined: an object without the properties that are undefined.
// D1  What is undefined is left out; everything else, null, false, 0 and "" included, stays as it is, in its order.

type OptionalKeys<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T]

/** `T`, each property that may be undefined made optional. */
type Defined<T> = Omit<T, OptionalKeys<T>> & { [K in OptionalKeys<T>]?: Exclude<T[K], undefined> }

/**
 * Leaves out what is undefined, for an object with optional properties:
 *
 * @example
 * const view = { id, ...defined({ reason, until }) }
 */
export const defined = <const T extends object>(properties: T): Defined<T> => {
  // A walk over names costs a quarter of Object.entries, and what lacks nothing needs no copy: this runs 80 times a tick.
  for (const name in properties) if (properties[name] === undefined) return sifted(properties)
  return properties as Defined<T>
}

const sifted = <T extends object>(properties: T): Defined<T> => {
  const kept: Partial<T> = {}
  for (const name in properties) {
    const value = properties[name]
    if (value === undefined) continue
    if (name === "__proto__") Object.defineProperty(kept, name, { ...ownProperty, value })
    else kept[name] = value
  }
  return kept as Defined<T>
}

/** As an assignment makes it; `__proto__` can be assigned only so. */
const ownProperty = { configurable: true, enumerable: true, writable: true }

// Ids: the names by which everything is addressed.
// I1  An id is printable, has no slash and at most 128 characters, so that it can stand in a path, a key and a screen.
// I2  An assistant is found by tenant and id together; no key ever holds the id alone.

const plainId = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9._:@#+-]+$/, { message: "must have 1 to 128 letters, digits and . _ : @ # + -" }),
  Schema.isMaxLength(128)
)

export const TenantId = plainId.pipe(Schema.brand("TenantId"))
export type TenantId = typeof TenantId.Type

export const AssistantId = plainId.pipe(Schema.brand("AssistantId"))
export type AssistantId = typeof AssistantId.Type

/** The idempotency key of an envelope: the same id sent twice is accepted once. Any text up to 256 characters. */
export const EnvelopeId = Schema.NonEmptyString.check(Schema.isMaxLength(256)).pipe(Schema.brand("EnvelopeId"))
export type EnvelopeId = typeof EnvelopeId.Type

/** Where an assistant is reached. */
export const Address = Schema.Struct({ tenant: TenantId, assistant: AssistantId })
export type Address = typeof Address.Type

/** The tenant of a deployment that has only one. */
export const DEFAULT_TENANT = TenantId.make("default")

/** `tenant/assistant`, the key of an address in maps and logs. */
export const addressKey = (address: Address): string => `${address.tenant}/${address.assistant}`

export const sameAddress = (a: Address, b: Address): boolean => a.tenant === b.tenant && a.assistant === b.assistant
