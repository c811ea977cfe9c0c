// StoreSearch: recall out of the store itself, where there is no index, and while it does not answer.
// Owns how much of the store is read for it, and what of that stays in memory. Leaves what of it can be found, and ranking,
// to `memory`.
// S1  It reads the assistant's own newest entries, and some of its records, and nobody else's.
// S2  It finds by the words that an index would find by.
// S3  What it reads has a bound, however long the assistant has lived. Asked again, it reads what was committed since.
// S4  What stays in memory is held against the ledger with every question, and has a bound too.

import {
  applyChanges,
  entryNoOfId,
  indexInSteps,
  indexOf,
  type IndexWindow,
  NOTHING_SAID,
  recordChanges,
  type RecallQuery,
  searchRecent,
  type RecentEntries
} from "@reverie/memory"
import { Ledger } from "@reverie/ledger"
import { type Address, addressKey, type Entry } from "@reverie/protocol"
import * as Effect from "effect/Effect"

/** The newest entries that are read. */
const NEWEST_ENTRIES = 512
/** Records that are read of each kind, whichever they are: of a short life all of them. */
const SOME_RECORDS = 256
/** Assistants whose newest memories stay in memory. */
const MAX_KEPT = 4
/** Entries that are looked at in one piece, between which others have their turn. */
const PIECE = 64

const searchedKinds = ["fact", "entity", "passage", "journal"] as const

/** The newest memories of an assistant, up to an entry of its ledger. */
interface Newest {
  readonly no: number
  /** The entry as it was read: a store that is restored to an earlier state has another one under its number. */
  readonly entry: string
  readonly window: IndexWindow
  readonly recent: RecentEntries
}

const kept = new WeakMap<Ledger["Service"], Map<string, Newest>>()

const keptOf = (ledger: Ledger["Service"]): Map<string, Newest> => {
  const known = kept.get(ledger) ?? new Map<string, Newest>()
  kept.set(ledger, known)
  return known
}

/** The one that was asked for last stands last. */
const keep = (ledger: Ledger["Service"], address: Address, newest: Newest): void => {
  const all = keptOf(ledger)
  all.delete(addressKey(address))
  all.set(addressKey(address), newest)
  const [oldest] = all.keys()
  if (all.size > MAX_KEPT && oldest !== undefined) all.delete(oldest)
}

/** Without messages from before an entry, and without what else was told first where it is too much. */
const bounded = (recent: RecentEntries, first: number): RecentEntries => {
  const all = [...recent]
  const messages = all.filter(([id]) => (entryNoOfId(id) ?? first) > first)
  const others = all.filter(([id]) => entryNoOfId(id) === undefined)
  return new Map([...messages, ...others.slice(-searchedKinds.length * SOME_RECORDS)])
}

/** With entries that were committed since, without messages from before the newest ones. */
const withEntries = Effect.fnUntraced(function* (address: Address, before: Newest, entries: ReadonlyArray<Entry>) {
  let { recent, window } = before
  for (let from = 0; from < entries.length; from += PIECE) {
    const indexed = indexOf(entries.slice(from, from + PIECE), window, address.assistant)
    window = indexed.window
    recent = applyChanges(indexed.changes, recent)
    yield* Effect.yieldNow
  }
  const last = entries.at(-1)
  if (last === undefined) return before
  const { no } = last
  return { no, entry: JSON.stringify(last), window, recent: bounded(recent, no - NEWEST_ENTRIES) } satisfies Newest
})

const readNewest = Effect.fnUntraced(function* (address: Address, version: number) {
  const ledger = yield* Ledger
  const from = Math.max(1, version - NEWEST_ENTRIES + 1)
  const entries = (yield* ledger.entries(address, from, NEWEST_ENTRIES)).map(({ entry }) => entry)
  const nothing: Newest = { no: from - 1, entry: "", window: NOTHING_SAID, recent: new Map() }
  const said = yield* withEntries(address, nothing, entries)
  // Records last: they are what the changes of the entries came to, older ones with them.
  const records = yield* ledger.records(address, searchedKinds, { limit: SOME_RECORDS })
  return { ...said, recent: applyChanges(records.flatMap(recordChanges), said.recent) } satisfies Newest
})

/** What is kept in memory of an assistant, brought up to its ledger; undefined when it is of no use any more. */
const broughtUp = Effect.fnUntraced(function* (address: Address, version: number) {
  const ledger = yield* Ledger
  const known = keptOf(ledger).get(addressKey(address))
  if (known === undefined || known.no > version || known.no <= version - NEWEST_ENTRIES) return undefined
  const rows = yield* ledger.entries(address, known.no, version - known.no + 1)
  const [last, ...since] = rows.map(({ entry }) => entry)
  if (last === undefined || JSON.stringify(last) !== known.entry) return undefined
  return since.length === 0 ? known : yield* withEntries(address, known, since)
})

export const searchStore = Effect.fnUntraced(function* (address: Address, query: RecallQuery) {
  const ledger = yield* Ledger
  const version = (yield* ledger.inspect(address))?.version ?? 0
  if (version === 0) return []
  const newest = (yield* broughtUp(address, version)) ?? (yield* readNewest(address, version))
  keep(ledger, address, newest)
  for (const _ of indexInSteps(newest.recent, PIECE)) yield* Effect.yieldNow
  return searchRecent(newest.recent, address.assistant, query)
})
