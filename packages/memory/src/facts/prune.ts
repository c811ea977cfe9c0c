// Prune: what may go, and what is discarded.
// Owns which episodes give way and which facts retire. Leaves taking them away to the runtime, and conversations to
// working memory.
// P1  An episode goes only when it has become semantic memory, matters little, and is old enough.
// P2  A fact is never deleted. It retires when it matters little, nothing is linked to it although neighbours were
//     looked for, and it has been known for long; it says why.
// P3  The same present gives the same answer; what was pruned is not pruned again.

import type { Fact } from "../fact.ts"

const DAY_MILLIS = 86_400_000

export interface Episode {
  readonly id: string
  readonly importance: number
  /** Milliseconds since the epoch. */
  readonly at: number
  /** It has become semantic memory. */
  readonly consolidated: boolean
}

export interface EpisodePolicy {
  /** What is more important stays. */
  readonly maxImportance: number
  readonly minAgeMillis: number
}

const episodePolicy: EpisodePolicy = { maxImportance: 3, minAgeMillis: 7 * DAY_MILLIS }

/** Ids of the episodes that may go: the least important first, of equal ones the oldest. */
export const episodesToPrune = (
  episodes: Iterable<Episode>,
  now: number,
  { maxImportance, minAgeMillis }: EpisodePolicy = episodePolicy
): ReadonlyArray<string> =>
  [...episodes]
    .filter(
      ({ at, consolidated, importance }) => consolidated && importance <= maxImportance && now - at > minAgeMillis
    )
    .toSorted((a, b) => a.importance - b.importance || a.at - b.at)
    .map(({ id }) => id)

const factPolicy = { maxImportance: 2, minAgeMillis: 90 * DAY_MILLIS }

const RETIRED_BECAUSE = "of little importance, linked with nothing, and old"

/** The facts that retire, as they stand then. */
export const retireFacts = (
  facts: Iterable<Fact>,
  now: number,
  { maxImportance, minAgeMillis }: EpisodePolicy = factPolicy
): ReadonlyArray<Fact> =>
  [...facts]
    .filter(
      ({ importance, learnt_at, linked, links, state }) =>
        state === "active" &&
        importance <= maxImportance &&
        linked &&
        links.length === 0 &&
        now - learnt_at > minAgeMillis
    )
    .map((fact) => ({ ...fact, state: "retired", reason: RETIRED_BECAUSE }))
