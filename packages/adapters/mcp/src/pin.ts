// Pin: what makes a tool of a server the tool that somebody looked at.
// Owns the hash of a definition and telling what changed. Leaves refusing to tools.ts.
// N1  The hash is SHA-256 of the canonical JSON of name, description, input schema and annotations: each of them counts,
//     the order of keys does not.

import { createHash } from "node:crypto"
import type { Json } from "@reverie/protocol"
import { canonicalJson } from "@reverie/tools"

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
