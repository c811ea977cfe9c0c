// Note mutants: mailboxes that lose, keep or mix up what a holder noted, or miscount the holders that were lost.

import * as Effect from "effect/Effect"
import { afterwards, type Mistake, namesakes } from "./mutant.ts"

export const noteMistakes: Readonly<Record<string, Mistake>> = {
  keepsNoNote: () => ({ mailbox: { note: () => Effect.void } }),
  keepsTheFirstNote: ({ mailbox }, disk) => ({
    mailbox: {
      note: (claim, text) => Effect.suspend(() => mailbox.note(claim, disk.resident(claim.address)?.note ?? text))
    }
  }),
  handsANoteOutOnce: ({ mailbox }, disk) => ({
    mailbox: {
      claim: (request) =>
        afterwards(mailbox.claim(request), () => {
          const resident = disk.resident(request.address)
          if (resident !== undefined) resident.note = undefined
        })
    }
  }),
  notesOverCommits: ({ ledger }, disk) => ({
    ledger: {
      commit: (claim, commit) =>
        Effect.suspend(() => {
          const noted = disk.resident(claim.address)?.note
          return afterwards(ledger.commit(claim, commit), () => {
            const resident = disk.resident(claim.address)
            if (resident !== undefined) resident.note = noted
          })
        })
    }
  }),
  notesOverReleases: ({ mailbox }, disk) => ({
    mailbox: {
      release: (claim) =>
        Effect.suspend(() => {
          const resident = disk.resident(claim.address)
          const noted = resident?.note
          return afterwards(mailbox.release(claim), () => {
            if (resident !== undefined) resident.note = noted
          })
        })
    }
  }),
  notesOverFences: ({ mailbox }, disk) => ({
    mailbox: {
      fence: (address) =>
        Effect.suspend(() => {
          const resident = disk.resident(address)
          const noted = resident?.note
          return afterwards(mailbox.fence(address), () => {
            if (resident !== undefined) resident.note = noted
          })
        })
    }
  }),
  notesForZombies: ({ mailbox }, disk) => ({
    mailbox: {
      note: (claim, text) =>
        Effect.suspend(() => mailbox.note({ ...claim, epoch: disk.resident(claim.address)?.epoch ?? 0 }, text))
    }
  }),
  notesForNamesakes: (_, disk) => ({
    mailbox: {
      note: (claim, text) =>
        Effect.sync(() => {
          for (const resident of namesakes(disk, claim.address)) resident.note = text
        })
    }
  }),
  countsJobsFromNothing: ({ ledger }, disk) => ({
    ledger: {
      commit: (claim, commit) =>
        afterwards(ledger.commit(claim, commit), () => {
          const resident = disk.resident(claim.address)
          if (resident !== undefined) resident.attempts = 0
        })
    }
  }),
  countsRestAsAnAttempt: ({ ledger }, disk) => ({
    ledger: {
      commit: (claim, commit) =>
        afterwards(ledger.commit(claim, commit), () => {
          const resident = disk.resident(claim.address)
          if (resident !== undefined) resident.attempts = 1
        })
    }
  })
}
