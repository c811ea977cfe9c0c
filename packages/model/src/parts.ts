// Parts: images, files and audio of a prompt on their way to a model.
// Owns which parts a model takes, what stands in the place of the others, and loading their bytes. Leaves how a request writes them
// to its wire.
// L1  No call is refused for a part: one that a model does not take, or whose bytes are gone, is a line of text in its message.
// L2  Bytes are read for the request at hand and kept nowhere; messages without parts stay the objects that they are.
// L3  A server that refuses a request with parts is asked once more with text in their place, and only where that is answered was it
//     because of them.

import { type ContentPart, defined, type PartType, partText, textWithParts } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { type ModelError, ModelRefused } from "./errors.ts"
import type { BytesOf, Prompt, PromptMessage, PromptPart, Reply } from "./model.ts"

/** Types (`image`), media types (`application/pdf`) or ranges of them (`text/*`). */
export type Accepts = ReadonlyArray<string>

export const takes = (accepts: Accepts, { mediaType, type }: Pick<ContentPart, "mediaType" | "type">): boolean =>
  accepts.some(
    (each) => each === type || each === mediaType || (each.endsWith("/*") && mediaType.startsWith(each.slice(0, -1)))
  )

const PDF = "application/pdf"

/** What models of well-known names take, as their makers say. */
const families: ReadonlyArray<readonly [name: RegExp, takes: Accepts]> = [
  [/^gpt-4o.*audio|^gpt-audio/, ["audio"]],
  [/^(?:gpt-4o|gpt-4\.1|gpt-5|chatgpt-4o|o1(?!-mini)|o3(?!-mini)|o4)/, ["image", PDF]],
  [/^claude-/, ["image", PDF]],
  [/^gemini-/, ["image", "audio", PDF]],
  [/^(?:grok-4|grok-2-vision|pixtral|mistral-(?:small|medium|large-3)|llama-4|gemma-?3|minicpm-v)/, ["image"]],
  [/vision|llava|-vl\b|qwen[\d.]*-?vl/, ["image"]]
]

/** What a model takes when no one says it: what its name is known for, and else nothing but text. */
export const acceptsOf = (model: string): Accepts => {
  const own = model.slice(model.lastIndexOf("/") + 1).toLowerCase()
  return families.find(([name]) => name.test(own))?.[1] ?? []
}

const NOT_SHOWN = "not shown to this model"
const GONE = "its bytes are gone"

/** A message with text in the place of its parts; the same message where it has none. */
export const described = <M extends { readonly content: string; readonly parts?: ReadonlyArray<ContentPart> }>(
  message: M,
  why: string
): Omit<M, "parts"> => {
  const { parts, ...rest } = message
  return parts === undefined ? message : { ...rest, content: textWithParts(message.content, parts, why) }
}

/** Lists none of whose messages has parts. A list that was made anew from one of them is not among them. */
const bare = new WeakSet<ReadonlyArray<PromptMessage>>()

/** A list of which it is known that no message has parts: its messages need no look. */
export const withoutParts = (messages: ReadonlyArray<PromptMessage>): ReadonlyArray<PromptMessage> => {
  bare.add(messages)
  return messages
}

export const hasParts = ({ messages }: Pick<Prompt, "messages">): boolean =>
  !bare.has(messages) && messages.some(({ parts }) => parts !== undefined)

/** The prompt with text in the place of every part. */
export const withPartsDescribed = (prompt: Prompt): Prompt =>
  hasParts(prompt) ? { ...prompt, messages: prompt.messages.map((each) => described(each, NOT_SHOWN)) } : prompt

const withLines = (message: PromptMessage, parts: ReadonlyArray<PromptPart>, lines: ReadonlyArray<string>) => {
  const { parts: _, content, ...rest } = message
  const text = [...(content === "" ? [] : [content]), ...lines].join("\n")
  return { ...rest, content: text, ...defined({ parts: parts.length === 0 ? undefined : parts }) }
}

const loadedMessage = Effect.fnUntraced(function* (message: PromptMessage, accepts: Accepts, bytesOf: BytesOf) {
  const shown: Array<PromptPart> = []
  const lines: Array<string> = []
  for (const part of message.parts ?? []) {
    const isTaken = takes(accepts, part)
    const data = isTaken ? yield* bytesOf(part) : undefined
    if (data !== undefined) shown.push({ ...part, data })
    lines.push(...lineFor(part, isTaken, data !== undefined))
  }
  return withLines(message, shown, lines)
})

/** A part that is shown is named where it has a name: most wires have no place for that. */
const lineFor = (part: ContentPart, isTaken: boolean, isShown: boolean): ReadonlyArray<string> => {
  if (isShown) return part.name === undefined ? [] : [partText(part)]
  return [partText(part, isTaken ? GONE : NOT_SHOWN)]
}

const FROM_TOOL = "What the result above holds:"
const FROM_MODEL = "What the answer above holds:"

/** For a wire on which only the user has parts: those of answers and results stand in a message behind these. */
export const partsOfUser = (prompt: Prompt): Prompt => {
  if (!prompt.messages.some(({ parts, role }) => parts !== undefined && role !== "user")) return prompt
  const messages: Array<PromptMessage> = []
  let waiting: Array<PromptMessage> = []
  let lasting = prompt.lasting
  for (const [index, message] of prompt.messages.entries()) {
    // Results stand right behind their calls.
    if (message.role !== "tool") {
      if (lasting !== undefined && index < (prompt.lasting ?? 0)) lasting += waiting.length
      messages.push(...waiting)
      waiting = []
    }
    const { parts, ...rest } = message
    if (parts === undefined || message.role === "user") {
      messages.push(message)
      continue
    }
    messages.push(rest)
    waiting.push({ role: "user", content: message.role === "tool" ? FROM_TOOL : FROM_MODEL, parts })
  }
  return { ...prompt, messages: [...messages, ...waiting], ...defined({ lasting }) }
}

/**
 * Asks with the parts that the model takes, loaded. `onlyUser`: on this wire none but the user has parts.
 */
export const askedWithParts = (
  prompt: Prompt,
  {
    accepts,
    bytesOf,
    onlyUser = false
  }: { readonly accepts: Accepts; readonly bytesOf: BytesOf | undefined; readonly onlyUser?: boolean },
  ask: (prompt: Prompt) => Effect.Effect<Reply, ModelError>
): Effect.Effect<Reply, ModelError> => {
  if (!hasParts(prompt)) return ask(prompt)
  if (bytesOf === undefined || accepts.length === 0) return ask(withPartsDescribed(prompt))
  return Effect.flatMap(
    Effect.forEach(prompt.messages, (message) =>
      message.parts === undefined ? Effect.succeed(message) : loadedMessage(message, accepts, bytesOf)
    ),
    (messages) => {
      const loaded = { ...prompt, messages }
      if (!hasParts(loaded)) return ask(loaded)
      return Effect.catchTag(ask(onlyUser ? partsOfUser(loaded) : loaded), "ModelRefused", (refused) =>
        refused.kind !== "bad-request"
          ? Effect.fail(refused)
          : Effect.mapError(ask(withPartsDescribed(prompt)), (error) =>
              error instanceof ModelRefused ? refused : error
            )
      )
    }
  )
}

// PartTokens: what a part costs a model, as near as its header tells it.
// E1  Images: as OpenAI documents it for its chat models, tiles of 512 pixels of an image that fits into 2048 x 2048, and whose
//     shorter side is 768 at most. One whose size is not known counts as the largest.
// E2  Files and audio: by their bytes. A text has four bytes a token; of other files each 16 bytes, which is a page of a PDF of
//     some 30 kB at 2,000 tokens; audio 32 tokens a second, which is 16 kB of MP3 or 32 kB of WAV.
// E3  No part counts more than MOST_PART_TOKENS: no provider shows more of one.

const MOST_PART_TOKENS = 100_000
const TILE = 512

const imageTokens = ({ height, width }: Pick<ContentPart, "height" | "width">): number => {
  const [w, h] = [width ?? 768, height ?? 2_048]
  const fit = Math.min(1, 2_048 / Math.max(w, h))
  const scale = fit * Math.min(1, 768 / (Math.min(w, h) * fit))
  return 85 + 170 * Math.ceil((w * scale) / TILE) * Math.ceil((h * scale) / TILE)
}

const bytesAToken = ({ mediaType, type }: Pick<ContentPart, "mediaType" | "type">): number => {
  if (type === "audio") return /wav|pcm/.test(mediaType) ? 1_000 : 500
  return /^text\/|json|xml|csv|yaml/.test(mediaType) ? 4 : 16
}

/** What a part adds to a prompt. */
export const partTokens = (part: ContentPart): number =>
  part.type === "image" ? imageTokens(part) : Math.min(MOST_PART_TOKENS, Math.ceil(part.bytes / bytesAToken(part)))

/** All parts of a message; of those that the model does not take, the line in their place. */
export const tokensOfParts = (
  parts: ReadonlyArray<ContentPart>,
  count: (text: string) => number,
  accepts: Accepts = everyType
): number =>
  parts.reduce((sum, part) => sum + (takes(accepts, part) ? partTokens(part) : count(partText(part, NOT_SHOWN)) + 1), 0)

const everyType: ReadonlyArray<PartType> = ["image", "file", "audio"]
