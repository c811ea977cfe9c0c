// Metrics: what a process has measured, in the text format of Prometheus.
// Owns joining what the store counts with what the process counts. Leaves measuring to whoever does the work.
// M1  No assistant and no tenant is a label: their number has no bound.

import { Ledger, type Totals } from "@reverie/ledger"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import * as Effect from "effect/Effect"

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
