// Listing: the tools that a server says it has.
// Owns reading the list and its limits. Leaves which of them may be used to tools.ts.
// L1  A list is read whole or not at all: it has at most `maxTools` tools on at most MAX_PAGES pages.
// L2  A tool that is too large, too deep or named like another carries its flaw; only one that is allowed is refused for it.

import type { Client } from "@modelcontextprotocol/client"
import { isJsonObject, type Json } from "@reverie/protocol"
import { oneLine } from "./plain.ts"
import { type Definition, pinOf } from "./pin.ts"

export const MAX_PAGES = 16
/** Longest definition of one tool as JSON, in bytes. */
const MAX_TOOL_BYTES = 64 * 1024
/** Deepest nesting of a definition, in levels of JSON: each level of a schema takes two or three. */
const MAX_JSON_DEPTH = 128
const MAX_NAME_CHARS = 128

export interface Offered {
  readonly definition: Definition
  readonly hash: string
}

export type Listing = ReadonlyMap<string, Offered | { readonly flaw: string }>

/** Whether the value nests deeper than the limit; it is walked level by level, so no depth is too much. */
const isDeep = (value: unknown): boolean => {
  let level: ReadonlyArray<unknown> = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_JSON_DEPTH) return true
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values(one) : []))
  }
  return false
}

const copyOf = (value: unknown): Json => (value === undefined ? null : JSON.parse(JSON.stringify(value)))

const readTool = (tool: Awaited<ReturnType<Client["listTools"]>>["tools"][number]): Offered | { flaw: string } => {
  const { annotations, description = "", inputSchema, name } = tool
  const said = { annotations, description, inputSchema, name }
  if (name === "" || name.length > MAX_NAME_CHARS) return { flaw: `its name has not 1 to ${MAX_NAME_CHARS} characters` }
  if (isDeep(said)) return { flaw: `its definition is nested deeper than ${MAX_JSON_DEPTH} levels` }
  const bytes = Buffer.byteLength(JSON.stringify(said))
  if (bytes > MAX_TOOL_BYTES) return { flaw: `its definition has ${bytes} bytes, more than ${MAX_TOOL_BYTES}` }
  const schema = copyOf(inputSchema)
  if (!isJsonObject(schema)) return { flaw: "its input schema is no object" }
  const definition = { name, description, inputSchema: schema, annotations: copyOf(annotations) }
  return { definition, hash: pinOf(definition) }
}

export interface ListingLimits {
  readonly maxTools: number
  readonly millis: number
}

/** Rejects with an error whose message says what is wrong with the list. */
export const readListing = async (client: Client, { maxTools, millis }: ListingLimits): Promise<Listing> => {
  const options = { timeout: millis, maxTotalTimeout: millis, cacheMode: "bypass" as const }
  const { tools } = await client.listTools(undefined, options)
  if (tools.length > maxTools) throw new Error(`it offers ${tools.length} tools, more than maxTools (${maxTools})`)
  const listing = new Map<string, Offered | { flaw: string }>()
  for (const tool of tools) {
    listing.set(tool.name, listing.has(tool.name) ? { flaw: "two tools have its name" } : readTool(tool))
  }
  return listing
}

/** The names of a list for a person to read, at most some of them. */
export const namesOf = (listing: Listing): ReadonlyArray<string> => [...listing.keys()].map((name) => oneLine(name, 64))

export const spelledNames = (names: ReadonlyArray<string>): string => {
  if (names.length === 0) return "no tools"
  const more = names.length > 40 ? `, and ${names.length - 40} more` : ""
  return names.slice(0, 40).join(", ") + more
}
