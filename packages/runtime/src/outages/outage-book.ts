// OutageBook: what one process knows of the server of its model, and of those that wait for it.
// Owns whether it is away, who waits, and who may try before the end of a pause. Leaves the pauses to the statechart, waking
// to recovery.ts.
// B1  The server is away from a failure on until the next answer, whomever it answers.
// B2  Who waits is known from the commit, or the look into the store, that says so, until a commit says that it does not.
// B3  A pause ends before its time for one that was chosen to try, and for everybody after an answer, as far as the outage
//     that it has met allows (`Haste`). Whoever fails in spite of it waits anew.
// B4  Nothing here is durable: a process that starts finds those that wait in the store.

import type { Outage } from "@reverie/assistant"
import { type Address, addressKey } from "@reverie/protocol"
import * as Context from "effect/Context"
import * as Latch from "effect/Latch"

/** What is known of a server that is away. */
export interface Away {
  readonly server: string
  readonly since: number
  /** The last failure, and the reason of it in one line. */
  readonly at: number
  readonly reason: string
}

interface Waiting {
  readonly address: Address
  readonly outage: Outage
  /** Was told that the server answers. */
  isTold: boolean
}

const mayBeTold = ({ isTold, outage }: Waiting): boolean => !isTold && outage.sooner !== "never"

export class OutageBook {
  /** Open while somebody should try whether the server is back. */
  readonly trouble = Latch.makeUnsafe(false)
  /** Opened when some of those that wait may go on. */
  readonly relief = Latch.makeUnsafe(false)
  /** Opened when the server was heard to answer another process. */
  readonly sign = Latch.makeUnsafe(false)
  readonly #waiting = new Map<string, Waiting>()
  readonly #chosen = new Set<string>()
  /** How many of those that wait may be told. */
  #untold = 0
  #away: Away | undefined
  #hasEnded = false
  #answeredAt = 0
  /** When this process last tried in vain, or chose somebody to. */
  #triedAt: number | undefined

  get away(): Away | undefined {
    return this.#away
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** True when an outage has ended since this was asked last. */
  takeEnd(): boolean {
    const hasEnded = this.#hasEnded
    this.#hasEnded = false
    return hasEnded
  }

  answered(at: number): void {
    this.#answeredAt = Math.max(this.#answeredAt, at)
    if (this.#away !== undefined) {
      this.#away = undefined
      this.#hasEnded = true
      this.#triedAt = undefined
      this.#chosen.clear()
      Latch.openUnsafe(this.relief)
    }
    if (this.#untold > 0) Latch.openUnsafe(this.relief)
  }

  failed(at: number, server: string, reason: string): void {
    this.#triedAt = at
    this.#meets({ server, since: this.#away?.since ?? at, at, reason })
  }

  /** The server has answered somebody since then. */
  hasAnsweredSince(at: number): boolean {
    return this.#answeredAt > at
  }

  /** What a commit or the store says of one: that it waits, or that it does not. True when that is news. */
  follow(address: Address, outage: Outage | undefined): boolean {
    const key = addressKey(address)
    const known = this.#waiting.get(key)
    if (known === undefined && outage === undefined) return false
    if (known !== undefined && known.outage.at === outage?.at && known.outage.tries === outage.tries) return false
    if (known !== undefined && mayBeTold(known)) this.#untold--
    this.#waiting.delete(key)
    this.#chosen.delete(key)
    if (outage !== undefined) this.#waits(key, { address, outage, isTold: false })
    return true
  }

  knows(address: Address): boolean {
    return this.#waiting.has(addressKey(address))
  }

  mayTry(address: Address, { at, sooner }: Outage): boolean {
    if (sooner === "never") return false
    return at < this.#answeredAt || (sooner === "try" && this.#chosen.has(addressKey(address)))
  }

  /** In how many milliseconds somebody should try, when those are to lie between two tries of this process. */
  tryInMillis(now: number, betweenMillis: number): number {
    return this.#triedAt === undefined ? 0 : Math.max(0, this.#triedAt + betweenMillis - now)
  }

  /** Chooses who tries: the one that has waited longest since its last try. */
  choose(now: number): Address | undefined {
    let chosen: Waiting | undefined
    for (const waiting of this.#waiting.values()) {
      if (waiting.outage.sooner !== "try") continue
      if (chosen === undefined || waiting.outage.at < chosen.outage.at) chosen = waiting
    }
    if (chosen === undefined) return undefined
    this.#triedAt = now
    this.#chosen.add(addressKey(chosen.address))
    return chosen.address
  }

  /** So many of those that may go on, each once; none while the server is away. */
  relieved(most: number): ReadonlyArray<Address> {
    const told: Array<Address> = []
    if (this.#away !== undefined) return told
    for (const waiting of this.#waiting.values()) {
      if (told.length >= most) break
      const { at, sooner } = waiting.outage
      if (waiting.isTold || sooner === "never" || at >= this.#answeredAt) continue
      waiting.isTold = true
      this.#untold--
      told.push(waiting.address)
    }
    return told
  }

  #waits(key: string, waiting: Waiting): void {
    const { outage } = waiting
    this.#waiting.set(key, waiting)
    if (mayBeTold(waiting)) this.#untold++
    if (outage.at < this.#answeredAt) Latch.openUnsafe(this.relief)
    else if (this.#away === undefined || outage.at > this.#away.at) this.#meets(outage)
    else Latch.openUnsafe(this.trouble)
  }

  #meets({ at, reason, server, since }: Away): void {
    this.#away = { server, since: Math.min(since, this.#away?.since ?? since), at, reason }
    Latch.openUnsafe(this.trouble)
  }
}

/** The book of the worker; work that no worker does has one of its own, which nobody reads. */
export class Outages extends Context.Reference<OutageBook>("@reverie/runtime/Outages", {
  defaultValue: () => new OutageBook()
}) {}
