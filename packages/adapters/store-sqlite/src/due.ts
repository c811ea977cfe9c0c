// Due: who has something to do that nobody holds, and when the next one will.
// Owns the two ranges of wakes: the awake, in the order of waiting, and the sleepers, in the order of their timers.
// I1  A look costs what it finds and what is held, never what sleeps.
// I2  When more are due than asked for, as many as LOOK_AHEAD are looked at, and each of their tenants has a share.

import type { DatabaseSync } from "node:sqlite"
import { dealt } from "@reverie/mailbox"
import type { Address } from "@reverie/protocol"
import { addressOf } from "./assistants.ts"
import { AT_REST } from "./formats.ts"
import type { Leases } from "./leases.ts"
import { query } from "./sql.ts"
import { timeOf } from "./wake.ts"

const LOOK_AHEAD = 4_096

interface WakeRow {
  readonly key: number
  readonly wake: number
  readonly tenant: string
  readonly id: string
}

export const dueQueries = (database: DatabaseSync, leases: Leases) => {
  const rows = (range: string): string =>
    // The index is used only where the query repeats its condition. A search ends at the first upper bound that is named:
    // behind the index's own it would go through all that sleep.
    `SELECT key, wake, tenant, id FROM assistants WHERE ${range} AND wake < ${AT_REST} ORDER BY wake, key LIMIT ?`
  const awake = query<WakeRow>(database, rows("wake < 0"))
  const sleepers = query<WakeRow>(database, rows("wake >= 0 AND wake <= ?"))
  const earliest = (until: number, limit: number) =>
    [...awake.all(limit), ...sleepers.all(until, limit)].map((row) => ({ ...row, from: timeOf(row.wake) ?? AT_REST }))
  const free = (now: number, limit: number) =>
    earliest(now, limit + leases.count)
      .filter(({ key }) => leases.live(key, now) === undefined)
      .toSorted((a, b) => a.from - b.from)
  return {
    now: (now: number, limit: number): ReadonlyArray<Address> => {
      const oldest = free(now, limit)
      const waiting = oldest.length < limit ? oldest : free(now, Math.max(limit, LOOK_AHEAD))
      return dealt(waiting, ({ tenant }) => tenant, limit).map(addressOf)
    },
    next: (now: number): number | undefined => {
      // One more than can be held: one that is free is among them if there is any, and all behind it come later.
      const times = earliest(AT_REST - 1, 1 + leases.count).map(({ key, from }) =>
        Math.max(from, leases.live(key, now)?.until ?? from)
      )
      return times.length === 0 ? undefined : Math.min(...times)
    }
  }
}
