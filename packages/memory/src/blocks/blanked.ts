// Blanked: a block without words that are forgotten, and with all that others wrote.
// Owns taking words out of the versions of a block. Leaves which words, and putting the rows down, to who forgets.
// R1  Numbers, authors and places of versions stay. Each sign that goes leaves a space, so that what others wrote stands where it stood.
// R2  A document that was read before is not the same one, at whatever version: it is read again.

import { isJsonObject, type Json, parseJson } from "@reverie/protocol"
import * as Result from "effect/Result"
import type { JsonOp } from "loro-crdt"
import type { KeptBlock } from "./block-store.ts"
import { contentJson } from "./document/content.ts"
import { type Loro, type Place, StructuredDocument } from "./document/document.ts"
import { contentOf } from "./document/parts.ts"

interface BlockBytes {
  readonly place: Place
  readonly patch: Uint8Array
}

interface Blanked {
  readonly block: KeptBlock
  /** By version, from the first on. */
  readonly patches: ReadonlyArray<Uint8Array>
  readonly snapshot: Uint8Array | undefined
  /** What each version holds now. */
  readonly contents: ReadonlyArray<Json>
}

/** A text of a version, with a space for each sign that goes. `before`: what the version before it holds without what goes. */
type Blanking = (text: string, version: number, before: string) => string

const inValue = (value: Json, blank: (text: string) => string): Json => {
  if (typeof value === "string") return blank(value)
  if (Array.isArray(value)) return (value as ReadonlyArray<Json>).map((each) => inValue(each, blank))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, inValue(each, blank)]))
}

/** Values stand in a document as JSON text. */
const inKept = (text: unknown, blank: (text: string) => string): string =>
  Result.match(parseJson(String(text)), {
    onFailure: () => blank(String(text)),
    onSuccess: (value) => JSON.stringify(inValue(value, blank))
  })

const blankedOp = (op: JsonOp, blank: (text: string) => string): JsonOp => {
  const { content } = op
  if (content.type !== "insert") return op
  if ("text" in content) return { ...op, content: { ...content, text: blank(content.text) } }
  const { value } = content
  const left = Array.isArray(value) ? value.map((each) => inKept(each, blank)) : inKept(value, blank)
  return { ...op, content: { ...content, value: left } as JsonOp["content"] }
}

/** The same block without words; undefined where none of it goes. Throws where its bytes can not be read. */
export const blanked = (
  { LoroDoc }: Loro,
  block: KeptBlock,
  versions: ReadonlyArray<BlockBytes>,
  blanking: Blanking
): Blanked | undefined => {
  const [there, made] = [new LoroDoc(), new LoroDoc()]
  const patches: Array<Uint8Array> = []
  const contents: Array<Json> = []
  let from: Place = []
  let isSame = true
  for (const [index, { patch, place }] of versions.entries()) {
    there.import(patch)
    const said = there.exportJsonUpdates(there.frontiersToVV(from), there.frontiersToVV(place), false)
    const before = JSON.stringify(contents.at(-1) ?? "")
    const blank = (text: string): string => {
      const left = blanking(text, index + 1, before)
      isSame &&= left === text
      return left
    }
    const changes = said.changes.map((change) => ({
      ...change,
      ops: change.ops.map((op) => blankedOp(op, blank))
    }))
    made.importJsonUpdates({ ...said, changes })
    patches.push(made.export({ mode: "update", from: made.frontiersToVV(from) }))
    contents.push(contentJson(contentOf(made, block.schema, "all")))
    from = place
  }
  const { version } = block.snapshot
  const at = versions[version - 1]?.place
  const snapshot = at === undefined ? undefined : made.forkAt([...at]).export({ mode: "snapshot" })
  const since = patches.slice(version).reduce((sum, { length }) => sum + length, 0)
  const seen = new StructuredDocument(made, block.label, block.schema)
  const left = {
    ...block,
    text: seen.render(block.charLimit),
    chars: seen.chars,
    snapshot: { version, bytes: snapshot?.length ?? 0, since },
    remade: (block.remade ?? 0) + 1
  }
  there.free()
  seen.free()
  return isSame ? undefined : { block: left, patches, snapshot, contents }
}
