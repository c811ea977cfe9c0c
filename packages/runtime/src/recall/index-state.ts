// IndexState: what this process remembers of an index while it works with it.
// Owns one turn at a time for each assistant, what was said last before its position, and whether the index answers.
// Leaves every durable word to the index itself: losing all of this costs time, nothing else.
// S1  Of one assistant's entries one catching up runs at a time; whoever comes meanwhile waits and finds them done.
// S2  That the index does not answer is told once, and once more when it answers again.

import {
  type IndexPosition,
  type IndexWindow,
  type Recall,
  type RecallUnavailable,
  samePosition
} from "@reverie/memory"
import { type Address, addressKey } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Semaphore from "effect/Semaphore"

/** Times that an index, or an embedder, did not answer. */
export const recallFailures = Metric.counter("reverie_recall_failures_total", { incremental: true })

/** How long background work leaves an index alone that did not answer. */
const LEFT_ALONE_MILLIS = 5_000

/** How long the index of somebody else is believed: a store can be restored while this process runs. */
const BELIEVED_MILLIS = 60_000

/** Assistants of whom something is kept in memory. */
const MAX_KEPT = 1_024

/** Keeps a value under a key; the one that was kept longest ago gives way. */
const keepIn = <A>(kept: Map<string, A>, key: string, value: A): void => {
  kept.delete(key)
  kept.set(key, value)
  const [oldest] = kept.keys()
  if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest)
}

interface Turn {
  readonly lock: Semaphore.Semaphore
  users: number
}

interface Belief {
  readonly position: IndexPosition
  readonly since: number
  readonly until: number
}

const NO_BLOCKS: ReadonlyMap<string, string> = new Map()

class IndexState {
  readonly #turns = new Map<string, Turn>()
  readonly #windows = new Map<string, { readonly position: IndexPosition; readonly window: IndexWindow }>()
  readonly #blocks = new Map<string, ReadonlyMap<string, string>>()
  readonly #beliefs = new Map<string, Belief>()
  /** Undefined while it answers. */
  #downSince: number | undefined

  inTurn<A, E, R>(address: Address, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    const key = addressKey(address)
    return Effect.suspend(() => {
      const turn = this.#turns.get(key) ?? { lock: Semaphore.makeUnsafe(1), users: 0 }
      turn.users++
      this.#turns.set(key, turn)
      const leave = Effect.sync(() => {
        turn.users--
        if (turn.users === 0) this.#turns.delete(key)
      })
      return Effect.ensuring(Semaphore.withPermits(turn.lock, 1)(work), leave)
    })
  }

  /** What was said last before the entry after `position`, when it is still known. */
  windowAt(address: Address, position: IndexPosition): IndexWindow | undefined {
    const known = this.#windows.get(addressKey(address))
    return known !== undefined && samePosition(known.position, position) ? known.window : undefined
  }

  keepWindow(address: Address, position: IndexPosition, window: IndexWindow): void {
    keepIn(this.#windows, addressKey(address), { position, window })
  }

  /** The blocks of an assistant as the index was last told of them, by id; nothing when that is not known. */
  blocksOf(address: Address): ReadonlyMap<string, string> {
    return this.#blocks.get(addressKey(address)) ?? NO_BLOCKS
  }

  /** This process has told the index of an assistant's blocks. */
  knowsBlocks(address: Address): boolean {
    return this.#blocks.has(addressKey(address))
  }

  keepBlocks(address: Address, blocks: ReadonlyMap<string, string>): void {
    keepIn(this.#blocks, addressKey(address), blocks)
  }

  /** Whether the index of an assistant stands where it did when it was held against its ledger, not long ago. */
  isBelieved(address: Address, position: IndexPosition, now: number): boolean {
    const belief = this.#beliefs.get(addressKey(address))
    return belief !== undefined && samePosition(belief.position, position) && now < belief.until && now >= belief.since
  }

  believe(address: Address, position: IndexPosition, now: number): void {
    keepIn(this.#beliefs, addressKey(address), { position, since: now, until: now + BELIEVED_MILLIS })
  }

  /** The index has been emptied of an assistant. */
  forget(address: Address): void {
    this.#windows.delete(addressKey(address))
    this.#blocks.delete(addressKey(address))
    this.#beliefs.delete(addressKey(address))
  }

  /** It did not answer lately: what can wait, waits. */
  isLeftAlone(now: number): boolean {
    return this.#downSince !== undefined && now >= this.#downSince && now < this.#downSince + LEFT_ALONE_MILLIS
  }

  /** True when it is news. */
  fell(now: number): boolean {
    const isNews = this.#downSince === undefined
    this.#downSince = now
    return isNews
  }

  /** True when it is news. */
  rose(): boolean {
    const isNews = this.#downSince !== undefined
    this.#downSince = undefined
    return isNews
  }
}

const states = new WeakMap<Recall["Service"], IndexState>()

export const stateOf = (recall: Recall["Service"]): IndexState => {
  const known = states.get(recall)
  if (known !== undefined) return known
  const state = new IndexState()
  states.set(recall, state)
  return state
}

/** Notes that the index did not answer. */
export const noteFall = Effect.fnUntraced(function* (recall: Recall["Service"], failure: RecallUnavailable) {
  yield* Metric.update(recallFailures, 1)
  if (stateOf(recall).fell(yield* Clock.currentTimeMillis)) {
    yield* Effect.logWarning(`the index of memories does not answer (${failure.operation}): ${failure.message}`)
  }
})

export const noteAnswer = (recall: Recall["Service"]): Effect.Effect<void> =>
  Effect.suspend(() => (stateOf(recall).rose() ? Effect.logInfo("the index of memories answers again") : Effect.void))
