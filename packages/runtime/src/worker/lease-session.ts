// LeaseSession: one stay with an assistant, from the request to claim it until it is let go.
// Owns the claim, the lease and the end of both. Leaves the work in between to host.ts.
// I1  Nothing is claimed before there is a turn for it: an assistant that waits holds nothing that another worker could do.
// I2  A lost lease, or a fenced commit, drops everything in memory; nothing of it is written any more.
//     Where it was lost to an order, the order is heard in another lease session at once.
// I3  An assistant at rest is let go after a while: the claim is released and nothing of it stays in memory.
// I4  An assistant that is let go with a timer set leaves a wake-up for it.
// I5  Whatever runs for an assistant has been stopped when its claim is released.
// I6  A lease session that broke on a bug keeps its claim until the lease ends: released, it would not count as an attempt.

import { waitOf } from "@reverie/assistant"
import { type LeaseLost, Mailbox, type MailboxUnavailable, WakeQueue } from "@reverie/mailbox"
import { type Address, addressKey, type Claim, type Hold } from "@reverie/protocol"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Queue from "effect/Queue"
import { isLeaseSessionSuspect, LEASE_SESSION, noteOf, pauseMillis, suspicionOf, tried } from "../blame/suspicion.ts"
import { Faults } from "../jobs/job-end.ts"
import { deadLetterAll, hostOf, type HostSettings, isRetired, rest, type Signal, takeUp, work } from "./host.ts"
import { keepIndexed } from "../recall/indexer.ts"
import { knownOf, UNINDEXED_ENTRIES } from "../recall/recollection.ts"
import { followed } from "../outages/outage-book.ts"
import { openSession, renewClaim, type Session } from "../session/session.ts"
import { below, closeTurn, inSpan, storedTraceparent } from "../telemetry/spans.ts"
import { failureOf, type HostFailure, HostFailures, isFatal, isLasting, type StoreFailure } from "./host-failure.ts"

interface LeaseSession {
  readonly address: Address
  readonly signals: Queue.Queue<Signal>
  readonly settings: HostSettings
  /** The trace of the wake-up that asked for the lease session. */
  readonly woken: string | undefined
  /** Fails when the lease can not be kept. */
  readonly lost: Deferred.Deferred<never, LeaseLost | MailboxUnavailable>
  claim: Claim | undefined
  session: Session | undefined
}

const keepLease = Effect.fnUntraced(function* (session: Session, leaseMillis: number) {
  const mailbox = yield* Mailbox
  while (true) {
    yield* Effect.sleep(leaseMillis / 3)
    renewClaim(session, yield* mailbox.renew(session.claim, leaseMillis))
  }
})

const claimed = Effect.fnUntraced(function* (leaseSession: LeaseSession) {
  const { address, settings } = leaseSession
  const { leaseMillis, worker } = settings
  const hold = yield* (yield* Mailbox)
    .claim({ address, worker, leaseMillis })
    .pipe(inSpan("mailbox.claim"), below(storedTraceparent(leaseSession.woken)))
  leaseSession.claim = hold.claim
  yield* (yield* Faults).at("after-claim", address)
  return hold
})

/** Waits under the claim, which is renewed meanwhile, and holds no turn. */
const pausing = Effect.fnUntraced(function* (leaseSession: LeaseSession, claim: Claim, millis: number) {
  const mailbox = yield* Mailbox
  const { leaseMillis } = leaseSession.settings
  const until = (yield* Clock.currentTimeMillis) + millis
  for (let held = claim; ;) {
    const left = until - (yield* Clock.currentTimeMillis)
    if (left <= 0) return
    yield* Effect.sleep(Math.min(left, leaseMillis / 3))
    held = yield* mailbox.renew(held, leaseMillis)
    leaseSession.claim = held
  }
})

/** The first turn, from the claim on; undefined when there has to be a pause first. */
const begin = Effect.fnUntraced(function* (leaseSession: LeaseSession) {
  if (leaseSession.settings.ending.isAsked) return yield* Effect.interrupt
  const hold = yield* claimed(leaseSession)
  const millis = pauseMillis(suspicionOf(hold), hold.state.jobs)
  return millis === 0 ? yield* enter(leaseSession, hold) : { hold, millis }
})

/** With a note of the lease session itself, where holders before it were lost. */
const enter = Effect.fnUntraced(function* (leaseSession: LeaseSession, granted: Hold) {
  const { address, lost, settings, signals } = leaseSession
  const { leaseMillis } = settings
  const woken = storedTraceparent(leaseSession.woken)
  const hold = yield* noted({ ...granted, claim: leaseSession.claim ?? granted.claim })
  const session = yield* openSession(hold, leaseMillis, woken)
  leaseSession.session = session
  yield* followed(address, waitOf(session.decoded)?.outage)
  const host = yield* hostOf(session, signals, settings)
  yield* keepLease(session, leaseMillis).pipe(
    Effect.onError((cause) => Deferred.failCause(lost, cause)),
    Effect.forkScoped
  )
  yield* takeUp(host)
  return { host, isMore: yield* work(host) }
})

const noted = Effect.fnUntraced(function* (hold: Hold) {
  const suspicion = suspicionOf(hold)
  if (!isLeaseSessionSuspect(suspicion, hold.state.jobs)) return hold
  const note = noteOf(tried(suspicion.tries, LEASE_SESSION))
  yield* (yield* Mailbox).note(hold.claim, note)
  return { ...hold, note }
})

const live = Effect.fnUntraced(function* (leaseSession: LeaseSession) {
  const { address, settings } = leaseSession
  const { working } = settings
  const begun = yield* working(begin(leaseSession), address)
  if ("millis" in begun) yield* pausing(leaseSession, begun.hold.claim, begun.millis)
  const { host, ...first } = "millis" in begun ? yield* working(enter(leaseSession, begun.hold), address) : begun
  const { session } = host
  let { isMore } = first
  let indexed = session.version
  while (isMore || (!isRetired(host) && (yield* rest(host)))) {
    if (session.version - indexed >= UNINDEXED_ENTRIES) {
      session.recollection.indexed = yield* working(keepIndexed(address, knownOf(session.recollection)), address)
      indexed = session.version
    }
    isMore = yield* working(work(host), address)
  }
  if (isRetired(host)) yield* deadLetterAll(host)
  // The index may lag: an end does not wait for it.
  if (settings.ending.isAsked) return
  yield* working(keepIndexed(address, knownOf(session.recollection)), address)
})

const isBroken = (exit: Exit.Exit<unknown, unknown>): boolean => Exit.isFailure(exit) && Cause.hasDies(exit.cause)

/** An order waits: then the claim was taken away for it, and nothing went wrong. */
const isOrdered = Effect.fnUntraced(function* (address: Address) {
  return (yield* (yield* Mailbox).pending(address, ["control"], 1)).length > 0
})

const runLeaseSessionOnce = Effect.fnUntraced(function* (
  address: Address,
  signals: Queue.Queue<Signal>,
  settings: HostSettings,
  woken: string | undefined
) {
  const mailbox = yield* Mailbox
  const queue = yield* WakeQueue
  const lost = yield* Deferred.make<never, LeaseLost | MailboxUnavailable>()
  const leaseSession: LeaseSession = { address, signals, settings, woken, lost, claim: undefined, session: undefined }
  const leave = Effect.fnUntraced(function* (exit: Exit.Exit<unknown, unknown>) {
    if (leaseSession.session !== undefined) yield* closeTurn(leaseSession.session.trace, exit)
    if (leaseSession.claim === undefined || isBroken(exit)) return
    // A claim that was lost releases nothing; one that could not be released ends with its lease.
    yield* Effect.ignore(mailbox.release(leaseSession.claim))
    const dueAt = Math.min(...(leaseSession.session?.timers ?? []).map((timer) => timer.dueAt))
    if (dueAt < Number.POSITIVE_INFINITY) yield* queue.wakeAt(address, dueAt)
  })
  yield* Effect.raceFirst(live(leaseSession), Deferred.await(lost)).pipe(
    Effect.scoped,
    Effect.onExit((exit) => leave(exit))
  )
})

/** Claims an assistant and lives with it until it has rested long enough, or the claim is lost. */
export const runLeaseSession = Effect.fnUntraced(function* (
  address: Address,
  signals: Queue.Queue<Signal>,
  settings: HostSettings,
  woken?: string
) {
  while (true) {
    const lost = yield* runLeaseSessionOnce(address, signals, settings, woken).pipe(
      Effect.as(undefined),
      Effect.catchTag(["CommitFenced", "LeaseLost"], (failure) => Effect.succeed(failure))
    )
    if (lost === undefined) return
    if (!(yield* isOrdered(address))) return yield* lost
  }
})

// Hosts: who is hosted in a worker, and who can not be.
// I1  An assistant has at most one host here, and a wake-up that comes while its host ends starts another.
// I2  What one assistant's host fails with, or breaks on, ends that host; only a failure of the store is passed on.
// I3  A wake-up is done when its host has ended, and not before: a queue that holds back further wake-ups until then loses none.
// I4  A host that fails lastingly, in the same way again and again, is reported once. It is tried again at every wake-up.

interface Hosted {
  readonly signals: Queue.Queue<Signal>
  /** What is reported when the host has ended. */
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
      // A listener may throw; the assistant is not affected.
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
     * Tells the host of an assistant that there is something to do, and starts one where there is none. `done` is called
     * when that host has ended: what comes meanwhile for the assistant, it need not have heard. `woken`: the trace of
     * the one who gave the wake-up.
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
