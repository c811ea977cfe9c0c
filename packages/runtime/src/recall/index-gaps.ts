// IndexGaps: what an index lacks of a ledger because it could not be read when its turn came.
// Owns how that stands in the name of the index's beginning, which every index keeps. Leaves reading and indexing to indexer.ts.
// G1  Gaps that follow each other are one.

import type { EntrySpan } from "@reverie/ledger"
import { beginningOf, type IndexPosition } from "@reverie/memory"

/** It stands before each gap in a name; a name has none by itself. */
const BEFORE = "_"
const gapPattern = /^(\d+)-(\d+)$/

const gapsOf = (beginning: string): ReadonlyArray<EntrySpan> =>
  beginning
    .split(BEFORE)
    .slice(1)
    .flatMap((text) => {
      const [, from, to] = gapPattern.exec(text) ?? []
      return from === undefined || to === undefined ? [] : [{ from: Number(from), to: Number(to) }]
    })

/** The entries that an index lacks, by their numbers. */
export const gapsIn = (position: IndexPosition): ReadonlyArray<EntrySpan> => gapsOf(beginningOf(position))

/** How many they are. */
export const lackingIn = (position: IndexPosition): number =>
  gapsIn(position).reduce((sum, { from, to }) => sum + to - from + 1, 0)

const joined = (gaps: ReadonlyArray<EntrySpan>): ReadonlyArray<EntrySpan> => {
  const made: Array<EntrySpan> = []
  for (const gap of gaps.toSorted((a, b) => a.from - b.from)) {
    const last = made.at(-1)
    if (last !== undefined && gap.from <= last.to + 1)
      made.splice(-1, 1, { from: last.from, to: Math.max(last.to, gap.to) })
    else made.push(gap)
  }
  return made
}

/** The name of a beginning with more gaps. */
export const withGaps = (beginning: string, gaps: ReadonlyArray<EntrySpan>): string => {
  if (gaps.length === 0) return beginning
  const [name = ""] = beginning.split(BEFORE)
  return [name, ...joined([...gapsOf(beginning), ...gaps]).map(({ from, to }) => `${from}-${to}`)].join(BEFORE)
}
