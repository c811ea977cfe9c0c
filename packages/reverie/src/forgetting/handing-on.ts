// HandingOn: what forgotten turns sent to other assistants of their tenant, while it is looked for.
// Owns what is known of it, and whom there is more of than was looked for. Leaves finding it in a life to the ledger, the order of
// looking to forgetting.ts.
// H1  Each letter counts once: what goes round in a circle comes to an end.

import type { Letter } from "@reverie/ledger"

export class HandingOn {
  readonly #letters = new Map<string, Set<string>>()
  readonly #waiting = new Set<string>()

  /** What was sent to an assistant as far as it is known now: it is looked for there now. */
  to(assistant: string): ReadonlySet<string> {
    this.#waiting.delete(assistant)
    return new Set(this.#letters.get(assistant))
  }

  /** Whether anything was sent to an assistant; it is looked for there no less. */
  has(assistant: string): boolean {
    return this.#letters.has(assistant)
  }

  readonly learn = (letters: ReadonlyArray<Letter>): void => {
    for (const { id, to } of letters) {
      const known = this.#letters.get(to) ?? new Set()
      this.#letters.set(to, known)
      if (known.has(id)) continue
      known.add(id)
      this.#waiting.add(to)
    }
  }

  /** Assistants to whom more was sent than was looked for there; each is named once. */
  waiting(): ReadonlySet<string> {
    const waiting = new Set(this.#waiting)
    this.#waiting.clear()
    return waiting
  }
}
