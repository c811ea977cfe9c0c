// BlockRemaking: a block of a life, made again without words.
// Owns how a block stands among the parts of a life. Leaves which words to the ledger, documents to memory.

import { Buffer } from "node:buffer"
import type { BlockRemaking, BundlePart } from "@reverie/ledger"
import { blanked, type KeptBlock, type Loro } from "@reverie/memory"
import { isJsonObject, type Json } from "@reverie/protocol"

const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "base64"))
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64")

const saysIn = (value: Json, isIn: (text: string) => boolean): boolean => {
  if (typeof value === "string") return isIn(value)
  if (Array.isArray(value)) return (value as ReadonlyArray<Json>).some((each) => saysIn(each, isIn))
  return isJsonObject(value) && Object.values(value).some((each) => saysIn(each, isIn))
}

type Version = Extract<BundlePart, { readonly kind: "block-version" }>

const placeOf = ({ body }: Version) => (isJsonObject(body) ? body["place"] : []) as unknown as KeptBlock["place"]

const madeOf = (
  loro: Loro,
  block: KeptBlock,
  versions: ReadonlyArray<Version>,
  blanking: Parameters<BlockRemaking>[1]
) => {
  const bytes = versions.map((version) => ({ place: placeOf(version), patch: bytesOf(version.patch) }))
  try {
    return blanked(loro, block, bytes, blanking)
  } catch {
    // A damaged block goes whole: what it holds is not known.
    return "damaged"
  }
}

/** A version without the message of its change, where that says what is sought. */
const withoutMessage = (part: BundlePart, isIn: (text: string) => boolean): BundlePart => {
  if (part.kind !== "block-version" || !isJsonObject(part.body)) return part
  const { message, ...body } = part.body
  return message !== undefined && saysIn(message, isIn) ? { ...part, body } : part
}

export const remakingWith =
  (loro: Loro): BlockRemaking =>
  (group, blanking, { isIn }) => {
    const parts = group.map((part) => withoutMessage(part, isIn))
    const versions = parts.filter((part): part is Version => part.kind === "block-version")
    const there = parts.find((part) => part.kind === "block")
    if (there?.kind !== "block") return undefined
    const block = there.body as unknown as KeptBlock
    if (saysIn([there.label, block.description], isIn)) return undefined
    const made = madeOf(loro, block, versions, blanking)
    if (made === undefined) return parts
    if (made === "damaged" || made.contents.some((content) => saysIn(content, isIn))) return undefined
    return parts.flatMap((part): ReadonlyArray<BundlePart> => {
      switch (part.kind) {
        case "block":
          return [{ ...part, body: made.block as unknown as Json }]
        case "block-version":
          return [{ ...part, patch: textOf(made.patches[part.version - 1] ?? new Uint8Array()) }]
        case "block-snapshot":
          return made.snapshot === undefined ? [] : [{ ...part, bytes: textOf(made.snapshot) }]
        default:
          return [part]
      }
    })
  }
