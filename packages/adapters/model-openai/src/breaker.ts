// Breaker: keeps calls away from a server that does not answer.
// Owns the three states of one circuit, for one base URL and one model. Leaves the time to its caller's clock.
// B1  CLOSED lets everything pass; so many failures in a row within the window OPEN it.
// B2  OPEN withholds without a request until it has cooled down, which takes longer each time up to a limit, and begins anew
//     with a success.
// B3  HALF-OPEN lets one call try: its success closes the circuit, its failure opens it again, and a call that was
//     given up frees the place. A try that hears nothing for a while lets another one try beside it.
// B4  Calls that were admitted before the circuit opened change nothing when they end, nor does the failure of a try while
//     a later one is under way.
// B5  A sign of life from elsewhere ends the cooling down.

import type { BreakerOptions } from "./options.ts"

/** What was admitted; given back with the outcome. */
export interface Ticket {
  readonly circuit: number
  /** Counts the tries of a circuit from 1; 0 for a call that was let through a closed one. */
  readonly probe: number
}

export type Admission = { readonly ticket: Ticket } | { readonly retryAfterMillis: number }

interface Open {
  readonly until: number
  /** When the try under way was admitted. */
  readonly probingSince?: number
}

export class Breaker {
  readonly #options: BreakerOptions
  /** When each failure of the present row happened, in milliseconds since the epoch. */
  #row: ReadonlyArray<number> = []
  #open: Open | undefined
  /** Times that it has opened since the last success. */
  #opened = 0
  /** Grows with every change between CLOSED and OPEN, so that tickets of an earlier circuit are known. */
  #circuit = 0
  #probe = 0

  constructor(options: BreakerOptions) {
    this.#options = options
  }

  state(now: number): "closed" | "open" | "half-open" {
    if (this.#open === undefined) return "closed"
    return now < this.#open.until ? "open" : "half-open"
  }

  /** How long a call would be withheld; 0 when it would be admitted. */
  withheldMillis(now: number): number {
    if (this.#open === undefined) return 0
    const { probingSince, until } = this.#open
    if (now < until) return until - now
    return probingSince === undefined ? 0 : Math.max(0, probingSince + this.#options.probeMillis - now)
  }

  admit(now: number): Admission {
    if (this.#open === undefined) return { ticket: { circuit: this.#circuit, probe: 0 } }
    const retryAfterMillis = this.withheldMillis(now)
    if (retryAfterMillis > 0) return { retryAfterMillis }
    this.#open = { ...this.#open, probingSince: now }
    return { ticket: { circuit: this.#circuit, probe: ++this.#probe } }
  }

  succeeded(ticket: Ticket): void {
    if (ticket.circuit !== this.#circuit) return
    this.#row = []
    if (ticket.probe === 0) return
    this.#opened = 0
    this.#change(undefined)
  }

  failed(ticket: Ticket, now: number): void {
    if (ticket.circuit !== this.#circuit) return
    if (ticket.probe > 0) {
      if (ticket.probe === this.#probe) this.#cool(now)
      return
    }
    this.#row = [...this.#row.filter((at) => at > now - this.#options.windowMillis), now]
    if (this.#row.length >= this.#options.failures) this.#cool(now)
  }

  /** The call was given up: nothing is known of the server. */
  abandoned(ticket: Ticket): void {
    if (ticket.circuit !== this.#circuit || ticket.probe !== this.#probe || this.#open === undefined) return
    this.#open = { until: this.#open.until }
  }

  /** The server was heard to answer elsewhere: a call may try at once. */
  tryNow(now: number): void {
    if (this.#open !== undefined) this.#open = { ...this.#open, until: Math.min(this.#open.until, now) }
  }

  #cool(now: number): void {
    const { coolDownMaxMillis, coolDownMillis } = this.#options
    const millis = Math.min(Math.max(coolDownMillis, coolDownMaxMillis), coolDownMillis * 2 ** this.#opened++)
    this.#change({ until: now + millis })
  }

  #change(open: Open | undefined): void {
    this.#open = open
    this.#row = []
    this.#circuit++
    this.#probe = 0
  }
}
