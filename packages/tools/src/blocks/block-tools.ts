// BlockTools: every tool of memory blocks, in the order in which they are offered.
// Owns the list. Leaves who gets them to the definition of an assistant.

import { defined } from "@reverie/protocol"
import { blockPermissions, type BlockView, EVERYBODY } from "@reverie/memory"
import * as Schema from "effect/Schema"
import type { Tool } from "../tool.ts"
import { blockEditTool } from "./block-edit-tool.ts"
import { selfTool, text } from "../self/self-tool.ts"
import { type BlockAccess, withBlock } from "./outcome.ts"

// BlockTool: `block`, by which an assistant keeps its memory blocks in order.
// I1  It changes settings of blocks, never what they hold.

const actions = ["list", "show", "pin", "unpin", "archive", "share", "unshare", "viewport"] as const

const lines = (description: string) =>
  Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100_000 })).annotate({ description }))

const Input = Schema.Struct({
  action: Schema.Literals(actions).annotate({
    description:
      "list: all blocks. show: one, or an earlier version of it. pin, unpin: keep it in view. archive: put it away; pin " +
      "brings it back. share, unshare: with another assistant. viewport: which lines of a long text are in view"
  }),
  block: Schema.optionalKey(text(128, "Its label, or its id")),
  with: Schema.optionalKey(text(128, `The id of an assistant, or ${EVERYBODY} for every one`)),
  permission: Schema.optionalKey(Schema.Literals(blockPermissions)),
  version: lines("For show: the number of an earlier version"),
  start_line: lines("For viewport: the first line in view; without it the whole text is"),
  lines: lines("For viewport: how many lines are in view"),
  section: Schema.optionalKey(text(64, "For viewport: the section of a block that has sections"))
})
type Input = typeof Input.Type

const entryOf = (block: BlockView) => ({
  label: block.label,
  id: block.id,
  type: block.type,
  permission: block.permission,
  ...defined({
    pinned: block.type === "working" ? block.pinned : undefined,
    description: block.description === "" ? undefined : block.description
  }),
  characters: `${block.chars} of ${block.charLimit}`,
  version: block.version,
  ...defined({ shared_from: block.sharedFrom, shared_with: block.shares.length === 0 ? undefined : block.shares })
})

const shown = async (blocks: BlockAccess, block: BlockView, version: number | undefined) => {
  const reading = version === undefined ? block : await blocks.read(block.id, version)
  return { ...entryOf(block), version: reading.version, text: reading.text }
}

const DEFAULT_LINES = 50

const onBlock = (blocks: BlockAccess, key: string, block: BlockView, input: Input): Promise<object> | string => {
  const set = (setting: Parameters<BlockAccess["configure"]>[2]) =>
    blocks.configure(key, block.id, setting).then(({ changed }) => ({ label: block.label, changed }))
  switch (input.action) {
    case "list":
    case "show":
      return shown(blocks, block, input.version)
    case "pin":
    case "unpin":
      return set({ set: "pinned", pinned: input.action === "pin" })
    case "archive":
      return set({ set: "type", type: "archival" })
    case "share":
      if (input.with === undefined) return "Say with whom: with."
      return set({ set: "share", with: input.with, permission: input.permission ?? "ReadOnly" })
    case "unshare":
      return input.with === undefined ? "Say with whom no more: with." : set({ set: "unshare", with: input.with })
    case "viewport": {
      const { lines: displayLines = DEFAULT_LINES, section, start_line: startLine } = input
      const viewport = startLine === undefined ? null : { startLine, displayLines }
      return set({ set: "viewport", viewport, ...defined({ section }) })
    }
  }
}

const blockTool = selfTool({
  name: "block",
  description:
    "Keeps your memory blocks in order: the labelled texts, lists and logs that you and others keep for long. core: who you " +
    "are. working: what you are at. log: a record that only grows. archival: found by recall_memories alone.",
  input: Input,
  run: async (input, { records: { blocks }, key }) =>
    input.action === "list"
      ? { success: true, blocks: (await blocks.list()).map(entryOf) }
      : withBlock(blocks, input.block, (block) => onBlock(blocks, key, block, input))
})

/** The tools by which an assistant reads and edits its memory blocks. */
export const blockTools: ReadonlyArray<Tool> = [blockTool, blockEditTool]
