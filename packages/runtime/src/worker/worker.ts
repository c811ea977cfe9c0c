// Worker: keeps any number of assistants going in one process.
// Owns how many work at once, the sweep for lost wake-ups, and the relay's rhythm. Leaves who is hosted to hosts.ts.
// I1  No more than `concurrency` assistants work at the same time; the others wait for a fair turn (fair-turns.ts).
// I2  A lost wake-up is found by the sweep: whatever is due and held by nobody is hosted within `sweepMillis`, and what was
//     sent and not delivered, by a worker that died for one, is relayed.
// I3  Only a store that can not be written ends the worker. What is damaged in it is in the way of its own assistant.
// I4  Whoever waits for a model that is away comes back to life soon after its first answer (outages/recovery.ts).

import { Mailbox, WakeQueue } from "@reverie/mailbox"
import type { Address } from "@reverie/protocol"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import { CourtOfProcess, openCourt } from "../blame/court.ts"
import { Conversations } from "../dream/working.ts"
import { inTurns, openTurnLine, type TenantWeight } from "./fair-turns.ts"
import type { StoreFailure } from "./host-failure.ts"
import type { HostSettings } from "./host.ts"
import { OutageBook, Outages } from "../outages/outage-book.ts"
import { recovering } from "../outages/recovery.ts"
import { relayAll } from "./relay.ts"
import { openHosts } from "./hosts.ts"

export interface WorkerSettings {
  /** Names this worker on its claims. */
  readonly worker: string
  readonly leaseMillis: number
  readonly idleTimeoutMillis: number
  /** How often the store is asked for what is due and held by nobody. */
  readonly sweepMillis: number
  /**
   * Other workers are at the same store: a sweep takes up no more than there are free turns for. What is due waits for its
   * wake-up as well, and all of them would wake the same at once.
   */
  readonly isOneOfMany?: boolean
  /** How many assistants may work at the same time. */
  readonly concurrency: number
  /** Turns that a tenant has before the next one's; 1 when not said. */
  readonly tenantWeight?: TenantWeight
  /** Bounds how many work at once, in place of the worker's own bound by `concurrency`. */
  readonly bound?: HostSettings["working"]
}

export const DEFAULT_WORKER: Omit<WorkerSettings, "worker"> = {
  leaseMillis: 30_000,
  idleTimeoutMillis: 10_000,
  sweepMillis: 1_000,
  concurrency: 64
}

/** Most assistants that one sweep wakes. */
const SWEEP_LIMIT = 256

/** Works until it is interrupted, or fails when the store does. Interruption lets go of every claim. */
export const runWorker = (settings: WorkerSettings) =>
  Effect.suspend(() =>
    Effect.scoped(working(settings)).pipe(
      Effect.provideService(Conversations, new Map()),
      Effect.provideService(CourtOfProcess, openCourt()),
      Effect.provideService(Outages, new OutageBook())
    )
  )

/** A damaged page that is met while many are looked at together: it is said, and the next look tries again. */
const pastDamage =
  <A>(otherwise: A) =>
  <R>(look: Effect.Effect<A, StoreFailure, R>): Effect.Effect<A, StoreFailure, R> =>
    Effect.catchIf(
      look,
      (failure) => failure.recovery === "tell-owner",
      (failure) => Effect.as(Effect.logWarning(`${failure.operation}: ${failure.message}`), otherwise)
    )

/** Relays as often as somebody says that something was sent; what is sent meanwhile is relayed after. */
const relaying = Effect.fnUntraced(function* (sent: Latch.Latch) {
  while (true) {
    yield* Latch.await(sent)
    yield* Latch.close(sent)
    yield* pastDamage<void>(undefined)(relayAll())
  }
})

const working = Effect.fnUntraced(function* (settings: WorkerSettings) {
  const mailbox = yield* Mailbox
  const queue = yield* WakeQueue
  const fatal = yield* Deferred.make<never, StoreFailure>()
  const sent = yield* Latch.make(true)
  const bound = settings.bound ?? inTurns(openTurnLine(settings.concurrency, settings.tenantWeight))
  /** Turns that are held or waited for. */
  let wanted = 0
  const counted: NonNullable<WorkerSettings["bound"]> = (work, address) =>
    Effect.suspend(() => {
      wanted++
      return Effect.ensuring(
        bound(work, address),
        Effect.sync(() => wanted--)
      )
    })
  const hosts = yield* openHosts(
    {
      worker: settings.worker,
      leaseMillis: settings.leaseMillis,
      idleTimeoutMillis: settings.idleTimeoutMillis,
      onSent: Effect.asVoid(Latch.open(sent)),
      working: counted
    },
    (failure) => Deferred.fail(fatal, failure)
  )

  const sweep = Effect.gen(function* () {
    while (true) {
      const most = settings.isOneOfMany === true ? Math.min(SWEEP_LIMIT, settings.concurrency - wanted) : SWEEP_LIMIT
      // Those who can not be hosted here stay due, and must not hide the others.
      const due =
        most <= 0 ? [] : yield* pastDamage<ReadonlyArray<Address>>([])(mailbox.due(most + hosts.refusedCount()))
      for (const address of due) if (!hosts.isKnown(address)) yield* hosts.wake(address)
      yield* Latch.open(sent)
      yield* Effect.sleep(settings.sweepMillis)
    }
  })

  const dispatch = Effect.gen(function* () {
    while (true) {
      const { address, done, trace } = yield* queue.take
      yield* hosts.wake(address, done, trace)
    }
  })

  const { isOneOfMany = false, leaseMillis } = settings
  const recovery = recovering(hosts.wake, { isOneOfMany, leaseMillis })
  return yield* Effect.raceAllFirst([dispatch, sweep, relaying(sent), recovery, Deferred.await(fatal)])
})
