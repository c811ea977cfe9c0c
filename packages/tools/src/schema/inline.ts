// Inline: a JSON Schema without references, as providers want it.
// Owns resolving `$ref` inside one document and refusing what is no schema. Leaves narrowing to `offer.ts`.
// I1  The result holds no `$ref`, `$defs` or `$schema`, and not more than MAX_SCHEMA_NODES subschemas.
// I2  A schema that contains itself is shown twice along any path; deeper only its type and description remain.
// I3  Every complaint is one sentence; nothing is thrown and nothing is fetched.

import { isJsonObject, type Json } from "@reverie/protocol"

// Schema walk: where a JSON Schema holds further schemas.
// I1  Nothing under `enum`, `const`, `default` or `examples` is taken for a schema, whatever it looks like.

export type JsonObject = { readonly [key: string]: Json }

const holdsOne = new Set([
  "items",
  "additionalItems",
  "additionalProperties",
  "contains",
  "not",
  "if",
  "then",
  "else",
  "propertyNames",
  "unevaluatedItems",
  "unevaluatedProperties",
  "contentSchema"
])
const holdsList = new Set(["allOf", "anyOf", "oneOf", "prefixItems", "items"])
const holdsNamed = new Set(["properties", "patternProperties", "dependentSchemas"])

/** The same schema with each direct subschema replaced. */
export const mapSubschemas = (schema: JsonObject, replace: (sub: Json, keyword: string) => Json): JsonObject => {
  const members: Array<[string, Json]> = []
  for (const [keyword, value] of Object.entries(schema)) {
    if (holdsNamed.has(keyword) && isJsonObject(value)) {
      members.push([
        keyword,
        Object.fromEntries(Object.entries(value).map(([name, sub]) => [name, replace(sub, keyword)]))
      ])
    } else if (holdsList.has(keyword) && Array.isArray(value)) {
      members.push([keyword, value.map((sub: Json) => replace(sub, keyword))])
    } else if (holdsOne.has(keyword)) members.push([keyword, replace(value, keyword)])
    else members.push([keyword, value])
  }
  return Object.fromEntries(members)
}

/** Deepest nesting of subschemas, in levels. */
const MAX_SCHEMA_DEPTH = 32

/** Most subschemas after inlining; keeps a small document with many references from becoming a huge prompt. */
export const MAX_SCHEMA_NODES = 5_000

const MAX_REPEATS_ON_PATH = 2

const dropped = new Set([
  "$schema",
  "$id",
  "$anchor",
  "$dynamicAnchor",
  "$defs",
  "definitions",
  "$comment",
  "$vocabulary",
  "$ref",
  "$dynamicRef"
])
const annotations = new Set(["title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"])
const typeNames = new Set(["object", "array", "string", "number", "integer", "boolean", "null"])

interface Walk {
  readonly root: JsonObject
  readonly problems: Array<string>
  nodes: number
}

/** The schema with every reference replaced by what it names, or the first sentence of why that is impossible. */
export const inline = (root: JsonObject): { readonly schema: JsonObject; readonly problem?: string } => {
  const walk: Walk = { root, problems: [], nodes: 0 }
  const schema = inlined(walk, root, [], 0)
  const problem = walk.problems[0]
  if (problem !== undefined) return { schema: {}, problem }
  return isJsonObject(schema) ? { schema } : { schema: {}, problem: "its schema is not an object" }
}

const inlined = (walk: Walk, schema: Json, through: ReadonlyArray<string>, depth: number): Json => {
  if (walk.problems.length > 0 || typeof schema === "boolean") return schema
  if (!isJsonObject(schema)) return complain(walk, `its schema holds ${briefly(schema)} where a schema is expected`)
  if (++walk.nodes > MAX_SCHEMA_NODES) return complain(walk, `its schema has over ${MAX_SCHEMA_NODES} parts, inlined`)
  if (depth > MAX_SCHEMA_DEPTH) return complain(walk, `its schema is nested deeper than ${MAX_SCHEMA_DEPTH} levels`)
  const flaw = flawOf(schema)
  if (flaw !== undefined) return complain(walk, flaw)
  const own = withoutDropped(schema)
  const inner = mapSubschemas(own, (sub) => inlined(walk, sub, through, depth + 1))
  const ref = schema["$ref"] ?? schema["$dynamicRef"]
  if (ref === undefined) return inner
  if (typeof ref !== "string") return complain(walk, "its schema has a $ref that is no text")
  const target = resolve(walk.root, ref)
  if (target === undefined) return complain(walk, `its schema refers to ${JSON.stringify(ref)}, which is not in it`)
  const repeats = through.filter((other) => other === ref).length
  const named = repeats >= MAX_REPEATS_ON_PATH ? summary(target) : inlined(walk, target, [...through, ref], depth + 1)
  if (!isJsonObject(named)) return Object.keys(inner).length === 0 ? named : { ...inner, allOf: [named] }
  const body: JsonObject = named
  if (Object.keys(inner).every((keyword) => annotations.has(keyword))) return { ...body, ...inner }
  return { ...inner, allOf: [named, ...(Array.isArray(inner["allOf"]) ? inner["allOf"] : [])] }
}

const complain = (walk: Walk, sentence: string): Json => {
  walk.problems.push(sentence)
  return {}
}

const briefly = (value: unknown): string => {
  const text = JSON.stringify(value) ?? typeof value
  return text.length > 60 ? `${text.slice(0, 60)}...` : text
}

const withoutDropped = (schema: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(schema).filter(([keyword]) => !dropped.has(keyword)))

const summary = (target: Json): JsonObject => {
  if (!isJsonObject(target)) return {}
  return Object.fromEntries(
    Object.entries(target).filter(([keyword]) => keyword === "type" || keyword === "description")
  )
}

const flawOf = (schema: JsonObject): string | undefined => {
  const type = schema["type"]
  const types = Array.isArray(type) ? type : type === undefined ? [] : [type]
  const wrongType = types.find((name) => typeof name !== "string" || !typeNames.has(name))
  if (wrongType !== undefined) return `its schema names the type ${briefly(wrongType)}, which JSON Schema does not have`
  const named = schema["properties"]
  if (named !== undefined && !isJsonObject(named)) return "its schema has `properties` that are not an object"
  const required = schema["required"]
  if (required !== undefined && !(Array.isArray(required) && required.every((name) => typeof name === "string"))) {
    return "its schema has a `required` that is not a list of names"
  }
  const choices = schema["enum"]
  if (choices !== undefined && !(Array.isArray(choices) && choices.length > 0)) {
    return "its schema has an `enum` that is not a list of values"
  }
  const patterns = isJsonObject(schema["patternProperties"]) ? Object.keys(schema["patternProperties"]) : []
  const pattern = [schema["pattern"] ?? [], patterns].flat().find((source) => !isPattern(source))
  if (pattern === undefined) return undefined
  return `its schema has the pattern ${briefly(pattern)}, which is no regular expression`
}

const isPattern = (source: unknown): boolean => {
  if (typeof source !== "string") return false
  return ["u", ""].some((flags) => {
    try {
      return new RegExp(source, flags) instanceof RegExp
    } catch {
      return false
    }
  })
}

const resolve = (root: JsonObject, ref: string): Json | undefined => {
  const id = root["$id"]
  const local = typeof id === "string" && id !== "" && ref.startsWith(`${id}#`) ? ref.slice(id.length) : ref
  if (local === "#" || local === id) return root
  if (!local.startsWith("#")) return undefined
  if (!local.startsWith("#/")) return anchored(root, local.slice(1), 0)
  return local
    .slice(2)
    .split("/")
    .reduce<Json | undefined>((at, token) => stepInto(at, unescape(token)), root)
}

const stepInto = (at: Json | undefined, token: string): Json | undefined => {
  if (Array.isArray(at)) return at[Number(token)]
  return isJsonObject(at) && Object.hasOwn(at, token) ? at[token] : undefined
}

const unescape = (token: string): string => {
  const plain = token.replaceAll("~1", "/").replaceAll("~0", "~")
  try {
    return decodeURIComponent(plain)
  } catch {
    return plain
  }
}

const anchored = (at: Json, name: string, depth: number): Json | undefined => {
  if (depth > MAX_SCHEMA_DEPTH || typeof at !== "object" || at === null) return undefined
  if (isJsonObject(at) && (at["$anchor"] === name || at["$dynamicAnchor"] === name)) return at
  for (const inner of Object.values(at)) {
    const found = anchored(inner, name, depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}
