// Pace: how many pieces the streams that are behind are told in one turn of the event loop.
// Owns their line. Leaves to each stream what it tells.
// P1  No more than PIECES are told in a turn, so that everything else gets its turns between them: a socket takes megabytes
//     at once, and two hundred streams from the beginning would make all others wait for seconds.
// P2  Streams are let go on in the order of asking; one that has ended leaves the line.

/** Each is a write of some ten thousand characters. */
const PIECES = 8

export class Pace {
  readonly #line = new Set<() => void>()
  #given = 0
  #isTurning = false

  /** How many wait. */
  get size(): number {
    return this.#line.size
  }

  /** Resolves when the next piece may be told, or the stream has ended. */
  async turn(leaving: AbortSignal): Promise<void> {
    if (leaving.aborted) return
    this.#turning()
    if (this.#given < PIECES && this.#line.size === 0) {
      this.#given++
      return
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    const leave = (): void => {
      this.#line.delete(resolve)
      resolve()
    }
    this.#line.add(resolve)
    leaving.addEventListener("abort", leave, { once: true })
    await promise
    leaving.removeEventListener("abort", leave)
  }

  #turning(): void {
    if (this.#isTurning) return
    this.#isTurning = true
    setImmediate(() => {
      this.#isTurning = false
      this.#given = 0
      for (const goOn of this.#line) {
        if (this.#given >= PIECES) break
        this.#line.delete(goOn)
        this.#given++
        goOn()
      }
      if (this.#given > 0) this.#turning()
    })
  }
}
