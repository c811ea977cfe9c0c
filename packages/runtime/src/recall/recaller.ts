// Recaller: a question to an assistant's memory, and the answer.
// Owns how it is searched, and what is answered while the index does not. Leaves ranking to the index.
// Q1  What the assistant lived through before the question is in the answer's reach: the index catches up first.
// Q2  Without words to search by there is nothing to find; without an embedder whose vectors the index uses, words are
//     searched for (F107).
// Q3  An index that does not answer costs depth, never the answer: it comes from the store, and says so.
// Q4  Quarantined facts are in no index, and so in no answer.
// Q5  Nothing is answered that was never said in this life of the assistant: an index is held against the ledger before
//     it is asked.
// Q6  A question is asked in two rounds at the most, whatever the index: what comes of both is put in order here.

import { isDeepStrictEqual } from "node:util"
import {
  applyChanges,
  DEFAULT_RECALL_LIMIT,
  effectiveMode,
  entryNoOfId,
  type Hit,
  indexInSteps,
  indexOf,
  inRounds,
  type IndexWindow,
  isPassage,
  keyOfId,
  MAX_RECALL_LIMIT,
  NOTHING_SAID,
  Recall,
  type Recalled,
  type RecallOptions,
  type RecallQuery,
  RecallUnavailable,
  type RecentEntries,
  recordChanges,
  searchRecent
} from "@reverie/memory"
import { type Address, addressKey, defined, type Entry } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Ledger } from "@reverie/ledger"
import { readableEntries } from "./index-parts.ts"
import { indexBlocks, noteAnswer, noteFall, stateOf, withoutGoneBlocks } from "./index-state.ts"
import { catchUp, standingOf } from "./indexer.ts"
import { vectorOf } from "./vectors.ts"
import { attributes, SEARCH_MEMORY } from "../telemetry/names.ts"
import { spanning } from "../telemetry/spans.ts"

// StoreSearch: recall out of the store itself, where there is no index, and while it does not answer.
// S1  It reads the assistant's own newest entries, and some of its records, and no one else's.
// S2  It finds by the words that an index would find by.
// S3  What it reads has a bound, however long the assistant has lived. Asked again, it reads what was committed since.
// S4  What stays in memory is held against the ledger with every question, and has a bound too.

/** The newest entries that are read. */
const NEWEST_ENTRIES = 512
/** Records that are read of each kind, whichever they are: of a short life all of them. */
const SOME_RECORDS = 256
/** Assistants whose newest memories stay in memory. */
const MAX_KEPT = 4
/** Entries that are looked at in one piece, between which others have their turn. */
const PIECE = 64

const searchedKinds = ["fact", "entity", "passage", "journal", "episode"] as const

/** The newest memories of an assistant, up to an entry of its ledger. */
interface Newest {
  readonly no: number
  /** The entry as it was read: a store that is restored to an earlier state has another one under its number. */
  readonly entry: Entry | undefined
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
  return { no, entry: last, window, recent: bounded(recent, no - NEWEST_ENTRIES) } satisfies Newest
})

const readNewest = Effect.fnUntraced(function* (address: Address, version: number) {
  const ledger = yield* Ledger
  const from = Math.max(1, version - NEWEST_ENTRIES + 1)
  const entries = yield* readableEntries(address, from, NEWEST_ENTRIES)
  const nothing: Newest = { no: from - 1, entry: undefined, window: NOTHING_SAID, recent: new Map() }
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
  const [last, ...since] = yield* readableEntries(address, known.no, version - known.no + 1)
  if (last === undefined || !isDeepStrictEqual(last, known.entry)) return undefined
  return since.length === 0 ? known : yield* withEntries(address, known, since)
})

const searchStore = Effect.fnUntraced(function* (address: Address, query: RecallQuery) {
  const ledger = yield* Ledger
  const version = (yield* ledger.inspect(address))?.version ?? 0
  if (version === 0) return { hits: [] }
  const newest = (yield* broughtUp(address, version)) ?? (yield* readNewest(address, version))
  keep(ledger, address, newest)
  for (const _ of indexInSteps(newest.recent, PIECE)) yield* Effect.yieldNow
  return yield* inRounds(query, (each) => Effect.sync(() => searchRecent(newest.recent, address.assistant, each)))
})

// Owners: whose memories are among the hits, besides those of the viewer.
// O1  What an owner never said in this life is shown to no one else either, not even where the owner is gone.

/** Entries of someone else that a viewer waits for. */
const WAITED_ENTRIES = 256

const ownersIn = (viewer: Address, hits: ReadonlyArray<Hit>): ReadonlyArray<Address> =>
  [...new Set(hits.map(({ owner }) => owner))]
    .filter((assistant) => assistant !== viewer.assistant)
    .map((assistant) => ({ tenant: viewer.tenant, assistant }))

/** True when the index of an owner has changed for it. */
const judged = Effect.fnUntraced(function* (recall: Recall["Service"], owner: Address) {
  const state = stateOf(recall)
  const before = yield* recall.position(owner)
  if (state.isBelieved(owner, before, yield* Clock.currentTimeMillis)) return false
  const position = yield* standingOf(owner)
  const isEmptied = position.no === 0 && before.no > 0
  const caught = isEmptied ? yield* catchUp(owner, { maxEntries: WAITED_ENTRIES }) : { position }
  const isTold = !state.knowsBlocks(owner)
  if (isTold) yield* indexBlocks(owner, caught.position)
  state.believe(owner, caught.position, yield* Clock.currentTimeMillis)
  return isEmptied || isTold
})

/** The hits of a search, every one of them of this life. */
const ofThisLife = Effect.fnUntraced(function* <A extends Pick<Recalled, "hits">, E, R>(
  viewer: Address,
  search: Effect.Effect<A, E, R>
) {
  const recall = yield* Recall
  const known = new Set<string>()
  while (true) {
    const found = yield* search
    let isAgain = false
    for (const owner of ownersIn(viewer, found.hits)) {
      if (known.has(addressKey(owner))) continue
      known.add(addressKey(owner))
      isAgain = (yield* judged(recall, owner)) || isAgain
    }
    if (!isAgain) return found
  }
})

/** Longest question that is read, in UTF-16 units. */
const MAX_QUESTION_CHARS = 2_000

const NO_ANSWER = "the index of memories does not answer: only the newest ones were searched"
const NO_INDEX = "there is no index of memories here: only the newest ones were searched"

/** Everything of the query but how it is searched. */
const queryOf = (question: string, options: AskOptions, now: number): RecallQuery => {
  const {
    asIs: _asIs,
    isUnknown: _isUnknown,
    limit = DEFAULT_RECALL_LIMIT,
    mode: _mode,
    scope = "shared",
    ...filters
  } = options
  const whole = Number.isFinite(limit) ? Math.floor(limit) : DEFAULT_RECALL_LIMIT
  return {
    ...filters,
    text: question.slice(0, MAX_QUESTION_CHARS),
    search: "fts",
    scope,
    limit: Math.min(MAX_RECALL_LIMIT, Math.max(1, whole)),
    now
  }
}

/** Why the newest memories may be missing; undefined when they are not. */
const caughtUp = (recall: Recall["Service"], viewer: Address) =>
  catchUp(viewer).pipe(
    Effect.tap(({ position }) => indexBlocks(viewer, position)),
    Effect.map(({ isWhole }) =>
      isWhole ? undefined : "the index has not caught up yet: the newest memories are missing"
    ),
    Effect.catchTag("RecallUnavailable", (failure) =>
      // It can not be written, and may well be searched.
      failure.operation === "apply"
        ? Effect.succeed(`the index can not be written (${failure.message}): the newest memories are missing`)
        : Effect.fail(failure)
    ),
    Effect.provideService(Recall, recall)
  )

export interface AskOptions extends Omit<RecallOptions, "thread"> {
  /** The conversation that it must belong to, or one of these. */
  readonly thread?: NonNullable<RecallQuery["thread"]>
  /**
   * The index is taken as it is, and when it failed a moment ago it is not waited for. For who has held it against the
   * ledger already.
   */
  readonly asIs?: boolean
  /** Messages and answers after this time are in view already. */
  readonly messagesUntil?: number
  /** It could not be held against the ledger: the answer comes from the store. */
  readonly isUnknown?: boolean
}

const asked = Effect.fnUntraced(function* (
  recall: Recall["Service"],
  viewer: Address,
  query: RecallQuery,
  { asIs = false, mode = "auto" }: AskOptions
) {
  const missing = asIs ? undefined : yield* caughtUp(recall, viewer)
  const { vector, why } = yield* vectorOf(recall, mode, viewer, query)
  const search = effectiveMode(mode, vector !== undefined)
  const wanted = { ...query, search, ...defined({ vector }) }
  const searched = recall.searchInRounds?.(viewer, wanted) ?? inRounds(wanted, (each) => recall.search(viewer, each))
  const found = yield* ofThisLife(viewer, searched).pipe(Effect.provideService(Recall, recall))
  const hits = yield* withoutGoneBlocks(viewer, found.hits)
  const degraded = why ?? missing
  return { ...found, hits, mode: search, ...defined({ degraded }) } satisfies Recalled
})

// Metadata: what passages were put away with, for who asks about them.
// M1  It is read where it is kept, after the search: an index that was made before has it too, and none of it is searched.

const metadataOf = Effect.fnUntraced(function* (owner: Address, hits: ReadonlyArray<Hit>) {
  const keys = hits.flatMap(({ entry }) => keyOfId(entry.id) ?? [])
  const rows = yield* (yield* Ledger).records(owner, ["passage"], { keys })
  return rows.flatMap(({ key, value }) =>
    isPassage(value) && value.metadata !== undefined ? [[`${owner.assistant} ${key}`, value.metadata] as const] : []
  )
})

const withMetadata = Effect.fnUntraced(function* ({ tenant }: Address, recalled: Recalled) {
  const byOwner = Map.groupBy(
    recalled.hits.filter(({ entry }) => entry.kind === "passage"),
    ({ owner }) => owner
  )
  if (byOwner.size === 0) return recalled
  const read = yield* Effect.forEach(byOwner, ([assistant, hits]) => metadataOf({ tenant, assistant }, hits))
  const known = new Map(read.flat())
  const hits = recalled.hits.map((hit): Hit => {
    const metadata = known.get(`${hit.owner} ${keyOfId(hit.entry.id)}`)
    return hit.entry.kind === "passage" && metadata !== undefined ? { ...hit, metadata } : hit
  })
  return { ...recalled, hits }
})

const recalling = (viewer: Address) => ({
  name: SEARCH_MEMORY,
  attributes: {
    [attributes.operation]: SEARCH_MEMORY,
    [attributes.agentId]: viewer.assistant,
    [attributes.tenant]: viewer.tenant
  }
})

/** What an assistant remembers of a question. What comes to mind by itself is shown without metadata. */
export const recallFor = (viewer: Address, question: string, options: AskOptions = {}) =>
  spanning(() => recalling(viewer))((span) =>
    Effect.tap(told(viewer, question, options), ({ degraded, hits }) =>
      Effect.sync(() => {
        span?.attribute(attributes.memoryHits, hits.length)
        span?.attribute(attributes.memoryDegraded, degraded !== undefined)
      })
    )
  )

const told = (viewer: Address, question: string, options: AskOptions) => {
  const { asIs = false, isUnknown = false } = options
  const found = answered(viewer, question, options)
  return asIs || isUnknown ? found : Effect.flatMap(found, (recalled) => withMetadata(viewer, recalled))
}

const answered = Effect.fnUntraced(function* (viewer: Address, question: string, options: AskOptions) {
  const now = yield* Clock.currentTimeMillis
  const query = queryOf(question, options, now)
  const found = yield* Effect.serviceOption(Recall)
  const fromStore = (why: string) =>
    Effect.map(searchStore(viewer, query), (joined): Recalled => ({ ...joined, mode: "fts", degraded: why }))
  if (Option.isNone(found)) return yield* fromStore(NO_INDEX)
  const recall = found.value
  const { asIs = false, isUnknown = false } = options
  if (isUnknown || (asIs && stateOf(recall).isLeftAlone(now))) return yield* fromStore(NO_ANSWER)
  return yield* asked(recall, viewer, query, options).pipe(
    Effect.tap(noteAnswer(recall)),
    Effect.catchDefect((defect) =>
      Effect.fail(new RecallUnavailable({ operation: "search", message: `the adapter broke: ${String(defect)}` }))
    ),
    Effect.catchTag("RecallUnavailable", (failure) =>
      Effect.andThen(
        noteFall(recall, failure),
        fromStore(`the index of memories does not answer (${failure.message}): only the newest ones were searched`)
      )
    )
  )
})
