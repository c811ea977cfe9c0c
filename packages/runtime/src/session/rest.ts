// Rest: whether an assistant has anything to do.
// Owns the question. The fleet, tests and worlds wait by it.

import { isTagged } from "@reverie/assistant"
import type { AssistantRecord, LedgerUnavailable } from "@reverie/ledger"
import { Mailbox, type MailboxUnavailable } from "@reverie/mailbox"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** True when nothing will happen to the assistant unless someone sends something or time passes. */
export const isAtRest = Effect.fnUntraced(function* (
  record: AssistantRecord
): Effect.fn.Return<boolean, MailboxUnavailable | LedgerUnavailable, Mailbox> {
  const { address, state, waiting } = record
  // A pause ends by itself, with a timer: it is no rest.
  if (state.jobs.length > 0 || isTagged(state.status, "paused")) return false
  const now = yield* Clock.currentTimeMillis
  if (state.timers.some((timer) => timer.dueAt <= now)) return false
  if (waiting === 0 || state.status === "retired") return waiting === 0
  return (yield* (yield* Mailbox).pending(address, state.receives, 1)).length === 0
})
