// Values: what a schema of the contract allows, and what an attacker sends instead.
// Owns making values out of JSON Schema. Leaves where they go to requests.ts.
// V1  The same fate gives the same values.
// V2  Part of the values do not fit: wrong types, hostile keys, depth, length, NUL, lone surrogates, escapes.

import type { Fate } from "@reverie/testkit/world"

export interface JsonSchema {
  readonly $ref?: string
  readonly type?: string | ReadonlyArray<string>
  readonly enum?: ReadonlyArray<unknown>
  readonly const?: unknown
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly oneOf?: ReadonlyArray<JsonSchema>
  readonly allOf?: ReadonlyArray<JsonSchema>
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: ReadonlyArray<string>
  readonly items?: JsonSchema
  readonly maxLength?: number
  readonly minLength?: number
  readonly minimum?: number
  readonly maximum?: number
}

export interface Pool {
  /** Ids that exist, of either tenant, and of no one. */
  readonly ids: ReadonlyArray<string>
  readonly resolve: (ref: string) => JsonSchema | undefined
}

const texts = [
  "",
  "0",
  "-1",
  "1e309",
  "NaN",
  "null",
  "../../etc/passwd",
  "..%2f..%2fetc%2fpasswd",
  "%00",
  "%",
  "%zz",
  "' OR '1'='1",
  '"; DROP TABLE assistants; --',
  "<script>alert(1)</script>",
  "\u001b]0;owned\u0007",
  "\u0000",
  "\ud800",
  "\u202e\u200b",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "a".repeat(5_000),
  "😀".repeat(50),
  "${jndi:ldap://127.0.0.1/a}",
  "http://169.254.169.254/latest/meta-data",
  "file:///etc/passwd",
  "\r\nset-cookie: a=b",
  "9007199254740993",
  "assistant:desk"
] as const

const deep = (levels: number): unknown => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`)

export const hostileText = (fate: Fate): string => fate.pick(texts)

const hostileValue = (fate: Fate): unknown =>
  fate.pick<() => unknown>([
    () => null,
    () => hostileText(fate),
    () => [],
    () => ({}),
    () => -1,
    () => 1e308,
    () => 0.5,
    () => true,
    () => deep(fate.pick([10, 63, 200])),
    () => JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'),
    () => Array.from({ length: 200 }, () => ({})),
    () => ({ type: "message", text: { toString: "x" } })
  ])()

const textFor = ({ maxLength = 40, minLength = 0 }: JsonSchema, pool: Pool, fate: Fate): string => {
  if (fate.chance(0.5)) return fate.pick(pool.ids)
  const length = fate.chance(0.05) ? maxLength + 1 : fate.pick([minLength, Math.min(maxLength, 12), maxLength])
  return "x".repeat(Math.min(length, 3_000))
}

const fitting = (schema: JsonSchema, pool: Pool, fate: Fate, depth: number): unknown => {
  const { anyOf, enum: choices, oneOf, properties = {}, required = [], type } = schema
  if (schema.const !== undefined) return schema.const
  if (choices !== undefined) return fate.pick(choices)
  const union = anyOf ?? oneOf
  if (union !== undefined && union.length > 0) return valueFor(fate.pick(union), pool, fate, depth)
  switch (typeof type === "string" ? type : type?.[0]) {
    case "string":
      return textFor(schema, pool, fate)
    case "integer":
    case "number":
      return fate.pick([schema.minimum ?? 0, schema.maximum ?? 3, 1, 2, fate.between(0, 50)])
    case "boolean":
      return fate.chance(0.5)
    case "null":
      return null
    case "array":
      return Array.from({ length: fate.between(0, 3) }, () => valueFor(schema.items ?? {}, pool, fate, depth + 1))
    case "object":
      return Object.fromEntries(
        Object.entries(properties)
          .filter(([name]) => required.includes(name) || fate.chance(0.5))
          .map(([name, each]) => [name, valueFor(each, pool, fate, depth + 1)])
      )
    default:
      return hostileValue(fate)
  }
}

/** A value for a schema; now and then one that does not fit it. */
export const valueFor = (schema: JsonSchema, pool: Pool, fate: Fate, depth: number = 0): unknown => {
  if (depth > 8 || fate.chance(0.06)) return hostileValue(fate)
  const resolved = schema.$ref === undefined ? schema : pool.resolve(schema.$ref)
  const [only] = resolved?.allOf ?? []
  return fitting({ ...only, ...resolved }, pool, fate, depth)
}
