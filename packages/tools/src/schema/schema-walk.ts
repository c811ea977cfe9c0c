// Schema walk: where a JSON Schema holds further schemas.
// Owns the list of such keywords. Leaves what is done with each subschema to the caller.
// I1  Nothing under `enum`, `const`, `default` or `examples` is taken for a schema, whatever it looks like.

import { isJsonObject, type Json } from "@reverie/protocol"

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
