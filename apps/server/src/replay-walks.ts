// ReplayWalks: replays that were left in the middle, for whoever comes for the next page.
// Owns keeping a few of them. Leaves replaying to the SDK.
// W1  A page that follows another one goes on where that ended; any other one is reached from the creation on.
// W2  At most MOST_KEPT are kept, those that were left last.
// W3  One that is gone on with belongs to nobody else meanwhile.

import type { Fleet, ReplayFrame } from "reverie"

const MOST_KEPT = 8

export type Walk = AsyncIterator<ReplayFrame, unknown, unknown>

export interface WalkRequest {
  readonly id: string
  readonly from: number
  readonly snapshots: boolean
}

const keyOf = ({ tenant }: Fleet, { from, id, snapshots }: WalkRequest): string =>
  `${tenant}/${id}/${from}/${snapshots ? "with" : "without"}`

const letGo = (walk: Walk): void => void walk.return?.().catch(() => {})

export class ReplayWalks {
  readonly #left = new Map<string, Walk>()

  /** The frames from a number on. */
  take(fleet: Fleet, request: WalkRequest): Walk {
    const key = keyOf(fleet, request)
    const walk = this.#left.get(key)
    this.#left.delete(key)
    const { from, id, snapshots } = request
    return walk ?? fleet.replay(id, { from, snapshots })[Symbol.asyncIterator]()
  }

  /** Keeps a walk whose next frame is that of `request.from`. */
  leave(fleet: Fleet, request: WalkRequest, walk: Walk): void {
    const key = keyOf(fleet, request)
    const before = this.#left.get(key)
    if (before !== undefined) letGo(before)
    this.#left.delete(key)
    this.#left.set(key, walk)
    const [oldest] = this.#left
    if (this.#left.size <= MOST_KEPT || oldest === undefined) return
    this.#left.delete(oldest[0])
    letGo(oldest[1])
  }
}
