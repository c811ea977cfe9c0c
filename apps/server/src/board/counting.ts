// Counting: how many are in each state that someone wants to see at once.
// Owns the sums. Leaves the classes to row.ts, the rows to board.ts.

import { defined } from "@reverie/protocol"
import type { Counts, Outage } from "../api/index.ts"
import { shareOf } from "./budgets.ts"
import type { Row } from "./row.ts"

/** No model call and no tool takes longer. */
const STUCK_MILLIS = 15 * 60_000

/** Busy for longer than anything takes that runs for it; of a dream, with no entry for as long. */
export const isStuck = ({ isDreaming, isWorking, since, toldAt }: Row, now: number): boolean => {
  const from = isWorking ? since : isDreaming ? toldAt : 0
  return from > 0 && from < now - STUCK_MILLIS
}

/** Of the window, and of a budget: a person may want to act before it is used up. */
const NEARLY = 0.8

export const isNearlyFull = (row: Row): boolean => row.class !== "retired" && (row.contextShare ?? 0) >= NEARLY

export const isNearlySpent = (row: Row): boolean =>
  row.class !== "retired" && row.budget !== undefined && shareOf(row.budget) >= NEARLY

export class Counting {
  readonly #now: number
  readonly #counts = {
    total: 0,
    idle: 0,
    thinking: 0,
    acting: 0,
    awaitingApproval: 0,
    dreaming: 0,
    compacting: 0,
    halted: 0,
    retired: 0,
    stuck: 0,
    nearlyFull: 0,
    nearlySpent: 0,
    waiting: 0
  }

  constructor(now: number) {
    this.#now = now
  }

  get counts(): Counts {
    return this.#counts
  }

  take(row: Row): void {
    this.#counts.total++
    this.#counts[row.class]++
    this.#counts.waiting += row.waiting
    if (isStuck(row, this.#now)) this.#counts.stuck++
    if (isNearlyFull(row)) this.#counts.nearlyFull++
    if (isNearlySpent(row)) this.#counts.nearlySpent++
  }
}

// Outages: the servers of models that are away, by the word of those that wait for them.
// O1  A server is away since its first failure, and is tried next when the first of those that wait tries.
// O2  One that waits for several servers waits for each of them.

export class Outages {
  readonly #byServer = new Map<string, Outage>()

  take({ outage }: Row): void {
    if (outage === undefined) return
    for (const server of [outage.server, ...(outage.others ?? [])]) this.#add(server, outage)
  }

  #add(server: string, { nextTry = Infinity, reason, since }: NonNullable<Row["outage"]>): void {
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
