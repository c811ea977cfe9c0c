// Pruning: links that lead nowhere, episodes and facts that matter no more, conversations that are over (F49).
// Owns the order, one of them a step. Leaves what may go to `memory`.
// P1  Each is a step of its own: one that fails keeps none of the others from being done on another night.

import { contextOf, journalChanges } from "@reverie/assistant"
import { type Episode, episodesToPrune, mendLinks, retireFacts, withdraw } from "@reverie/memory"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { journalOn } from "../own-records.ts"
import { keepIndexed } from "../recall/indexer.ts"
import type { Session } from "../session.ts"
import { factChange, factsOf, profileChange, profilesOf } from "./known.ts"
import type { DreamStep } from "./step.ts"
import { forgetStale } from "./working.ts"

/** Links that lead to what does not hold any more, and what profiles were made of it. */
const orphans = Effect.fnUntraced(function* (session: Session) {
  const facts = yield* factsOf(session)
  const mended = mendLinks(facts.values())
  const fallen = [...facts.values()].filter(({ state }) => state === "retired" || state === "quarantined")
  const profiles = [...(yield* profilesOf(session)).values()]
  const corrected = profiles.flatMap((profile) => {
    const after = withdraw(
      profile,
      fallen.map(({ id }) => id)
    )
    return after === profile ? [] : [after]
  })
  const step: DreamStep = {
    read: facts.size + profiles.length,
    proposed: mended.moved + mended.dropped + corrected.length,
    accepted: mended.changed.length + corrected.length,
    records: [...mended.changed.map(factChange), ...corrected.map(profileChange)],
    usage: [],
    more: true
  }
  return step
})

const episodes = Effect.fnUntraced(function* (session: Session) {
  const now = yield* Clock.currentTimeMillis
  const journal = journalOn(session.own)
  const all = [...journal.entries.values()].map(({ id, importance, timestamp }): Episode => ({
    id,
    importance,
    at: Date.parse(timestamp),
    consolidated: journal.consolidated.has(id)
  }))
  const gone = new Set(episodesToPrune(all, now))
  const entries = new Map([...journal.entries].filter(([id]) => !gone.has(id)))
  const consolidated = gone.size === 0 ? journal.consolidated : journal.consolidated.difference(gone)
  const facts = yield* factsOf(session)
  const retired = retireFacts(facts.values(), now)
  const step: DreamStep = {
    read: all.length + facts.size,
    proposed: gone.size + retired.length,
    accepted: gone.size + retired.length,
    records: [...journalChanges(journal, { entries, consolidated }), ...retired.map(factChange)],
    usage: [],
    more: true
  }
  return step
})

const conversations = Effect.fnUntraced(function* (session: Session) {
  const now = yield* Clock.currentTimeMillis
  const { gone, known } = yield* forgetStale(session.address, now)
  // The night's last work: what it found can be recalled in the morning.
  yield* keepIndexed(session.address)
  const step: DreamStep = { read: known, proposed: gone, accepted: gone, records: [], usage: [] }
  return step
})

const steps = [orphans, episodes, conversations] as const

export const pruning = Effect.fnUntraced(function* (session: Session) {
  const { round } = contextOf(session.decoded)
  return yield* (steps[round] ?? conversations)(session)
})
