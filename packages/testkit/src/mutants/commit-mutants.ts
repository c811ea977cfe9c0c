// Commit mutants: ledgers that write what they must not, or leave out what they must.

import { type Commit, CommitFenced, type Ledger } from "@reverie/ledger"
import { addressKey, type Claim } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { aResident, copy, fileEntry, type MemoryDisk, type Resident } from "../memory-disk.ts"
import { afterwards, type Mistake, namesakes } from "./mutant.ts"

type Committing = Ledger["Service"]["commit"]

/** Commits rightly, then undoes or adds something. */
const tears =
  (tear: (before: Resident, now: Resident, disk: MemoryDisk) => void): Mistake =>
  ({ ledger }, disk) => ({
    ledger: {
      commit: (claim, commit) =>
        Effect.suspend(() => {
          const resident = disk.resident(claim.address)
          const before = resident === undefined ? undefined : { ...resident }
          return afterwards(ledger.commit(claim, commit), () => {
            if (before !== undefined && resident !== undefined) tear(before, resident, disk)
          })
        })
    }
  })

/** Commits what a changed claim or commit says. */
const rewrites =
  (change: (claim: Claim, commit: Commit, disk: MemoryDisk) => readonly [Claim, Commit]): Mistake =>
  ({ ledger }, disk) => ({
    ledger: { commit: (claim, commit) => Effect.suspend(() => ledger.commit(...change(claim, commit, disk))) }
  })

/** Commits rightly, but does something more when it is fenced. */
const whenFenced =
  (act: (refusal: CommitFenced, claim: Claim, commit: Commit, disk: MemoryDisk) => ReturnType<Committing>): Mistake =>
  ({ ledger }, disk) => ({
    ledger: {
      commit: (claim, commit) =>
        Effect.catchTag(ledger.commit(claim, commit), "CommitFenced", (refusal) => act(refusal, claim, commit, disk))
    }
  })

const asLast = (claim: Claim, commit: Commit, disk: MemoryDisk): Commit => ({
  ...commit,
  entry: { ...commit.entry, no: (disk.resident(claim.address)?.version ?? 0) + 1 }
})

const writesTornly: Readonly<Record<string, Mistake>> = {
  writesTheEntryWithoutTheState: tears((before, now) => {
    now.state = before.state
  }),
  writesTheStateWithoutTheEntry: tears((_, now, disk) => {
    now.entries.pop()
    disk.outbox.pop()
  }),
  writesWithoutTheCursor: tears((before, now) => {
    now.cursors = before.cursors
  }),
  dropsSends: tears((_, __, disk) => disk.sends.clear()),
  keepsOneSendOnly: tears((_, __, disk) => {
    for (const seq of [...disk.sends.keys()].slice(1)) disk.sends.delete(seq)
  }),
  dropsDeadLetters: tears((_, __, disk) => {
    disk.deadLetters.length = 0
  }),
  deadLettersWithoutReason: tears((_, __, disk) => {
    const last = disk.deadLetters.pop()
    if (last !== undefined) disk.deadLetters.push({ ...last, reason: "" })
  }),
  countsTheDeadAsSettled: tears((_, __, disk) => {
    disk.settled += disk.dead
    disk.dead = 0
  }),
  countsEveryCommitAsSettled: tears((_, __, disk) => {
    disk.settled++
  }),
  settlesOneEnvelopeOnly: rewrites((claim, commit) => {
    const { settled = [], ...entry } = commit.entry
    return [claim, { ...commit, entry: { ...entry, settled: settled.slice(0, 1) } }]
  }),
  countsDuplicates: ({ mailbox }, disk) => ({
    mailbox: {
      accept: (envelope) =>
        afterwards(mailbox.accept(envelope), ({ outcome }) => {
          if (outcome === "duplicate") disk.accepted++
        })
    }
  }),
  writesForNamesakesToo: tears((_, now, disk) => {
    for (const resident of namesakes(disk, now.address)) {
      resident.state = now.state
      resident.cursors = now.cursors
    }
  }),
  tellsEveryDeadLetter: ({ ledger }) => ({
    ledger: { deadLetters: (_, request) => ledger.deadLetters(1_000, request) }
  }),
  tellsTheOldestDeadFirst: ({ ledger }) => ({
    ledger: { deadLetters: (limit, request) => ledger.deadLetters(limit, { ...request, newestFirst: false }) }
  }),
  tellsTheDeadOfAllTenants: ({ ledger }) => ({
    ledger: {
      deadLetters: (limit, request) => ledger.deadLetters(limit, { newestFirst: request?.newestFirst ?? false })
    }
  })
}

const fencesWrongly: Readonly<Record<string, Mistake>> = {
  forgetsTheEpoch: rewrites((claim, commit, disk) => [
    { ...claim, epoch: disk.resident(claim.address)?.epoch ?? 0 },
    commit
  ]),
  believesFutureEpochs: rewrites((claim, commit, disk) => {
    const epoch = disk.resident(claim.address)?.epoch ?? 0
    return [{ ...claim, epoch: Math.min(claim.epoch, epoch) }, commit]
  }),
  forgetsTheVersion: rewrites((claim, commit, disk) => [claim, asLast(claim, commit, disk)]),
  allowsGaps: whenFenced((refusal, claim, commit, disk) =>
    Effect.suspend(() => {
      const resident = disk.resident(claim.address)
      if (resident?.epoch !== claim.epoch || commit.entry.no <= resident.version) return Effect.fail(refusal)
      resident.version = commit.entry.no
      return Effect.succeed(fileEntry(disk, resident, commit.entry))
    })
  ),
  looksBeforeItCommits: ({ ledger }, disk) => ({
    ledger: {
      commit: Effect.fnUntraced(function* (claim, commit) {
        const fits = disk.resident(claim.address)?.version === commit.entry.no - 1
        yield* Effect.yieldNow
        return yield* ledger.commit(claim, fits ? asLast(claim, commit, disk) : commit)
      })
    }
  }),
  fencesByTheLease: ({ ledger }, disk) => ({
    ledger: {
      commit: Effect.fnUntraced(function* (claim, commit) {
        const now = yield* Clock.currentTimeMillis
        const resident = disk.resident(claim.address)
        if (resident?.lease === undefined || resident.lease.until > now) return yield* ledger.commit(claim, commit)
        const { address, epoch } = claim
        const { version } = resident
        return yield* new CommitFenced({
          address,
          heldEpoch: epoch,
          currentEpoch: epoch,
          expectedVersion: version,
          currentVersion: version
        })
      })
    }
  }),
  sendsAlthoughFenced: whenFenced((refusal, _, { entry }, disk) =>
    Effect.suspend(() => {
      for (const envelope of entry.sends ?? []) disk.sends.set(++disk.sendSeq, { seq: disk.sendSeq, envelope })
      return Effect.fail(refusal)
    })
  ),
  changesStateAlthoughFenced: whenFenced((refusal, claim, { state }, disk) =>
    Effect.suspend(() => {
      const resident = disk.resident(claim.address)
      if (resident !== undefined) resident.state = state
      return Effect.fail(refusal)
    })
  ),
  tellsNothingOfTheFence: whenFenced(
    ({ address, heldEpoch, expectedVersion }) =>
      new CommitFenced({
        address,
        heldEpoch,
        currentEpoch: heldEpoch,
        expectedVersion,
        currentVersion: expectedVersion
      })
  ),
  createsByCommit: whenFenced((refusal, claim, commit, disk) =>
    Effect.gen(function* () {
      if (disk.resident(claim.address) !== undefined) return yield* refusal
      const resident = aResident(claim.address, commit.state, yield* Clock.currentTimeMillis)
      disk.residents.set(addressKey(claim.address), resident)
      return fileEntry(disk, resident, commit.entry)
    })
  )
}

const createsWrongly: Readonly<Record<string, Mistake>> = {
  createsAgain: ({ ledger }, disk) => ({
    ledger: {
      create: (creation) =>
        Effect.suspend(() => {
          const again = disk.residents.delete(addressKey(creation.address))
          return Effect.map(ledger.create(creation), (outcome) => (again ? "exists" : outcome))
        })
    }
  }),
  redefinesTheLiving: ({ ledger }, disk) => ({
    ledger: {
      create: (creation) =>
        Effect.tap(ledger.create(creation), (outcome) =>
          Effect.sync(() => {
            const resident = disk.resident(creation.address)
            if (outcome === "exists" && resident !== undefined) resident.state = copy(creation.state)
          })
        )
    }
  }),
  alwaysSaysCreated: ({ ledger }) => ({
    ledger: { create: (creation) => Effect.as(ledger.create(creation), "created") }
  }),
  createsByNameAlone: ({ ledger }, disk) => ({
    ledger: {
      create: (creation) =>
        Effect.suspend(() =>
          namesakes(disk, creation.address).length > 0 ? Effect.succeed("exists" as const) : ledger.create(creation)
        )
    }
  }),
  looksBeforeItCreates: ({ ledger }, disk) => ({
    ledger: {
      create: Effect.fnUntraced(function* (creation) {
        const planned = disk.resident(creation.address) === undefined
        yield* Effect.yieldNow
        if (planned) disk.residents.delete(addressKey(creation.address))
        return yield* ledger.create(creation)
      })
    }
  }),
  createsWithoutMessages: ({ ledger }) => ({
    ledger: { create: (creation) => ledger.create({ ...creation, entry: { ...creation.entry, messages: [] } }) }
  }),
  countsFromZero: ({ ledger }, disk) => ({
    ledger: {
      create: (creation) =>
        afterwards(ledger.create(creation), () => {
          const resident = disk.resident(creation.address)
          if (resident !== undefined) resident.version = 0
        })
    }
  })
}

export const commitMistakes: Readonly<Record<string, Mistake>> = {
  ...writesTornly,
  ...fencesWrongly,
  ...createsWrongly
}
