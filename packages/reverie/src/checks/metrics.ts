// Metrics: what a process has measured, in the text format of Prometheus.
// Owns joining what the store counts with what the process counts. Leaves measuring to the code that does the work.
// M1  No assistant and no tenant is a label: their number has no bound. So many models are, and what others used is one line.
// M2  What models used is what the ledger has summed, since the beginning of the store: no restart changes it, and every process
//     of a store tells the same. Hours that are over are read once, and all of them anew each day.

import { Ledger, type Totals, type UsageSum } from "@reverie/ledger"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import * as Effect from "effect/Effect"
import { addUsed, type Address, hourOf, NOTHING_USED, type Used } from "@reverie/protocol"
import { isAtRest, lookedFor } from "@reverie/runtime"
import * as Clock from "effect/Clock"

const figure = (type: "counter" | "gauge", name: string, help: string, value: number): string =>
  `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${name} ${value}\n`

const tallied = ({ accepted, discarded, dead, settled }: Totals): string =>
  [
    figure("counter", "reverie_envelopes_accepted_total", "Envelopes accepted by the store.", accepted),
    figure("counter", "reverie_envelopes_settled_total", "Envelopes whose way has ended well.", settled),
    figure("counter", "reverie_envelopes_dead_total", "Envelopes dead-lettered with a reason.", dead),
    figure(
      "gauge",
      "reverie_dead_letters",
      "Dead letters that were neither sent again nor discarded.",
      dead - discarded
    )
  ].join("")

const MAX_SERIES = 200
const OTHER = "_OTHER"
/** Entries of the hour before are written a little late. */
const OPEN_HOURS = 2

type Series = ReadonlyMap<string, Used>

const seriesOf = (sums: ReadonlyArray<UsageSum>): Series => new Map(sums.map((sum) => [JSON.stringify(sum.key), sum]))

const together = (one: Series, other: Series): Series => {
  const sums = new Map(one)
  for (const [key, used] of other) sums.set(key, addUsed(sums.get(key) ?? NOTHING_USED, used))
  return sums
}

const DAY_HOURS = 24

/** Of each store: what was used in the hours before this one. */
const over = new WeakMap<object, { readonly before: number; readonly series: Series }>()

const usedByModel = Effect.gen(function* () {
  const ledger = yield* Ledger
  const before = hourOf(yield* Clock.currentTimeMillis) - OPEN_HOURS + 1
  const asked = (hours: { readonly from?: number; readonly to?: number }) =>
    Effect.map(ledger.usage({ ...hours, by: ["model", "purpose"], limit: Number.MAX_SAFE_INTEGER }), seriesOf)
  const known = over.get(ledger)
  const isOfToday = known !== undefined && Math.floor(known.before / DAY_HOURS) === Math.floor(before / DAY_HOURS)
  const { before: read, series } = isOfToday ? known : { before: 0, series: new Map<string, Used>() }
  const all = read === before ? series : together(series, yield* asked({ from: read, to: before }))
  over.set(ledger, { before, series: all })
  return together(all, yield* asked({ from: before }))
})

const label = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")

const usageFigures: ReadonlyArray<readonly [field: keyof Used, name: string, help: string]> = [
  ["calls", "reverie_usage_calls_total", "Model calls that were answered."],
  ["inputTokens", "reverie_usage_input_tokens_total", "Tokens that models were shown, cached ones among them."],
  ["cachedTokens", "reverie_usage_cached_tokens_total", "Of the input, tokens out of a provider's cache."],
  ["outputTokens", "reverie_usage_output_tokens_total", "Tokens that models wrote, those of reasoning among them."],
  ["reasoningTokens", "reverie_usage_reasoning_tokens_total", "Of the output, tokens of reasoning."],
  ["costMicros", "reverie_usage_cost_micros_total", "What priced calls cost, in millionths of the currency."],
  ["unpricedCalls", "reverie_usage_unpriced_calls_total", "Model calls whose price no one knows."]
]

const usageFormat = (series: Series): string => {
  const sorted = [...series].toSorted(([, a], [, b]) => b.calls - a.calls)
  const rest = sorted.slice(MAX_SERIES)
  const others: Series =
    rest.length === 0
      ? new Map()
      : new Map([[JSON.stringify([OTHER, OTHER]), rest.reduce((sum, [, used]) => addUsed(sum, used), NOTHING_USED)]])
  const lines = [...sorted.slice(0, MAX_SERIES), ...others].map(([key, used]) => {
    const [model = "", purpose = ""] = JSON.parse(key) as ReadonlyArray<string>
    return { labels: `{model="${label(model)}",purpose="${label(purpose)}"}`, used }
  })
  return usageFigures
    .map(([field, name, help]) => {
      const values = lines.map(({ labels, used }) => `${name}${labels} ${used[field]}\n`)
      return `# HELP ${name} ${help}\n# TYPE ${name} counter\n${values.join("")}`
    })
    .join("")
}

/** Fails when the store does not answer. */
export const measured = Effect.gen(function* () {
  const totals = yield* (yield* Ledger).totals
  return tallied(totals) + usageFormat(yield* usedByModel) + (yield* PrometheusMetrics.format())
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
      // Its mail was looked at after the record: an assistant that took it up in between has moved on.
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
