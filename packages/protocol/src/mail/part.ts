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

/** The reference to an image, a file or audio that belongs to a message. */
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
/** The reference to an image, a file or audio that belongs to a message; `fleet.blob(digest)` reads its bytes. */
export type ContentPart = typeof ContentPart.Type

/** An image, a file or audio, as a user, a tool or a model gives it. */
export interface GivenPart {
  /** `image`, `file` or `audio`. */
  readonly type: PartType
  /** Bytes, their base64, or a `data:` URL. */
  readonly data: Uint8Array | ArrayBuffer | string
  /** `image/png`, `application/pdf` and so on; that of the `data:` URL or of the image when left out. */
  readonly mediaType?: string
  /** How a person calls it, e.g. the name of the file. */
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

// Image: what the header of an image says.

interface ImageHeader {
  readonly mediaType: string
  readonly width?: number
  readonly height?: number
}

const sized = (mediaType: string, width: number, height: number): ImageHeader =>
  width > 0 && height > 0 ? { mediaType, width, height } : { mediaType }

const at = (bytes: Uint8Array, place: number): number => bytes[place] ?? 0
const big = (bytes: Uint8Array, place: number): number => at(bytes, place) * 256 + at(bytes, place + 1)
const little = (bytes: Uint8Array, place: number): number => at(bytes, place + 1) * 256 + at(bytes, place)

const letters = (bytes: Uint8Array, from: number, length: number): string =>
  String.fromCharCode(...bytes.subarray(from, from + length))

/** Frames of a JPEG but for tables that have the same beginning. */
const isFrame = (marker: number): boolean => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)

const jpegHeader = (bytes: Uint8Array): ImageHeader => {
  const mediaType = "image/jpeg"
  for (let place = 2; place + 8 < bytes.length && at(bytes, place) === 0xff;) {
    const marker = at(bytes, place + 1)
    if (isFrame(marker)) return sized(mediaType, big(bytes, place + 7), big(bytes, place + 5))
    const isFilling = marker === 0xff
    place += isFilling ? 1 : 2 + Math.max(2, big(bytes, place + 2))
  }
  return { mediaType }
}

const webpHeader = (bytes: Uint8Array): ImageHeader => {
  const mediaType = "image/webp"
  switch (letters(bytes, 12, 4)) {
    case "VP8X":
      return sized(
        mediaType,
        1 + little(bytes, 24) + at(bytes, 26) * 65_536,
        1 + little(bytes, 27) + at(bytes, 29) * 65_536
      )
    case "VP8L": {
      const bits = little(bytes, 21) + little(bytes, 23) * 65_536
      return sized(mediaType, 1 + (bits & 0x3fff), 1 + ((bits >>> 14) & 0x3fff))
    }
    case "VP8 ":
      return sized(mediaType, little(bytes, 26) & 0x3fff, little(bytes, 28) & 0x3fff)
    default:
      return { mediaType }
  }
}

/** What an image is by its first bytes; undefined for whatever is none that models are shown. */
export const imageHeader = (bytes: Uint8Array): ImageHeader | undefined => {
  const begin = letters(bytes, 0, 8)
  if (begin === "\u0089PNG\r\n\u001a\n") {
    return sized("image/png", big(bytes, 16) * 65_536 + big(bytes, 18), big(bytes, 20) * 65_536 + big(bytes, 22))
  }
  if (begin.startsWith("GIF87a") || begin.startsWith("GIF89a")) {
    return sized("image/gif", little(bytes, 6), little(bytes, 8))
  }
  if (begin.startsWith("\u00ff\u00d8\u00ff")) return jpegHeader(bytes)
  return begin.startsWith("RIFF") && letters(bytes, 8, 4) === "WEBP" ? webpHeader(bytes) : undefined
}
