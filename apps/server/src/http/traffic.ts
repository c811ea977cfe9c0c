// Traffic: what this server measures of itself, in the text format of Prometheus.
// Owns requests by the pattern of their route, their durations, and open streams. Leaves the fleet's figures to the fleet.
// T1  No id is a label: the number of lines is bounded by the number of routes.

import type { ServerResponse } from "node:http"

/** Seconds. */
const BOUNDS = [0.005, 0.025, 0.1, 0.5, 2.5, 10] as const

interface Figures {
  readonly byClass: Map<string, number>
  readonly buckets: Array<number>
  seconds: number
  count: number
}

/** Stands on the response itself: an entry in a weak map took longer than the judgement of the guard. */
const ROUTE = Symbol("route")

interface Counted extends ServerResponse {
  [ROUTE]?: string
}

export class Traffic {
  readonly #routes = new Map<string, Figures>()
  #streams = 0

  /** The answer counts for this route from now on, whatever was said before. */
  begin(response: Counted, route: string): void {
    const isBegun = response[ROUTE] !== undefined
    response[ROUTE] = route
    if (isBegun) return
    const since = performance.now()
    response.on("close", () => {
      const status = response.headersSent ? `${Math.floor(response.statusCode / 100)}xx` : "gone"
      this.#count(response[ROUTE] ?? route, status, (performance.now() - since) / 1_000)
    })
  }

  streamOpened(): void {
    this.#streams++
  }

  streamClosed(): void {
    this.#streams--
  }

  #count(route: string, status: string, seconds: number): void {
    const figures = this.#routes.get(route) ?? {
      byClass: new Map<string, number>(),
      buckets: BOUNDS.map(() => 0),
      seconds: 0,
      count: 0
    }
    this.#routes.set(route, figures)
    figures.byClass.set(status, (figures.byClass.get(status) ?? 0) + 1)
    figures.seconds += seconds
    figures.count++
    for (let at = BOUNDS.length - 1; at >= 0 && seconds <= (BOUNDS[at] ?? 0); at--) {
      figures.buckets[at] = (figures.buckets[at] ?? 0) + 1
    }
  }

  format(refusedTokens: number): string {
    const routes = [...this.#routes].toSorted(([a], [b]) => (a < b ? -1 : 1))
    const requests = routes.flatMap(([route, { byClass }]) =>
      [...byClass].map(([status, count]) => `reverie_http_requests_total{route="${route}",status="${status}"} ${count}`)
    )
    const durations = routes.flatMap(([route, { buckets, count, seconds }]) => [
      ...buckets.map(
        (below, index) => `reverie_http_seconds_bucket{route="${route}",le="${BOUNDS[index] ?? ""}"} ${below}`
      ),
      `reverie_http_seconds_bucket{route="${route}",le="+Inf"} ${count}`,
      `reverie_http_seconds_sum{route="${route}"} ${seconds}`,
      `reverie_http_seconds_count{route="${route}"} ${count}`
    ])
    return [
      "# HELP reverie_http_requests_total Requests answered, by route and class of status.",
      "# TYPE reverie_http_requests_total counter",
      ...requests,
      "# HELP reverie_http_seconds How long answers took; of a stream, how long it was open.",
      "# TYPE reverie_http_seconds histogram",
      ...durations,
      "# HELP reverie_http_streams Event streams that are open.",
      "# TYPE reverie_http_streams gauge",
      `reverie_http_streams ${this.#streams}`,
      "# HELP reverie_http_refused_tokens_total Requests without a token that opens anything.",
      "# TYPE reverie_http_refused_tokens_total counter",
      `reverie_http_refused_tokens_total ${refusedTokens}`,
      ""
    ].join("\n")
  }
}
