// Readiness: whether a fleet can take in a message and do something about it.
// Owns asking the store. Leaves what follows from the answer to the load balancer.
// R1  It fails where the store does not answer, or refuses to write.
// R2  Of many assistants it reads no more than it takes to find one that is not halted.

import { Ledger } from "@reverie/ledger"
import type { Address } from "@reverie/protocol"
import * as Effect from "effect/Effect"

const PAGE = 50

/** Whether a fleet can accept and work, as `fleet.monitor.readiness` answers. */
export interface Readiness {
  /** Of all tenants, where every assistant that has not retired is halted; 0 where one is not, or there is none. */
  readonly allHalted: number
}

const haltedTogether = Effect.fnUntraced(function* () {
  const ledger = yield* Ledger
  let halted = 0
  let after: Address | undefined
  while (true) {
    const page = yield* ledger.list(after, PAGE)
    for (const { state } of page) {
      if (state.status === "halted") halted++
      else if (state.status !== "retired") return 0
    }
    after = page.at(-1)?.address
    if (page.length < PAGE) return halted
  }
})

export const readiness = Effect.gen(function* () {
  yield* (yield* Ledger).probe
  return { allHalted: yield* haltedTogether() } satisfies Readiness
})
