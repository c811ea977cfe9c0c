// Due mutants: mailboxes that are wrong about who has something to do, and when.

import { LANES } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { AssistantState } from "@reverie/protocol"
import type { Resident } from "../memory-disk.ts"
import { type Mistake, seenThrough } from "./mutant.ts"

/** Sees each assistant through a lens when it looks for who is due, now or next. */
const sees =
  (lens: (resident: Resident) => Resident): Mistake =>
  (_, disk) => ({
    mailbox: {
      due: (limit, until) => Effect.suspend(() => seenThrough(disk, lens).mailbox.due(limit, until)),
      nextDue: Effect.suspend(() => seenThrough(disk, lens).mailbox.nextDue)
    }
  })

const seesState = (lens: (state: AssistantState) => Partial<AssistantState>): Mistake =>
  sees((resident) => ({ ...resident, state: { ...resident.state, ...lens(resident.state) } }))

const answersNext =
  (change: (time: number | undefined, now: number) => number | undefined): Mistake =>
  ({ mailbox }) => ({
    mailbox: {
      nextDue: Effect.gen(function* () {
        return change(yield* mailbox.nextDue, yield* Clock.currentTimeMillis)
      })
    }
  })

const ONE_SECOND_MILLIS = 1_000

const withoutLease = (resident: Resident): Resident => ({ ...resident, lease: undefined })

export const dueMistakes: Readonly<Record<string, Mistake>> = {
  forgetsMail: seesState(() => ({ receives: [] })),
  receivesEveryLane: seesState(() => ({ receives: LANES })),
  forgetsJobs: seesState(() => ({ jobs: [] })),
  forgetsTimers: seesState(() => ({ timers: [] })),
  seesOneTimerOnly: seesState(({ timers }) => ({ timers: timers.slice(0, 1) })),
  seesTimersEarly: seesState(({ timers }) => ({
    timers: timers.map((timer) => ({ ...timer, dueAt: timer.dueAt - ONE_SECOND_MILLIS }))
  })),
  seesTimersLate: seesState(({ timers }) => ({
    timers: timers.map((timer) => ({ ...timer, dueAt: timer.dueAt + 1 }))
  })),
  seesNoLease: sees(withoutLease),
  seesLeasesForEver: sees((resident) => ({
    ...resident,
    lease: resident.lease === undefined ? undefined : { ...resident.lease, until: Number.MAX_SAFE_INTEGER }
  })),
  seesEverybodyDue: ({ ledger }) => ({
    mailbox: {
      due: (limit) =>
        Effect.map(Effect.orDie(ledger.list(undefined, limit)), (all) => all.map(({ address }) => address))
    }
  }),
  looksNotAhead: ({ mailbox }) => ({ mailbox: { due: (limit) => mailbox.due(limit) } }),
  looksTooFarAhead: ({ mailbox }) => ({
    mailbox: { due: (limit, until = 0) => mailbox.due(limit, until === 0 ? 0 : until + ONE_SECOND_MILLIS) }
  }),
  seesThoseHeldAhead: (_, disk) => ({
    mailbox: {
      due: (limit, until) =>
        Effect.suspend(() =>
          (until === undefined
            ? seenThrough(disk, (resident) => resident)
            : seenThrough(disk, withoutLease)
          ).mailbox.due(limit, until)
        )
    }
  }),
  letsACrowdHideOthers: ({ mailbox }) => ({
    mailbox: {
      due: (limit, until) =>
        Effect.map(mailbox.due(1_000, until), (all) =>
          [...all.filter(({ tenant }) => tenant === "tower"), ...all.filter(({ tenant }) => tenant !== "tower")].slice(
            0,
            limit
          )
        )
    }
  }),
  ordersByName: ({ mailbox }) => ({
    mailbox: {
      due: (limit, until) =>
        Effect.map(mailbox.due(limit, until), (due) => due.toSorted((a, b) => (a.assistant < b.assistant ? -1 : 1)))
    }
  }),
  tellsEverybodyDue: ({ mailbox }) => ({ mailbox: { due: (_, until) => mailbox.due(1_000, until) } }),
  neverNext: answersNext(() => undefined),
  alwaysNext: answersNext((time, now) => time ?? now),
  nextAfterAWhile: answersNext((time, now) =>
    time === undefined ? undefined : time <= now ? now + ONE_SECOND_MILLIS : time
  ),
  nextTooLate: answersNext((time, now) => (time === undefined || time <= now ? time : time + 1)),
  nextOfTheFirstOnly: (_, disk) => ({
    mailbox: {
      nextDue: Effect.suspend(() => {
        const [first] = disk.residents.values()
        return seenThrough(disk, (resident) =>
          resident === first
            ? resident
            : { ...resident, state: { ...resident.state, receives: [], jobs: [], timers: [] } }
        ).mailbox.nextDue
      })
    }
  }),
  nextThroughTheLease: (_, disk) => ({
    mailbox: {
      nextDue: Effect.suspend(
        () => seenThrough(disk, (resident) => ({ ...resident, lease: undefined })).mailbox.nextDue
      )
    }
  }),
  nextAtTheEndOfTheLease: ({ mailbox }, disk) => ({
    mailbox: {
      nextDue: Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const leases = [...disk.residents.values()].flatMap(({ lease }) => lease?.until ?? [])
        const next = yield* mailbox.nextDue
        const live = leases.filter((until) => until > now)
        return live.length === 0 || next === undefined ? next : Math.min(next, ...live)
      })
    }
  })
}
