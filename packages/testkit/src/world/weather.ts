// Weather: when the model's server of a simulated world is away, and what a call meets then.
// Owns the outages, drawn from fate, and the words of each failure. Leaves what a failed call has cost to outside.ts.
// V1  No outage begins once the weather is fine for good; one that has begun goes on to its end, however long.
// V2  What fails in an outage speaks of the server; what fails outside of one may speak of the reply, now and then.

import { CallWithheld, type ModelError, ModelParked, ModelUnavailable, ReplyUnusable } from "@reverie/model"
import type { Fate } from "./fate.ts"

export interface Weather {
  /** Outages in which a call has failed. */
  readonly met: () => number
  /** What becomes of a call that is made now; undefined of one that succeeds. */
  readonly failure: () => ModelError | undefined
}

interface Skies {
  readonly fate: Fate
  readonly now: () => number
  /** No outage begins from now on. */
  readonly isFine: () => boolean
  /** A planted bug: what fails in an outage speaks of the call that failed. */
  readonly blamesCalls: boolean
}

const FIRST_WITHIN_MILLIS = 60_000
const LONGEST_MILLIS = 30 * 60_000
const SHORTEST_MILLIS = 5_000
const LONGEST_BETWEEN_MILLIS = 120_000

/** The words of every failure. */
export const NO_ANSWER = "no answer"

const where = { provider: "scripted", message: NO_ANSWER }

/** Most outages are short; a few outlast every pause. */
const lengthOf = (fate: Fate): number =>
  fate.between(SHORTEST_MILLIS, fate.chance(0.2) ? LONGEST_MILLIS : 8 * SHORTEST_MILLIS)

const awayBy = (fate: Fate): ModelError => {
  const kind = fate.pick(["network", "server-error", "timeout", "not-json", "parked", "limited", "withheld"] as const)
  switch (kind) {
    case "parked":
      return new ModelParked({ ...where, status: 503, retryAfterMs: fate.between(1_000, 120_000) })
    case "limited":
      return new ModelParked({ ...where, status: 429, retryAfterMs: fate.between(1_000, 120_000) })
    case "withheld":
      return new CallWithheld({ ...where, retryAfterMs: fate.between(1_000, 30_000) })
    default:
      return new ModelUnavailable({ ...where, kind })
  }
}

const passing = (fate: Fate): ModelError =>
  fate.chance(0.2) ? new ReplyUnusable(where) : new ModelUnavailable({ ...where, kind: "network" })

export const weatherOf = ({ blamesCalls, fate, isFine, now }: Skies): Weather => {
  let met = 0
  let isMet = false
  let from = fate.chance(0.6) ? now() + fate.between(0, FIRST_WITHIN_MILLIS) : Infinity
  let until = from + lengthOf(fate)
  /** Lets pass what is over; none begins in fine weather. */
  const passed = (): void => {
    while (until <= now()) {
      isMet = false
      from = until + fate.between(SHORTEST_MILLIS, LONGEST_BETWEEN_MILLIS)
      until = from + lengthOf(fate)
    }
    if (isFine() && !isMet) from = until = Infinity
  }
  return {
    met: () => met,
    failure: () => {
      passed()
      if (from > now()) return fate.chance(isFine() ? 0.02 : 0.08) ? passing(fate) : undefined
      if (!isMet) met++
      isMet = true
      const failure = awayBy(fate)
      return blamesCalls ? new ReplyUnusable(where) : failure
    }
  }
}
