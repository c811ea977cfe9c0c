// UndoingCompaction: a compaction of the history is taken back.
// Owns what is written of the order. Leaves what falls with it to `context`.

import { undoCompaction } from "@reverie/context"
import type { AcceptedEnvelope } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { applyRecords } from "../own-records.ts"
import { passedOver } from "../passed-over.ts"
import { readCompactions } from "../past.ts"
import type { Session } from "../session.ts"

/** What is written of an order to take a compaction back; undefined for any other envelope. */
export const undoneCompaction = Effect.fnUntraced(function* (
  session: Session,
  envelope: AcceptedEnvelope,
  now: number
) {
  const { event } = envelope
  if (event.type !== "undoCompaction") return undefined
  const undone = undoCompaction(yield* readCompactions(session.address), event.compaction, now)
  if (!undone.success) return passedOver(envelope, "ignored", undone.error)
  applyRecords(session.own, undone.changes)
  return passedOver(envelope, "handled", `taken back: ${undone.undone.join(", ")}`, undone.changes)
})
