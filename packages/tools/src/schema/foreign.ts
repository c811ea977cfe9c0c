// Foreign: schemas of libraries that have no JSON Schema of their own, read by what they are made of: zod 3, and valibot alone.
// Owns that reading. Leaves the check of what comes back to the schema itself: what has no word in JSON Schema is checked there.
// R1  What is read tells a model what to write; what is taken, the schema decides alone.
// R2  A kind that has no form in JSON, or is not known, is refused by its name and its place.

import { defined, type Json } from "@reverie/protocol"
import type { StandardSchemaV1 } from "@standard-schema/spec"
import type { JsonObject } from "./inline.ts"

type Fields = { readonly [key: string]: unknown }

/** How one library is read: `kind` of a schema, and the form of it at a place. */
type Read = (schema: Fields, path: string) => JsonObject

const fieldsOf = (value: unknown): Fields =>
  (typeof value === "object" && value !== null) || typeof value === "function" ? (value as Fields) : {}

const listOf = (value: unknown): ReadonlyArray<Fields> => (Array.isArray(value) ? value.map(fieldsOf) : [])

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

const numberOf = (value: unknown): number | undefined => (Number.isFinite(value) ? (value as number) : undefined)

const refused = (what: string, path: string): never => {
  throw new Error(`${what}${path === "" ? "" : ` at ${path.slice(1)}`} has no form in JSON`)
}

/** A value that JSON keeps as it is; undefined where it does not. */
const jsonValue = (value: unknown): Json | undefined =>
  value === null || ["string", "number", "boolean"].includes(typeof value) ? (value as Json) : undefined

const literal = (values: ReadonlyArray<unknown>, path: string): JsonObject => {
  const kept = values.map((value) => jsonValue(value) ?? refused(`the literal ${String(value)}`, path))
  return kept.length === 1 ? { const: kept[0] ?? null } : { enum: kept }
}

/** An enum that counts has each number as a name too. */
const enumValues = (members: unknown): ReadonlyArray<unknown> => {
  const all = fieldsOf(members)
  const names = Object.keys(all).filter((name) => typeof all[String(all[name])] !== "number")
  return names.map((name) => all[name])
}

interface Property {
  readonly schema: JsonObject
  readonly isOptional: boolean
}

const objectOf = (
  properties: Readonly<Record<string, Property>>,
  rest: JsonObject | boolean | undefined
): JsonObject => {
  const required = Object.keys(properties).filter((name) => properties[name]?.isOptional === false)
  return {
    type: "object",
    properties: Object.fromEntries(Object.entries(properties).map(([name, { schema }]) => [name, schema])),
    ...defined({
      required: required.length === 0 ? undefined : required,
      additionalProperties: rest
    })
  }
}

const nullable = (schema: JsonObject): JsonObject => ({ anyOf: [schema, { type: "null" }] })

const withDefault = (schema: JsonObject, value: unknown): JsonObject => {
  const kept = jsonValue(value)
  return kept === undefined ? schema : { ...schema, default: kept }
}

/** Keywords over a schema that may stand in a union. */
const described = (schema: JsonObject, description: unknown): JsonObject =>
  typeof description === "string" && description !== "" ? { ...schema, description } : schema

/** Patterns with flags mean something else than the same pattern in a schema. */
const patternOf = (regex: unknown): string | undefined =>
  regex instanceof RegExp && regex.flags.replace("u", "") === "" ? regex.source : undefined

const bounded = (schema: JsonObject, bounds: { readonly [keyword: string]: Json | undefined }): JsonObject => {
  const all: { [keyword: string]: Json } = { ...schema }
  for (const [keyword, value] of Object.entries(bounds)) if (value !== undefined) all[keyword] = value
  return all
}

// Zod 3: `_def`, with the name of its class.

const formats: Readonly<Record<string, string>> = {
  email: "email",
  url: "uri",
  uuid: "uuid",
  datetime: "date-time",
  date: "date",
  time: "time",
  ip: "ip"
}

const zodString = (checks: ReadonlyArray<Fields>): JsonObject => {
  let found: JsonObject = { type: "string" }
  for (const { kind, regex, value } of checks) {
    const bound = numberOf(value)
    if (kind === "min") found = bounded(found, { minLength: bound })
    else if (kind === "max") found = bounded(found, { maxLength: bound })
    else if (kind === "length") found = bounded(found, { minLength: bound, maxLength: bound })
    else if (kind === "regex") found = bounded(found, { pattern: patternOf(regex) })
    else found = bounded(found, { format: formats[textOf(kind) ?? ""] })
    // What is changed before the later checks is not what a model writes.
    if (kind === "trim" || kind === "toLowerCase" || kind === "toUpperCase") break
  }
  return found
}

const zodNumber = (checks: ReadonlyArray<Fields>): JsonObject => {
  let found: JsonObject = {
    type: checks.some(({ kind }) => kind === "int") ? "integer" : "number"
  }
  for (const { inclusive, kind, value } of checks) {
    const bound = numberOf(value)
    if (kind === "min") found = bounded(found, { [inclusive === false ? "exclusiveMinimum" : "minimum"]: bound })
    else if (kind === "max") found = bounded(found, { [inclusive === false ? "exclusiveMaximum" : "maximum"]: bound })
    else if (kind === "multipleOf") found = bounded(found, { multipleOf: bound })
  }
  return found
}

const zodDef = (schema: unknown): Fields => fieldsOf(fieldsOf(schema)["_def"])

/** Whether what is left out is taken. */
const isZodOptional = (schema: unknown): boolean => {
  const { innerType, type, typeName, schema: inner } = zodDef(schema)
  switch (typeName) {
    case "ZodOptional":
    case "ZodDefault":
    case "ZodCatch":
    case "ZodAny":
    case "ZodUnknown":
      return true
    case "ZodNullable":
    case "ZodReadonly":
      return isZodOptional(innerType)
    case "ZodBranded":
      return isZodOptional(type)
    case "ZodEffects":
      return isZodOptional(inner)
    default:
      return false
  }
}

const zodObject = ({ catchall, shape, unknownKeys }: Fields, path: string): JsonObject => {
  const properties = fieldsOf(typeof shape === "function" ? (shape as () => unknown)() : shape)
  const each = Object.entries(properties).map(([name, schema]): readonly [string, Property] => [
    name,
    { schema: readZod(fieldsOf(schema), `${path}.${name}`), isOptional: isZodOptional(schema) }
  ])
  const isCaught = zodDef(catchall)["typeName"] !== "ZodNever" && catchall !== undefined
  const rest = isCaught ? readZod(fieldsOf(catchall), path) : unknownKeys === "strict" ? false : undefined
  return objectOf(Object.fromEntries(each), rest)
}

const zodArray = ({ exactLength, maxLength, minLength, type }: Fields, path: string): JsonObject => {
  const of = (bound: unknown) => numberOf(fieldsOf(bound)["value"])
  const exact = of(exactLength)
  return bounded(
    { type: "array", items: readZod(fieldsOf(type), `${path}[]`) },
    { minItems: of(minLength) ?? exact, maxItems: of(maxLength) ?? exact }
  )
}

const readZod: Read = (schema, path) => {
  const def = zodDef(schema)
  return described(zodKind(def, path), def["description"])
}

/** Discriminated unions of some versions keep a Map of their options. */
const zodOptions = (options: unknown): ReadonlyArray<Fields> =>
  listOf(options instanceof Map ? [...options.values()] : options)

const zodKind = (def: Fields, path: string): JsonObject => {
  const inner = (key: string) => readZod(fieldsOf(def[key]), path)
  const name = textOf(def["typeName"]) ?? ""
  switch (name) {
    case "ZodObject":
      return zodObject(def, path)
    case "ZodString":
      return zodString(listOf(def["checks"]))
    case "ZodNumber":
      return zodNumber(listOf(def["checks"]))
    case "ZodBoolean":
      return { type: "boolean" }
    case "ZodNull":
      return { type: "null" }
    case "ZodAny":
    case "ZodUnknown":
      return {}
    case "ZodEnum":
      return literal(Array.isArray(def["values"]) ? def["values"] : [], path)
    case "ZodNativeEnum":
      return literal(enumValues(def["values"]), path)
    case "ZodLiteral":
      return literal([def["value"]], path)
    case "ZodArray":
      return zodArray(def, path)
    case "ZodRecord":
      return {
        type: "object",
        additionalProperties: readZod(fieldsOf(def["valueType"]), `${path}.*`)
      }
    case "ZodUnion":
    case "ZodDiscriminatedUnion":
      return { anyOf: zodOptions(def["options"]).map((option) => readZod(option, path)) }
    case "ZodIntersection":
      return { allOf: [inner("left"), inner("right")] }
    case "ZodNullable":
      return nullable(inner("innerType"))
    case "ZodDefault": {
      const { defaultValue } = def
      return withDefault(inner("innerType"), typeof defaultValue === "function" ? defaultValue() : undefined)
    }
    case "ZodOptional":
    case "ZodCatch":
    case "ZodReadonly":
      return inner("innerType")
    case "ZodBranded":
      return inner("type")
    case "ZodPipeline":
      return inner("in")
    case "ZodEffects":
      // What a step before the schema makes of the arguments, no one can tell.
      return fieldsOf(def["effect"])["type"] === "preprocess" ? refused("z.preprocess()", path) : inner("schema")
    default:
      return refused(`z.${name.replace(/^Zod(.)/, (_, first: string) => first.toLowerCase())}()`, path)
  }
}

// Valibot: `type`, and a `pipe` of what is checked and changed.

const valibotFormats: Readonly<Record<string, string>> = {
  email: "email",
  url: "uri",
  uuid: "uuid",
  iso_date: "date",
  iso_timestamp: "date-time"
}

const valibotBounds = (action: Fields, isList: boolean): { readonly [keyword: string]: Json | undefined } => {
  const bound = numberOf(action["requirement"])
  const [least, most] = isList ? ["minItems", "maxItems"] : ["minLength", "maxLength"]
  switch (action["type"]) {
    case "min_length":
      return { [least]: bound }
    case "max_length":
      return { [most]: bound }
    case "length":
      return { [least]: bound, [most]: bound }
    case "non_empty":
      return { [least]: 1 }
    case "min_value":
      return { minimum: bound }
    case "max_value":
      return { maximum: bound }
    case "gt_value":
      return { exclusiveMinimum: bound }
    case "lt_value":
      return { exclusiveMaximum: bound }
    case "multiple_of":
      return { multipleOf: bound }
    case "integer":
    case "safe_integer":
      return { type: "integer" }
    case "regex":
      return { pattern: patternOf(action["requirement"]) }
    default:
      return { format: valibotFormats[textOf(action["type"]) ?? ""] }
  }
}

const readValibot: Read = (schema, path) => {
  let found = valibotKind(schema, path)
  let isChanged = false
  for (const action of listOf(schema["pipe"]).slice(1)) {
    if (action["kind"] === "metadata") {
      if (action["type"] === "description") found = described(found, action["description"])
      continue
    }
    isChanged ||= action["kind"] !== "validation"
    if (!isChanged) found = bounded(found, valibotBounds(action, schema["type"] === "array"))
  }
  return found
}

const optionalOfValibot: ReadonlySet<unknown> = new Set([
  "optional",
  "exact_optional",
  "nullish",
  "undefinedable",
  "any",
  "unknown"
])

const valibotObject = ({ entries, rest, type }: Fields, path: string): JsonObject => {
  const each = Object.entries(fieldsOf(entries)).map(([name, schema]): readonly [string, Property] => {
    const of = fieldsOf(schema)
    return [
      name,
      {
        schema: readValibot(of, `${path}.${name}`),
        isOptional: optionalOfValibot.has(of["type"])
      }
    ]
  })
  const more = rest === undefined ? undefined : readValibot(fieldsOf(rest), path)
  return objectOf(Object.fromEntries(each), type === "strict_object" ? false : more)
}

const valibotKind = (schema: Fields, path: string): JsonObject => {
  const inner = (key: string, at = path) => readValibot(fieldsOf(schema[key]), at)
  const preset = () => (typeof schema["default"] === "function" ? undefined : schema["default"])
  const name = textOf(schema["type"]) ?? ""
  switch (name) {
    case "object":
    case "loose_object":
    case "strict_object":
    case "object_with_rest":
      return valibotObject(schema, path)
    case "string":
    case "number":
    case "boolean":
    case "null":
      return { type: name }
    case "any":
    case "unknown":
      return {}
    case "literal":
      return literal([schema["literal"]], path)
    case "picklist":
      return literal(Array.isArray(schema["options"]) ? schema["options"] : [], path)
    case "enum":
      return literal(enumValues(schema["enum"]), path)
    case "array":
      return { type: "array", items: inner("item", `${path}[]`) }
    case "record":
      return { type: "object", additionalProperties: inner("value", `${path}.*`) }
    case "union":
    case "variant":
      return { anyOf: listOf(schema["options"]).map((option) => readValibot(option, path)) }
    case "intersect":
      return { allOf: listOf(schema["options"]).map((option) => readValibot(option, path)) }
    case "optional":
    case "exact_optional":
    case "undefinedable":
      return withDefault(inner("wrapped"), preset())
    case "nullable":
    case "nullish":
      return withDefault(nullable(inner("wrapped")), preset())
    case "non_optional":
    case "non_nullable":
    case "non_nullish":
      return inner("wrapped")
    default:
      return refused(`v.${name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())}()`, path)
  }
}

/** How a schema that does not show itself is read, where its library is known. */
export const readerOf = (schema: StandardSchemaV1): (() => unknown) | undefined => {
  const fields = fieldsOf(schema)
  if (typeof zodDef(schema)["typeName"] === "string") return () => readZod(fields, "")
  return schema["~standard"].vendor === "valibot" && typeof fields["type"] === "string"
    ? () => readValibot(fields, "")
    : undefined
}
