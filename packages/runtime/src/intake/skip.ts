// Skip: what is written of an envelope that starts no tick.

import { type AcceptedEnvelope, defined, FORGOTTEN, type RecordChange } from "@reverie/protocol"
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

/** Why a message comes to nothing whose words were forgotten while it waited: there is nothing to ask a model about. */
export const UNHEARD = "the message was forgotten before it was heard"

export const isForgotten = ({ event }: AcceptedEnvelope): boolean =>
  event.type === "message" && event.text === FORGOTTEN
