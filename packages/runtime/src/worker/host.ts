// Host: one assistant at work.
// Owns which event comes next, and the fibers of its open jobs. Leaves the walk of an event to tick.ts, claim and lease to
// lease-session.ts.
// I1  One event at a time: control before results, results before timers, timers before replies, replies before mail.
// I2  Jobs found open on a claim are taken up again before anything new is heard, but for orders: what a halt stops does
//     not run once more before it.
// I3  What may have ended the process is noted before it is tried again, and ended with a reason when that was enough (blame/).
// I4  A turn takes up at most one envelope of mail, so that an assistant with a backlog does not delay others.
// I5  What waits for a retired assistant is dead-lettered: no state will ever accept it.

import { receives, statusOf, waitOf } from "@reverie/assistant"
import { Mailbox } from "@reverie/mailbox"
import {
  type AcceptedEnvelope,
  type Address,
  type Lane,
  LANES,
  type OpenJob,
  type UnreadableEnvelope
} from "@reverie/protocol"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import { noteAgain, tryEvent, tryJob } from "../blame/trial.ts"
import { deadLetter, type FollowUp, handleEnvelope, handleJobEnd, handleTimer } from "../commit/tick.ts"
import { wakes } from "../intake/skip-rules.ts"
import { type JobEnd, Secrets } from "../jobs/job-end.ts"
import { failedJob, runJob } from "../jobs/jobs.ts"
import { type OutageBook, Outages } from "../outages/outage-book.ts"
import type { Session } from "../session/session.ts"
import { beginTurn, inTurn } from "../telemetry/spans.ts"
import { type Ending, isBegunAtEnd } from "./ending.ts"

/** Most envelopes of a lane that are read at once. */
const PENDING_LIMIT = 8

export type Signal = { readonly type: "mail" } | { readonly type: "ended"; readonly end: JobEnd }

export interface HostSettings {
  readonly worker: string
  readonly leaseMillis: number
  /** How long an assistant at rest stays in memory. */
  readonly idleTimeoutMillis: number
  /** Called after a commit that wrote envelopes for others. */
  readonly onSent: Effect.Effect<void>
  /** Asked, nothing more is taken up. */
  readonly ending: Ending
  /** Wraps each turn of work: bounds how many assistants work at once. */
  readonly working: <A, E, R>(work: Effect.Effect<A, E, R>, address: Address) => Effect.Effect<A, E, R>
}

/** What a worker holds of an assistant while it works on it. */
export interface Host {
  readonly session: Session
  readonly signals: Queue.Queue<Signal>
  readonly fibers: Map<string, Fiber.Fiber<void>>
  readonly ended: Array<JobEnd>
  readonly settings: HostSettings
  readonly clock: Clock.Clock
  readonly outages: OutageBook
  /** What was read of the mailbox and not yet handled. */
  readonly waiting: Record<Lane, Array<AcceptedEnvelope | UnreadableEnvelope>>
  /** The mailbox may hold more than `waiting` does. */
  unread: boolean
  /** The page that was read last was full: when a lane of it is used up, more may wait. */
  isPageFull: boolean
  /** Mail was taken up in this turn; more of it is for the next one. */
  served: boolean
}

export const hostOf = Effect.fnUntraced(function* (
  session: Session,
  signals: Queue.Queue<Signal>,
  settings: HostSettings
) {
  const host: Host = {
    session,
    signals,
    clock: yield* Clock.Clock,
    outages: yield* Outages,
    fibers: new Map(),
    ended: [],
    settings,
    waiting: { control: [], reply: [], mail: [] },
    unread: true,
    isPageFull: false,
    served: false
  }
  return host
})

const startJob = Effect.fnUntraced(function* (host: Host, job: OpenJob, recovered: boolean) {
  const run = runJob(host.session, job, recovered).pipe(inTurn(host.session))
  const fiber = yield* tryJob(host.session, job, recovered, run).pipe(
    Effect.exit,
    Effect.flatMap((exit) => {
      if (Exit.isSuccess(exit)) return Effect.succeed(exit.value)
      return Effect.map(Effect.all([Clock.currentTimeMillis, Secrets]), ([now, { hide }]) => {
        const reason = hide(`the job ${job.name} broke: ${String(Cause.squash(exit.cause))}`)
        return failedJob(host.session, job, { recovery: "retry", reason }, now)
      })
    }),
    Effect.flatMap((end) => Queue.offer(host.signals, { type: "ended", end })),
    Effect.asVoid,
    Effect.forkScoped
  )
  host.fibers.set(job.id, fiber)
})

const follow = Effect.fnUntraced(function* (host: Host, { sent, started, stopped }: FollowUp) {
  for (const id of stopped) {
    const fiber = host.fibers.get(id)
    host.fibers.delete(id)
    if (fiber !== undefined) yield* Effect.forkDetach(Fiber.interrupt(fiber))
  }
  yield* noteAgain(host.session)
  const { isAsked } = host.settings.ending
  for (const job of started) if (!isAsked || isBegunAtEnd(host.session, job)) yield* startJob(host, job, false)
  if (sent) yield* host.settings.onSent
})

const noteSignal = (host: Host, signal: Signal): void => {
  if (signal.type === "mail") host.unread = true
  else host.ended.push(signal.end)
}

const read = Effect.fnUntraced(function* (host: Host) {
  host.unread = false
  const pending = yield* (yield* Mailbox).pending(host.session.address, LANES, PENDING_LIMIT)
  host.isPageFull = pending.length >= PENDING_LIMIT
  for (const lane of LANES) host.waiting[lane] = pending.filter((envelope) => envelope.lane === lane)
})

/** The next envelope of a lane; what was accepted since the page was read has brought a signal. */
const take = (host: Host, lane: Lane) => {
  const waiting = host.waiting[lane]
  const envelope = waiting.shift()
  if (envelope !== undefined && waiting.length === 0 && host.isPageFull) host.unread = true
  return envelope
}

/** Mail is waiting that ends a sleep. */
const isWoken = ({ session, waiting }: Host): boolean => waiting.mail.some((envelope) => wakes(session, envelope))

const dueTimer = ({ clock, session: { timers } }: Host) => {
  const now = timers.length === 0 ? 0 : clock.currentTimeMillisUnsafe()
  return timers.find((timer) => timer.dueAt <= now)
}

/** The timer of a wait for a model that may end before its time. */
const endedWait = ({ outages, session: { address, decoded, timers } }: Host) => {
  const wait = waitOf(decoded)
  if (wait === undefined || !outages.mayTry(address, wait.outage)) return undefined
  return timers.find(({ name }) => name === wait.timer)
}

const isUnreadable = (envelope: AcceptedEnvelope | UnreadableEnvelope): envelope is UnreadableEnvelope =>
  "unreadable" in envelope

/** Handles the next event, if there is one. */
const step = Effect.fnUntraced(function* (host: Host) {
  const { session } = host
  if (Queue.sizeUnsafe(host.signals) > 0) {
    for (const signal of yield* Queue.clear(host.signals)) noteSignal(host, signal)
  }
  if (host.unread) yield* read(host)
  const lanes = receives(session.decoded)
  const order = lanes.includes("control") ? take(host, "control") : undefined
  if (order !== undefined) return yield* takeEnvelope(host, order)
  const end = host.ended.shift()
  if (end !== undefined) {
    host.fibers.delete(end.job.id)
    const taken = (problem?: string) => handleJobEnd(session, end, isWoken(host), problem)
    const { id, name } = end.job
    yield* follow(host, yield* tryEvent(session, `end ${id}`, `the result of ${name} was taken in`, taken(), taken))
    return true
  }
  if (host.settings.ending.isAsked) return false
  const timer = dueTimer(host) ?? endedWait(host)
  if (timer !== undefined) {
    const fired = (problem?: string) => handleTimer(session, timer, problem)
    const { name } = timer
    yield* follow(host, yield* tryEvent(session, `timer ${name}`, `the timer ${name} was taken up`, fired(), fired))
    return true
  }
  const reply = lanes.includes("reply") ? take(host, "reply") : undefined
  if (reply !== undefined) return yield* takeEnvelope(host, reply)
  const mail = lanes.includes("mail") && !host.served ? take(host, "mail") : undefined
  if (mail === undefined) return false
  host.served = true
  return yield* takeEnvelope(host, mail)
})

const takeEnvelope = Effect.fnUntraced(function* (host: Host, envelope: AcceptedEnvelope | UnreadableEnvelope) {
  const { session } = host
  const { lane, seq } = envelope
  const handled = isUnreadable(envelope)
    ? deadLetter(session, envelope, envelope.unreadable)
    : handleEnvelope(session, envelope)
  const deadLettered = (reason: string) => deadLetter(session, envelope, reason)
  yield* follow(host, yield* tryEvent(session, `${lane} ${seq}`, "this was taken up", handled, deadLettered))
  return true
})

export const isRetired = (host: Host): boolean => statusOf(host.session.decoded) === "retired"

/** Buries whatever still waits. */
export const deadLetterAll = Effect.fnUntraced(function* (host: Host) {
  const mailbox = yield* Mailbox
  while (true) {
    const waiting = yield* mailbox.pending(host.session.address, LANES, PENDING_LIMIT)
    if (waiting.length === 0) return
    for (const envelope of waiting) yield* deadLetter(host.session, envelope, "the assistant has retired")
  }
})

const millisToTimer = (host: Host, now: number): number =>
  host.session.timers.reduce((soonest, timer) => Math.min(soonest, timer.dueAt - now), Number.POSITIVE_INFINITY)

/** Between two turns no job is open: waits for a signal until a timer is due or the time at rest is over. True: go on. */
export const rest = Effect.fnUntraced(function* (host: Host) {
  if (host.settings.ending.isAsked) return false
  const waitMs = Math.min(millisToTimer(host, yield* Clock.currentTimeMillis), host.settings.idleTimeoutMillis)
  const signal = yield* Queue.take(host.signals).pipe(Effect.timeoutOption(Math.max(0, waitMs)))
  if (Option.isSome(signal)) {
    noteSignal(host, signal.value)
    return true
  }
  return millisToTimer(host, yield* Clock.currentTimeMillis) <= 0
})

const isMoreWanted = ({ session: { decoded }, settings: { ending }, waiting: { mail } }: Host): boolean =>
  !ending.isAsked && mail.length > 0 && receives(decoded).includes("mail")

/** One turn: until nothing is left to do, or only mail after the tick that was taken up. True: another turn is wanted. */
export const work = Effect.fnUntraced(function* (host: Host) {
  host.served = false
  while (true) {
    while (yield* step(host)) continue
    if (host.fibers.size === 0) return isMoreWanted(host)
    noteSignal(host, yield* Queue.take(host.signals))
  }
})

/** Takes up what a crash may have left open. */
export const takeUp = Effect.fnUntraced(function* (host: Host) {
  const { session, settings } = host
  if (settings.ending.isAsked) return
  if (session.jobs.length > 0) {
    yield* read(host)
    while (receives(session.decoded).includes("control")) {
      const order = take(host, "control")
      if (order === undefined) break
      yield* takeEnvelope(host, order)
    }
  }
  if (session.jobs.length > 0) yield* beginTurn(session)
  for (const job of session.jobs) if (!host.fibers.has(job.id)) yield* startJob(host, job, true)
})
