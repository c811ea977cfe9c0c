// Answer: the result of a call as text for a model.
// Owns rendering every kind of content and the cut. Leaves what the model makes of it to the prompt, where it is data.
// W1  Images, audio and other blobs are named with their type and size, and never shown.
// W2  The text is no longer than the limit of the server's options, cut at a character, and says so.
// W3  Structured content is shown unless a text already says the same.

import { type Json, plain } from "@reverie/protocol"
import { canonicalJson } from "@reverie/tools"
import { cutBytes, oneLine } from "./listing.ts"

type Block = { readonly [key: string]: unknown }

const MAX_BLOCKS = 1_000

const isObject = (value: unknown): value is Block =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const textOf = (value: unknown): string => (typeof value === "string" ? value : "")
const short = (value: unknown): string => oneLine(textOf(value), 500)

/** Bytes of what is written in base64. */
const sizeOf = (data: unknown): string => {
  const text = textOf(data)
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0
  return `${Math.max(0, Math.floor((text.length * 3) / 4) - padding)} bytes`
}

const linkOf = (block: Block): string => {
  const { description, mimeType, name, size, uri } = block
  const details = [short(mimeType), typeof size === "number" ? `${size} bytes` : "", short(description)]
  const known = details.filter((detail) => detail !== "").join(", ")
  return `[link ${short(name)}: ${short(uri)}${known === "" ? "" : ` (${known})`}]`
}

const resourceOf = ({ resource }: Block): string => {
  if (!isObject(resource)) return "[a resource without content]"
  const { blob, mimeType, text, uri } = resource
  const title = `resource ${short(uri)}${mimeType === undefined ? "" : `, ${short(mimeType)}`}`
  if (typeof text === "string") return `[${title}]\n${plain(text)}`
  return `[${title}, ${sizeOf(blob)}, not shown]`
}

const wordsOf = (block: unknown): string => {
  if (!isObject(block)) return "[content that can not be read]"
  switch (block["type"]) {
    case "text":
      return plain(textOf(block["text"]))
    case "image":
    case "audio":
      return `[${block["type"]} ${short(block["mimeType"])}, ${sizeOf(block["data"])}, not shown]`
    case "resource":
      return resourceOf(block)
    case "resource_link":
      return linkOf(block)
    default:
      return `[content of the kind ${JSON.stringify(short(block["type"]))}, not shown]`
  }
}

/** Text that says the same as the value, in whatever order. */
const says = (text: string, value: string): boolean => {
  if (text.length > value.length * 4 + 1_000) return false
  try {
    const said: Json = JSON.parse(text)
    return canonicalJson(said) === value
  } catch {
    return false
  }
}

const structuredWords = (value: unknown, texts: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (value === undefined) return []
  try {
    const copy: Json = JSON.parse(JSON.stringify(value))
    const canonical = canonicalJson(copy)
    return texts.some((text) => says(text, canonical)) ? [] : [plain(JSON.stringify(copy))]
  } catch {
    return ["[structured content that can not be shown]"]
  }
}

export interface Answered {
  readonly content?: unknown
  readonly structuredContent?: unknown
}

export const answerText = ({ content, structuredContent }: Answered, maxBytes: number): string => {
  const blocks: ReadonlyArray<unknown> = Array.isArray(content) ? content : []
  const words = blocks.slice(0, MAX_BLOCKS).map(wordsOf)
  const texts = [...words, ...structuredWords(structuredContent, words)]
  if (blocks.length > MAX_BLOCKS) texts.push(`[${blocks.length - MAX_BLOCKS} more parts, not shown]`)
  const text = texts.filter((one) => one !== "").join("\n")
  return text === "" ? "ok, without any content" : cutBytes(text, maxBytes)
}
