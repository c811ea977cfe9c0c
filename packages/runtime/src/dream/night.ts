// Night: what one dream made of a memory, read out of the ledger, and taking that back.
// Owns finding the steps of a night, and what stood before them. Leaves what becomes of each record to `memory`, and telling it to the SDK.
// N1  Nothing is kept for it: the steps of a dream commit records, and each is compared with what stood there before the night.
// N2  What stood before is looked for from the night backwards, and only as far as something is missing.
// N3  What is found is what a walk over every entry would find: the ticks of entries never decrease.
// N4  It is taken back, or what waits of it is accepted, with one commit. Taken back twice, nothing is left to take.

import { contextOf, journalChanges, statusOf } from "@reverie/assistant"
import { Ledger, type OutboxRow } from "@reverie/ledger"
import {
  acceptedByPerson,
  type Fact,
  isEntityProfile,
  itemOf,
  type NightChange,
  putAway,
  takeBack
} from "@reverie/memory"
import { type Address, defined, type Entry, type Json, type RecordChange } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { journalOn } from "../session/own-records.ts"
import type { Session } from "../session/session.ts"
import { factChange, factsOf, profilesOf } from "./consolidating.ts"
import { dreamId, type DreamReport, isDreamReport } from "./profiling.ts"

const PAGE = 200

/** The entries of one assistant. */
export interface EntryHistory<E = never, R = never> {
  /** The number of the last one. */
  readonly version: number
  /** Those from a number on. */
  readonly read: (from: number, limit: number) => Effect.Effect<ReadonlyArray<OutboxRow>, E, R>
}

/** The entries of an assistant as its ledger has them now. */
export const entryHistory = Effect.fnUntraced(function* (address: Address) {
  const ledger = yield* Ledger
  const version = (yield* ledger.inspect(address))?.version ?? 0
  return { version, read: (from: number, limit: number) => ledger.entries(address, from, limit) }
})

/** The number of the first entry of which something holds that holds of all behind it; one past the last when of none. */
export const firstEntry = Effect.fnUntraced(function* <E, R>(
  { read, version }: EntryHistory<E, R>,
  holds: (entry: Entry) => boolean
) {
  let [low, high] = [1, version + 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [row] = yield* read(middle, 1)
    if (row !== undefined && !holds(row.entry)) low = row.entry.no + 1
    else high = middle
  }
  return low
})

/** The entries of one tick, in their order. */
export const entriesOfTick = Effect.fnUntraced(function* <E, R>(history: EntryHistory<E, R>, tick: number) {
  const found: Array<OutboxRow> = []
  const first = yield* firstEntry(history, (entry) => entry.tick >= tick)
  for (let from = first; from <= history.version; from += PAGE) {
    const page = yield* history.read(from, PAGE)
    found.push(...page.filter(({ entry }) => entry.tick === tick && entry.no <= history.version))
    if (page.some(({ entry }) => entry.tick > tick)) break
  }
  return found
})

/** The entries of one tick of an assistant. */
export const rowsOfTick = (address: Address, tick: number) =>
  Effect.flatMap(entryHistory(address), (history) => entriesOfTick(history, tick))

/** It can not have been there before: a fact by its id, a profile by knowing nothing but what this night has learnt. */
const isNew = ({ key, kind, value }: RecordChange, tick: number): boolean => {
  const ofTonight = `fact_${tick}_`
  if (kind === "fact") return key.startsWith(ofTonight)
  if (kind === "journal") return key.startsWith(`entry_${tick}_`)
  if (kind === "episode") return true
  return isEntityProfile(value) && value.made === 0 && value.observations.every(({ id }) => id.startsWith(ofTonight))
}

/** What stood under these names before an entry: read backwards until all are found. */
const valuesBefore = Effect.fnUntraced(function* <E, R>(
  { read }: EntryHistory<E, R>,
  wanted: ReadonlySet<string>,
  before: number
) {
  const found = new Map<string, Json>()
  const missing = new Set(wanted)
  let isDeleted = false
  for (let to = before - 1; to >= 1 && missing.size > 0; to -= PAGE) {
    const from = Math.max(1, to - PAGE + 1)
    for (const { entry } of (yield* read(from, to - from + 1)).toReversed()) {
      isDeleted ||= entry.deleted !== undefined && missing.size > 0
      for (const change of (entry.records ?? []).toReversed()) {
        const item = itemOf(change)
        if (missing.delete(item) && change.value !== null) found.set(item, change.value)
      }
    }
  }
  return { found, isDeleted }
})

/** One night: the entries of its steps, at least one, and what they made of each record. */
export interface Night {
  readonly id: string
  readonly rows: ReadonlyArray<OutboxRow>
  readonly changes: ReadonlyArray<NightChange>
  /** Of some of them a retention policy has deleted what stood before. */
  readonly isDeleted: boolean
}

/** The tick that a dream was; not a number where it is no id of one. */
const tickOf = (dream: string): number => Number(/^dream_(\d+)$/.exec(dream)?.[1])

/** The night of this dream; undefined where there was none. */
export const readNight = Effect.fnUntraced(function* <E, R>(history: EntryHistory<E, R>, id: string) {
  const tick = tickOf(id)
  if (!Number.isSafeInteger(tick)) return undefined
  const rows = (yield* entriesOfTick(history, tick)).filter(({ entry }) => entry.step?.kind === "dream")
  const [first] = rows
  if (first === undefined) return undefined
  const last = new Map<string, RecordChange>()
  const wanted = new Set<string>()
  for (const change of rows.flatMap(({ entry }) => entry.records ?? [])) {
    const item = itemOf(change)
    if (!last.has(item) && !isNew(change, tick)) wanted.add(item)
    last.set(item, change)
  }
  const { found: before, isDeleted } = yield* valuesBefore(history, wanted, first.entry.no)
  const changes = [...last].map(([item, { key, kind, value }]): NightChange => {
    return { kind, key, before: before.get(item), after: value }
  })
  const night: Night = {
    id,
    rows,
    changes,
    isDeleted: isDeleted || rows.some(({ entry }) => entry.deleted !== undefined)
  }
  return night
})

const factItem = (id: string): string => itemOf({ kind: "fact", key: id })

const episodeItem = (id: string): string => itemOf({ kind: "episode", key: id })

/** What is asked to be taken back. */
export interface UndoneDream {
  readonly dream: string
  /** Items of it; all of it when not said. */
  readonly items?: ReadonlyArray<string>
  readonly reason?: string
}

/** The report of a night with what was taken back of it. */
const marked = (report: DreamReport, items: UndoneDream["items"], now: number): RecordChange => {
  const undone = items === undefined ? { undone_at: now } : { undone_items: [...(report.undone_items ?? []), ...items] }
  return { kind: "dream", key: report.id, value: { ...report, ...undone } as unknown as Json }
}

/** The records that take it back and a line about it; `records` is empty where there is nothing to take back. */
export const undoneDream = Effect.fnUntraced(function* (
  session: Session,
  { dream, items, reason = `${dream} was undone` }: UndoneDream,
  now: number
) {
  const { address, decoded } = session
  const nothing = (told: string) => ({ told, records: [] as ReadonlyArray<RecordChange> })
  const status = statusOf(decoded)
  const isUnderWay = status.startsWith("dreaming.") && status !== "dreaming.resting"
  if (isUnderWay && dream === dreamId(contextOf(decoded).tick)) return nothing(`${dream} is not over yet`)
  const night = yield* readNight(yield* entryHistory(address), dream)
  if (night === undefined) return nothing(`there was no dream ${dream}`)
  if (night.isDeleted) return nothing(`what stood before ${dream} was deleted by retention`)
  const kinds = [...new Set(night.changes.map(({ kind }) => kind))].filter((kind) => kind !== "fact")
  const keys = [dream, ...night.changes.map(({ key }) => key)]
  const rows = yield* (yield* Ledger).records(address, [...kinds, "dream"], { keys })
  const standing = new Map(rows.map((row) => [itemOf(row), row.value]))
  const reports = rows.flatMap(({ key, value }): ReadonlyArray<DreamReport> =>
    key === dream && isDreamReport(value) ? [value] : []
  )
  const facts: ReadonlyMap<string, Fact> = yield* factsOf(session)
  const wouldGo = new Set(reports.flatMap(({ would_forget = [] }) => would_forget))
  const declined = new Set(items?.filter((item) => wouldGo.has(item)))
  const spared = [...facts.values()].filter(
    ({ id, kept, state }) => state === "active" && kept !== true && declined.has(factItem(id))
  )
  const sparedEntries = [...journalOn(session.own).entries.values()].filter(
    ({ id, kept }) => kept !== true && declined.has(episodeItem(id))
  )
  const left = items?.filter((item) => !reports.some(({ undone_items = [] }) => undone_items.includes(item)))
  const isUndone = reports.some(({ undone_at }) => undone_at !== undefined)
  const changes =
    left?.length === 0 || isUndone
      ? []
      : takeBack({
          night: night.changes,
          facts,
          profiles: yield* profilesOf(session),
          standing: (kind, key) => standing.get(itemOf({ kind, key })),
          reason,
          now,
          ...defined({ items: left })
        })
  // What was taken back item by item is taken back whole now: that is noted.
  const isNoted = items === undefined && reports.length > 0 && !isUndone
  if (changes.length + spared.length + sparedEntries.length === 0 && !isNoted)
    return nothing(`nothing of ${dream} is left to take back`)
  return {
    told: `taken back of ${dream}: ${left === undefined ? "all" : left.join(", ")}`,
    records: [
      ...changes,
      ...spared.map((fact) => factChange({ ...fact, kept: true })),
      ...sparedEntries.map((entry): RecordChange => ({
        kind: "journal",
        key: entry.id,
        value: { ...entry, kept: true }
      })),
      ...reports.map((report) => marked(report, left, now))
    ]
  }
})

/** What a person accepts of a dream. */
export interface AcceptedDream {
  readonly dream: string
  /** Items of it; all that waits when not said. */
  readonly items?: ReadonlyArray<string>
}

/** The records by which what waits of a dream is done, and a line about it; `records` is empty where nothing waits. */
export const acceptedDream = Effect.fnUntraced(function* (
  session: Session,
  { dream, items }: AcceptedDream,
  now: number
) {
  const tick = tickOf(dream)
  const isWanted = (item: string): boolean => items === undefined || items.includes(item)
  const facts = yield* factsOf(session)
  const ids = [...facts.keys()].filter((id) => id.startsWith(`fact_${tick}_`) && isWanted(factItem(id)))
  const rows = yield* (yield* Ledger).records(session.address, ["dream"], { keys: [dream] })
  const report = rows.map(({ value }) => value).find((value): value is DreamReport & Json => isDreamReport(value))
  const wouldGo = report?.undone_at === undefined ? report?.would_forget : []
  const forgotten = new Set(wouldGo?.filter(isWanted))
  const journal = journalOn(session.own)
  const entries = new Map(
    [...journal.entries].filter(([id, { kept }]) => kept === true || !forgotten.has(episodeItem(id)))
  )
  const consolidated = journal.consolidated.difference(
    new Set([...journal.entries.keys()].filter((id) => !entries.has(id)))
  )
  const put = [...facts.values()].filter(
    ({ id, kept, state }) => state === "active" && kept !== true && forgotten.has(factItem(id))
  )
  const done = entries.size === journal.entries.size ? [] : journalChanges(journal, { entries, consolidated }, now)
  const records: ReadonlyArray<RecordChange> = [
    ...acceptedByPerson(facts, ids).map(factChange),
    ...put.map((fact) => factChange(putAway(fact))),
    ...done
  ]
  return records.length === 0
    ? { told: `nothing of ${dream} waits`, records }
    : { told: `accepted of ${dream}: ${items === undefined ? "all that waited" : items.join(", ")}`, records }
})
