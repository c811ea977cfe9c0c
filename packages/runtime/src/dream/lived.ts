// Lived: what an assistant has lived through and not yet digested.
// Owns reading it out of journal and ledger, in batches, and how far a dream has come. Leaves digesting to `memory`.
// L1  Everything is read once: the cursor moves with the commit that keeps what was found.
// L2  The assistant's own words are not read: what it knows of the world it knows from others, and from its journal.

import { type JournalEntry } from "@reverie/assistant"
import { Ledger } from "@reverie/ledger"
import { entryId, type Lived, messageId, originOf } from "@reverie/memory"
import { isBefore, isJsonObject, type Message, type MessagePlace, type RecordChange } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { journalOn, recordsOf } from "../own-records.ts"
import type { Session } from "../session.ts"

/** Under this key of the kind `state` stands the first place that no dream has read. */
const CURSOR_KEY = "lived-until"

const BATCH_ITEMS = 20
/** What one item may have, in UTF-16 units; of a longer text the beginning is read. */
const MAX_ITEM_CHARS = 2_000
/** All items of a batch together. */
const BATCH_CHARS = 10_000
const PAGE = 100

const START: MessagePlace = { no: 1, index: 0 }

const cursorOf = ({ own }: Session): MessagePlace => {
  const kept = recordsOf(own, "state").get(CURSOR_KEY)
  if (kept === undefined || !isJsonObject(kept)) return START
  const { index, no } = kept
  return typeof no === "number" && typeof index === "number" ? { no, index } : START
}

export const cursorChange = ({ index, no }: MessagePlace): RecordChange => ({
  kind: "state",
  key: CURSOR_KEY,
  value: { no, index }
})

const clipped = (text: string): string => text.slice(0, MAX_ITEM_CHARS)

const ofEntry = (entry: JournalEntry): Lived => ({
  id: entryId("episode", entry.id),
  at: Date.parse(entry.timestamp),
  speaker: entry.source_entity ?? "journal",
  text: clipped(entry.content),
  origin: { type: "self", name: "journal" },
  trust: entry.source_trust,
  importance: entry.importance
})

/** The journal's entries that have not become memory, the oldest first, and those in which there is nothing to read. */
export const undigestedEntries = ({ own }: Session) => {
  const { consolidated, entries } = journalOn(own)
  const pending = [...entries.values()].filter(({ id }) => !consolidated.has(id))
  // A summary of the history says again what the history was read for.
  const isSummary = ({ source_type }: JournalEntry): boolean => source_type === "compaction"
  return {
    items: pending.filter((entry) => !isSummary(entry)).map(ofEntry),
    passed: pending.filter(isSummary).map(({ id }) => id)
  }
}

/** As many items as one ask may have, at least one. */
export const firstBatch = (items: ReadonlyArray<Lived>): ReadonlyArray<Lived> => {
  let chars = 0
  const upTo = items.findIndex(({ text }, index) => {
    chars += text.length
    return index > 0 && (index >= BATCH_ITEMS || chars > BATCH_CHARS)
  })
  return upTo === -1 ? items : items.slice(0, upTo)
}

/** What no heuristic has weighed. */
const UNWEIGHED = 5

const isSaid = ({ content, name, role }: Message): boolean =>
  role === "user" && name !== "clock" && content.trim() !== ""

export interface Undigested {
  readonly items: ReadonlyArray<Lived>
  /** Where the next batch begins, and whether that is further than before. */
  readonly next: MessagePlace
  readonly moved: boolean
  /** Messages lie behind these. */
  readonly more: boolean
}

/** The next messages that others have said, the oldest first, and how far the reading has come. */
export const undigestedMessages = Effect.fnUntraced(function* (session: Session) {
  const ledger = yield* Ledger
  const items: Array<Lived> = []
  const from = cursorOf(session)
  let next = from
  let chars = 0
  while (true) {
    const rows = yield* ledger.entries(session.address, next.no, PAGE)
    for (const { entry } of rows) {
      for (const [index, message] of entry.messages.entries()) {
        const place = { no: entry.no, index }
        if (isBefore(place, next)) continue
        if (!isSaid(message)) continue
        const text = clipped(message.content)
        const isFull = items.length >= BATCH_ITEMS || (items.length > 0 && chars + text.length > BATCH_CHARS)
        if (isFull) return { items, next: place, moved: true, more: true } satisfies Undigested
        const { at } = message
        chars += text.length
        const origin = originOf(message, session.address.assistant)
        items.push({ id: messageId(place), at, speaker: origin.name, text, origin, importance: UNWEIGHED })
      }
      next = { no: entry.no + 1, index: 0 }
    }
    if (rows.length < PAGE) {
      return { items, next, moved: isBefore(from, next), more: false } satisfies Undigested
    }
  }
})
