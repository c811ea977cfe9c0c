// Blobs: the bytes of images, files and audio that messages refer to.
// Owns what a store promises of them, and reading what a user, a tool or a model gives as a part. The reference that a message
// carries is `ContentPart` of the protocol.
// B1  What was kept comes back byte for byte under the SHA-256 of its bytes; it is durable when `keep` returns.
// B2  The same bytes are kept once for a tenant, however often and by however many they are given.
// B3  Tenants are apart: what one keeps, no other one reads.
// B4  What is no digest of anything here names nothing, whatever text it is: no bytes, and no failure.
// B5  Nothing is kept of a list of which one has no bytes, or more than MAX_PART_BYTES.
// B6  A part is what its bytes say: an image without the header of its media type is refused, for a provider would refuse each
//     prompt with it.
// B7  Bytes that are referred to are not deleted. Who refers to some that were kept before looks afterwards which are lacking: a
//     deletion that had not seen that is over then, and they are kept again.

import { Buffer } from "node:buffer"
import { createHash } from "node:crypto"
import {
  type ContentPart,
  defined,
  type GivenPart,
  imageHeader,
  MAX_MESSAGE_BYTES,
  MAX_PART_BYTES,
  MAX_PARTS,
  mediaTypePattern,
  partName,
  type PartType,
  partTypes,
  type TenantId
} from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { BlobRefused, type LedgerUnavailable } from "./errors.ts"

export interface Blobs {
  /** Keeps bytes, and answers their digests in the same order. Durable when it returns: all of them, or none. */
  readonly keep: (
    tenant: TenantId,
    blobs: ReadonlyArray<Uint8Array>
  ) => Effect.Effect<ReadonlyArray<string>, LedgerUnavailable | BlobRefused>
  readonly read: (tenant: TenantId, digest: string) => Effect.Effect<Uint8Array | undefined, LedgerUnavailable>
  /** Those of which no bytes are kept; a deletion of some of them that is under way is waited for. */
  readonly lacking: (
    tenant: TenantId,
    digests: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<string>, LedgerUnavailable>
}

export const digestOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")

/** Why one of them can not be kept; undefined when all can. */
export const flawOfBlobs = (blobs: ReadonlyArray<Uint8Array>): BlobRefused | undefined => {
  const wrong = blobs.find(({ length }) => length === 0 || length > MAX_PART_BYTES)
  return wrong === undefined
    ? undefined
    : new BlobRefused({ message: `a blob has 1 to ${MAX_PART_BYTES} bytes, and this one has ${wrong.length}` })
}

// Given: a part as a user, a tool or a model gives it.

/** A part and its bytes. */
export interface LoosePart {
  readonly part: ContentPart
  readonly bytes: Uint8Array
}

const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"]

/** A search goes through a long text without a step back, as a pattern of the whole text would not. */
const isBase64 = (text: string): boolean => !/[^A-Za-z0-9+/=]/.test(text) && !/=[^=]|={3}/.test(text)

/** The bytes of a text in base64, of either alphabet; undefined when it is none. */
const decoded = (text: string): Uint8Array | undefined => {
  const plain = text.replaceAll(/\s+/g, "").replaceAll("-", "+").replaceAll("_", "/")
  if (plain.replace(/=+$/, "").length % 4 === 1 || !isBase64(plain)) return undefined
  return new Uint8Array(Buffer.from(plain, "base64"))
}

interface Data {
  readonly bytes: Uint8Array
  readonly mediaType?: string
}

const MOST_CHARS = Math.ceil(MAX_PART_BYTES / 3) * 4

const tooLong = `has more than ${MAX_PART_BYTES / 1_048_576} MiB, which one part may have`

const sizedData = (length: number, copied: () => Uint8Array): Data | string =>
  length > MAX_PART_BYTES ? tooLong : { bytes: copied() }

const dataIn = (data: unknown): Data | string => {
  // A copy: the caller may use the memory again before they are kept.
  if (data instanceof ArrayBuffer) return sizedData(data.byteLength, () => new Uint8Array(data.slice()))
  if (data instanceof Uint8Array) return sizedData(data.length, () => Uint8Array.from(data))
  if (typeof data !== "string") return "has no data: give bytes, base64 or a data: URL"
  if (/^https?:/i.test(data)) return "is an address; give its bytes, for nothing is fetched"
  const comma = data.startsWith("data:") ? data.indexOf(",") : -1
  const [, mediaType = "", coding = ""] =
    /^data:([^;,]*)(?:;[^;,]*)*?(;base64)?$/i.exec(data.slice(0, Math.max(0, comma))) ?? []
  if (data.startsWith("data:") && coding === "") return "is a data: URL without base64"
  // A line break in base64 stands every 64 characters or more.
  if (data.length - comma > MOST_CHARS * 1.1) return tooLong
  const bytes = decoded(data.slice(comma + 1))
  if (bytes === undefined) return "has data that is no base64"
  return { bytes, ...defined({ mediaType: mediaType === "" ? undefined : mediaType }) }
}

/** The media type decides what a part is: some call every part a file. */
const typeOf = (mediaType: string): PartType =>
  IMAGES.includes(mediaType) ? "image" : mediaType.startsWith("audio/") ? "audio" : "file"

const mediaTypeIn = (given: unknown): string | undefined =>
  typeof given === "string"
    ? given
        .split(";")[0]
        ?.trim()
        .toLowerCase()
        .replace(/^image\/jpg$/, "image/jpeg")
    : undefined

const partOf = ({ mediaType: asked, name, type }: Omit<GivenPart, "data">, data: Data): LoosePart | string => {
  const { bytes } = data
  if (bytes.length === 0) return "is empty"
  if (bytes.length > MAX_PART_BYTES) return tooLong
  const header = imageHeader(bytes)
  const mediaType = mediaTypeIn(asked) ?? mediaTypeIn(data.mediaType) ?? header?.mediaType
  if (mediaType === undefined) return "has no mediaType, such as application/pdf"
  if (!mediaTypePattern.test(mediaType))
    return `has the mediaType ${JSON.stringify(mediaType.slice(0, 60))}, which is none`
  const found = typeOf(mediaType)
  if (type !== "file" && type !== found) {
    const fit = type === "image" ? `one of ${IMAGES.join(", ")}` : "audio/wav, audio/mpeg or the like"
    return `is ${type === "image" ? "an image" : type} of the mediaType ${mediaType}; that must be ${fit}`
  }
  if (found === "image" && header?.mediaType !== mediaType)
    return `has the mediaType ${mediaType}, and its bytes are no such image`
  const kept = name === undefined ? "" : partName(name)
  const size = found === "image" && header !== undefined ? defined({ width: header.width, height: header.height }) : {}
  const part = { type: found, digest: digestOf(bytes), mediaType, bytes: bytes.length, ...size }
  return { bytes, part: { ...part, ...defined({ name: kept === "" ? undefined : kept }) } }
}

const fields: ReadonlyArray<string> = ["type", "data", "mediaType", "name"]

const looseIn = (given: unknown): LoosePart | string => {
  if (typeof given !== "object" || given === null) return "is no object { type, data, mediaType }"
  const { data, mediaType, name, type } = given as { readonly [Field in keyof GivenPart]: unknown }
  if (!partTypes.includes(type as PartType))
    return `has the type ${JSON.stringify(type)}; there are ${partTypes.join(", ")}`
  const strange = Object.keys(given).find((key) => !fields.includes(key))
  if (strange !== undefined)
    return `has ${JSON.stringify(strange.slice(0, 60))}, which no part has; it has ${fields.join(", ")}`
  if (name !== undefined && typeof name !== "string") return "has a name that is no text"
  if (mediaType !== undefined && typeof mediaType !== "string") return "has a mediaType that is no text"
  const found = dataIn(data)
  return typeof found === "string" ? found : partOf({ type: type as PartType, ...defined({ mediaType, name }) }, found)
}

/** The parts of one message as they can be kept, or one sentence about what is wrong with them. */
export const looseParts = (given: unknown): Result.Result<ReadonlyArray<LoosePart>, string> => {
  if (!Array.isArray(given)) return Result.fail("parts must be a list of { type, data, mediaType }")
  if (given.length > MAX_PARTS)
    return Result.fail(`a message has at most ${MAX_PARTS} parts, and this one has ${given.length}`)
  const found: Array<LoosePart> = []
  for (const [index, each] of given.entries()) {
    const loose = looseIn(each)
    if (typeof loose === "string") return Result.fail(`part ${index + 1} ${loose}`)
    found.push(loose)
  }
  const sum = found.reduce((bytes, { part }) => bytes + part.bytes, 0)
  return sum > MAX_MESSAGE_BYTES
    ? Result.fail(
        `the parts of a message have at most ${MAX_MESSAGE_BYTES / 1_048_576} MiB together, and these have more`
      )
    : Result.succeed(found)
}

/** Keeps parts, and gives the references to them. */
export const keptParts = (
  blobs: Blobs,
  tenant: TenantId,
  loose: ReadonlyArray<LoosePart>
): Effect.Effect<ReadonlyArray<ContentPart>, LedgerUnavailable | BlobRefused> => {
  if (loose.length === 0) return Effect.succeed([])
  const [bytes, parts] = [loose.map((each) => each.bytes), loose.map(({ part }) => part)]
  return Effect.as(blobs.keep(tenant, bytes), parts)
}

/**
 * For what is referred to from now on: keeps parts once more where they were deleted since. When the last message that
 * referred to the same bytes is forgotten or aged, they are.
 */
export const keptAgain = Effect.fnUntraced(function* (blobs: Blobs, tenant: TenantId, loose: ReadonlyArray<LoosePart>) {
  if (loose.length === 0) return
  const digests = loose.map(({ part }) => part.digest)
  const lacking = new Set(yield* blobs.lacking(tenant, digests))
  const missing = loose.filter(({ part }) => lacking.has(part.digest))
  // They were taken before.
  yield* Effect.catchTag(keptParts(blobs, tenant, missing), "BlobRefused", Effect.die)
})
