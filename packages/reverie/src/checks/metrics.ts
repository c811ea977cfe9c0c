// Metrics: what a process has measured, in the text format of Prometheus.
// Owns joining what the store counts with what the process counts. Leaves measuring to whoever does the work.
// M1  No assistant and no tenant is a label: their number has no bound.

import { Ledger, type Totals } from "@reverie/ledger"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import * as Effect from "effect/Effect"
import type { Address } from "@reverie/protocol"
import { isAtRest, lookedFor } from "@reverie/runtime"
import * as Clock from "effect/Clock"

const figure = (type: "counter" | "gauge", name: string, help: string, value: number): string =>
  `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${name} ${value}\n`

const tallied = ({ accepted, discarded, dead, settled }: Totals): string =>
  [
    figure("counter", "reverie_envelopes_accepted_total", "Envelopes accepted by the store.", accepted),
    figure("counter", "reverie_envelopes_settled_total", "Envelopes whose way has ended well.", settled),
    figure("counter", "reverie_envelopes_dead_total", "Envelopes dead-lettered with a reason.", dead),
    figure("gauge", "reverie_dead_letters", "Dead letters that nobody has sent again or discarded.", dead - discarded)
  ].join("")

/** Fails when the store does not answer. */
export const measured = Effect.gen(function* () {
  const totals = yield* (yield* Ledger).totals
  return tallied(totals) + (yield* PrometheusMetrics.format())
})

// AtRest: waiting until no assistant of a store has anything to do.
// A1  An assistant that takes up mail while the look is under way is not at rest.
// A2  It looks again after a commit. A delivery and a timer that comes near make no commit: for these it looks after pauses
//     that grow.

const REST_PAUSES = { firstMillis: 15, longestMillis: 480 }
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
export const untilRest = (patienceMillis: number) => {
  const look = Effect.map(allAtRest(patienceMillis), (isRest) => (isRest ? true : undefined))
  return Effect.asVoid(lookedFor(() => true, look, REST_PAUSES))
}
