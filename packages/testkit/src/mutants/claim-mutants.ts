// Claim mutants: mailboxes that lease wrongly.

import { ClaimHeld, LeaseLost } from "@reverie/mailbox"
import { addressKey, type AssistantState, NO_CURSORS } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { afterwards, type Mistake, namesakes } from "./mutant.ts"

const leasesWrongly: Readonly<Record<string, Mistake>> = {
  leasesToAnyone: ({ mailbox }) => ({
    mailbox: {
      claim: (request) =>
        Effect.catchTag(mailbox.claim(request), "ClaimHeld", ({ worker }) =>
          Effect.map(mailbox.claim({ ...request, worker }), (hold) => ({
            ...hold,
            claim: { ...hold.claim, worker: request.worker }
          }))
        )
    }
  }),
  looksBeforeItLeases: ({ mailbox }, disk) => ({
    mailbox: {
      claim: Effect.fnUntraced(function* (request) {
        const now = yield* Clock.currentTimeMillis
        const resident = disk.resident(request.address)
        const free = resident?.lease === undefined || resident.lease.until <= now
        yield* Effect.yieldNow
        if (free && resident !== undefined) resident.lease = undefined
        return yield* mailbox.claim(request)
      })
    }
  }),
  fencesNobody: () => ({ mailbox: { fence: () => Effect.void } }),
  fencesByLeaseAlone: (_, disk) => ({
    mailbox: {
      fence: (address) =>
        Effect.sync(() => {
          const resident = disk.resident(address)
          if (resident !== undefined) resident.lease = undefined
        })
    }
  }),
  fencesEverybody: ({ mailbox }, disk) => ({
    mailbox: {
      fence: (address) =>
        Effect.andThen(
          Effect.sync(() => {
            for (const resident of disk.residents.values()) resident.lease = undefined
          }),
          mailbox.fence(address)
        )
    }
  }),
  leasesForEver: ({ mailbox }, disk) => ({
    mailbox: {
      claim: Effect.fnUntraced(function* (request) {
        const { address, worker } = request
        const lease = disk.resident(address)?.lease
        if (lease === undefined || lease.worker === worker) return yield* mailbox.claim(request)
        return yield* new ClaimHeld({ address, worker: lease.worker, leaseUntil: lease.until })
      })
    }
  }),
  leasesByNameAlone: ({ mailbox }, disk) => ({
    mailbox: {
      claim: Effect.fnUntraced(function* (request) {
        const { address, worker } = request
        const now = yield* Clock.currentTimeMillis
        for (const { lease } of namesakes(disk, address)) {
          if (lease !== undefined && lease.until > now && lease.worker !== worker) {
            return yield* new ClaimHeld({ address, worker: lease.worker, leaseUntil: lease.until })
          }
        }
        return yield* mailbox.claim(request)
      })
    }
  }),
  refusesItsOwnHolder: ({ mailbox }) => ({
    mailbox: {
      claim: (request) => {
        const stranger = { ...request, worker: `${request.worker}, again` }
        return Effect.map(mailbox.claim(stranger), (hold) => ({
          ...hold,
          claim: { ...hold.claim, worker: request.worker }
        }))
      }
    }
  }),
  namesNoHolder: ({ mailbox }) => ({
    mailbox: {
      claim: (request) =>
        Effect.catchTag(
          mailbox.claim(request),
          "ClaimHeld",
          ({ address, worker }) => new ClaimHeld({ address, worker, leaseUntil: 0 })
        )
    }
  })
}

const keepsWrongly: Readonly<Record<string, Mistake>> = {
  renewsInWordsOnly: ({ mailbox }, disk) => ({
    mailbox: {
      renew: (claim, leaseMillis) =>
        Effect.suspend(() => {
          const resident = disk.resident(claim.address)
          const lease = resident?.lease
          return afterwards(mailbox.renew(claim, leaseMillis), () => {
            if (resident !== undefined) resident.lease = lease
          })
        })
    }
  }),
  renewsNobodyLate: ({ mailbox }, disk) => ({
    mailbox: {
      renew: Effect.fnUntraced(function* (claim, leaseMillis) {
        const { address, epoch } = claim
        const now = yield* Clock.currentTimeMillis
        if ((disk.resident(address)?.lease?.until ?? 0) > now) return yield* mailbox.renew(claim, leaseMillis)
        return yield* new LeaseLost({ address, heldEpoch: epoch, currentEpoch: epoch })
      })
    }
  }),
  renewsForZombies: ({ mailbox }, disk) => ({
    mailbox: {
      renew: (claim, leaseMillis) =>
        Effect.suspend(() => mailbox.renew({ ...claim, epoch: disk.resident(claim.address)?.epoch ?? 0 }, leaseMillis))
    }
  }),
  releasesForZombies: ({ mailbox }, disk) => ({
    mailbox: {
      release: (claim) =>
        Effect.suspend(() => mailbox.release({ ...claim, epoch: disk.resident(claim.address)?.epoch ?? 0 }))
    }
  }),
  releasesNothing: () => ({ mailbox: { release: () => Effect.void } }),
  releasesNamesakes: (_, disk) => ({
    mailbox: {
      release: (claim) =>
        Effect.sync(() => {
          for (const resident of namesakes(disk, claim.address)) resident.lease = undefined
        })
    }
  })
}

const countsWrongly: Readonly<Record<string, Mistake>> = {
  reusesReleasedEpochs: ({ mailbox }, disk) => ({
    mailbox: {
      release: (claim) =>
        afterwards(mailbox.release(claim), () => {
          const resident = disk.resident(claim.address)
          if (resident?.epoch === claim.epoch) resident.epoch--
        })
    }
  }),
  keepsItsHoldersEpoch: ({ mailbox }, disk) => ({
    mailbox: {
      claim: Effect.fnUntraced(function* (request) {
        const resident = disk.resident(request.address)
        const now = yield* Clock.currentTimeMillis
        const lease = resident?.lease
        const mine = lease !== undefined && lease.worker === request.worker && lease.until > now
        if (resident !== undefined && mine) resident.epoch--
        return yield* mailbox.claim(request)
      })
    }
  }),
  handsOutTheNewest: ({ mailbox }) => ({
    mailbox: { claim: (request) => Effect.map(mailbox.claim(request), (hold) => ({ ...hold, version: 1 })) }
  }),
  handsOutTheStateAtCreation: ({ mailbox, ledger }) => {
    const atCreation = new Map<string, AssistantState>()
    return {
      ledger: {
        create: (creation) => {
          const key = addressKey(creation.address)
          if (!atCreation.has(key)) atCreation.set(key, creation.state)
          return ledger.create(creation)
        }
      },
      mailbox: {
        claim: (request) =>
          Effect.map(mailbox.claim(request), (hold) => ({
            ...hold,
            state: atCreation.get(addressKey(request.address)) ?? hold.state
          }))
      }
    }
  },
  handsOutNoCursors: ({ mailbox }) => ({
    mailbox: { claim: (request) => Effect.map(mailbox.claim(request), (hold) => ({ ...hold, cursors: NO_CURSORS })) }
  }),
  forgetsAttempts: ({ mailbox }) => ({
    mailbox: { claim: (request) => Effect.map(mailbox.claim(request), (hold) => ({ ...hold, attempts: 1 })) }
  }),
  forgivesNoAttempt: ({ mailbox }) => ({
    mailbox: {
      claim: (request) => Effect.map(mailbox.claim(request), (hold) => ({ ...hold, attempts: hold.claim.epoch }))
    }
  })
}

export const claimMistakes: Readonly<Record<string, Mistake>> = { ...leasesWrongly, ...keepsWrongly, ...countsWrongly }
