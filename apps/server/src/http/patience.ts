// Patience: how long anyone who guesses tokens must wait.
// Owns counting failed attempts by where they come from. Leaves judging to guard.ts.
// P1  The right token never waits.
// P2  It remembers at most so many places, the latest ones.

const WINDOW_MILLIS = 60_000
const FREE_ATTEMPTS = 5
const STEP_MILLIS = 100
const MAX_WAIT_MILLIS = 2_000
const MAX_PLACES = 1_000
/** More would hold sockets open for nothing. */
const MAX_WAITING = 64

export class Patience {
  readonly #places = new Map<string, { since: number; failed: number }>()
  #waiting = 0
  #failed = 0

  /** Attempts that failed since the start. */
  get failed(): number {
    return this.#failed
  }

  get places(): number {
    return this.#places.size
  }

  /** Milliseconds after which a failed attempt is answered; undefined when too many wait already. */
  after(place: string, now: number): number | undefined {
    this.#failed++
    const before = this.#places.get(place)
    const fresh = before === undefined || now - before.since > WINDOW_MILLIS
    const counted = fresh ? { since: now, failed: 1 } : { since: before.since, failed: before.failed + 1 }
    this.#places.delete(place)
    this.#places.set(place, counted)
    const [oldest] = this.#places.keys()
    if (this.#places.size > MAX_PLACES && oldest !== undefined) this.#places.delete(oldest)
    const wait = Math.min(MAX_WAIT_MILLIS, Math.max(0, counted.failed - FREE_ATTEMPTS) * STEP_MILLIS)
    return wait > 0 && this.#waiting >= MAX_WAITING ? undefined : wait
  }

  /** Calls back after the wait. */
  wait(millis: number, then: () => void): void {
    if (millis === 0) return then()
    this.#waiting++
    setTimeout(() => {
      this.#waiting--
      then()
    }, millis).unref()
  }
}
