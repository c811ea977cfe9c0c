// BlocksInView: the memory blocks of one tick, as its prompt shows them.
// Owns which of them are shown and their texts. Leaves reading them to `blocks.ts`, the form of one to `context`.
// V1  A text that says the same is the same object, so that the prompt's part is neither rendered nor counted again.
// V2  Nothing is hidden in what is shown.

import { type Address, defined, type Message, type PlacedMessage } from "@reverie/protocol"
import {
  type Absent,
  type Content,
  DEFAULT_BUILD_CONFIG,
  historyStartOf,
  openWindow,
  type PromptBlock,
  renderBlock,
  shownBlocks,
  type Window,
  withinMemory
} from "@reverie/context"
import { type BlockView, cleanText } from "@reverie/memory"
import { Ledger } from "@reverie/ledger"
import * as Effect from "effect/Effect"
import type { Definition } from "../session/definition.ts"
import { type OwnRecords, recordsOf } from "../session/own-records.ts"

export interface BlocksInView {
  /** The tick that they were read for; -1 for none. */
  readonly tick: number
  /** Everything the assistant may see, as it was when the tick began or after its own last change. */
  readonly known: ReadonlyArray<BlockView>
  readonly core: Content
  readonly working: Content
  readonly absent: ReadonlyArray<Absent>
}

export const NO_BLOCKS: BlocksInView = { tick: -1, known: [], core: "", working: "", absent: [] }

const BETWEEN_BLOCKS = "\n\n"

const promptBlock = (block: BlockView): PromptBlock => {
  const { description, id, label, permission, pinned, schema, sharedFrom, text, type } = block
  return {
    id,
    label,
    type,
    permission,
    content: cleanText(text),
    description: cleanText(description),
    schema,
    pinned,
    ...defined({ sharedFrom })
  }
}

const contentOf = (blocks: ReadonlyArray<PromptBlock>, before: Content): Content => {
  const pieces = blocks.map((block) => renderBlock(block, DEFAULT_BUILD_CONFIG))
  if (pieces.length === 0) return ""
  const isSame = typeof before !== "string" && JSON.stringify(before.pieces) === JSON.stringify(pieces)
  return isSame ? before : { pieces, separator: BETWEEN_BLOCKS }
}

/** What a tick shows of the blocks: those that are always shown, and those that it refers to. */
export const inView = (
  before: BlocksInView,
  tick: number,
  known: ReadonlyArray<BlockView>,
  referred: ReadonlyArray<string>,
  maxTokens: number,
  tokensOf: (text: string) => number
): BlocksInView => {
  const all = shownBlocks(known.map(promptBlock), new Set(referred))
  const { absent, shown } = withinMemory(all, maxTokens, (block) => tokensOf(renderBlock(block, DEFAULT_BUILD_CONFIG)))
  return {
    tick,
    known,
    core: contentOf(shown.core, before.core),
    working: contentOf(shown.working, before.working),
    absent
  }
}

// History: what of an assistant's past stands in its window.
// H1  The window is the marker of what was compacted, if anything was, and the newest messages after it.

interface OpenHistory {
  readonly window: Window
  readonly placed: ReadonlyArray<PlacedMessage>
}

/** Tokens of history that a prompt may have. */
const limitOf = ({ maxContextTokens, reservedResponseTokens }: Definition): number =>
  Math.max(1, maxContextTokens - reservedResponseTokens)

/** Reads as much as the context window could hold, so that what overflows it is counted too (F65). */
export const openHistory = Effect.fnUntraced(function* (address: Address, definition: Definition, own: OwnRecords) {
  const start = historyStartOf(recordsOf(own, "state"))
  const placed = yield* (yield* Ledger).recent(address, definition.maxContextTokens, start?.from)
  const messages = placed.map(({ message }) => message)
  const opened: OpenHistory = { window: windowOn(messages, definition, own), placed }
  return opened
})

/** A window on all that was said since the last compaction, whatever of it other prompts had no room for. */
export const windowOn = (messages: ReadonlyArray<Message>, definition: Definition, own: OwnRecords): Window =>
  openWindow(messages, limitOf(definition), historyStartOf(recordsOf(own, "state"))?.marker)

/** Every message since the last compaction, with its place. */
export const wholeHistory = Effect.fnUntraced(function* (address: Address, own: OwnRecords) {
  const start = historyStartOf(recordsOf(own, "state"))
  return yield* (yield* Ledger).recent(address, Number.MAX_SAFE_INTEGER, start?.from)
})
