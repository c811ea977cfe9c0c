// MessageView: a message of a history as it crosses the wire.
// Owns its form. Leaves which messages are reported to the groups.
// V1  What a person or a model wrote stays the text that it was, cut where it is longer than asked for.

import { defined } from "@reverie/protocol"
import type { PlacedMessage } from "reverie"
import type { MessageView } from "../api/index.ts"

// Clip: long texts, cut for a list or bounded for a page.
// K1  A text that was cut ends with `…`, and no character is cut in two.

/** A bound of a text; none where texts are reported whole. */
export const boundOf = (isWhole: boolean, maxChars: number): number => (isWhole ? Infinity : maxChars)

/** In UTF-16 units. */
export const LIST_CHARS = 300
export const TEXT_CHARS = 4_000
export const WHOLE_CHARS = 200_000

export const clip = (text: string, maxChars: number = LIST_CHARS): string => {
  if (text.length <= maxChars) return text
  const end = maxChars - 1
  const last = text.charCodeAt(end - 1)
  const isHalf = last >= 0xd800 && last <= 0xdbff
  return `${text.slice(0, isHalf ? end - 1 : end)}…`
}

/** As JSON, the same of every text in it, however deep. */
export const clipAll = (value: unknown, maxChars: number): unknown => {
  if (typeof value === "string") return clip(value, maxChars)
  if (Array.isArray(value)) return value.map((each) => clipAll(each, maxChars))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, each]) => (each === undefined ? [] : [[key, clipAll(each, maxChars)]]))
  )
}

export const messageViewOf = ({ message, place }: PlacedMessage, maxChars: number): MessageView => {
  const { at, call, calls, content, name, parts, rejected, role, tokens } = message
  return {
    no: place.no,
    index: place.index,
    role,
    content: clip(content, maxChars),
    ...defined({
      name,
      call,
      parts,
      rejected: rejected === undefined ? undefined : clip(rejected, maxChars),
      calls:
        calls === undefined
          ? undefined
          : calls.map(({ arguments: asked, id, malformed, tool }) => ({
              id,
              tool,
              arguments: clip(malformed ?? JSON.stringify(asked), maxChars)
            }))
    }),
    at,
    tokens
  }
}
