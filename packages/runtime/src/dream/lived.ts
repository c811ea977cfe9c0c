// Lived: what an assistant has lived through and not yet digested.
// Owns which batch of it is next, and the mark that it was read. Leaves what becomes of it to consolidating.ts.
// L1  Everything is read once: the cursor moves with the commit that keeps what was found.
// L2  The assistant's own words are not read: what it knows of the world it knows from others, and from its journal. That it answered is.
// L3  Where it keeps people apart, a batch is of one conversation: a model that is shown no other can not mistake one for it. What of the
//     others lies between is passed by, and read next.
// L4  What is in a segment that is lost is passed by for good, and said once: what was said since is read. Where the segment may well be
//     whole, because its place is not named, the night fails instead.

import { contextOf, type Journal, journalChanges, type JournalEntry, markConsolidated } from "@reverie/assistant"
import {
  type Consolidated,
  entryId,
  inParts,
  keyOfId,
  type Lived,
  messageId,
  originOf,
  placeOfId,
  threadOf,
  wholeId
} from "@reverie/memory"
import {
  addressKey,
  defined,
  FORGOTTEN,
  isBefore,
  isJsonObject,
  type Json,
  type Message,
  type MessagePlace,
  type RecordChange
} from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { pageOnce } from "../recall/index-parts.ts"
import { journalOn, recordsOf } from "../session/own-records.ts"
import { keepsApart } from "../session/person.ts"
import type { Session } from "../session/session.ts"
import { AGAIN_KEY, againChange, groupsIn, postponed } from "./lived-again.ts"

/** Under this key of the kind `state` stands the first place that no dream has read. */
const CURSOR_KEY = "lived-until"

const BATCH_ITEMS = 20
/** What one item may have, in UTF-16 units; of a longer text the beginning is read. */
const MAX_ITEM_CHARS = 2_000
/** All items of a batch together; a message, which is read in parts, has no more alone, so that every batch has room in a prompt. */
const BATCH_CHARS = 10_000
const PAGE = 100

/** Of a conversation so many messages are looked through for a batch: what lies between is noted one by one. */
const REACH = 200

/** How far it was read, and the ids of messages that were read beyond that. */
interface Cursor {
  readonly at: MessagePlace
  readonly read: ReadonlySet<string>
}

const START: Cursor = { at: { no: 1, index: 0 }, read: new Set() }

const cursorOf = ({ own }: Session): Cursor => {
  const kept = recordsOf(own, "state").get(CURSOR_KEY)
  if (kept === undefined || !isJsonObject(kept)) return START
  const { index, no, read } = kept
  if (typeof no !== "number" || typeof index !== "number") return START
  const beyond = Array.isArray(read) ? (read as ReadonlyArray<Json>) : []
  return { at: { no, index }, read: new Set(beyond.filter((id) => typeof id === "string")) }
}

const cursorChange = ({ at: { index, no }, read }: Cursor): RecordChange => ({
  kind: "state",
  key: CURSOR_KEY,
  value: { no, index, ...defined({ read: read.size === 0 ? undefined : [...read] }) }
})

const clipped = (text: string): string => text.slice(0, MAX_ITEM_CHARS)

/** What a compaction has archived: it is read to its end, and not weighed. */
const isArchive = ({ source_type }: JournalEntry): boolean => source_type === "compaction"

const itemsOf = (entry: JournalEntry, isApart: boolean): ReadonlyArray<Lived> => {
  const speaker = entry.source_entity ?? "journal"
  return inParts({
    id: entryId("episode", entry.id),
    at: Date.parse(entry.timestamp),
    speaker,
    ...defined({ thread: isApart ? speaker : undefined }),
    text: isArchive(entry) ? entry.content.replace(/^\[[^\]\n]*\]\n/, "") : clipped(entry.content),
    origin: { type: "self", name: "journal" },
    trust: entry.source_trust,
    importance: entry.importance
  })
}

/** Entries that have not become memory, the oldest first, archives behind them. The next dream reads what this one wrote. */
const undigestedEntries = ({ decoded, own }: Session): ReadonlyArray<JournalEntry> => {
  const { consolidated, entries } = journalOn(own)
  const ofThisDream = `entry_${contextOf(decoded).tick}_`
  return [...entries.values()]
    .filter(({ id }) => !consolidated.has(id) && !id.startsWith(ofThisDream))
    .toSorted((a, b) => Number(isArchive(a)) - Number(isArchive(b)))
}

/** Those that the first one's speaker said. */
const ofOneSpeaker = (entries: ReadonlyArray<JournalEntry>): ReadonlyArray<JournalEntry> =>
  entries.filter(({ source_entity }) => source_entity === entries[0]?.source_entity)

/** As many whole entries as one ask may have, at least one. */
const firstBatch = (entries: ReadonlyArray<JournalEntry>, isApart: boolean): ReadonlyArray<JournalEntry> => {
  let chars = 0
  let items = 0
  const upTo = entries.findIndex((entry, index) => {
    const parts = itemsOf(entry, isApart)
    items += parts.length
    chars += parts.reduce((sum, { text }) => sum + text.length, 0)
    return index > 0 && (items > BATCH_ITEMS || chars > BATCH_CHARS)
  })
  return upTo === -1 ? entries : entries.slice(0, upTo)
}

/** What no heuristic has weighed. */
const UNWEIGHED = 5

const isSaid = ({ content, name, role }: Message): boolean =>
  role === "user" && name !== "clock" && content.trim() !== "" && content !== FORGOTTEN

/** It heard, or does not know: someone else may. */
const saysNothing =
  /^(?:(?:sorry[,.] )?I (?:do not|don['’]t) know\b|(?:noted|understood|ok|okay|got it|I see|thanks)[.!]*$)/i

/** The assistant answers, in its own words or by a tool that speaks. */
const isAnswer = ({ calls = [], content, rejected, role }: Message): boolean =>
  role === "assistant" &&
  rejected === undefined &&
  !saysNothing.test(content.trim()) &&
  (content.trim() !== "" || calls.some(({ tool }) => tool === "say" || tool === "reply"))

interface Undigested {
  readonly items: ReadonlyArray<Lived>
  readonly next: Cursor
  /** It is further than before. */
  readonly moved: boolean
  /** Messages lie behind these. */
  readonly more: boolean
}

const charsOf = (items: ReadonlyArray<Lived>): number => items.reduce((sum, { text }) => sum + text.length, 0)

/** A message, in parts where it is long. */
const messageItems = ({ address }: Session, message: Message, id: string, isApart: boolean): ReadonlyArray<Lived> => {
  const origin = originOf(message, address.assistant)
  const thread = isApart ? threadOf({ origin }) : undefined
  const text = message.content.slice(0, BATCH_CHARS)
  const item = { id, at: message.at, speaker: origin.name, text, origin, importance: UNWEIGHED }
  return inParts({ ...item, ...defined({ thread }) })
}

/** A batch of messages as it grows. */
class Gathering {
  readonly items: Array<Lived> = []
  readonly #session: Session
  readonly #from: Cursor
  readonly #isApart: boolean
  /** Of those that were looked at, in their order. */
  readonly #seen: Array<{ readonly id: string; readonly place: MessagePlace }> = []
  #chars = 0
  /** The conversation of the batch; undefined before its first message. */
  #thread: { readonly of: string | undefined } | undefined
  /** What was said last belongs to the batch. */
  #isHeard = false

  constructor(session: Session) {
    this.#session = session
    this.#from = cursorOf(session)
    this.#isApart = keepsApart(session)
  }

  get at(): MessagePlace {
    return this.#from.at
  }

  /** Takes a message up, or passes it by. False when there is no room for it. */
  take(message: Message, place: MessagePlace): boolean {
    const last = this.items.at(-1)
    if (this.#isHeard && last !== undefined && isAnswer(message)) {
      this.items.splice(-1, 1, { ...last, answered: true })
    }
    if (!isSaid(message)) return true
    const id = messageId(place)
    const items = messageItems(this.#session, message, id, this.#isApart)
    const [{ thread } = { thread: undefined }] = items
    const isRead = this.#from.read.has(id)
    const isOther = this.#thread !== undefined && thread !== this.#thread.of
    if (!isRead && !isOther && this.#isFull(items)) return false
    if (this.#seen.length >= REACH) return false
    this.#seen.push({ id, place })
    this.#isHeard = !isRead && !isOther
    if (!this.#isHeard) return true
    this.#thread = { of: thread }
    this.#chars += charsOf(items)
    this.items.push(...items)
    return true
  }

  /** Where the next batch begins, when this one has looked at everything before a place. */
  next(end: MessagePlace): Cursor {
    const done = new Set([...this.#from.read, ...this.items.map(({ id }) => wholeId(id))])
    const first = this.#seen.find(({ id }) => !done.has(id))
    const at = first?.place ?? end
    const beyond = this.#seen.filter(({ id, place }) => done.has(id) && !isBefore(place, at)).map(({ id }) => id)
    return { at, read: new Set(beyond) }
  }

  #isFull(items: ReadonlyArray<Lived>): boolean {
    const count = this.items.length
    return count > 0 && (count + items.length > BATCH_ITEMS || this.#chars + charsOf(items) > BATCH_CHARS)
  }
}

/** Entries that cannot be read, and why. */
interface PassedBy {
  readonly from: number
  readonly to: number
  readonly why: string
}

/** Says once what no later night comes back to. */
const tellPassed = ({ address }: Session, passed: ReadonlyArray<PassedBy>, { at }: Cursor) =>
  Effect.forEach(
    passed.filter(({ to }) => to < at.no),
    ({ from, to, why }) =>
      Effect.logWarning(`dreams of ${addressKey(address)} pass by its entries ${from} to ${to} for good: ${why}`),
    { discard: true }
  )

/** The next messages that others have said, the oldest first, and how far the reading has come. */
const undigestedMessages = Effect.fnUntraced(function* (session: Session) {
  const gathering = new Gathering(session)
  const from = gathering.at
  const { items } = gathering
  const passed: Array<PassedBy> = []
  let next = from
  while (true) {
    const { lost, rows } = yield* pageOnce(session.address, next.no, PAGE)
    passed.push(...lost)
    for (const { entry } of rows) {
      for (const [index, message] of entry.messages.entries()) {
        const place = { no: entry.no, index }
        if (isBefore(place, next) || gathering.take(message, place)) continue
        const until = gathering.next(place)
        yield* tellPassed(session, passed, until)
        return { items, next: until, moved: true, more: true } satisfies Undigested
      }
      next = { no: entry.no + 1, index: 0 }
    }
    if (rows.length < PAGE) {
      const end = gathering.next(next)
      yield* tellPassed(session, passed, end)
      // What was passed by is read next.
      const more = isBefore(end.at, next)
      return { items, next: end, moved: isBefore(from, end.at) || items.length > 0, more } satisfies Undigested
    }
  }
})

/** A batch, what says that it was read, and whether another one follows. */
export interface Batch {
  readonly items: ReadonlyArray<Lived>
  readonly marks: (consolidated: Consolidated) => ReadonlyArray<RecordChange>
  /** What says that it could not be read, and how many things of it are given up. */
  readonly postponed: () => { readonly records: ReadonlyArray<RecordChange>; readonly lost: number }
  readonly more: boolean
}

export const NOTHING_READ: Consolidated = { scored: new Map(), proposed: [], dropped: [] }

const weighed = (journal: Journal, { scored }: Consolidated): Journal => {
  const entries = new Map(journal.entries)
  for (const [id, importance] of scored) {
    const entry = entries.get(keyOfId(id) ?? "")
    if (entry === undefined || entry.importance_method === "manual" || isArchive(entry)) continue
    entries.set(entry.id, { ...entry, importance, importance_method: "llm" })
  }
  return { ...journal, entries }
}

/** Of what could not be read in another night, the first group, as far as it is still there. */
const waitingBatch = Effect.fnUntraced(function* (session: Session) {
  const groups = groupsIn(recordsOf(session.own, "state").get(AGAIN_KEY))
  const night = contextOf(session.decoded).tick
  const group = groups.find((each) => each.night !== night)
  if (group === undefined) return undefined
  const others = groups.filter((each) => each !== group)
  const isApart = keepsApart(session)
  const { entries } = journalOn(session.own)
  const items: Array<Lived> = []
  for (const id of group.of) {
    const place = placeOfId(id)
    const entry = entries.get(keyOfId(id) ?? "")
    if (entry !== undefined) items.push(...itemsOf(entry, isApart))
    if (place === undefined) continue
    const [row] = (yield* pageOnce(session.address, place.no, 1)).rows
    const message = row?.entry.no === place.no ? row.entry.messages[place.index] : undefined
    if (message !== undefined && isSaid(message)) items.push(...messageItems(session, message, id, isApart))
  }
  const batch: Batch = {
    items,
    marks: () => [againChange(others)],
    postponed: () => {
      const { lost, waiting } = postponed(others, { of: group.of, night }, true)
      return { records: [againChange(waiting)], lost }
    },
    more: true
  }
  return batch
})

/** What could not be read goes first, then the journal: it holds what the assistant itself found worth writing down. */
export const nextBatch = Effect.fnUntraced(function* (session: Session) {
  const again = yield* waitingBatch(session)
  if (again !== undefined) return again
  const inVain = (of: ReadonlyArray<string>, marks: ReadonlyArray<RecordChange>) => () => {
    const groups = groupsIn(recordsOf(session.own, "state").get(AGAIN_KEY))
    const { lost, waiting } = postponed(groups, { of, night: contextOf(session.decoded).tick }, false)
    return { records: [...marks, againChange(waiting)], lost }
  }
  const pending = undigestedEntries(session)
  const isApart = keepsApart(session)
  if (pending.length > 0) {
    const read = firstBatch(isApart ? ofOneSpeaker(pending) : pending, isApart)
    const ids = read.map(({ id }) => id)
    const marks = (consolidated: Consolidated) => {
      const journal = journalOn(session.own)
      return journalChanges(journal, markConsolidated(weighed(journal, consolidated), ids))
    }
    const entryIds = ids.map((id) => entryId("episode", id))
    const batch: Batch = {
      items: read.flatMap((entry) => itemsOf(entry, isApart)),
      marks,
      postponed: inVain(entryIds, marks(NOTHING_READ)),
      more: true
    }
    return batch
  }
  const { items, more, moved, next } = yield* undigestedMessages(session)
  const marks = moved ? [cursorChange(next)] : []
  const ids = [...new Set(items.map(({ id }) => wholeId(id)))]
  const batch: Batch = { items, marks: () => marks, postponed: inVain(ids, marks), more }
  return batch
})
