// Render: a value that a run gave, as text.
// Owns showing a value and the cap. Loads nothing heavy, so that a process of a single tool can use it too.
// I1  No content is longer than MAX_RESULT_CHARS, and one that was cut says so and by how much.
// I2  A value is shown whole as JSON or refused: nothing is dropped from it silently.
// I3  Content is well-formed Unicode, so that any store and any provider takes it.

import type { GivenPart, PartType } from "@reverie/protocol"
import { clipped } from "./results/sentences.ts"
import { messageOf } from "./results/sentences.ts"

/** Longest result a model is shown, in UTF-16 units; the rest is cut and said to be cut. */
const MAX_RESULT_CHARS = 16_000

export const capped = (content: string): string => {
  const text = content.isWellFormed() ? content : content.toWellFormed()
  if (text.length <= MAX_RESULT_CHARS) return text
  const room = MAX_RESULT_CHARS - 120
  const end = isHighSurrogate(text.charCodeAt(room - 1)) ? room - 1 : room
  return `${text.slice(0, end)}\n[Cut here: only the first ${end} of ${text.length} characters are shown.]`
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff

export const render = (value: unknown): { readonly text: string } | { readonly problem: string } => {
  if (typeof value === "string") return { text: value }
  if (value === undefined) return { text: "ok" }
  try {
    return { text: JSON.stringify(value, refuseWhatIsNotJson) }
  } catch (thrown) {
    const cyclic = thrown instanceof TypeError && /circular|cyclic/i.test(thrown.message)
    return { problem: cyclic ? "it contains itself" : messageOf(thrown) }
  }
}

// Left alone, JSON.stringify drops functions and symbols and shows a Map as `{}`.
const refuseWhatIsNotJson = (key: string, value: unknown): unknown => {
  const kind = typeof value
  const where = key === "" ? "it" : `its ${JSON.stringify(clipped(key, 64))}`
  if (kind === "function" || kind === "symbol" || kind === "bigint") throw notJson(where, kind)
  if (value instanceof Map || value instanceof Set) throw notJson(where, value instanceof Map ? "Map" : "Set")
  return value
}

const notJson = (where: string, kind: string): TypeError => new TypeError(`${where} is a ${kind}, which is not JSON`)

/** What a run gives that has more than a text to show. */
export interface TextWithParts {
  readonly text: string
  readonly parts: ReadonlyArray<GivenPart>
}

const types: ReadonlySet<unknown> = new Set<PartType>(["image", "file", "audio"])

const isPart = (value: unknown): value is GivenPart =>
  typeof value === "object" &&
  value !== null &&
  types.has(Reflect.get(value, "type")) &&
  Reflect.get(value, "data") !== undefined

/** True for `{ text, parts }` and nothing else: any other object is shown as JSON. */
export const isTextWithParts = (value: unknown): value is TextWithParts => {
  if (typeof value !== "object" || value === null || Object.keys(value).toSorted().join() !== "parts,text") return false
  const { parts, text } = value as { readonly parts: unknown; readonly text: unknown }
  return typeof text === "string" && Array.isArray(parts) && parts.length > 0 && parts.every(isPart)
}

export { messageOf }
