// Live: what a server keeps in memory of what happens, as its handlers see it.
// Owns the service. Leaves the feed to feed/, the list to board/.

import * as Context from "effect/Context"
import type { Boards } from "./board/boards.ts"
import type { Feed } from "./feed/feed.ts"

/** Who keeps something that was read of assistants lets go of it here, when something of theirs was forgotten for good. */
export class Drops {
  readonly #listeners: Array<() => void> = []

  listen(drop: () => void): void {
    this.#listeners.push(drop)
  }

  drop(): void {
    for (const listener of this.#listeners) listener()
  }
}

export class Live extends Context.Service<
  Live,
  {
    /** None where no server runs. */
    readonly feed: Feed | undefined
    readonly boards: Pick<Boards, "of" | "touch">
    readonly drops: Drops
    /** Texts are reported whole, and a life of any length is replayed: the process asks itself, and bounds no one else. */
    readonly isWhole: boolean
    /** The tenant that the process is opened for. */
    readonly ownTenant: string
    /** What the process stands on, for the system page. */
    readonly config: ReadonlyArray<{ readonly name: string; readonly value: string; readonly origin: string }>
  }
>()("@reverie/server/Live") {}
