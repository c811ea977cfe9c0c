// Packing: from the rows of a store to parts, and back.
// Owns what all stores do alike. Leaves their rows to them.

import { Buffer } from "node:buffer"
import { isJsonObject, type Json, readKeyText } from "@reverie/protocol"
import type { BundlePart } from "./bundle-part.ts"

/** JSON text as its value. What is no JSON travels as the text that it is, so that it is as unreadable as before. */
export const valueOf = (text: string): Json => {
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}

/** The text that `valueOf` was given. */
export const textOf = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value))

const bytesText = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64")

export const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "base64"))

/** A memory block as its rows have it, its texts as JSON text. */
export interface BlockRows {
  readonly id: string
  readonly owner: string
  readonly label: string
  readonly readers: ReadonlyArray<string>
  readonly body: string
  /** From version 1 on. */
  readonly versions: ReadonlyArray<{ readonly body: string; readonly patch: Uint8Array }>
  readonly snapshot: Uint8Array | undefined
}

export const blockParts = (rows: BlockRows): ReadonlyArray<BundlePart> => {
  const { body, id, label, owner, readers, snapshot, versions } = rows
  return [
    // An owner is an assistant's id: no other is let in.
    { kind: "block", id, owner: owner as never, label, readers: readers.toSorted(), body: valueOf(body) },
    ...versions.map(({ body, patch }, index): BundlePart => ({
      kind: "block-version",
      block: id,
      version: index + 1,
      body: valueOf(body),
      patch: bytesText(patch)
    })),
    ...(snapshot === undefined ? [] : [{ kind: "block-snapshot" as const, block: id, bytes: bytesText(snapshot) }])
  ]
}

/** The block that an answer is about. */
export const blockOfAnswer = (answer: Json): string | undefined => {
  const change = isJsonObject(answer) ? answer["change"] : undefined
  const block = isJsonObject(change) ? change["block"] : undefined
  return typeof block === "string" ? block : undefined
}

interface AnswerRow {
  readonly key: string
  readonly answer: string
}

export const answerParts = (
  rows: ReadonlyArray<AnswerRow>,
  isWanted: (key: string, block: string | undefined) => boolean
): ReadonlyArray<BundlePart> =>
  rows
    .map(({ answer, key }) => ({ key: readKeyText(key), answer: valueOf(answer) }))
    .filter(({ answer, key }) => isWanted(key, blockOfAnswer(answer)))
    .toSorted(byText(({ key }) => key))
    .map(({ answer, key }) => ({ kind: "block-answer", key, answer }))

export interface LineRow {
  readonly kind: string
  readonly key: string
  readonly version: number
  readonly at: number
  readonly restores: number | null
  readonly body: string | null
}

/** Versions of a tenant's prompts, in their order, by the names of their lines. */
export const promptParts = (rows: ReadonlyArray<LineRow>): ReadonlyArray<BundlePart> =>
  rows
    .toSorted(byText(({ key, kind }) => JSON.stringify([kind, key])))
    .map(({ at, body, key, kind, restores, version }): BundlePart => {
      const back = restores === null ? {} : { restores }
      return { kind: "prompt", of: kind, key, version, at, ...back, body: body === null ? null : valueOf(body) }
    })

/** How the keys begin under which the blocks of a definition are made once, for one assistant. */
export const createdKey = (assistant: string): string => `created/${assistant}/`

/** For whom a block was made under such a key; empty for any other key. */
export const createdFor = (key: string): string => /^created\/([^/]*)\//.exec(key)?.[1] ?? ""

/** Finds out which open sends an assistant has written, entry by entry. Who settles them is the relay of all. */
export const sendNames = (entry: Json): ReadonlyArray<string> => {
  const sends = isJsonObject(entry) ? entry["sends"] : undefined
  return Array.isArray(sends) ? (sends as ReadonlyArray<Json>).map(sendName) : []
}

/** From whom, to whom and under which id. */
export const sendName = (envelope: Json): string =>
  isJsonObject(envelope) ? JSON.stringify([envelope["from"], envelope["to"], envelope["id"]]) : ""

/** In the order of their text units, which is the same on every machine. */
export const byText =
  <A>(text: (value: A) => string) =>
  (one: A, other: A): number => {
    const [a, b] = [text(one), text(other)]
    return a < b ? -1 : a > b ? 1 : 0
  }
