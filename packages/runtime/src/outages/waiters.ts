// Waiters: those that wait for their model by what the store says.
// Owns finding them. Leaves waking them to recovery.ts.
// L1  A look costs what will wake by itself within the longest pause, never what sleeps.

import { mayWait, restore, waitOf } from "@reverie/assistant"
import { Ledger } from "@reverie/ledger"
import { Mailbox } from "@reverie/mailbox"
import { type Address, addressKey } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Outages } from "./outage-book.ts"
import { followed } from "./watched-model.ts"

const FIRST_LIMIT = 256
const LAST_LIMIT = 65_536
/** Records that are read before others have a turn. */
const SLICE = 32

const readOne = Effect.fnUntraced(function* (address: Address) {
  const record = yield* (yield* Ledger).inspect(address)
  if (record === undefined || !mayWait(record.state.status)) return
  const restored = restore(record.state.snapshot)
  const outage = Result.isSuccess(restored) ? waitOf(restored.success)?.outage : undefined
  if (outage !== undefined) yield* followed(address, outage)
})

/** Writes into the book who waits by what the store says: all whose timer comes within the horizon. */
export const findWaiters = Effect.fnUntraced(function* (horizonMillis: number) {
  const mailbox = yield* Mailbox
  const book = yield* Outages
  const until = (yield* Clock.currentTimeMillis) + horizonMillis
  const seen = new Set<string>()
  for (let limit = FIRST_LIMIT; ; limit *= 4) {
    const due = yield* mailbox.due(limit, until)
    for (const address of due) {
      const key = addressKey(address)
      if (seen.has(key)) continue
      seen.add(key)
      if (!book.knows(address)) yield* readOne(address)
      if (seen.size % SLICE === 0) yield* Effect.yieldNow
    }
    if (due.length < limit || limit >= LAST_LIMIT) return
  }
})
