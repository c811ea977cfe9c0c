// Body: what came with a request, judged before anything is made of it.
// Owns the limit, and what JSON may be. Leaves its meaning to the schema of the route.
// B1  No body is read beyond its limit.
// B2  Text that the house's own parser would refuse or change is refused: nesting, and keys that reach into objects.

import type { IncomingMessage } from "node:http"
import { isJsonObject, type Json, parseJson } from "@reverie/protocol"
import * as Result from "effect/Result"
import { Malformed, TooLarge } from "./api/index.ts"

export const MAX_BODY_BYTES = 2_000_000

const tooLarge = new TooLarge({ message: `a body has at most ${MAX_BODY_BYTES} bytes` })

const read = new WeakMap<IncomingMessage, Buffer>()

/** What was read already is not there to be read again. */
export const keepRead = (request: IncomingMessage, bytes: Buffer): void => {
  read.set(request, bytes)
}

/** Rejects when whoever asks has gone. */
export const readBody = (request: IncomingMessage): Promise<Buffer | TooLarge> => {
  const kept = read.get(request)
  if (kept !== undefined) return Promise.resolve(kept)
  if (Number(request.headers["content-length"] ?? 0) > MAX_BODY_BYTES) return Promise.resolve(tooLarge)
  return new Promise((resolve, reject) => {
    const chunks: Array<Buffer> = []
    let size = 0
    request.on("data", (chunk: Buffer) => {
      size += chunk.length
      if (size > MAX_BODY_BYTES) {
        request.pause()
        request.removeAllListeners("data")
        resolve(tooLarge)
      } else chunks.push(chunk)
    })
    request.once("end", () =>
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks))
    )
    request.once("error", reject)
    request.once("aborted", () => reject(new Error("gone")))
  })
}

const decoder = new TextDecoder("utf-8", { fatal: true })

const hostile = /__proto__|constructor|prototype|\\u/

/** A key that the house's parser would have dropped. */
const holdsHostileKey = (text: string): boolean => {
  let found = false
  JSON.parse(text, (key, value: unknown) => {
    found ||= key === "__proto__" || key === "constructor" || key === "prototype"
    return value
  })
  return found
}

export interface JsonBody {
  readonly text: string
  readonly value: Json | undefined
}

const malformed = (message: string): Malformed => new Malformed({ message })

/** The JSON object of a body, or why it is none. */
const jsonOf = (bytes: Buffer): JsonBody | Malformed => {
  let text: string
  try {
    text = decoder.decode(bytes)
  } catch {
    return malformed("the body is not UTF-8")
  }
  const parsed = parseJson(text)
  if (Result.isFailure(parsed)) {
    return malformed(
      parsed.failure.startsWith("nested") ? `the body is ${parsed.failure}` : "the body is not JSON that can be read"
    )
  }
  if (!isJsonObject(parsed.success)) return malformed("the body must be a JSON object")
  if (hostile.test(text) && holdsHostileKey(text)) {
    return malformed("the body has a key named __proto__, constructor or prototype")
  }
  return { text, value: parsed.success }
}

const isJsonType = (type: string | undefined): boolean =>
  type === undefined || /^application\/json\s*(;|$)/i.test(type.trim())

/** Without a type it is taken for JSON, which a form of another site can not send. */
export const judgedBody = (bytes: Buffer, type: string | undefined): JsonBody | Malformed =>
  isJsonType(type) ? jsonOf(bytes) : malformed("the body must be JSON: send content-type: application/json")
