// Outages: the servers of models that are away, by the word of those that wait for them.
// Owns joining the waits for one server. Leaves each wait to its row.
// O1  A server is away since its first failure, and is tried next when the first of those that wait tries.

import { defined } from "@reverie/protocol"
import type { Outage } from "../api/index.ts"
import type { Row } from "./row.ts"

export class Outages {
  readonly #byServer = new Map<string, Outage>()

  take({ outage }: Row): void {
    if (outage === undefined) return
    const { nextTry = Infinity, reason, server, since } = outage
    const known = this.#byServer.get(server)
    const next = Math.min(known?.nextTry ?? Infinity, nextTry)
    this.#byServer.set(server, {
      server,
      since: Math.min(since, known?.since ?? since),
      reason: known?.reason ?? reason,
      assistants: (known?.assistants ?? 0) + 1,
      ...defined({ nextTry: next === Infinity ? undefined : next })
    })
  }

  get all(): ReadonlyArray<Outage> {
    return [...this.#byServer.values()].toSorted((a, b) => b.assistants - a.assistants)
  }
}
