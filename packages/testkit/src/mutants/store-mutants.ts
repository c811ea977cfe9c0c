// Store mutants: wrong stores that the laws of one verb at a time let pass.

import { addressKey } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import type { MemoryDisk, Resident } from "../memory-disk.ts"
import { afterwards, type Mistake, type Mutants, mutantsOf, seenThrough } from "./mutant.ts"

/** Commits rightly, but hides a part of it for one turn of the scheduler. */
const inTwoSteps =
  (hide: (resident: Resident, disk: MemoryDisk) => () => void): Mistake =>
  ({ ledger }, disk) => ({
    ledger: {
      commit: Effect.fnUntraced(function* (claim, commit) {
        const seq = yield* ledger.commit(claim, commit)
        const resident = disk.resident(claim.address)
        if (resident === undefined) return seq
        const show = hide(resident, disk)
        yield* Effect.yieldNow
        show()
        return seq
      })
    }
  })

const mistakes: Readonly<Record<string, Mistake>> = {
  writesTheEntryLast: inTwoSteps((resident, disk) => {
    const row = resident.entries.pop()
    disk.outbox.pop()
    return () => {
      if (row === undefined) return
      resident.entries.push(row)
      disk.outbox.push(row)
    }
  }),
  writesTheSendsLast: inTwoSteps((_, disk) => {
    const last = [...disk.sends].at(-1)
    if (last !== undefined) disk.sends.delete(last[0])
    return () => {
      if (last !== undefined) disk.sends.set(...last)
    }
  }),
  writesTheVersionLast: inTwoSteps((resident) => {
    resident.version--
    return () => {
      resident.version++
    }
  }),
  overlooksRenewals: ({ mailbox }, disk) => {
    const granted = new Map<string, Resident["lease"]>()
    const lens = (resident: Resident): Resident => {
      const key = addressKey(resident.address)
      return { ...resident, lease: resident.lease === undefined ? undefined : granted.get(key) }
    }
    return {
      mailbox: {
        claim: (request) =>
          afterwards(mailbox.claim(request), ({ claim: { address, worker, leaseUntil } }) => {
            granted.set(addressKey(address), { worker, until: leaseUntil })
          }),
        due: (limit) => Effect.suspend(() => seenThrough(disk, lens).mailbox.due(limit))
      }
    }
  },
  forgetsJobsBesideTimers: (_, disk) => {
    const lens = (resident: Resident): Resident => {
      const { state } = resident
      return state.timers.length === 0 ? resident : { ...resident, state: { ...state, jobs: [] } }
    }
    return { mailbox: { due: (limit) => Effect.suspend(() => seenThrough(disk, lens).mailbox.due(limit)) } }
  }
}

export const storeMutants: Mutants = mutantsOf(mistakes)
