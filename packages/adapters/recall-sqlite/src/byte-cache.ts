// ByteCache: what was read of the file and never changes, in memory.
// Owns how much of it stays. Leaves reading it to whoever asks.
// C1  What is kept has a bound in bytes, whoever asks for how much; what was not asked for the longest goes first.

export class ByteCache<A> {
  readonly #most: number
  readonly #bytesOf: (value: A) => number
  /** What was asked for last stands last. */
  readonly #kept = new Map<number, A>()
  #bytes = 0

  constructor(most: number, bytesOf: (value: A) => number) {
    this.#most = most
    this.#bytesOf = bytesOf
  }

  get(key: number, read: () => A): A {
    const known = this.#kept.get(key)
    const value = known ?? read()
    this.#kept.delete(key)
    this.#kept.set(key, value)
    if (known === undefined) this.#grow(value)
    return value
  }

  drop(key: number): void {
    const value = this.#kept.get(key)
    if (value === undefined) return
    this.#bytes -= this.#bytesOf(value)
    this.#kept.delete(key)
  }

  clear(): void {
    this.#kept.clear()
    this.#bytes = 0
  }

  #grow(value: A): void {
    this.#bytes += this.#bytesOf(value)
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#most) return
      this.drop(oldest)
    }
  }
}
