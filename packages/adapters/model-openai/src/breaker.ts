// Breaker: keeps calls away from a server that does not answer.
// Owns the three states of one circuit, for one base URL and one model. Leaves the time to its caller's clock.
// B1  CLOSED lets everything pass; so many failures in a row within the window OPEN it.
// B2  OPEN refuses without a request until it has cooled down.
// B3  HALF-OPEN lets one call try: its success closes the circuit, its failure opens it again, and a call that was
//     given up frees the place.
// B4  Calls that were admitted before the circuit opened change nothing when they end.

import type { BreakerOptions } from "./options.ts"

/** What was admitted; given back with the outcome. */
export interface Ticket {
  readonly circuit: number
  readonly isProbe: boolean
}

export type Admission = { readonly ticket: Ticket } | { readonly retryAfterMillis: number }

export class Breaker {
  readonly #options: BreakerOptions
  /** When each failure of the present row happened, in milliseconds since the epoch. */
  #row: ReadonlyArray<number> = []
  #openUntil: number | undefined
  #isProbing = false
  /** Grows with every change between CLOSED and OPEN, so that tickets of an earlier circuit are known. */
  #circuit = 0

  constructor(options: BreakerOptions) {
    this.#options = options
  }

  state(now: number): "closed" | "open" | "half-open" {
    if (this.#openUntil === undefined) return "closed"
    return now < this.#openUntil ? "open" : "half-open"
  }

  admit(now: number): Admission {
    if (this.#openUntil === undefined) return { ticket: { circuit: this.#circuit, isProbe: false } }
    if (now < this.#openUntil) return { retryAfterMillis: this.#openUntil - now }
    if (this.#isProbing) return { retryAfterMillis: this.#options.coolDownMillis }
    this.#isProbing = true
    return { ticket: { circuit: this.#circuit, isProbe: true } }
  }

  succeeded(ticket: Ticket): void {
    if (ticket.circuit !== this.#circuit) return
    this.#row = []
    if (ticket.isProbe) this.#change(undefined)
  }

  failed(ticket: Ticket, now: number): void {
    if (ticket.circuit !== this.#circuit) return
    if (ticket.isProbe) {
      this.#change(now + this.#options.coolDownMillis)
      return
    }
    this.#row = [...this.#row.filter((at) => at > now - this.#options.windowMillis), now]
    if (this.#row.length >= this.#options.failures) this.#change(now + this.#options.coolDownMillis)
  }

  /** The call was given up: nothing is known of the server. */
  abandoned(ticket: Ticket): void {
    if (ticket.circuit === this.#circuit && ticket.isProbe) this.#isProbing = false
  }

  #change(openUntil: number | undefined): void {
    this.#openUntil = openUntil
    this.#row = []
    this.#isProbing = false
    this.#circuit++
  }
}
