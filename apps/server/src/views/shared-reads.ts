// SharedReads: a reading that many clients want, made once for all of them.
// Owns the line of readings, how many run at the same time, and giving one up. Leaves what is read to its owner.
// R1  Clients that ask for the same key before its reading begins share one reading.
// R2  A reading that has begun serves no later client: what was stored meanwhile would be missing.
// R3  No more than `maxAtOnce` run at the same time, in the order in which they were first asked for.
// R4  A reading whose clients have all left is not begun; one that runs learns of it by its signal.

/** The signal says that no client wants it any more. */
export type Read<Value> = (signal: AbortSignal) => Promise<Value>

interface Reading<Value> {
  readonly read: Read<Value>
  readonly abandoned: AbortController
  readonly value: PromiseWithResolvers<Value | undefined>
  /** Clients that have not left. */
  clients: number
}

export class SharedReads<Key, Value> {
  readonly #maxAtOnce: number
  /** In the order in which they were asked for; none of them has begun. */
  readonly #line = new Map<Key, Reading<Value>>()
  #running = 0

  constructor(maxAtOnce: number) {
    this.#maxAtOnce = maxAtOnce
  }

  /** Readings that run or wait for their turn. */
  get size(): number {
    return this.#running + this.#line.size
  }

  /** Undefined for a client that has left. Rejects with what the reading rejects with. */
  async ask(key: Key, read: Read<Value>, leaving: AbortSignal): Promise<Value | undefined> {
    if (leaving.aborted) return undefined
    const reading = this.#line.get(key) ?? this.#add(key, read)
    reading.clients++
    const left = Promise.withResolvers<undefined>()
    const leave = (): void => {
      if (--reading.clients === 0) this.#abandon(key, reading)
      left.resolve(undefined)
    }
    leaving.addEventListener("abort", leave, { once: true })
    try {
      return await Promise.race([reading.value.promise, left.promise])
    } finally {
      leaving.removeEventListener("abort", leave)
    }
  }

  #abandon(key: Key, reading: Reading<Value>): void {
    reading.abandoned.abort()
    if (this.#line.get(key) === reading) this.#line.delete(key)
  }

  #add(key: Key, read: Read<Value>): Reading<Value> {
    const reading = {
      read,
      abandoned: new AbortController(),
      value: Promise.withResolvers<Value | undefined>(),
      clients: 0
    }
    // A failure reaches the clients; when all of them have left, it concerns none.
    reading.value.promise.catch(() => {})
    this.#line.set(key, reading)
    // After this turn, in which more clients may ask for the same.
    queueMicrotask(() => this.#next())
    return reading
  }

  #next(): void {
    for (const [key, reading] of this.#line) {
      if (this.#running >= this.#maxAtOnce) return
      this.#line.delete(key)
      void this.#run(reading)
    }
  }

  async #run({ abandoned, read, value }: Reading<Value>): Promise<void> {
    this.#running++
    try {
      value.resolve(await read(abandoned.signal))
    } catch (error) {
      value.reject(error)
    } finally {
      this.#running--
      this.#next()
    }
  }
}
