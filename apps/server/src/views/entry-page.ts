// EntryPage: entries of an assistant from a number on, also where a segment that holds some of them is lost.
// Owns going on behind what is lost, and telling it. Leaves reading to the fleet.
// G1  Each number of a page is one of an entry, or one of a span that says why it cannot be read.

import type { OutboxRow } from "reverie"
import type { ReadFleet } from "../gateway.ts"

/** Entries that cannot be read, by their numbers, both included. */
export interface LostSpan {
  readonly from: number
  readonly to: number
  readonly reason: string
}

export interface EntryPage {
  readonly rows: ReadonlyArray<OutboxRow>
  readonly lost: ReadonlyArray<LostSpan>
}

/** The span of a failure that stands for lost entries; any other is thrown on. */
const lostIn = (failure: unknown): LostSpan => {
  const span: unknown = failure instanceof Error ? Reflect.get(failure, "lost") : undefined
  if (!(failure instanceof Error) || typeof span !== "object" || span === null) throw failure
  return { from: Number(Reflect.get(span, "from")), to: Number(Reflect.get(span, "to")), reason: failure.message }
}

/** The entries from one number to another, both included. */
export const entryPage = async (fleet: ReadFleet, id: string, from: number, to: number): Promise<EntryPage> => {
  const rows: Array<OutboxRow> = []
  const lost: Array<LostSpan> = []
  const read = async (first: number, last: number) => {
    if (first > last) return
    rows.push(...(await fleet.history.entries(id, first, last - first + 1)))
  }
  for (let first = from; first <= to;) {
    try {
      await read(first, to)
      break
    } catch (failure) {
      const span = lostIn(failure)
      await read(first, span.from - 1)
      lost.push({ ...span, from: Math.max(first, span.from), to: Math.min(span.to, to) })
      first = span.to + 1
    }
  }
  return { rows, lost }
}
