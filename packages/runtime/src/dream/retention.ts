// Retention: when the older part of a life is archived, and when it is deleted.
// Owns the policy, how far it reaches in a life, and that what is deleted is found no more. Leaves the rows to the store's archive.
// T1  The last tick of a life is never deleted, however old it is: what is under way leans on it.
// T2  What is deleted leaves the index first: of what is found, the ledger has the words. What was said last is read anew afterwards, and
//     what any process has read for the index before is not taken, so that nothing brings it back. Until then the index stands before
//     it: what ends a deletion, or a looser policy afterwards, leaves nothing that is kept and not found.
// T3  A store without an archive keeps everything as it is.
// T4  What a policy could not do is done the next time; no dream fails by it.
// T5  A segment that is lost holds up nothing of the rest. What the index has of it goes when it is due; what is put back is due then.

import {
  ageOf,
  Archive,
  type Archived,
  type EntrySpan,
  Ledger,
  NOTHING_ARCHIVED,
  type Retention,
  type RetentionBound
} from "@reverie/ledger"
import {
  beginningOf,
  type IndexChange,
  indexOf,
  type IndexPosition,
  messageId,
  NOTHING_SAID,
  placeOfId,
  Recall,
  samePosition
} from "@reverie/memory"
import { type Address, addressKey, type Entry, type TenantId } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { MAX_CALLS } from "../jobs/infer-end.ts"
import { readableEntries, readableRows } from "../recall/index-parts.ts"
import { positionOf, stateOf } from "../recall/index-state.ts"
import { refuseReadBefore } from "../recall/indexer.ts"
import { entryHistory, type EntryHistory, firstEntry } from "./night.ts"

const DEFAULT_ARCHIVE_AFTER = 1_000

/** The policy of a tenant, for those that have none of their own. */
export const TenantRetention = Context.Reference<(tenant: TenantId) => Retention | undefined>(
  "@reverie/runtime/TenantRetention",
  { defaultValue: () => () => undefined }
)

/** The number of the last entry beyond a bound; 0 where none is. */
const lastBeyond = Effect.fnUntraced(function* <E, R>(history: EntryHistory<E, R>, bound: RetentionBound, now: number) {
  if (typeof bound === "number") return Math.max(0, history.version - bound)
  const since = now - (ageOf(bound) ?? Infinity)
  return (yield* firstEntry(history, ({ at }) => at >= since)) - 1
})

const PAGE = 256
/** What others said is found with so many things before it. */
const AROUND = 4

/** No entry has more messages: a model's answer, what its calls gave, and what was told besides. */
const MOST_MESSAGES = 2 * MAX_CALLS

/** What an index has of messages that are to be deleted, and what stands there of them with those that follow. */
const unindexed = Effect.fnUntraced(function* (address: Address, due: Due) {
  const changes: Array<IndexChange> = []
  const remove = (no: number, count: number) => {
    for (let index = 0; index < count; index++) changes.push({ type: "remove", id: messageId({ no, index }) })
  }
  for (const { from, to } of due) {
    for (let first = from; first <= to; first += PAGE) {
      const last = Math.min(to, first + PAGE - 1)
      const page = yield* readableEntries(address, first, last - first + 1)
      const counts = new Map(page.map(({ messages, no }) => [no, messages.length]))
      for (let no = first; no <= last; no++) remove(no, counts.get(no) ?? MOST_MESSAGES)
    }
  }
  const numberOf = (change: IndexChange) => (change.type === "put" ? placeOfId(change.entry.id)?.no : undefined)
  const after: ReadonlyArray<Entry> = yield* readableEntries(address, (due.at(-1)?.to ?? 0) + 1, PAGE)
  const puts = indexOf(after, NOTHING_SAID, address.assistant).changes.filter((each) => numberOf(each) !== undefined)
  const heard = puts.filter((each) => each.type === "put" && each.entry.kind === "message")
  const last = heard.map(numberOf).toSorted((a = 0, b = 0) => a - b)[AROUND - 1] ?? Infinity
  return [...changes, ...puts.filter((each) => (numberOf(each) ?? Infinity) <= last)]
})

/** Entries that are to be deleted, from the oldest on. */
type Due = ReadonlyArray<EntrySpan>

/** What has left an index before its words are deleted. */
interface Left {
  readonly changes: ReadonlyArray<IndexChange>
  /** Where the index stood. */
  readonly before: IndexPosition
  /** Where it stands until the words are gone: whatever ends the deletion, it reads from there what is left. */
  readonly meanwhile: IndexPosition
}

/** The position of an index that has read what is before an entry, as far as that can be read. */
const justBefore = (address: Address, no: number, beginning: string): ReturnType<typeof placeBefore> =>
  Effect.catchTag(placeBefore(address, no, beginning), "UnreadableRecord", (unreadable) =>
    unreadable.lost === undefined ? Effect.fail(unreadable) : justBefore(address, unreadable.lost.from, beginning)
  )

const placeBefore = Effect.fnUntraced(function* (address: Address, no: number, beginning: string) {
  const [last] = no === 1 ? [] : yield* (yield* Ledger).entries(address, no - 1, 1)
  return last === undefined ? { no: 0, digest: `${beginning}.` } : positionOf(last.entry, beginning)
})

/** Takes entries out of the index that are to be deleted. Fails where it does not answer. */
const leaveIndex = Effect.fnUntraced(function* (address: Address, due: Due) {
  const from = due[0]?.from ?? 1
  const found = yield* Effect.serviceOption(Recall)
  if (Option.isNone(found)) return undefined
  const recall = found.value
  const leave = Effect.gen(function* () {
    while (true) {
      const before = yield* recall.position(address)
      const beginning = beginningOf(before)
      // Nothing is put into an index that was not begun.
      if (beginning === "") return { changes: [], before, meanwhile: before } satisfies Left
      // Also what the index has not come to yet: another may read it before it is deleted.
      const changes = yield* unindexed(address, due)
      const meanwhile = before.no < from ? before : yield* justBefore(address, from, beginning)
      const reached = yield* recall.apply(address, changes, { from: before, to: meanwhile })
      // Where another was quicker, it stands elsewhere, and has all of it still.
      if (samePosition(reached, meanwhile)) return { changes, before, meanwhile } satisfies Left
    }
  })
  return yield* stateOf(recall).inTurn(address, leave)
})

/** Once the words are gone: brings the index to where it stood, without what others have read for it meanwhile. */
const returnTo = Effect.fnUntraced(function* (recall: Recall["Service"], address: Address, left: Left) {
  const { before, changes, meanwhile } = left
  while (true) {
    const at = yield* recall.position(address)
    // Another has begun it anew, perhaps with these words, perhaps without some of those that follow.
    if (beginningOf(at) !== beginningOf(meanwhile)) return yield* recall.erase(address)
    if (changes.length === 0) return
    const to = samePosition(at, meanwhile) ? before : at
    if (samePosition(yield* recall.apply(address, changes, { from: at, to }), to)) return
  }
})

/** What any process remembers of what was said, or has read of it for the index, may be deleted now. */
const forgetSaid = Effect.fnUntraced(function* (address: Address, left: Left | undefined) {
  const found = yield* Effect.serviceOption(Recall)
  if (Option.isNone(found)) return
  const recall = found.value
  stateOf(recall).forgetWindow(address)
  const back = left === undefined ? Effect.void : stateOf(recall).inTurn(address, returnTo(recall, address, left))
  yield* Effect.andThen(back, refuseReadBefore(address)).pipe(
    Effect.provideService(Recall, recall),
    Effect.catchTag("RecallUnavailable", (failure) =>
      Effect.logWarning(`the index of ${addressKey(address)} does not know yet what was deleted: ${failure.message}`)
    )
  )
})

/** What was done with a life. */
interface Retained {
  readonly archived: Archived
  readonly deleted: Archived
}

const NOTHING_DUE: Retained = { archived: NOTHING_ARCHIVED, deleted: NOTHING_ARCHIVED }

/** The entries of an assistant; those of a segment that is lost are passed over. */
const readableHistory = Effect.fnUntraced(function* (address: Address) {
  const { version } = yield* entryHistory(address)
  return { version, read: (from: number, limit: number) => readableRows(address, from, limit) }
})

/** What was left when its turn was, because its segment was lost, and can be read now. */
const putBack = Effect.fnUntraced(function* (address: Address, left: ReadonlyArray<EntrySpan>, upTo: number) {
  const ledger = yield* Ledger
  const isThere = ({ from }: EntrySpan) =>
    ledger.entries(address, from, 1).pipe(
      Effect.as(true),
      Effect.catchTag("UnreadableRecord", (unreadable) =>
        unreadable.lost === undefined ? Effect.fail(unreadable) : Effect.succeed(false)
      )
    )
  const within = left.filter(({ from }) => from <= upTo).map(({ from, to }) => ({ from, to: Math.min(to, upTo) }))
  return yield* Effect.filter(within, isThere)
})

/** How far the policies reach in a life now: the numbers of the last entries to archive and to delete; 0 for none. */
const dueOf = Effect.fnUntraced(function* (address: Address, own: Retention | undefined) {
  const ofTenant = yield* TenantRetention
  const { archiveAfter = DEFAULT_ARCHIVE_AFTER, deleteAfter } = own ?? ofTenant(address.tenant) ?? {}
  const now = yield* Clock.currentTimeMillis
  const history = yield* readableHistory(address)
  const toArchive = archiveAfter === false ? 0 : yield* lastBeyond(history, archiveAfter, now)
  if (deleteAfter === undefined || history.version === 0) return { toArchive, toDelete: 0 }
  const [newest] = yield* history.read(history.version, 1)
  const lastTick = newest?.entry.tick ?? 0
  const lastBegins = yield* firstEntry(history, ({ tick }) => tick >= lastTick)
  return { toArchive, toDelete: Math.min(yield* lastBeyond(history, deleteAfter, now), lastBegins - 1) }
})

/** How something is gone over. */
interface RetainOptions {
  /** Fewer entries than that are not worth archiving yet. */
  readonly least?: number
  /** Says what is due, and does nothing; of messages it knows nothing then. */
  readonly isTrial?: boolean
}

/** Archives and deletes what is due of a life. */
export const retain = Effect.fnUntraced(function* (
  address: Address,
  own: Retention | undefined,
  { isTrial = false, least }: RetainOptions = {}
) {
  const archive = yield* Effect.serviceOption(Archive)
  if (Option.isNone(archive)) return NOTHING_DUE
  const { toArchive, toDelete } = yield* dueOf(address, own)
  const { archived: last, left, removed } = yield* archive.value.reached(address)
  if (isTrial) {
    const count = (to: number, after: number): Archived => ({ entries: Math.max(0, to - after), envelopes: 0 })
    return {
      archived: count(toArchive, Math.max(last, toDelete)),
      deleted: count(toDelete, removed)
    } satisfies Retained
  }
  const due = [
    ...(yield* putBack(address, left, toDelete)),
    ...(toDelete > removed ? [{ from: removed + 1, to: toDelete }] : [])
  ]
  const gone = due.length === 0 ? undefined : yield* leaveIndex(address, due)
  const deleted = due.length === 0 ? NOTHING_ARCHIVED : yield* archive.value.remove(address, toDelete)
  if (due.length > 0) yield* forgetSaid(address, gone)
  const archived = yield* archive.value.archive(address, toArchive, least)
  return { archived, deleted } satisfies Retained
})

/** After a night's last work. What fails is one line of the log, and is tried again the next night. */
export const retainQuietly = (address: Address, own: Retention | undefined) =>
  retain(address, own).pipe(
    Effect.catch((failure) => Effect.logWarning("what is due by retention could not be put away", failure)),
    Effect.asVoid
  )
