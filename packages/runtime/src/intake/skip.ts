// Skip: what is written of an envelope that starts no tick.

import { type AcceptedEnvelope, defined, type RecordChange } from "@reverie/protocol"
import type { TurnInput } from "../commit/commit-draft.ts"

export type Skip = TurnInput

export const skip = (
  { id, lane, seq }: AcceptedEnvelope,
  outcome: "handled" | "ignored",
  reason: string,
  records: ReadonlyArray<RecordChange> = []
): Skip => ({
  cause: { kind: "envelope", lane, seq, id },
  event: null,
  messages: [],
  ...defined({ records: records.length === 0 ? undefined : records }),
  settled: { id, outcome, reason }
})
