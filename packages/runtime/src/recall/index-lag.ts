// IndexLag: how far an index is behind the ledger, and bringing it up to it.
// Owns comparing where assistants stand with their ledgers, of all tenants. Leaves indexing to indexer.ts.
// G1  What the ledger has and the index has not is counted by the numbers of entries: what was accepted and not yet handled
//     is in neither.
// G2  An assistant whom the store does not know any more leaves the index when it is brought up to the ledger: an index that was put back may
//     have one that was erased since.
// G3  Blocks are indexed anew: an index that was put back has those of then.
// G4  Who was only created lacks nothing.
// G5  What an index lacks because a segment could not be read is counted by itself: it is not made up for before that is put back.

import { INDEX_START, type IndexPosition, Recall } from "@reverie/memory"
import { type AssistantRecord, Ledger } from "@reverie/ledger"
import { type Address, addressKey, defined } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { lackingIn } from "./index-gaps.ts"
import { readableEntries } from "./index-parts.ts"
import { indexBlocks, stateOf } from "./index-state.ts"
import { catchUp } from "./indexer.ts"

const PAGE = 500
/** Assistants that are asked for one by one where an index can not say it of all. */
const ASKED_SINGLY = 256
/** Assistants behind whose next entry is read, to know its time. */
const LOOKED_INTO = 256

/** How far an index is behind the ledger. */
export interface IndexLag {
  /** Entries of the ledger that are not in the index. */
  readonly entries: number
  /** Assistants that some are missing of. */
  readonly assistants: number
  /** When the oldest of them was committed, in milliseconds since the epoch; not there when nothing is missing. */
  readonly oldestAt?: number
  /** Entries that lay in segments that could not be read when they were to be indexed; not there when there are none. */
  readonly unread?: number
  /** Assistants that were looked at; not there when it was all of them. */
  readonly lookedAt?: number
}

type Positions = ReadonlyMap<string, IndexPosition> | undefined

/** Where everyone stands; undefined of an index that can not say. */
const positionsIn = (recall: Recall["Service"]) =>
  recall.standings === undefined
    ? Effect.succeed<Positions>(undefined)
    : Effect.map(
        recall.standings,
        (all): Positions => new Map(all.map(({ address, position }) => [addressKey(address), position]))
      )

/** The entry with which an assistant was created: it has nothing to find. */
const CREATION = 1

/** The last entry that the index has of this life, or need not have. */
const indexedOf = ({ version }: AssistantRecord, { no }: IndexPosition): number => {
  if (version === CREATION) return CREATION
  return no > version ? 0 : no
}

const eachAssistant = <E, R>(take: (record: AssistantRecord) => Effect.Effect<boolean, E, R>) =>
  Effect.gen(function* () {
    const ledger = yield* Ledger
    let after: Address | undefined
    while (true) {
      const page = yield* ledger.list(after, PAGE)
      for (const record of page) if (!(yield* take(record))) return
      after = page.at(-1)?.address
      if (page.length < PAGE) return
    }
  })

export const indexLag = Effect.gen(function* () {
  const recall = yield* Recall
  const known = yield* positionsIn(recall)
  const behind: Array<{ readonly address: Address; readonly from: number }> = []
  let [looked, entries, unread, isAll] = [0, 0, 0, true]
  yield* eachAssistant((record) =>
    Effect.gen(function* () {
      if (known === undefined && looked >= ASKED_SINGLY) {
        isAll = false
        return false
      }
      looked++
      const { address, version } = record
      const position = known === undefined ? yield* recall.position(address) : known.get(addressKey(address))
      const from = indexedOf(record, position ?? INDEX_START)
      if (from < version) behind.push({ address, from })
      entries += version - from
      unread += position === undefined ? 0 : lackingIn(position)
      return true
    })
  )
  let oldestAt: number | undefined
  for (const { address, from } of behind.slice(0, LOOKED_INTO)) {
    const [next] = yield* readableEntries(address, from + 1, 1)
    if (next !== undefined) oldestAt = Math.min(oldestAt ?? Number.POSITIVE_INFINITY, next.at)
  }
  return {
    entries,
    assistants: behind.length,
    ...defined({ oldestAt, unread: unread === 0 ? undefined : unread, lookedAt: isAll ? undefined : looked })
  } satisfies IndexLag
})

/** What was done to bring an index up to the ledger. */
export interface IndexCaughtUp {
  /** Assistants that were brought up to their ledgers. */
  readonly assistants: number
  /** Entries gone through. */
  readonly entries: number
  /** Assistants that the store does not know any more, and the index neither now. */
  readonly erased: number
}

const addressesIn = Effect.gen(function* () {
  const ledger = yield* Ledger
  const all: Array<Address> = []
  while (true) {
    const page = yield* ledger.addresses(all.at(-1), PAGE)
    all.push(...page)
    if (page.length < PAGE) return all
  }
})

/** Brings the index up to what is in the ledger, of everyone. */
export const catchUpAll = Effect.gen(function* () {
  const recall = yield* Recall
  const standings = recall.standings === undefined ? [] : yield* recall.standings
  const addresses = yield* addressesIn
  const known = new Set(addresses.map(addressKey))
  const gone = standings.filter(({ address }) => !known.has(addressKey(address)))
  for (const { address } of gone) yield* recall.erase(address)
  let entries = 0
  for (const address of addresses) {
    stateOf(recall).forget(address)
    const caught = yield* catchUp(address).pipe(
      Effect.tap(({ position }) => indexBlocks(address, position)),
      // One that can not be read hides no other.
      Effect.catchTag("UnreadableRecord", ({ message }) =>
        Effect.as(Effect.logWarning(`${addressKey(address)} could not be indexed: ${message}`), undefined)
      )
    )
    entries += caught?.entries ?? 0
  }
  return { assistants: addresses.length, entries, erased: gone.length } satisfies IndexCaughtUp
})
