// Consolidating: journal and conversation become facts, a batch a step (F49).
// Owns which batch is next and what is written with it. Leaves asking, reading and routing to `memory`.
// C1  A batch is read once: its facts, the importance of its entries, and the mark of how far the dream has come leave
//     with one commit.
// C2  An entry that a person weighed keeps its importance, and so does the archive of a compaction, whose importance is
//     given (F55); what a heuristic or a model guessed before is replaced by what the model says now.
// C3  A batch that the model refuses for itself is passed over, and the report says so.

import {
  contextOf,
  type Journal,
  journalChanges,
  type JournalEntry,
  markConsolidated,
  personaRejection
} from "@reverie/assistant"
import {
  applyRoutes,
  asksFor,
  type Consolidated,
  type EntityProfile,
  entryId,
  expired,
  type Fact,
  inParts,
  isEntityProfile,
  isFact,
  keyOfId,
  type Lived,
  messageId,
  namingPeople,
  NOTHING_WORKING,
  originOf,
  type Profiles,
  readConsolidated,
  readRoutes,
  type Route,
  routeAsk,
  routeQuestions,
  threadOf
} from "@reverie/memory"
import { Model } from "@reverie/model"
import {
  type Address,
  addressKey,
  type Ask,
  defined,
  type Envelope,
  FORGOTTEN,
  isBefore,
  isJsonObject,
  type Json,
  type Message,
  type MessagePlace,
  type RecordChange,
  type Usage
} from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Ledger } from "@reverie/ledger"
import { assemble, collect, contextIn, dataOf, openWindow, type Round, withRound } from "@reverie/context"
import { Conversations, journalOn, recordsOf } from "../session/own-records.ts"
import { keepsApart } from "../session/person.ts"
import type { Session } from "../session/session.ts"
import { Faults } from "../jobs/job-end.ts"

// Known: what memory holds, read for a step of a dream.
// K1  A record that does not fit is left alone: neither used nor overwritten nor taken away.

/** Every fact of whatever state, by its id. */
export const factsOf = Effect.fnUntraced(function* ({ address }: Session) {
  const rows = yield* (yield* Ledger).records(address, ["fact"])
  return new Map(rows.flatMap(({ value }) => (isFact(value) ? [[value.id, value] as const] : [])))
})

export const profilesOf = Effect.fnUntraced(function* ({ address }: Session) {
  const rows = yield* (yield* Ledger).records(address, ["entity"])
  const profiles: Profiles = new Map(
    rows.flatMap(({ value }) => (isEntityProfile(value) ? [[value.id, value] as const] : []))
  )
  return profiles
})

export const factChange = (fact: Fact): RecordChange => ({ kind: "fact", key: fact.id, value: fact as unknown as Json })

export const profileChange = (profile: EntityProfile): RecordChange => ({
  kind: "entity",
  key: profile.id,
  value: profile as unknown as Json
})

// Step: one step of a dream operation, and how the model is asked for it.
// S1  What a step changes, and its line in the report, leave with one commit: a crash repeats the step whole.
// S2  What is to be read stands in the user role, never beside the instructions, in as many asks as it needs.

/** What one step did. */
export interface DreamStep {
  /** Things looked at, things the model or a rule proposed, and things that came of it. */
  readonly read: number
  readonly proposed: number
  readonly accepted: number
  readonly records: ReadonlyArray<RecordChange>
  readonly usage: ReadonlyArray<Usage>
  readonly sends?: ReadonlyArray<Envelope>
  /** What it would put away if a person says so, as an account names items. */
  readonly wouldForget?: ReadonlyArray<string>
  /** The operation goes on with another step. */
  readonly more?: boolean
  /** Why there was nothing to do. */
  readonly skipped?: string
  /** What else is worth knowing of it. */
  readonly note?: string
}

export const nothingToDo = (skipped: string, records: ReadonlyArray<RecordChange> = []): DreamStep => ({
  read: 0,
  proposed: 0,
  accepted: 0,
  records,
  usage: [],
  skipped
})

const promptOf = ({ book, definition, rendering: { values } }: Session, { data, instructions }: Ask) => {
  const { maxContextTokens, reservedResponseTokens } = definition
  const context = contextIn(definition, "sleep_consolidate")
  const texts = { system_prompt: instructions, semantic_memories: dataOf(data) }
  const { absent, components } = collect({ context, texts, values, book })
  const window = openWindow([], maxContextTokens)
  return assemble({ components, absent, window, context, maxContextTokens, reservedResponseTokens, count: book.count })
}

/** An ask that is a part of a loop. `no`: the same for every attempt at it, and no other ask of any dream has it. */
type InLoop = Omit<Round, "toolTokens"> & { readonly no: number }

/** Asks the model. `name` tells the asks of one step apart. */
export const askModel = Effect.fnUntraced(function* (
  session: Session,
  ask: Ask,
  name: string = ask.task,
  loop?: InLoop
) {
  const model = yield* Model
  const assembled = yield* Effect.fromResult(yield* session.inSlices(() => promptOf(session, ask)))
  const around = loop === undefined ? undefined : { ...loop, toolTokens: session.book.toolTokens(loop.offers) }
  const { round, tick } = contextOf(session.decoded)
  const callPrefix = `dream.${tick}.${name}.${loop?.no ?? round}`
  const faults = yield* Faults
  yield* faults.at("before-model", session.address)
  const asked = yield* Effect.result(model.infer({ ...withRound(assembled, around), callPrefix }))
  yield* faults.at("after-model", session.address)
  return yield* Effect.fromResult(asked)
})

// Lived: what an assistant has lived through and not yet digested.
// L1  Everything is read once: the cursor moves with the commit that keeps what was found.
// L2  The assistant's own words are not read: what it knows of the world it knows from others, and from its journal. That it answered is.
// L3  Where it keeps people apart, an item says whose conversation it belongs to, and a fact is compared with those of that one alone.

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

const cursorChange = ({ index, no }: MessagePlace): RecordChange => ({
  kind: "state",
  key: CURSOR_KEY,
  value: { no, index }
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
  /** Where the next batch begins, and whether that is further than before. */
  readonly next: MessagePlace
  readonly moved: boolean
  /** Messages lie behind these. */
  readonly more: boolean
}

/** The next messages that others have said, the oldest first, and how far the reading has come. */
const undigestedMessages = Effect.fnUntraced(function* (session: Session) {
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
        const last = items.at(-1)
        if (last !== undefined && isAnswer(message)) items.splice(-1, 1, { ...last, answered: true })
        if (!isSaid(message)) continue
        const text = clipped(message.content)
        const isFull = items.length >= BATCH_ITEMS || (items.length > 0 && chars + text.length > BATCH_CHARS)
        if (isFull) return { items, next: place, moved: true, more: true } satisfies Undigested
        const { at } = message
        chars += text.length
        const origin = originOf(message, session.address.assistant)
        const thread = keepsApart(session) ? threadOf({ origin }) : undefined
        const item = { id: messageId(place), at, speaker: origin.name, text, origin, importance: UNWEIGHED }
        items.push({ ...item, ...defined({ thread }) })
      }
      next = { no: entry.no + 1, index: 0 }
    }
    if (rows.length < PAGE) {
      return { items, next, moved: isBefore(from, next), more: false } satisfies Undigested
    }
  }
})

/** A batch, what says that it was read, and whether another one follows. */
export interface Batch {
  readonly items: ReadonlyArray<Lived>
  readonly marks: (consolidated: Consolidated) => ReadonlyArray<RecordChange>
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

/** The journal goes first: it holds what the assistant itself found worth writing down. */
export const nextBatch = Effect.fnUntraced(function* (session: Session) {
  const pending = undigestedEntries(session)
  const isApart = keepsApart(session)
  if (pending.length > 0) {
    const read = firstBatch(pending, isApart)
    const ids = read.map(({ id }) => id)
    const batch: Batch = {
      items: read.flatMap((entry) => itemsOf(entry, isApart)),
      marks: (consolidated) => {
        const journal = journalOn(session.own)
        return journalChanges(journal, markConsolidated(weighed(journal, consolidated), ids))
      },
      more: true
    }
    return batch
  }
  const { items, more, moved, next } = yield* undigestedMessages(session)
  const batch: Batch = { items, marks: () => (moved ? [cursorChange(next)] : []), more }
  return batch
})

const routed = Effect.fnUntraced(function* (
  session: Session,
  facts: ReadonlyMap<string, Fact>,
  { proposed }: Consolidated,
  usage: Array<Usage>
) {
  const parts = keepsApart(session) ? [...Map.groupBy(proposed, threadOf)] : [[undefined, proposed] as const]
  const questions = parts.flatMap(([thread, ofOne]) => {
    const known = [...facts.values()].filter((fact) => !keepsApart(session) || threadOf(fact) === thread)
    return routeQuestions(known, ofOne)
  })
  const routes: Array<Route> = []
  for (const [part, ask] of asksFor(routeAsk, questions, session.definition).entries()) {
    const reply = yield* askModel(session, ask, `route.${part}`)
    usage.push(reply.usage)
    routes.push(...readRoutes(reply.text, questions).routes)
  }
  return routes
})

/** What came of the asks over a batch. */
export interface Answered {
  readonly text: string
  readonly usage: ReadonlyArray<Usage>
  /** Why the model would not read this batch. */
  readonly refused?: string
}

const noteOf = (counts: Readonly<Record<string, number>>, refused: string | undefined): { readonly note?: string } => {
  const told = Object.entries(counts).flatMap(([what, count]) => (count === 0 ? [] : [`${count} ${what}`]))
  const notes = refused === undefined ? told : [...told, `skipped, the model refused it: ${refused}`]
  return notes.length === 0 ? {} : { note: notes.join("; ") }
}

/** What becomes memory of a batch, by what was answered; it is read with that. */
export const consolidated = Effect.fnUntraced(function* (
  session: Session,
  { items, marks, more }: Batch,
  { refused, text, usage: before }: Answered
) {
  const usage = [...before]
  const names = [session.address.assistant]
  const answer = readConsolidated(text, items, (fact) => personaRejection(fact, names))
  const facts = yield* factsOf(session)
  const heard = [...facts.values(), ...items].filter(({ origin }) => origin.type === "person" && origin.name !== "")
  const speakers = new Set(heard.map(({ origin }) => origin.name))
  const read = { ...answer, proposed: answer.proposed.map((each) => namingPeople(each, speakers)) }
  const routes = yield* routed(session, facts, read, usage)
  const moment = { tick: contextOf(session.decoded).tick, now: yield* Clock.currentTimeMillis }
  const { review } = session.definition
  const learnt = applyRoutes(facts.values(), read.proposed, routes, moment, review)
  const { added, changed, quarantined, waiting } = learnt
  const step: DreamStep = {
    read: items.length,
    proposed: read.proposed.length + read.dropped.length,
    accepted: added.length,
    records: [...changed.map(factChange), ...marks(read)],
    usage,
    more,
    ...noteOf({ "held back": quarantined.length, "wait for a person": waiting.length }, refused)
  }
  return step
})

/** Forgets the conversations that are over; tells how many there were and how many went. */
export const forgetStale = Effect.fnUntraced(function* (address: Address, now: number) {
  const held = yield* Conversations
  const key = addressKey(address)
  const working = held.get(key) ?? NOTHING_WORKING
  const live = expired(working, now)
  if (live.size === 0) held.delete(key)
  else held.set(key, live)
  return { known: working.size, gone: working.size - live.size }
})
