// Body: what came with a request, judged before anything is made of it.
// Owns the limit, and what JSON may be. Leaves its meaning to the schema of the route.
// B1  No body is read beyond its limit.
// B2  Text that the server's own parser would refuse or change is refused: nesting, and keys that reach into objects.
// B3  A message of a million characters comes in, whatever stands in it; a body of very many small values does not.

import type { IncomingMessage } from "node:http"
import {
  isJsonObject,
  type Json,
  longWork,
  MAX_MESSAGE_BYTES as MAX_BYTES_OF_PARTS,
  MAX_MESSAGE_CHARS,
  parseJson
} from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Malformed, TooLarge } from "../api/index.ts"

export const MAX_BODY_BYTES = 2_000_000

/** Where a message comes: a text of a million characters, six bytes each where all of them are escaped, and its envelope. */
export const MAX_MESSAGE_BYTES = 6 * MAX_MESSAGE_CHARS + 100_000

/** Where a message may have parts: these in base64, and the message. */
export const MAX_PARTS_BYTES = Math.ceil((MAX_BYTES_OF_PARTS * 4) / 3) + MAX_MESSAGE_BYTES

/** Of JSON. Schemas take a microsecond or two for each value, and a body of tiny ones would hold the process up. */
export const MAX_BODY_VALUES = 25_000

const limits: Readonly<Record<string, number>> = {
  "messages.send": MAX_PARTS_BYTES,
  "messages.post": MAX_MESSAGE_BYTES,
  "messages.run": MAX_MESSAGE_BYTES
}

/** What the body of a route may have; `name` is `group.endpoint`. */
export const bodyLimitOf = (name: string): number => limits[name] ?? MAX_BODY_BYTES

const ofParts = `; the parts of a message have at most ${MAX_BYTES_OF_PARTS / 1_048_576} MiB together, before their base64`

const tooLarge = (maxBytes: number): TooLarge =>
  new TooLarge({ message: `a body has at most ${maxBytes} bytes${maxBytes === MAX_PARTS_BYTES ? ofParts : ""}` })

const read = new WeakMap<IncomingMessage, Buffer>()

/** What was read already is not there to be read again. */
export const keepRead = (request: IncomingMessage, bytes: Buffer): void => {
  read.set(request, bytes)
}

/** Rejects when anyone who asks has gone. */
export const readBody = (request: IncomingMessage, maxBytes: number): Promise<Buffer | TooLarge> => {
  const kept = read.get(request)
  if (kept !== undefined) return Promise.resolve(kept)
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) return Promise.resolve(tooLarge(maxBytes))
  return new Promise((resolve, reject) => {
    const chunks: Array<Buffer> = []
    let size = 0
    request.on("data", (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBytes) {
        request.pause()
        request.removeAllListeners("data")
        resolve(tooLarge(maxBytes))
      } else chunks.push(chunk)
    })
    request.once("end", () =>
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks))
    )
    request.once("error", reject)
    request.once("aborted", () => reject(new Error("gone")))
  })
}

/** The same of a request of the web's own form, whose body may have been read by no one before. */
export const readWebBody = async (request: Request, maxBytes: number): Promise<Buffer | TooLarge> => {
  if (request.bodyUsed) throw new Error("the body of this request was read before it came here")
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) return tooLarge(maxBytes)
  const chunks: Array<Uint8Array> = []
  let size = 0
  // Leaving the loop cancels what is left.
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength
    if (size > maxBytes) return tooLarge(maxBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Waits until the event loop has room for a body of so many bytes. */
export const roomFor = (bytes: number): Promise<void> => Effect.runPromise(longWork.begin(bytes))

const decoder = new TextDecoder("utf-8", { fatal: true })

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
  let isHostile = false
  const onDropped = () => {
    isHostile = true
  }
  const parsed = parseJson(text, { maxValues: MAX_BODY_VALUES, onDropped })
  if (Result.isFailure(parsed)) {
    return malformed(
      /^(?:nested|made) /.test(parsed.failure)
        ? `the body is ${parsed.failure}`
        : "the body is not JSON that can be read"
    )
  }
  if (!isJsonObject(parsed.success)) return malformed("the body must be a JSON object")
  if (isHostile) {
    return malformed("the body has a key named __proto__, constructor or prototype")
  }
  return { text, value: parsed.success }
}

const isJsonType = (type: string | undefined): boolean =>
  type === undefined || /^application\/json\s*(;|$)/i.test(type.trim())

/** Without a type it is taken for JSON, which a form of another site can not send. */
export const judgedBody = (bytes: Buffer, type: string | undefined): JsonBody | Malformed =>
  isJsonType(type) ? jsonOf(bytes) : malformed("the body must be JSON: send content-type: application/json")
