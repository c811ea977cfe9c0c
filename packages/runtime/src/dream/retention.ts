// Retention: when the older part of a life is archived, and when it is deleted.
// Owns the policy, how far it reaches in a life, and that what is deleted is found no more. Leaves the rows to the store's archive.
// T1  The last tick of a life is never deleted, however old it is: what is under way leans on it.
// T2  What is deleted leaves the index first: of what is found, the ledger has the words. What was said last is read anew afterwards, and
//     what any process has read for the index before is not taken, so that nothing brings it back.
// T3  A store without an archive keeps everything as it is.
// T4  What a policy could not do is done the next time; no dream fails by it.

import {
  ageOf,
  Archive,
  type Archived,
  Ledger,
  NOTHING_ARCHIVED,
  type Retention,
  type RetentionBound
} from "@reverie/ledger"
import { type IndexChange, indexOf, messageId, NOTHING_SAID, placeOfId, Recall } from "@reverie/memory"
import { type Address, addressKey, type Entry, type TenantId } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { stateOf } from "../recall/index-state.ts"
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

/** What an index has of messages that are to be deleted, and what stands there of them with those that follow. */
const unindexed = Effect.fnUntraced(function* (address: Address, from: number, upTo: number) {
  const ledger = yield* Ledger
  const read = (first: number, limit: number) =>
    Effect.map(ledger.entries(address, first, limit), (rows) => rows.map(({ entry }) => entry))
  const changes: Array<IndexChange> = []
  for (let first = from; first <= upTo; first += PAGE) {
    for (const { messages, no } of yield* read(first, Math.min(PAGE, upTo - first + 1))) {
      changes.push(...messages.map((_, index) => ({ type: "remove", id: messageId({ no, index }) }) as const))
    }
  }
  const numberOf = (change: IndexChange) => (change.type === "put" ? placeOfId(change.entry.id)?.no : undefined)
  const after: ReadonlyArray<Entry> = yield* read(upTo + 1, PAGE)
  const puts = indexOf(after, NOTHING_SAID, address.assistant).changes.filter((each) => numberOf(each) !== undefined)
  const heard = puts.filter((each) => each.type === "put" && each.entry.kind === "message")
  const last = heard.map(numberOf).toSorted((a = 0, b = 0) => a - b)[AROUND - 1] ?? Infinity
  return [...changes, ...puts.filter((each) => (numberOf(each) ?? Infinity) <= last)]
})

/** Takes entries out of the index that are to be deleted. Fails where it does not answer. */
const leaveIndex = Effect.fnUntraced(function* (address: Address, from: number, upTo: number) {
  const found = yield* Effect.serviceOption(Recall)
  if (Option.isNone(found)) return
  const recall = found.value
  const leave = Effect.gen(function* () {
    const position = yield* recall.position(address)
    // What the index has not come to yet it will read as deleted.
    const last = Math.min(upTo, position.no)
    if (last >= from)
      yield* recall.apply(address, yield* unindexed(address, from, last), { from: position, to: position })
  })
  yield* stateOf(recall).inTurn(address, leave)
})

/** What any process remembers of what was said, or has read of it for the index, may be deleted now. */
const forgetSaid = Effect.fnUntraced(function* (address: Address) {
  const found = yield* Effect.serviceOption(Recall)
  if (Option.isNone(found)) return
  stateOf(found.value).forgetWindow(address)
  yield* refuseReadBefore(address).pipe(
    Effect.provideService(Recall, found.value),
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

/** How far the policies reach in a life now: the numbers of the last entries to archive and to delete; 0 for none. */
const dueOf = Effect.fnUntraced(function* (address: Address, own: Retention | undefined) {
  const ofTenant = yield* TenantRetention
  const { archiveAfter = DEFAULT_ARCHIVE_AFTER, deleteAfter } = own ?? ofTenant(address.tenant) ?? {}
  const now = yield* Clock.currentTimeMillis
  const history = yield* entryHistory(address)
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
  const { archived: last, removed } = yield* archive.value.reached(address)
  if (isTrial) {
    const count = (to: number, after: number): Archived => ({ entries: Math.max(0, to - after), envelopes: 0 })
    return {
      archived: count(toArchive, Math.max(last, toDelete)),
      deleted: count(toDelete, removed)
    } satisfies Retained
  }
  if (toDelete > removed) yield* leaveIndex(address, removed + 1, toDelete)
  const deleted = toDelete > removed ? yield* archive.value.remove(address, toDelete) : NOTHING_ARCHIVED
  if (toDelete > removed) yield* forgetSaid(address)
  const archived = yield* archive.value.archive(address, toArchive, least)
  return { archived, deleted } satisfies Retained
})

/** After a night's last work. What fails is one line of the log, and is tried again the next night. */
export const retainQuietly = (address: Address, own: Retention | undefined) =>
  retain(address, own).pipe(
    Effect.catch((failure) => Effect.logWarning("what is due by retention could not be put away", failure)),
    Effect.asVoid
  )
