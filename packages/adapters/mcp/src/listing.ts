// Listing: the tools that a server says it has.
// Owns reading the list and its limits. Leaves which of them may be used to tools.ts.
// L1  A list is read whole or not at all: it has at most `maxTools` tools on at most MAX_PAGES pages.
// L2  A tool that is too large, too deep or named like another carries its flaw; only one that is allowed is refused for it.

import type { Client } from "@modelcontextprotocol/client"
import { isJsonObject, type Json, plain } from "@reverie/protocol"
import { createHash } from "node:crypto"
import { canonicalJson } from "@reverie/tools"

// Pin: what makes a tool of a server the tool that someone looked at.
// N1  The hash is SHA-256 of the canonical JSON of name, description, input schema and annotations: each of them counts,
//     the order of keys does not.

/** What a server says of a tool, as far as anybody here uses it. */
export interface Definition {
  readonly name: string
  readonly description: string
  readonly inputSchema: { readonly [keyword: string]: Json }
  readonly annotations: Json
}

export const pinOf = ({ annotations, description, inputSchema, name }: Definition): string =>
  createHash("sha256").update(canonicalJson({ name, description, inputSchema, annotations })).digest("hex")

const parts = { description: "description", inputSchema: "input schema", annotations: "annotations" } as const

/** The parts that differ, in words. */
export const changesOf = (before: Definition, after: Definition): string => {
  const keys = ["description", "inputSchema", "annotations"] as const
  const changed = keys.filter((key) => canonicalJson(before[key]) !== canonicalJson(after[key]))
  return changed.map((key) => parts[key]).join(" and ")
}

/** The hashes as they are pasted into the options of the server. */
export const pinsText = (hashes: Readonly<Record<string, string>>): string => {
  const lines = Object.entries(hashes).map(([tool, hash]) => `  ${JSON.stringify(tool)}: "${hash}"`)
  return lines.length === 0 ? "pins: {}" : `pins: {\n${lines.join(",\n")}\n}`
}

// Plain: words of a server, cut to length.
// P2  A cut never splits a character, and says how much was left out.

/** On one line, at most so many UTF-16 units. */
export const oneLine = (text: string, limit: number): string => {
  const line = plain(text.slice(0, limit * 4))
    .replaceAll(/\s+/gu, " ")
    .trim()
  return line.length <= limit
    ? line
    : `${line
        .slice(0, limit - 3)
        .toWellFormed()
        .replace(/\ufffd$/u, "")}...`
}

/** At most so many bytes of UTF-8, the note included. */
export const cutBytes = (text: string, maxBytes: number): string => {
  const bytes = Buffer.byteLength(text)
  if (bytes <= maxBytes) return text
  const whole = Buffer.from(text)
  let end = Math.max(0, maxBytes - 100)
  // A byte 10xxxxxx goes on with the character before it.
  while (end > 0 && ((whole[end] ?? 0) & 0xc0) === 0x80) end--
  return `${whole.toString("utf8", 0, end)}\n[Cut here: only the first ${end} of ${bytes} bytes are shown.]`
}

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
