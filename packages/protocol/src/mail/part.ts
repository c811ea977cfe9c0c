// ContentPart: an image, a file or audio that belongs to a message.
// Owns the reference that stands in envelopes, messages and prompts, its bounds, and the words that stand for it. The bytes lie in
// the blobs of a ledger, under their digest.
// C1  A reference is small and holds no bytes: a ledger and a prompt stay as short as their texts.
// C2  The words for a part are one line in brackets, and nothing in a name ends them.

import * as Schema from "effect/Schema"

/** What a part may be. */
export const partTypes = ["image", "file", "audio"] as const
export type PartType = (typeof partTypes)[number]

/** Bytes of one part, at most: 10 MiB. */
export const MAX_PART_BYTES = 10 * 1024 * 1024
/** Parts of one message, at most. */
export const MAX_PARTS = 10
/** Bytes of all parts of one message, at most: 20 MiB. */
export const MAX_MESSAGE_BYTES = 20 * 1024 * 1024

const MAX_NAME_CHARS = 128
const MAX_MEDIA_TYPE_CHARS = 128

/** The SHA-256 of some bytes, in hexadecimal. */
const digestPattern = /^[0-9a-f]{64}$/

export const isDigest = (text: string): boolean => digestPattern.test(text)

/** A name of RFC 6838 without parameters, in small letters. */
export const mediaTypePattern = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,63}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}$/

const pixels = Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0)))

export const ContentPart = Schema.Struct({
  type: Schema.Literals(partTypes),
  /** SHA-256 of its bytes, in hexadecimal. */
  digest: Schema.String.check(Schema.isPattern(digestPattern)),
  mediaType: Schema.String.check(Schema.isPattern(mediaTypePattern), Schema.isMaxLength(MAX_MEDIA_TYPE_CHARS)),
  bytes: Schema.Int.check(Schema.isGreaterThan(0), Schema.isLessThanOrEqualTo(MAX_PART_BYTES)),
  name: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(MAX_NAME_CHARS))),
  /** Of an image, as its own header says. */
  width: pixels,
  height: pixels
})
export type ContentPart = typeof ContentPart.Type

/** An image, a file or audio, as a user, a tool or a model gives it. */
export interface GivenPart {
  readonly type: PartType
  /** Bytes, their base64, or a `data:` URL. */
  readonly data: Uint8Array | ArrayBuffer | string
  /** `image/png`, `application/pdf` and so on; that of the `data:` URL or of the image when left out. */
  readonly mediaType?: string
  readonly name?: string
}

/** A name as it is kept: one line, without the folders before it. */
export const partName = (name: string): string =>
  (name.split(/[/\\]/).at(-1) ?? "")
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim()
    .slice(-MAX_NAME_CHARS)
    .toWellFormed()

const sizeText = (bytes: number): string => {
  if (bytes < 1_000) return `${bytes} bytes`
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}

/** In words, in brackets; `why` says why it is not there itself. */
export const partText = ({ bytes, mediaType, name, type }: ContentPart, why?: string): string => {
  const named = name === undefined ? type : `${type} ${name.replaceAll("[", "(").replaceAll("]", ")")}`
  return `[${named}, ${mediaType}, ${sizeText(bytes)}${why === undefined ? "" : `: ${why}`}]`
}

/** A text with its parts in words, a line each behind it. */
export const textWithParts = (text: string, parts: ReadonlyArray<ContentPart> = [], why?: string): string =>
  parts.length === 0 ? text : [...(text === "" ? [] : [text]), ...parts.map((part) => partText(part, why))].join("\n")
