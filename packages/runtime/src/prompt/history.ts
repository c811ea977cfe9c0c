// History: what of an assistant's past stands in its window.
// Owns opening it from where the last compaction put its beginning. Leaves what is compacted to `fold/`, keeping messages to
// the ledger.
// H1  The window is the marker of what was compacted, if anything was, and the newest messages after it.

import { historyStartOf, openWindow, type Window } from "@reverie/context"
import { Ledger } from "@reverie/ledger"
import type { Address, Message, PlacedMessage } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import type { Definition } from "../session/definition.ts"
import { type OwnRecords, recordsOf } from "../session/own-records.ts"

export interface OpenHistory {
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
