// Handling: assistants with mail, and workers that handle it whenever they are handed a hint.
// Owns the mail and who handles whom at the moment. Leaves giving hints to the queue under test.

import type { Line } from "./line.ts"
import { addressOf, sleep } from "./line.ts"

export class Handling {
  readonly mail = new Map<string, number>()
  readonly #busy = new Set<string>()
  readonly #visiting: Array<Promise<void>> = []
  overlaps = 0
  visits = 0
  #isOver = false

  /** Mail arrives, and then its hint. */
  async send(line: Line, name: string): Promise<void> {
    this.mail.set(name, (this.mail.get(name) ?? 0) + 1)
    await line.wake(addressOf(name))
  }

  /** Takes hints until `stop`, and handles what mail it finds, after a while. */
  async work(line: Line, pauseMillis: () => number): Promise<void> {
    while (!this.#isOver) {
      const hint = await line.take()
      if (!this.#isOver) this.#visiting.push(this.#visit(line, hint, pauseMillis))
    }
  }

  /** Begins no visit any more; settles when those that were begun are over. */
  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#visiting)
  }

  get waiting(): number {
    return [...this.mail.values()].reduce((sum, count) => sum + count, 0)
  }

  async #visit(line: Line, hint: Awaited<ReturnType<Line["take"]>>, pauseMillis: () => number): Promise<void> {
    const name = hint.address.assistant
    this.visits++
    if (this.#busy.has(name)) this.overlaps++
    this.#busy.add(name)
    await sleep(pauseMillis())
    this.mail.set(name, 0)
    // Between reading its mail and the end of the visit is where a careless queue loses a hint.
    await sleep(pauseMillis())
    this.#busy.delete(name)
    await line.done(hint)
  }
}
