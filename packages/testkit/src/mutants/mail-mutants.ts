// Mail mutants: mailboxes that accept or keep wrongly.

import { type Envelope, type Lane, LANES, laneOf, type Pending } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { appendMail, type MemoryDisk } from "../memory-disk.ts"
import { afterwards, type Mistake, namesakes, throughUtf8 } from "./mutant.ts"

/** Puts an envelope into a mailbox without asking any question. */
const push = (disk: MemoryDisk, envelope: Envelope): void => {
  const resident = disk.resident(envelope.to)
  if (resident === undefined) return
  appendMail(disk, resident, { id: envelope.id, lane: laneOf(envelope.event), acceptedAt: 0, envelope })
}

const accepted = ({ id, to }: Envelope) => ({ outcome: "accepted" as const, envelope: id, to })

const acceptsWrongly: Readonly<Record<string, Mistake>> = {
  forgetsDuplicates: ({ mailbox }, disk) => ({
    mailbox: {
      accept: Effect.fnUntraced(function* (envelope) {
        const receipt = yield* mailbox.accept(envelope)
        if (receipt.outcome === "duplicate") push(disk, envelope)
        return accepted(envelope)
      })
    }
  }),
  forgetsWhatWasHandled: ({ mailbox }, disk) => ({
    mailbox: {
      accept: Effect.fnUntraced(function* (envelope) {
        const resident = disk.resident(envelope.to)
        const waiting = LANES.flatMap((lane) => resident?.mail[lane].slice(resident.cursors[lane]) ?? [])
        if (!waiting.some(({ id }) => id === envelope.id)) resident?.accepted.delete(envelope.id)
        return yield* mailbox.accept(envelope)
      })
    }
  }),
  looksBeforeItAccepts: ({ mailbox }, disk) => ({
    mailbox: {
      accept: Effect.fnUntraced(function* (envelope) {
        const known = disk.resident(envelope.to)?.accepted.has(envelope.id) ?? false
        yield* Effect.yieldNow
        if (!known) disk.resident(envelope.to)?.accepted.delete(envelope.id)
        return yield* mailbox.accept(envelope)
      })
    }
  }),
  letsTheLastOneWin: ({ mailbox }, disk) => ({
    mailbox: {
      accept: Effect.fnUntraced(function* (envelope) {
        const receipt = yield* mailbox.accept(envelope)
        const rows = disk.resident(envelope.to)?.mail[laneOf(envelope.event)] ?? []
        const index = rows.findIndex(({ id }) => id === envelope.id)
        const row = rows[index]
        if (receipt.outcome === "duplicate" && row !== undefined) rows[index] = { ...row, envelope }
        return receipt
      })
    }
  }),
  knowsIdsByLane: ({ mailbox }, disk) => ({
    mailbox: {
      accept: Effect.fnUntraced(function* (envelope) {
        const resident = disk.resident(envelope.to)
        const rows = resident?.mail[laneOf(envelope.event)] ?? []
        if (!rows.some(({ id }) => id === envelope.id)) resident?.accepted.delete(envelope.id)
        return yield* mailbox.accept(envelope)
      })
    }
  }),
  knowsIdsFleetWide: ({ mailbox }, disk) => ({
    mailbox: {
      accept: Effect.fnUntraced(function* (envelope) {
        const known = [...disk.residents.values()].some((resident) => resident.accepted.has(envelope.id))
        if (!known) return yield* mailbox.accept(envelope)
        return { ...accepted(envelope), outcome: "duplicate" as const }
      })
    }
  }),
  comparesIdsLoosely: ({ mailbox }) => {
    const seen = new Map<string, Envelope["id"]>()
    return {
      mailbox: {
        accept: (envelope) => {
          const key = `${envelope.to.tenant}/${envelope.to.assistant}/${throughUtf8(envelope.id)}`
          const id = seen.get(key) ?? envelope.id
          seen.set(key, id)
          return mailbox.accept({ ...envelope, id })
        }
      }
    }
  },
  acceptsForNobody: ({ mailbox }) => ({
    mailbox: {
      accept: (envelope) =>
        Effect.catchTag(mailbox.accept(envelope), "UnknownAssistant", () => Effect.succeed(accepted(envelope)))
    }
  }),
  acceptsForTheRetired: ({ mailbox }, disk) => ({
    mailbox: {
      accept: Effect.fnUntraced(function* (envelope) {
        if (disk.resident(envelope.to)?.state.status !== "retired") return yield* mailbox.accept(envelope)
        push(disk, envelope)
        return accepted(envelope)
      })
    }
  }),
  deliversWhatIsSettled: ({ mailbox }) => ({ mailbox: { accept: (envelope) => mailbox.accept(envelope) } }),
  remembersWhatItRefused: ({ mailbox }) => {
    const refused = new Set<string>()
    return {
      mailbox: {
        accept: (envelope) =>
          Effect.suspend(() =>
            refused.has(envelope.id)
              ? Effect.succeed({ ...accepted(envelope), outcome: "duplicate" as const })
              : Effect.tapError(mailbox.accept(envelope), () => Effect.sync(() => refused.add(envelope.id)))
          )
      }
    }
  }
}

/** Tells what waits wrongly, by what is rightly told. */
const tells =
  (change: (rows: Pending, lanes: ReadonlyArray<Lane>, limit: number) => Pending): Mistake =>
  ({ mailbox }) => ({
    mailbox: {
      pending: (address, lanes, limit) =>
        Effect.map(mailbox.pending(address, lanes, limit), (rows) => change(rows, lanes, limit))
    }
  })

const keepsWrongly: Readonly<Record<string, Mistake>> = {
  tellsTheNewestFirst: tells((rows) => LANES.flatMap((name) => rows.filter(({ lane }) => lane === name).toReversed())),
  tellsInTheOrderOfIds: tells((rows) => rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))),
  tellsLanesAsAsked: tells((rows, lanes) => lanes.flatMap((name) => rows.filter(({ lane }) => lane === name))),
  limitsTheWhole: tells((rows, _, limit) => rows.slice(0, limit)),
  ignoresTheLimit: ({ mailbox }) => ({
    mailbox: { pending: (address, lanes) => mailbox.pending(address, lanes, 64) }
  }),
  tellsEveryLane: ({ mailbox }) => ({
    mailbox: { pending: (address, _, limit) => mailbox.pending(address, LANES, limit) }
  }),
  forgetsWhenItWasAccepted: tells((rows) => rows.map((row) => ("v" in row ? { ...row, acceptedAt: 0 } : row))),
  damagesText: ({ mailbox }) => ({ mailbox: { accept: (envelope) => mailbox.accept(throughUtf8(envelope)) } }),
  dropsTheTrace: ({ mailbox }) => ({
    mailbox: { accept: ({ traceparent: _, ...envelope }) => mailbox.accept({ ...envelope, hops: 0 }) }
  }),
  movesEveryCursor: ({ ledger }, disk) => ({
    ledger: {
      commit: (claim, commit) =>
        afterwards(ledger.commit(claim, commit), () => {
          const resident = disk.resident(claim.address)
          const { cause } = commit.entry
          if (resident === undefined || cause.kind !== "envelope") return
          resident.cursors = { control: cause.seq, reply: cause.seq, mail: cause.seq }
        })
    }
  }),
  movesTheCursorWithEveryCommit: ({ ledger }, disk) => ({
    ledger: {
      commit: (claim, commit) =>
        afterwards(ledger.commit(claim, commit), () => {
          const resident = disk.resident(claim.address)
          if (resident === undefined || commit.entry.cause.kind === "envelope") return
          resident.cursors = { ...resident.cursors, mail: resident.cursors.mail + 1 }
        })
    }
  }),
  movesTheCursorWhenSettled: ({ ledger }, disk) => ({
    ledger: {
      commit: (claim, commit) =>
        Effect.suspend(() => {
          const resident = disk.resident(claim.address)
          const before = resident?.cursors
          return afterwards(ledger.commit(claim, commit), () => {
            if (resident !== undefined && before !== undefined && commit.entry.settled === undefined) {
              resident.cursors = before
            }
          })
        })
    }
  }),
  leaksToNamesakes: ({ mailbox }, disk) => ({
    mailbox: {
      pending: (address, lanes, limit) =>
        Effect.map(
          Effect.forEach(namesakes(disk, address), (resident) => mailbox.pending(resident.address, lanes, limit)),
          (found) => found.flat()
        )
    }
  }),
  numbersEverythingOne: tells((rows) => rows.map((row) => ({ ...row, seq: 1 })))
}

const readsAgainWrongly: Readonly<Record<string, Mistake>> = {
  readsOnlyWhatWaits: ({ mailbox }) => ({
    mailbox: {
      accepted: (address, ids) =>
        Effect.map(mailbox.pending(address, LANES, 64), (rows) =>
          ids.flatMap((wanted) => rows.filter(({ id }) => id === wanted))
        )
    }
  }),
  readsInTheOrderOfIds: ({ mailbox }) => ({
    mailbox: { accepted: (address, ids) => mailbox.accepted(address, ids.toSorted()) }
  }),
  readsForNamesakes: ({ mailbox }, disk) => ({
    mailbox: {
      accepted: (address, ids) =>
        Effect.map(
          Effect.forEach(namesakes(disk, address), (resident) => mailbox.accepted(resident.address, ids)),
          (found) => found.flat()
        )
    }
  })
}

export const mailMistakes: Readonly<Record<string, Mistake>> = {
  ...acceptsWrongly,
  ...keepsWrongly,
  ...readsAgainWrongly
}
