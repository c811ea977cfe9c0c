// PassedOver: an envelope that the statechart is not asked about.
// Owns what is written of it: its place is passed, how it ended and why. Leaves who decides so to hearing, sleep timer and
// compaction.

import { type AcceptedEnvelope, type RecordChange, defined } from "@reverie/protocol"
import type { TurnInput } from "../commit/turn.ts"

export const passedOver = (
  { id, lane, seq }: AcceptedEnvelope,
  outcome: "handled" | "ignored",
  reason: string,
  records: ReadonlyArray<RecordChange> = []
): TurnInput => ({
  cause: { kind: "envelope", lane, seq, id },
  event: null,
  messages: [],
  ...defined({ records: records.length === 0 ? undefined : records }),
  settled: { id, outcome, reason }
})
