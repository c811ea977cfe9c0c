// Past: the messages of an assistant as the ledger has them.
// Owns reading them by place, page by page. Leaves what is shown of them to the window.
// I1  Every message that was ever committed is found, compacted or not; nothing is changed by reading.

import { isCompaction, placedMessages } from "@reverie/context"
import { Ledger } from "@reverie/ledger"
import { type Address, isBefore, type MessagePlace, type PlacedMessage } from "@reverie/protocol"
import * as Effect from "effect/Effect"

const PAGE = 200

/** The messages from a place on, the oldest first: at most `limit`, and none after `to`. */
export const readPast = Effect.fnUntraced(function* (
  address: Address,
  from: MessagePlace,
  limit: number = Infinity,
  to?: MessagePlace
) {
  const ledger = yield* Ledger
  const found: Array<PlacedMessage> = []
  const isWanted = ({ place }: PlacedMessage): boolean => to === undefined || !isBefore(to, place)
  for (let no = Math.max(1, from.no); found.length < limit; no += PAGE) {
    const rows = yield* ledger.entries(address, no, PAGE)
    for (const each of placedMessages(
      rows.map(({ entry }) => entry),
      from
    ))
      if (isWanted(each)) found.push(each)
    if (rows.length < PAGE || (to !== undefined && to.no < no + PAGE)) break
  }
  return found.length > limit ? found.slice(0, limit) : found
})

/** Every compaction of an assistant's history, in no order. */
export const readCompactions = Effect.fnUntraced(function* (address: Address) {
  const rows = yield* (yield* Ledger).records(address, ["compaction"])
  return rows.map(({ value }) => value).filter(isCompaction)
})

/** The first and the last message that a compaction has compacted. */
export const readCompacted = Effect.fnUntraced(function* (address: Address, compaction: string) {
  const rows = yield* (yield* Ledger).records(address, ["compaction"], { keys: [compaction] })
  return rows.map(({ value }) => value).find(isCompaction)?.range
})
