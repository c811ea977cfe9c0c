// Worker: keeps any number of assistants going in one process.
// Owns which assistants are hosted here, how many work at once, the sweep for lost hints, and the relay's rhythm.
// Leaves one assistant to host.ts.
// I1  An assistant has at most one host in a worker, and a hint that comes while its host ends starts another.
// I2  A lost hint is found by the sweep: whatever is due and held by nobody is hosted within `sweepMillis`.
// I3  What one assistant's host fails with ends that host; only a store that can not be written ends the worker.

import type { SnapshotUnfit } from "@reverie/assistant"
import type { CommitFenced, LedgerUnavailable, UnreadableRecord } from "@reverie/ledger"
import {
  type ClaimHeld,
  type LeaseLost,
  Mailbox,
  type MailboxUnavailable,
  type UnknownAssistant,
  WakeQueue
} from "@reverie/mailbox"
import { type Address, addressKey } from "@reverie/protocol"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Queue from "effect/Queue"
import * as Semaphore from "effect/Semaphore"
import type { DefinitionMissing } from "./errors.ts"
import { type HostSettings, runHost, type Signal } from "./host.ts"
import { relayAll } from "./relay.ts"

export interface WorkerSettings {
  /** Names this worker on its claims. */
  readonly worker: string
  readonly leaseMillis: number
  readonly lingerMillis: number
  /** How often the store is asked for what is due and held by nobody. */
  readonly sweepMillis: number
  /** How many assistants may work at the same time. */
  readonly concurrency: number
  /** Bounds how many work at once, in place of the worker's own bound by `concurrency`. */
  readonly bound?: HostSettings["working"]
}

export const DEFAULT_WORKER: Omit<WorkerSettings, "worker"> = {
  leaseMillis: 30_000,
  lingerMillis: 10_000,
  sweepMillis: 1_000,
  concurrency: 64
}

/** Most assistants that one sweep wakes. */
const SWEEP_LIMIT = 256

export type StoreFailure = MailboxUnavailable | LedgerUnavailable

export type HostFailure =
  | StoreFailure
  | ClaimHeld
  | LeaseLost
  | CommitFenced
  | UnknownAssistant
  | UnreadableRecord
  | SnapshotUnfit
  | DefinitionMissing

/** Told of every host that ended with an error; by default nobody listens. */
export const HostFailures = Context.Reference<(address: Address, failure: HostFailure) => void>(
  "@reverie/runtime/HostFailures",
  { defaultValue: () => () => {} }
)

const isFatal = (failure: HostFailure): failure is StoreFailure =>
  failure._tag === "MailboxUnavailable" || failure._tag === "LedgerUnavailable"

/** Works until it is interrupted, or fails when the store does. Interruption lets go of every claim. */
export const runWorker = (settings: WorkerSettings) => Effect.scoped(working(settings))

/** Relays as often as somebody says that something was sent; what is sent meanwhile is relayed after. */
const relaying = Effect.fnUntraced(function* (sent: Latch.Latch) {
  while (true) {
    yield* Latch.await(sent)
    yield* Latch.close(sent)
    yield* relayAll()
  }
})

const working = Effect.fnUntraced(function* (settings: WorkerSettings) {
  const mailbox = yield* Mailbox
  const queue = yield* WakeQueue
  const told = yield* HostFailures
  const permits = yield* Semaphore.make(settings.concurrency)
  const fatal = yield* Deferred.make<never, StoreFailure>()
  const sent = yield* Latch.make(true)
  const hosts = new Map<string, Queue.Queue<Signal>>()
  /** Assistants that this process can not host: told once, tried again at the next hint. */
  const refused = new Set<string>()

  const hostSettings = {
    worker: settings.worker,
    leaseMillis: settings.leaseMillis,
    lingerMillis: settings.lingerMillis,
    onSent: Effect.asVoid(Latch.open(sent)),
    working: settings.bound ?? Semaphore.withPermits(permits, 1)
  }

  const failed = (address: Address, failure: HostFailure) => {
    if (isFatal(failure)) return Deferred.fail(fatal, failure)
    if (failure._tag !== "ClaimHeld" && !refused.has(addressKey(address))) told(address, failure)
    if (failure.recovery === "tell-owner" || failure.recovery === "stop") refused.add(addressKey(address))
    return Effect.void
  }

  const host = Effect.fnUntraced(function* (address: Address, signals: Queue.Queue<Signal>) {
    const key = addressKey(address)
    while (true) {
      yield* runHost(address, signals, hostSettings).pipe(Effect.catch((failure) => failed(address, failure)))
      // I1: what was signalled after the last look is not lost with the queue.
      if (refused.has(key) || (yield* Queue.size(signals)) === 0) break
      yield* Queue.clear(signals)
    }
    hosts.delete(key)
  })

  const wake = Effect.fnUntraced(function* (address: Address) {
    const key = addressKey(address)
    const signals = hosts.get(key)
    if (signals !== undefined) return yield* Queue.offer(signals, { type: "mail" })
    const fresh = yield* Queue.unbounded<Signal>()
    hosts.set(key, fresh)
    yield* Effect.forkScoped(host(address, fresh))
    return true
  })

  const sweep = Effect.gen(function* () {
    while (true) {
      const due = yield* mailbox.due(SWEEP_LIMIT)
      for (const address of due)
        if (!hosts.has(addressKey(address)) && !refused.has(addressKey(address))) yield* wake(address)
      yield* Effect.sleep(settings.sweepMillis)
    }
  })

  const dispatch = Effect.gen(function* () {
    while (true) {
      const address = yield* queue.take
      refused.delete(addressKey(address))
      yield* wake(address)
    }
  })

  return yield* Effect.raceAllFirst([dispatch, sweep, relaying(sent), Deferred.await(fatal)])
})
