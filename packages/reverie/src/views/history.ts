// History: the entries of one assistant, read from the end or by tick.
// Owns the way to them that reads little. Leaves what is looked for in them to records.ts.
// H1  What is found is what a walk over every entry would find: the ticks of entries never decrease.

import type { OutboxRow } from "@reverie/ledger"

const PAGE = 200

export interface History {
  /** The number of the last entry. */
  readonly version: number
  /** Entries from a number on. */
  readonly read: (from: number, limit: number) => Promise<ReadonlyArray<OutboxRow>>
}

export async function* newestFirst({ read, version }: History): AsyncGenerator<OutboxRow> {
  for (let to = version; to >= 1; to -= PAGE) {
    const from = Math.max(1, to - PAGE + 1)
    yield* (await read(from, to - from + 1)).toReversed()
  }
}

/** The number of the first entry that is of this tick or a later one; one past the last when none is. */
const firstOf = async ({ read, version }: History, tick: number): Promise<number> => {
  let low = 1
  let high = version + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [row] = await read(middle, 1)
    if (row !== undefined && row.entry.tick < tick) low = middle + 1
    else high = middle
  }
  return low
}

/** The entries of one tick, in their order. */
export const entriesOfTick = async (history: History, tick: number): Promise<ReadonlyArray<OutboxRow>> => {
  const found: Array<OutboxRow> = []
  for (let from = await firstOf(history, tick); from <= history.version; from += PAGE) {
    for (const row of await history.read(from, PAGE)) {
      if (row.entry.tick > tick) return found
      if (row.entry.no <= history.version) found.push(row)
    }
  }
  return found
}
