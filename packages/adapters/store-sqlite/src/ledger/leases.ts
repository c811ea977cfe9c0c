// Leases: who holds which assistant until when.
// Owns the lease. Leaves the epoch, which outlives it, to the database.
// I1  Leases live in memory: only the owner of the directory grants them, and with it they end.

export interface Lease {
  readonly worker: string
  /** Milliseconds since the epoch. */
  readonly until: number
}

const SWEEP_FROM = 1_024

export class Leases {
  readonly #byKey = new Map<number, Lease>()
  #sweepAt = SWEEP_FROM

  live(key: number, now: number): Lease | undefined {
    const lease = this.#byKey.get(key)
    return lease !== undefined && lease.until > now ? lease : undefined
  }

  /** Grants a lease; the answer takes it back. */
  grant(key: number, lease: Lease, now: number): () => void {
    const before = this.#byKey.get(key)
    if (this.#byKey.size >= this.#sweepAt) this.#sweep(now)
    this.#byKey.set(key, lease)
    return () => {
      if (before === undefined) this.#byKey.delete(key)
      else this.#byKey.set(key, before)
    }
  }

  end(key: number): void {
    this.#byKey.delete(key)
  }

  /** How many assistants may be held: never fewer than are. */
  get count(): number {
    return this.#byKey.size
  }

  #sweep(now: number): void {
    for (const [key, { until }] of this.#byKey) if (until <= now) this.#byKey.delete(key)
    this.#sweepAt = Math.max(SWEEP_FROM, this.#byKey.size * 2)
  }
}
