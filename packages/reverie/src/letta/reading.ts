// Reading: values of a file that anybody may have written.
// Owns the safe ways to look at one. Leaves what they mean to the rest of the room.
// R1  Whatever stands there, a look answers a text, a list or an object; what does not fit is empty.
// R2  Text has no invisible characters and a bounded length.

import { cleanLine, cleanText } from "@reverie/memory"
import { isJsonObject, type Json } from "@reverie/protocol"

const MAX_TEXT_CHARS = 200_000

export type JsonObject = { readonly [key: string]: Json }

/** Tells of something that is left behind, and why. */
export type Leave = (what: string, why: string) => void

export const objectIn = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {})

export const listIn = (value: Json | undefined): ReadonlyArray<Json> =>
  Array.isArray(value) ? (value as ReadonlyArray<Json>) : []

export const textIn = (value: Json | undefined): string =>
  typeof value === "string" ? cleanText(value.toWellFormed().slice(0, MAX_TEXT_CHARS)) : ""

export const lineIn = (value: Json | undefined): string => cleanLine(textIn(value)).slice(0, 200)

/** What Reverie does in its own way: no code of Letta's is needed for it. */
const ownTools = new Set([
  "send_message",
  "core_memory_append",
  "core_memory_replace",
  "memory",
  "memory_apply_patch",
  "memory_insert",
  "memory_replace",
  "memory_rethink",
  "memory_finish_edits",
  "archival_memory_insert",
  "archival_memory_search",
  "conversation_search",
  "conversation_search_date"
])

export const isOwnTool = (name: string): boolean => ownTools.has(name)
