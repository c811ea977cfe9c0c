// Ticks: the life of one assistant, the newest first, page by page.
// Owns reading as far back as a page needs, and no further. Leaves the cut to spans.ts, the view to tick-view.ts.
// T1  Pages that follow one another tell every span once, whatever is committed in between.
// T2  A page reads what it tells and at most one span more, however long the life.

import type { OutboxRow } from "@reverie/ledger"
import type { EnvelopeId } from "@reverie/protocol"
import { type History, newestFirst } from "../history.ts"
import { beginsTick, type Span, spansOf } from "./spans.ts"

/** Entries without the beginning of a tick that are looked at in one piece: what is overheard may go on for years. */
const MAX_PIECE = 2_000

export interface SpanPage {
  /** The newest first. */
  readonly spans: ReadonlyArray<Span>
  /** Where the next page begins: before the entry with this number; null when there is nothing before. */
  readonly next: number | null
}

const firstOf = ({ rows }: Span): number => rows[0]?.entry.no ?? 1

/** At most so many spans of entries before the given number. */
export const spansBefore = async (history: History, before: number, limit: number): Promise<SpanPage> => {
  const spans: Array<Span> = []
  const version = Math.min(history.version, before - 1)
  let piece: Array<OutboxRow> = []
  let [later] = before <= history.version ? await history.read(before, 1) : []
  for await (const row of newestFirst({ ...history, version })) {
    piece.push(row)
    const { entry } = row
    if (!beginsTick(entry) && entry.no > 1 && piece.length < MAX_PIECE) continue
    spans.push(...spansOf(piece.toReversed(), later?.entry).toReversed())
    if (spans.length >= limit) break
    later = row
    piece = []
  }
  const told = spans.slice(0, limit)
  const last = told.at(-1)
  return { spans: told, next: last === undefined || told.length < limit || firstOf(last) <= 1 ? null : firstOf(last) }
}

/** The envelope that began a span. */
export const beganWith = ({ rows }: Span): EnvelopeId | undefined => {
  const cause = rows[0]?.entry.cause
  return cause?.kind === "envelope" ? cause.id : undefined
}
