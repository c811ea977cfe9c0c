// Offer: the object schema a model learns of.
// Owns the way from any object-like schema to the plain subset that every provider takes.
// Leaves the checking of arguments to `input.ts`: what the author wrote decides there, not what is offered here.
// I1  The root has `type: "object"` and `properties`, and no union, intersection or condition at its top.
// I2  Objects that say nothing of further properties are closed where that can not contradict a neighbouring part.
// I3  A property the author's schema names is offered.

import { isJsonObject, type Json } from "@reverie/protocol"
import { inline, type JsonObject, mapSubschemas } from "./inline.ts"

/** The schema of a tool that takes no arguments. */
export const NO_ARGUMENTS: JsonObject = { type: "object", properties: {}, additionalProperties: false }

/** The offered form of an author's schema, or one sentence of why there is none. */
export const offerOf = (schema: JsonObject): { readonly parameters: JsonObject; readonly problem?: string } => {
  const { problem, schema: whole } = inline(schema)
  if (problem !== undefined) return { parameters: NO_ARGUMENTS, problem }
  const root = flattened(whole)
  if (root === undefined) {
    const type = whole["type"]
    const found = type === undefined ? "" : `, not ${JSON.stringify(type)}`
    return { parameters: NO_ARGUMENTS, problem: `its input must be an object schema (type "object")${found}` }
  }
  return { parameters: { type: "object", properties: {}, ...closed(root) } }
}

// Providers refuse these at the top of a tool's schema, so what they say of properties is pulled up.
const combining = new Set(["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "enum", "const"])

const flattened = (schema: Json): JsonObject | undefined => {
  if (!isJsonObject(schema)) return undefined
  const type = schema["type"]
  if (type !== undefined && type !== "object") return undefined
  const all = partsOf(schema, "allOf").map(flattened)
  const unions = ["anyOf", "oneOf"].map((keyword) => partsOf(schema, keyword).map(flattened))
  const isObject =
    type === "object" ||
    schema["properties"] !== undefined ||
    schema["required"] !== undefined ||
    all.some((part) => part !== undefined) ||
    unions.some((parts) => parts.length > 0 && parts.every((part) => part !== undefined))
  if (!isObject) return undefined
  const own = Object.fromEntries(Object.entries(schema).filter(([keyword]) => !combining.has(keyword)))
  return [...unions.map(present).map(either), ...all].reduce<JsonObject>(both, { ...own, type: "object" })
}

const present = (parts: ReadonlyArray<JsonObject | undefined>): ReadonlyArray<JsonObject> =>
  parts.filter((part) => part !== undefined)

const partsOf = (schema: JsonObject, keyword: string): ReadonlyArray<Json> => {
  const parts = schema[keyword]
  return Array.isArray(parts) ? parts : []
}

const both = (left: JsonObject, right: JsonObject | undefined): JsonObject =>
  right === undefined
    ? left
    : {
        ...left,
        ...openness([left, right]),
        ...joined("allOf", [left, right]),
        ...requiring([...new Set([...requiredOf(left), ...requiredOf(right)])])
      }

const either = (parts: ReadonlyArray<JsonObject>): JsonObject | undefined => {
  const [first, ...rest] = parts
  if (first === undefined) return undefined
  const always = rest.reduce((names, part) => {
    const others = new Set(requiredOf(part))
    return names.filter((name) => others.has(name))
  }, requiredOf(first))
  return { ...openness(parts), ...joined("anyOf", parts), ...requiring(always) }
}

const requiredOf = (schema: JsonObject): ReadonlyArray<string> => {
  const names = schema["required"]
  return Array.isArray(names) ? names.filter((name) => typeof name === "string") : []
}

const requiring = (names: ReadonlyArray<string>): JsonObject => (names.length === 0 ? {} : { required: names })

const openness = (parts: ReadonlyArray<JsonObject>): JsonObject => {
  const open = parts.map((part) => part["additionalProperties"]).find((rule) => rule !== undefined && rule !== false)
  return open === undefined ? {} : { additionalProperties: true }
}

/** The properties of all parts; one that they describe differently becomes a combination. */
const joined = (keyword: "allOf" | "anyOf", parts: ReadonlyArray<JsonObject>): JsonObject => {
  const named = parts.map((part) => part["properties"]).filter(isJsonObject)
  if (named.length === 0) return {}
  const choices = new Map<string, Map<string, Json>>()
  for (const [name, schema] of named.flatMap((properties) => Object.entries(properties))) {
    const known = choices.get(name) ?? new Map<string, Json>()
    choices.set(name, known.set(JSON.stringify(schema), schema))
  }
  const properties = [...choices].map(([name, known]) => {
    const schemas = [...known.values()]
    return [name, schemas.length === 1 ? schemas[0] : { [keyword]: schemas }]
  })
  return { properties: Object.fromEntries(properties) }
}

// Closing a part of an intersection would refuse what its neighbour allows, and closing below `not` would widen.
const intersecting = new Set([
  "allOf",
  "not",
  "if",
  "then",
  "else",
  "dependentSchemas",
  "propertyNames",
  "contentSchema"
])
const neighbours = ["allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas"]

const closed = (schema: JsonObject): JsonObject => {
  const beside = neighbours.filter((keyword) => schema[keyword] !== undefined).length
  const alone = beside === 1 && schema["properties"] === undefined && schema["patternProperties"] === undefined
  const inner = mapSubschemas(withoutSafeBounds(schema), (sub, keyword) => {
    if (!isJsonObject(sub) || intersecting.has(keyword)) return sub
    if ((keyword === "anyOf" || keyword === "oneOf") && !alone) return sub
    return closed(sub)
  })
  const silent = schema["additionalProperties"] === undefined && schema["unevaluatedProperties"] === undefined
  return silent && beside === 0 && schema["properties"] !== undefined
    ? { ...inner, additionalProperties: false }
    : inner
}

// Schema libraries bound every integer by what a double can hold; a model need not pay for reading that.
const withoutSafeBounds = (schema: JsonObject): JsonObject => {
  if (schema["minimum"] !== Number.MIN_SAFE_INTEGER && schema["maximum"] !== Number.MAX_SAFE_INTEGER) return schema
  return Object.fromEntries(
    Object.entries(schema).filter(
      ([keyword, bound]) =>
        !(keyword === "minimum" && bound === Number.MIN_SAFE_INTEGER) &&
        !(keyword === "maximum" && bound === Number.MAX_SAFE_INTEGER)
    )
  )
}
