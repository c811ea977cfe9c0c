// OpenRuns: the runs that a server tells at this moment.
// Owns their number for each token, the searches for their beginnings, and their end when the server ends. Leaves telling them
// to run-stream.ts.
// O1  A token has no more of them open at once than the bound says.
// O2  Ended, it leaves none of them open, and whoever reads one sees its stream end.

import { LimitReached } from "../api/index.ts"
import { SharedReads } from "../shared-reads.ts"
import type { Beginning } from "./run.ts"
import type { RunStream } from "./run-stream.ts"

const MAX_RUNS = 256
const RETRY_SECONDS = 5
/** Each reads thousands of entries where the envelope is old or unknown. */
const MAX_SEARCHES = 4

export class OpenRuns {
  /** By tenant, assistant and envelope. */
  readonly beginnings = new SharedReads<string, Beginning>(MAX_SEARCHES)
  readonly #byToken = new Map<string, Set<RunStream>>()

  /** Refuses before anything of a run is begun. */
  admit(token: string): void {
    if ((this.#byToken.get(token)?.size ?? 0) < MAX_RUNS) return
    const message = `${MAX_RUNS} runs are open for this token; close one first`
    throw new LimitReached({ message, retryAfterSeconds: RETRY_SECONDS })
  }

  add(token: string, run: RunStream): void {
    const runs = this.#byToken.get(token) ?? new Set()
    this.#byToken.set(token, runs.add(run))
    run.once("close", () => {
      runs.delete(run)
      if (runs.size === 0 && this.#byToken.get(token) === runs) this.#byToken.delete(token)
    })
  }

  end(): void {
    for (const runs of this.#byToken.values()) for (const run of runs) run.end()
  }
}

const known = new WeakMap<object, OpenRuns>()

/** Those of one server, by what its handlers have in common. */
export const openRunsOf = (gateway: object): OpenRuns => {
  const runs = known.get(gateway) ?? new OpenRuns()
  known.set(gateway, runs)
  return runs
}
