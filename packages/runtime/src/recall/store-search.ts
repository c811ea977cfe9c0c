// StoreSearch: recall out of the store itself, while the index does not answer.
// Owns how much of the store is read for it. Leaves what of it can be found, and ranking, to `memory`.
// S1  It reads the assistant's own records and newest entries, and nobody else's.
// S2  It finds by the words that an index would find by.

import { indexOf, NOTHING_SAID, recordChanges, type RecallQuery, searchShelf, shelve } from "@reverie/memory"
import { Ledger } from "@reverie/ledger"
import type { Address } from "@reverie/protocol"
import * as Effect from "effect/Effect"

/** The newest entries that are read. */
const NEWEST_ENTRIES = 512

const searchedKinds = ["fact", "entity", "passage", "journal"] as const

export const searchStore = Effect.fnUntraced(function* (address: Address, query: RecallQuery) {
  const ledger = yield* Ledger
  const version = (yield* ledger.inspect(address))?.version ?? 0
  const from = Math.max(1, version - NEWEST_ENTRIES + 1)
  const entries = (yield* ledger.entries(address, from, NEWEST_ENTRIES)).map(({ entry }) => entry)
  const { changes } = indexOf(entries, NOTHING_SAID, address.assistant)
  // Records last: they are what the changes of the entries came to, the older ones with them.
  const records = (yield* ledger.records(address, searchedKinds)).flatMap(recordChanges)
  return searchShelf(shelve([...changes, ...records]), address.assistant, query)
})
