// Hosts: who is hosted in a worker, and who can not be.
// Owns starting hosts, the way of a wake-up to its host, and telling what hosts fail with. Leaves one host to lease-session.ts, and
// when to wake whom to worker.ts.
// I1  An assistant has at most one host here, and a wake-up that comes while its host ends starts another.
// I2  What one assistant's host fails with, or breaks on, ends that host; only a failure of the store is passed on.
// I3  A wake-up is done when its host has ended, and not before: a queue that holds back further wake-ups until then loses none.
// I4  A host that fails lastingly, in the same way again and again, is told of once. It is tried again at every wake-up.

import { WakeQueue } from "@reverie/mailbox"
import { type Address, addressKey } from "@reverie/protocol"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"

import { failureOf, type HostFailure, HostFailures, isFatal, isLasting, type StoreFailure } from "./host-failure.ts"
import type { HostSettings, Signal } from "./host.ts"
import { runLeaseSession } from "./lease-session.ts"

interface Hosted {
  readonly signals: Queue.Queue<Signal>
  /** What is told when the host has ended. */
  readonly done: Array<Effect.Effect<void>>
}

export const openHosts = Effect.fnUntraced(function* (
  settings: HostSettings,
  onFatal: (failure: StoreFailure) => Effect.Effect<unknown>
) {
  const listener = yield* HostFailures
  const queue = yield* WakeQueue
  const scope = yield* Effect.scope
  const hosts = new Map<string, Hosted>()
  /** Those who can not be hosted here, and what was told of it. */
  const refused = new Map<string, HostFailure["_tag"]>()

  const tell = (address: Address, failure: HostFailure) => {
    try {
      listener(address, failure)
    } catch {
      // Whoever is told may break; that is no trouble of the assistant.
    }
  }

  const failed = (address: Address, failure: HostFailure) => {
    const key = addressKey(address)
    if (isFatal(failure)) return onFatal(failure)
    if (failure._tag !== "ClaimHeld" && refused.get(key) !== failure._tag) tell(address, failure)
    if (isLasting(failure)) refused.set(key, failure._tag)
    // What the wake-up was given for may be unknown to the holder, who may have died: it is looked at again when the lease ends.
    return failure._tag === "ClaimHeld" ? queue.wakeAt(address, failure.leaseUntil) : Effect.void
  }

  const host = Effect.fnUntraced(function* (address: Address, { signals }: Hosted, woken: string | undefined) {
    const key = addressKey(address)
    while (true) {
      yield* runLeaseSession(address, signals, settings, woken).pipe(
        Effect.andThen(Effect.sync(() => refused.delete(key))),
        Effect.catchCauseIf(
          (cause) => !Cause.hasInterruptsOnly(cause),
          (cause) => failed(address, failureOf(address, cause))
        )
      )
      // I1: from this look to the end nothing else runs, and what was signalled before it is not lost with the queue.
      if (refused.has(key) || Queue.sizeUnsafe(signals) === 0) break
      yield* Queue.clear(signals)
    }
    hosts.delete(key)
  })

  return {
    /**
     * Tells the host of an assistant that there is something to do, and starts one where there is none. `done` is told
     * when that host has ended: what comes meanwhile for the assistant, it need not have heard. `woken`: the trace of
     * whoever gave the wake-up.
     */
    wake: Effect.fnUntraced(function* (address: Address, done: Effect.Effect<void> = Effect.void, woken?: string) {
      const key = addressKey(address)
      const hosted = hosts.get(key)
      if (hosted !== undefined) {
        hosted.done.push(done)
        return yield* Queue.offer(hosted.signals, { type: "mail" })
      }
      const fresh = { signals: yield* Queue.unbounded<Signal>(), done: [done] }
      hosts.set(key, fresh)
      const told = Effect.suspend(() => Effect.all(fresh.done, { discard: true }))
      yield* Effect.forkIn(Effect.ensuring(host(address, fresh, woken), told), scope, { startImmediately: true })
      return true
    }),
    /** True when a sweep need not wake it: it is hosted here, or can not be. */
    isKnown: (address: Address): boolean => hosts.has(addressKey(address)) || refused.has(addressKey(address)),
    refusedCount: (): number => refused.size
  }
})
