// Offer: what is made of a server's definition before a model or a checker sees it.
// Owns names, descriptions and schemas on this side. Leaves the pinned definition as the server said it.
// O1  A description is shown as the server's own words, plain and bounded, and so is every description in a schema.
// O2  Arguments are checked by the server's schema without its patterns: nobody's regular expression runs here.

import { createHash } from "node:crypto"
import { isJsonObject, type Json } from "@reverie/protocol"
import { oneLine, plain } from "./plain.ts"

const MAX_DESCRIPTION_CHARS = 2_000
const MAX_HINT_CHARS = 500
const MAX_NAME_CHARS = 64

/** `<server>__<tool>` in the letters that names of tools have here. A long one ends with a part of its hash. */
export const toolNameOf = (server: string, tool: string): string => {
  const words = tool
    .replaceAll(/([a-z0-9])([A-Z])/gu, "$1_$2")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/gu, "_")
    .replaceAll(/^_+|_+$/gu, "")
  const name = `${server}__${words === "" ? "tool" : words}`
  if (name.length <= MAX_NAME_CHARS) return name
  const hash = createHash("sha256").update(tool).digest("hex").slice(0, 8)
  return `${name.slice(0, MAX_NAME_CHARS - 9)}_${hash}`
}

export const descriptionOf = (server: string, tool: string, description: string): string => {
  const words = plain(description).trim()
  if (words === "") return `The tool ${oneLine(tool, 64)} of the MCP server ${server}.`
  const shown =
    words.length <= MAX_DESCRIPTION_CHARS ? words : `${words.slice(0, MAX_DESCRIPTION_CHARS).toWellFormed()}...`
  return `A tool of the MCP server ${server}, which says of it: ${shown}`
}

const values = new Set(["enum", "const", "default", "examples"])

const walked = (schema: Json, change: (keyword: string, value: Json) => Json | undefined): Json => {
  if (Array.isArray(schema)) return schema.map((one) => walked(one, change))
  if (!isJsonObject(schema)) return schema
  return Object.fromEntries(
    Object.entries(schema).flatMap(([keyword, value]) => {
      if (values.has(keyword)) return [[keyword, value]]
      const changed = change(keyword, value)
      return changed === undefined ? [] : [[keyword, walked(changed, change)]]
    })
  )
}

/** As it is shown. A property may be called `description`; then its value is no text. */
export const shownSchema = (schema: { readonly [keyword: string]: Json }): Json =>
  walked(schema, (keyword, value) =>
    (keyword === "description" || keyword === "title") && typeof value === "string"
      ? oneLine(value, MAX_HINT_CHARS)
      : value
  )

/** As it is checked. */
export const checkedSchema = (schema: { readonly [keyword: string]: Json }): Json => {
  const hasPatterns = (object: Json): boolean => isJsonObject(object) && isJsonObject(object["patternProperties"])
  const open = (object: Json): Json => {
    if (Array.isArray(object)) return object.map(open)
    if (!isJsonObject(object)) return object
    const dropped = hasPatterns(object) ? ["patternProperties", "additionalProperties", "unevaluatedProperties"] : []
    return Object.fromEntries(
      Object.entries(object).flatMap(([keyword, value]) => {
        if (dropped.includes(keyword) || (keyword === "pattern" && typeof value === "string")) return []
        return [[keyword, values.has(keyword) ? value : open(value)]]
      })
    )
  }
  return open(schema)
}
