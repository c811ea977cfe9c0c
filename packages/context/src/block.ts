// Block: memory as a prompt shows it.
// Owns the form of one block (F88) and which blocks are shown (F86, F108). Leaves what a block holds to `memory`.
// B1  Core blocks are always shown; working ones when they are pinned, or when the batch refers to them by id (A32).
//     Archival and log blocks never are.
// B2  What a block holds can not end it: only Reverie writes a closing tag.
// B3  Over the limit of memory, working blocks that are not pinned leave, the last one first; nothing else does.

import type { BlockPermission, BlockType } from "@reverie/memory"
import { isJsonObject, type Json } from "@reverie/protocol"
import type { Absent } from "./report.ts"

/** A block as far as a prompt needs to know it. One that has changed is another object. */
export interface PromptBlock {
  readonly id: string
  readonly label: string
  readonly type: BlockType
  readonly permission: BlockPermission
  /** Rendered already. */
  readonly content: string
  readonly description?: string
  readonly schema?: Json
  readonly pinned?: boolean
  /** Who shares it. */
  readonly sharedFrom?: string
}

export interface BlockOptions {
  readonly includeDescriptions: boolean
  readonly includeSchemas: boolean
}

// A tag has no quotes and no line breaks in its values.
const inTag = (text: string): string => text.replace(/["<>\r\n]/g, "'")

const inside = (text: string): string => text.replaceAll("</block:", "<\\/block:")

export const renderBlock = (block: PromptBlock, { includeDescriptions, includeSchemas }: BlockOptions): string => {
  const { content, description = "", permission, schema, sharedFrom } = block
  const label = inTag(block.label)
  const shared = sharedFrom === undefined ? "" : ` shared_from="${inTag(sharedFrom)}"`
  return [
    `<block:${label} permission="${permission}"${shared}>`,
    ...(includeDescriptions && description !== "" ? [inside(description), ""] : []),
    ...(includeSchemas && isJsonObject(schema) ? [inside(`Schema: ${JSON.stringify(schema)}`), ""] : []),
    inside(content),
    `</block:${label}>`
  ].join("\n")
}

/** The blocks of a prompt, in the order in which they were given. */
export interface ShownBlocks {
  readonly core: ReadonlyArray<PromptBlock>
  readonly working: ReadonlyArray<PromptBlock>
}

export const shownBlocks = (blocks: ReadonlyArray<PromptBlock>, batchBlocks: ReadonlySet<string>): ShownBlocks => ({
  core: blocks.filter(({ type }) => type === "core"),
  working: blocks.filter(({ id, pinned = false, type }) => type === "working" && (pinned || batchBlocks.has(id)))
})

/** The blocks within the limit of memory, and those that had to leave. */
export const withinMemory = (
  { core, working }: ShownBlocks,
  maxTokens: number,
  tokensOf: (block: PromptBlock) => number
): { readonly shown: ShownBlocks; readonly absent: ReadonlyArray<Absent> } => {
  let tokens = [...core, ...working].reduce((sum, block) => sum + tokensOf(block), 0)
  const left = new Set<PromptBlock>()
  for (const block of working.toReversed()) {
    if (tokens <= maxTokens) break
    if (block.pinned === true) continue
    left.add(block)
    tokens -= tokensOf(block)
  }
  return {
    shown: { core, working: working.filter((block) => !left.has(block)) },
    absent: working
      .filter((block) => left.has(block))
      .map(({ label }) => ({ key: `block:${label}`, reason: "over-memory" }))
  }
}
