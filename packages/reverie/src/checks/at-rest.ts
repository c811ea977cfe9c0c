// AtRest: waiting until no assistant of a store has anything to do.
// Owns the look over all of them. Leaves what rest is to the runtime.
// A1  Whoever takes up mail while the look is under way is not at rest.

import { Ledger } from "@reverie/ledger"
import type { Address } from "@reverie/protocol"
import { isAtRest } from "@reverie/runtime"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

const REST_POLL_MILLIS = 15
const PAGE = 500

const allAtRest = Effect.fnUntraced(function* (patienceMillis: number) {
  const ledger = yield* Ledger
  if ((yield* ledger.openSends(1)).length > 0) return false
  const until = (yield* Clock.currentTimeMillis) + patienceMillis
  let after: Address | undefined
  while (true) {
    const page = yield* ledger.list(after, PAGE)
    for (const record of page) {
      if (record.state.timers.some(({ dueAt }) => dueAt <= until)) return false
      if (!(yield* isAtRest(record))) return false
      // Its mail was looked at after the record: whoever took it up in between has moved on.
      if (record.waiting > 0 && (yield* ledger.inspect(record.address))?.version !== record.version) return false
    }
    after = page.at(-1)?.address
    if (page.length < PAGE) return true
  }
})

/** Returns when all are at rest, and nothing happens by itself within the patience. */
export const untilRest = Effect.fnUntraced(function* (patienceMillis: number) {
  while (!(yield* allAtRest(patienceMillis))) yield* Effect.sleep(REST_POLL_MILLIS)
})
