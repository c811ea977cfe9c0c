// Handling: assistants with mail, and workers that handle it whenever they are handed a wake-up.
// Owns the mail and who handles whom at the moment. Leaves giving wake-ups to the queue under test.

import type { Line } from "./line.ts"
import { addressOf, sleep } from "./line.ts"

export class Handling {
  readonly mail = new Map<string, number>()
  readonly #busy = new Set<string>()
  readonly #handling: Array<Promise<void>> = []
  overlaps = 0
  handled = 0
  #isOver = false

  /** Mail arrives, and then its wake-up. */
  async send(line: Line, name: string): Promise<void> {
    this.mail.set(name, (this.mail.get(name) ?? 0) + 1)
    await line.wake(addressOf(name))
  }

  /** Takes wake-ups until `stop`, and handles what mail it finds, after a while. */
  async work(line: Line, pauseMillis: () => number): Promise<void> {
    while (!this.#isOver) {
      const wakeUp = await line.take()
      if (!this.#isOver) this.#handling.push(this.#handle(line, wakeUp, pauseMillis))
    }
  }

  /** Begins no lease session any more; settles when those that were begun are over. */
  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#handling)
  }

  get waiting(): number {
    return [...this.mail.values()].reduce((sum, count) => sum + count, 0)
  }

  async #handle(line: Line, wakeUp: Awaited<ReturnType<Line["take"]>>, pauseMillis: () => number): Promise<void> {
    const name = wakeUp.address.assistant
    this.handled++
    if (this.#busy.has(name)) this.overlaps++
    this.#busy.add(name)
    await sleep(pauseMillis())
    this.mail.set(name, 0)
    // Between reading its mail and the end of the lease session is where a careless queue loses a wake-up.
    await sleep(pauseMillis())
    this.#busy.delete(name)
    await line.done(wakeUp)
  }
}
