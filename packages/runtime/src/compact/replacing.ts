// Replacing: the marker takes the place of what was compacted (F53-F55).
// Owns gathering what it is made of. Leaves making it to `context`, opening the window anew to the commit.
// R1  The record of the compaction, the new beginning of the history and the journal's entry leave with one commit.

import { contextOf } from "@reverie/assistant"
import {
  compactionIds,
  compact,
  pendingCompactionChange,
  pendingCompactionOf,
  historyStartOf,
  skipReasons
} from "@reverie/context"
import { Ledger } from "@reverie/ledger"
import { type Address, defined } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { journalOn, recordsOf } from "../own-records.ts"
import { contextTypeNow, restrictionOf } from "../layers.ts"
import type { Session } from "../session.ts"
import type { PhaseStep } from "./phase.ts"
import { inputsOf } from "./plan.ts"

/** Compactions of one second that are looked for at first. */
const IDS_AT_FIRST = 4

/**
 * The ids of a moment that are taken, as far as the first that is free. Every key counts, also of what can not be read as a
 * compaction: nothing is written over.
 */
const takenIds = Effect.fnUntraced(function* (address: Address, now: number, isInJournal: (id: string) => boolean) {
  const ledger = yield* Ledger
  for (let count = IDS_AT_FIRST; ; count *= 2) {
    const ids = compactionIds(now, count)
    const taken = new Set((yield* ledger.records(address, ["compaction"], { keys: ids })).map(({ key }) => key))
    if (ids.some((id) => !taken.has(id) && !isInJournal(id))) return taken
  }
})

export const replacing = Effect.fnUntraced(function* (session: Session) {
  const { address, definition, own } = session
  const facts = recordsOf(own, "state")
  const { draft, extraction } = pendingCompactionOf(facts)
  const dropped: PhaseStep = { records: [pendingCompactionChange(null)], skipped: skipReasons["one-piece"] }
  if (draft === undefined) return dropped
  const { config, question } = yield* inputsOf(session)
  const now = yield* Clock.currentTimeMillis
  const journal = journalOn(own)
  const taken = yield* takenIds(address, now, (id) => journal.entries.has(id))
  const compacted = yield* session.inSlices(() =>
    compact({
      draft,
      history: question.history,
      start: historyStartOf(facts),
      extraction,
      config,
      approvals: [],
      canRead: definition.toolkit.get("read_history") !== undefined,
      journal,
      moment: { tick: contextOf(session.decoded).tick, now },
      taken: (id) => taken.has(id),
      maxContextTokens: definition.maxContextTokens,
      priced: session.count
    })
  )
  if (compacted.skipped) return { ...dropped, skipped: skipReasons[compacted.reason] }
  const { after, before, compacted_count, id } = compacted.compaction
  const ratio = after.tokens / definition.maxContextTokens
  const step: PhaseStep = {
    records: compacted.changes,
    // The pressure that the tick began with is gone.
    ...defined({
      restriction:
        draft.trigger === "emergency" ? restrictionOf(session, contextTypeNow(session), {}, ratio) : undefined
    }),
    detail: { compaction: id, compacted_count, tokens_before: before.tokens, tokens_after: after.tokens }
  }
  return step
})
