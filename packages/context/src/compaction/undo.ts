// Undo: a compaction taken back.
// Owns which compactions fall with it and where the history begins then. Leaves when it may happen to the statechart.
// U1  The history begins where it began before the compaction, with the marker that stood there, if any.
// U2  Compactions that were made on top of it are taken back with it; earlier ones stand.
// U3  Nothing is deleted: each is marked, its journal entry stays, and what it compacted is shown again.

import { isBefore, type RecordChange } from "@reverie/protocol"
import { type Compaction, compactionChange, type HistoryStart, startChange } from "./compaction.ts"

export interface UndoneCompaction {
  readonly success: true
  /** Where the history begins now; null at its very beginning. */
  readonly start: HistoryStart | null
  /** Ids of the compactions that were taken back, the newest first. */
  readonly undone: ReadonlyArray<string>
  readonly changes: ReadonlyArray<RecordChange>
}

export interface CompactionNotUndone {
  readonly success: false
  readonly error: string
}

/** Those that hold, the oldest first: each begins where the one before it ends. */
export const standing = (compactions: ReadonlyArray<Compaction>): ReadonlyArray<Compaction> =>
  compactions
    .filter(({ undone_at }) => undone_at === undefined)
    .toSorted((a, b) => (isBefore(a.range.to, b.range.to) ? -1 : 1))

export const undoCompaction = (
  compactions: ReadonlyArray<Compaction>,
  id: string,
  now: number
): UndoneCompaction | CompactionNotUndone => {
  const held = standing(compactions)
  const at = held.findIndex((compaction) => compaction.id === id)
  const wanted = held[at]
  if (wanted === undefined) {
    const isKnown = compactions.some((compaction) => compaction.id === id)
    return { success: false, error: isKnown ? `${id} has been taken back before` : `there is no compaction ${id}` }
  }
  const fallen = held.slice(at).toReversed()
  return {
    success: true,
    start: wanted.before.start,
    undone: fallen.map((compaction) => compaction.id),
    changes: [
      startChange(wanted.before.start),
      ...fallen.map((compaction) => compactionChange({ ...compaction, undone_at: now }))
    ]
  }
}
