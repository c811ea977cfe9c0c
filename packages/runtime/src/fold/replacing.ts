// Replacing: the marker takes the place of what was folded (F53-F55).
// Owns gathering what it is made of. Leaves making it to `context`, opening the window anew to the commit.
// R1  The record of the compaction, the new beginning of the history and the journal's entry leave with one commit.

import { contextOf } from "@reverie/assistant"
import { fold, foldingChange, foldingOn, historyStartOn, skipReasons } from "@reverie/context"
import { Ledger } from "@reverie/ledger"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { journalOn, onDesk } from "../desk.ts"
import { contextTypeNow, restrictionOf } from "../layers.ts"
import type { Session } from "../session.ts"
import type { PhaseStep } from "./phase.ts"
import { groundOf } from "./plan.ts"

export const replacing = Effect.fnUntraced(function* (session: Session) {
  const { address, definition, desk } = session
  const facts = onDesk(desk, "desk")
  const { draft, extraction } = foldingOn(facts)
  const dropped: PhaseStep = { records: [foldingChange(null)], skipped: skipReasons["one-piece"] }
  if (draft === undefined) return dropped
  const { config, question } = yield* groundOf(session)
  // Every key, also of what can not be read as a compaction: nothing is written over.
  const taken = new Set((yield* (yield* Ledger).records(address, ["compaction"])).map(({ key }) => key))
  const now = yield* Clock.currentTimeMillis
  const folded = yield* session.inSlices(() =>
    fold({
      draft,
      history: question.history,
      start: historyStartOn(facts),
      extraction,
      config,
      approvals: [],
      canRead: definition.toolkit.get("read_history") !== undefined,
      journal: journalOn(desk),
      moment: { tick: contextOf(session.decoded).tick, now },
      taken: (id) => taken.has(id),
      maxContextTokens: definition.maxContextTokens,
      priced: session.count
    })
  )
  if (folded.skipped) return { ...dropped, skipped: skipReasons[folded.reason] }
  const { after, before, compacted_count, id } = folded.compaction
  const ratio = after.tokens / definition.maxContextTokens
  const step: PhaseStep = {
    records: folded.changes,
    // The pressure that the tick began with is gone.
    ...(draft.trigger === "emergency"
      ? { restriction: restrictionOf(session, contextTypeNow(session), {}, ratio) }
      : {}),
    detail: { compaction: id, compacted_count, tokens_before: before.tokens, tokens_after: after.tokens }
  }
  return step
})
