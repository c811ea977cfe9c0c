// Load: messages at a steady rate, whatever becomes of the server meanwhile.
// Owns sending, and what was answered in each phase. Leaves what became of the messages to the judge of the attacks.
// L1  A message counts as acknowledged when its answer was 202, in the phase in which it was sent.

import { setTimeout as sleep } from "node:timers/promises"
import type { Client, Posted } from "../attack/client.ts"

export interface Phase {
  readonly name: string
  readonly sent: number
  readonly acknowledged: number
  /** How many were answered otherwise, by status; 0 is no answer at all. */
  readonly refused: Readonly<Record<number, number>>
}

interface Counting {
  sent: number
  acknowledged: number
  readonly refused: Record<number, number>
}

/** Words that ask for nothing that a person would have to approve: what waits for a person would look like a loss. */
const wordsOf = (at: number): string => `Good morning! This is greeting number ${at}, and all are well.`

export class Load {
  readonly #client: Client
  readonly #assistants: ReadonlyArray<string>
  readonly #acknowledged: Array<Posted> = []
  readonly #phases = new Map<string, Counting>()
  readonly #open = new Set<Promise<void>>()
  #at = 0

  constructor(client: Client, assistants: ReadonlyArray<string>) {
    this.#client = client
    this.#assistants = assistants
  }

  /** All that were acknowledged, over all phases. */
  get acknowledged(): ReadonlyArray<Posted> {
    return this.#acknowledged
  }

  get phases(): ReadonlyArray<Phase> {
    return [...this.#phases].map(([name, { acknowledged, refused, sent }]) => ({ name, sent, acknowledged, refused }))
  }

  /** Sends so many a second while something is done, and until everything sent has its answer. */
  async during(name: string, perSecond: number, doing: () => Promise<void>): Promise<void> {
    const phase: Counting = { sent: 0, acknowledged: 0, refused: {} }
    this.#phases.set(name, phase)
    let isOver = false
    const done = doing().finally(() => {
      isOver = true
    })
    done.catch(() => undefined)
    while (!isOver) {
      this.#send(phase)
      await sleep(1_000 / perSecond)
    }
    await done
    await Promise.all(this.#open)
  }

  #send(phase: Counting): void {
    const at = ++this.#at
    const posted = { assistant: this.#assistants[at % this.#assistants.length] ?? "", id: `load-${at}` }
    phase.sent++
    const sending = this.#say(phase, posted, wordsOf(at))
    this.#open.add(sending)
    void sending.finally(() => this.#open.delete(sending))
  }

  async #say(phase: Counting, posted: Posted, words: string): Promise<void> {
    const status = await this.#client.say(posted, words)
    if (status === 202) {
      phase.acknowledged++
      this.#acknowledged.push(posted)
    } else phase.refused[status] = (phase.refused[status] ?? 0) + 1
  }
}
