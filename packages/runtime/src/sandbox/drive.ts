// Drive: one tick lived through again in a store of its own, until nothing moves any more.
// Owns handing over what was recorded, the time, and the end. Leaves the walk of an event to the host, which is the one that
// every worker uses.
// D1  The assistant is alone: sends are recorded and never delivered.
// D2  In the recorded order each commit comes where it came, and the first that is another one ends it.
// D3  In free order it goes on as long as something moves; an assistant that waits is handed what was recorded for the like.

import { Ledger } from "@reverie/ledger"
import { Mailbox } from "@reverie/mailbox"
import {
  type Address,
  type AssistantState,
  defined,
  type Entry,
  type Envelope,
  type EnvelopeId,
  type OpenJob
} from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import type { JobEnd } from "../jobs/job-end.ts"
import { failedJob, type StandIn, StandIns } from "../jobs/jobs.ts"
import { Ending } from "../worker/ending.ts"
import type { Signal } from "../worker/host.ts"
import { OutageBook, Outages } from "../outages/outage-book.ts"
import { runLeaseSession } from "../worker/lease-session.ts"
import type { HeldClock } from "./held-clock.ts"
import type { Asking } from "./recorded-model.ts"
import type { RecordedTick } from "./recorded-tick.ts"
import type { ToolAnswers } from "./tool-answers.ts"
import { eventTypeOf } from "../replay/frame.ts"

// Deliveries: what reached an assistant from outside while a tick was in hand, and what came due.
// D1  What was recorded is delivered at most once, in the recorded order of its kind.

export type Delivery =
  | { readonly kind: "envelope"; readonly no: number; readonly at: number; readonly envelope: Envelope }
  | { readonly kind: "timer"; readonly no: number; readonly at: number; readonly name: string }

/** An envelope by its id, as it was accepted or made again; undefined when that can not be. */
export type FindEnvelope = (id: EnvelopeId, entry: Entry) => Envelope | undefined

/** Everything after the beginning of the tick that no job brought about. */
export const deliveriesOf = ({ entries }: RecordedTick, find: FindEnvelope): ReadonlyArray<Delivery> =>
  entries.slice(1).flatMap((entry): ReadonlyArray<Delivery> => {
    const { at, cause, no } = entry
    if (cause.kind === "timer") return [{ kind: "timer", no, at, name: cause.name }]
    if (cause.kind !== "envelope") return []
    const envelope = find(cause.id, entry)
    return envelope === undefined ? [] : [{ kind: "envelope", no, at, envelope }]
  })

const isHeardIn = (status: string, delivery: Delivery): boolean => {
  if (delivery.kind === "timer") return delivery.name.endsWith(`.${status}`)
  const { type } = delivery.envelope.event
  if (status === "awake.awaitingApproval") return type === "approval"
  return status === "awake.awaitingReports" && type === "report"
}

/** What an assistant that waits is handed next; undefined when nothing that was recorded helps it on. */
const nextFor = (status: string, left: ReadonlyArray<Delivery>): Delivery | undefined =>
  left.find((delivery) => isHeardIn(status, delivery))

/** The same decision on whatever is asked first: the id of an approval is bound to the call that it was asked for. */
const onOldest = (envelope: Envelope): Envelope => {
  const { event } = envelope
  if (event.type !== "approval") return envelope
  const { approval: _, ...decision } = event
  return { ...envelope, event: decision }
}

/** How it ended: with the tick, waiting for what no one recorded, on another way than the recorded one, or broken. */
export interface DriveEnd {
  readonly kind: "ended" | "waits" | "diverged" | "stalled"
  /** One sentence; empty when the tick ended. */
  readonly reason: string
}

export interface Driving {
  readonly address: Address
  readonly recorded: RecordedTick
  /** The envelope that begins the tick. */
  readonly envelope: Envelope
  readonly deliveries: ReadonlyArray<Delivery>
  readonly order: "recorded" | "free"
  readonly tools: ToolAnswers
  readonly clock: HeldClock
  /** Told which job asks the model. */
  readonly asking: Asking
}

export interface Driven {
  readonly entries: ReadonlyArray<Entry>
  readonly end: DriveEnd
}

const LONG_MILLIS = 24 * 60 * 60 * 1_000
const POLL_MILLIS = 2
/** Of real time without a commit, where a commit must come by itself. A model may take long; nothing else does. */
const PATIENCE_POLLS = 10 * 60 * 500
const MAX_ENTRIES = 2_000

const settings = {
  worker: "sandbox",
  leaseMillis: LONG_MILLIS,
  idleTimeoutMillis: LONG_MILLIS,
  ending: new Ending(),
  onSent: Effect.void,
  working: <A, E, R>(work: Effect.Effect<A, E, R>) => work
}

/** Real time: that of the sandbox stands still. */
const pause = (real: Clock.Clock) => real.sleep(Duration.millis(POLL_MILLIS))

const endOf = ({ entries }: RecordedTick, { id }: OpenJob): Entry | undefined =>
  entries.find(({ cause }) => cause.kind === "job" && cause.id === id)

const recordedEnd = (job: OpenJob, { event, step }: Entry): JobEnd => ({
  job,
  event: event as never,
  messages: [],
  ...defined({ step })
})

/** What a job comes to that neither asks the model for the tick nor runs a tool. */
const othersEnd = (driving: Driving): StandIn =>
  Effect.fnUntraced(function* (session, job) {
    const { order, recorded } = driving
    if (order === "free" && (job.src === "assess" || job.src === "child")) return undefined
    const entry = endOf(recorded, job)
    if (entry === undefined) {
      const reason = `a ${job.src} step is not made again beside the fleet`
      const failure = { recovery: "tell-owner", reason } as const
      return failedJob(session, job, failure, yield* Clock.currentTimeMillis)
    }
    const { records, sends } = entry
    return {
      ...recordedEnd(job, entry),
      ...defined({ records, sends })
    }
  })

/** Waits until everything that was recorded before a commit is there, or another way was taken. */
export const untilTurn = Effect.fnUntraced(function* (
  { address, clock, recorded }: Driving,
  real: Clock.Clock,
  no: number
) {
  const ledger = yield* Ledger
  const has = (id: string) => (state: AssistantState) => state.jobs.some((job) => job.id === id)
  while (true) {
    const record = yield* Effect.orDie(ledger.inspect(address))
    const next = recorded.entries.find((entry) => entry.no === (record?.version ?? 0) + 1)
    const isOther =
      next === undefined ||
      next.no >= no ||
      (next.cause.kind === "job" && record !== undefined && !has(next.cause.id)(record.state))
    if (isOther) break
    yield* pause(real)
  }
  const entry = recorded.entries.find((each) => each.no === no)
  if (entry !== undefined) clock.forward(entry.at)
})

const standIn = (driving: Driving, real: Clock.Clock): Effect.Effect<StandIn, never, Ledger> =>
  Effect.map(Ledger, (ledger): StandIn => {
    const others = othersEnd(driving)
    return Effect.fnUntraced(function* (session, job) {
      const { order, recorded, tools } = driving
      const entry = order === "recorded" ? endOf(recorded, job) : undefined
      // A call that was never sent reached no model.
      const isUnsent = entry !== undefined && entry.step === undefined
      if (job.src === "infer" && !isUnsent) {
        driving.asking.job = job.id
        return undefined
      }
      if (entry !== undefined) yield* Effect.provideService(untilTurn(driving, real, entry.no), Ledger, ledger)
      if (job.src === "infer" && entry !== undefined) return recordedEnd(job, entry)
      return job.src === "tool" ? yield* tools.answer(session, job) : yield* others(session, job)
    })
  })

const differs = (found: Entry, wanted: Entry | undefined): string | undefined => {
  if (wanted === undefined) return `commit ${found.no} was never made`
  const shape = (entry: Entry) => {
    const { cause, iteration, status, tick } = entry
    const what = cause.kind === "job" ? cause.id : cause.kind === "timer" ? cause.name : cause.kind
    return JSON.stringify([what, eventTypeOf(entry), status, tick, iteration])
  }
  return shape(found) === shape(wanted)
    ? undefined
    : `commit ${found.no} is another one: recorded is ${shape(wanted)}, now ${shape(found)}`
}

/** A wait for a model ends when it did, whatever ended it then. */
class HandedBook extends OutageBook {
  isHanded = false

  override mayTry(): boolean {
    const { isHanded } = this
    this.isHanded = false
    return isHanded
  }
}

/** The state of the course: what was committed so far, what is left to hand over. */
interface Course {
  readonly driving: Driving
  readonly signals: Queue.Queue<Signal>
  readonly left: Array<Delivery>
  readonly book: HandedBook
  entries: ReadonlyArray<Entry>
  /** What was handed over brings a commit about: the one of this number. */
  awaited: number
  idlePolls: number
}

const hand = Effect.fnUntraced(function* (course: Course, delivery: Delivery, version: number) {
  const { book, driving, left, signals } = course
  course.awaited = version + 1
  left.splice(left.indexOf(delivery), 1)
  driving.clock.forward(delivery.at)
  book.isHanded = delivery.kind === "timer"
  if (delivery.kind === "envelope") {
    const { envelope } = delivery
    yield* (yield* Mailbox).accept(driving.order === "free" ? onOldest(envelope) : envelope)
  }
  yield* Queue.offer(signals, { type: "mail" })
})

const isOver = ({ driving, entries }: Course): boolean => {
  const { order, recorded } = driving
  if (order === "recorded" && entries.length >= recorded.entries.length) return true
  return entries.some(({ settled = [], tickEnd }) => {
    const isSettled = settled.some(({ id }) => id === driving.envelope.id)
    return tickEnd !== undefined || isSettled
  })
}

/** Looks where the course stands; the end, once it is there. */
const look = Effect.fnUntraced(function* (course: Course) {
  const { driving, left } = course
  const { address, order, recorded } = driving
  const ledger = yield* Ledger
  const record = yield* ledger.inspect(address)
  if (record === undefined) return { kind: "stalled", reason: "the sandbox is empty" } as const
  const from = recorded.first.no
  if (record.version - from + 1 > course.entries.length) {
    const rows = yield* ledger.entries(address, from, MAX_ENTRIES)
    course.entries = rows.map(({ entry }) => entry)
    course.idlePolls = 0
    if (order === "recorded") {
      for (const [index, entry] of course.entries.entries()) {
        const reason = differs(entry, recorded.entries[index])
        if (reason !== undefined) return { kind: "diverged", reason } as const
      }
    }
    if (course.entries.length >= MAX_ENTRIES) return { kind: "stalled", reason: "it does not come to an end" } as const
  }
  if (isOver(course)) return { kind: "ended", reason: "" } as const
  if (order === "recorded") {
    const due = left.find(({ no }) => no === record.version + 1)
    if (due !== undefined) return yield* Effect.as(hand(course, due, record.version), undefined)
  } else if (record.version >= course.awaited && record.state.jobs.length === 0 && record.waiting === 0) {
    const { status } = record.state
    const next = nextFor(status, left)
    if (next === undefined) return { kind: "waits", reason: `it waits in ${status}` } as const
    return yield* Effect.as(hand(course, next, record.version), undefined)
  }
  return ++course.idlePolls > PATIENCE_POLLS
    ? ({ kind: "stalled", reason: `nothing moves in ${record.state.status}` } as const)
    : undefined
})

/** Lives through the tick. The assistant stands in the store as it was before it, and is free to be claimed. */
export const driveTick = Effect.fnUntraced(function* (driving: Driving) {
  const { address, clock, deliveries, envelope, recorded } = driving
  const real = yield* Clock.Clock
  const signals = yield* Queue.unbounded<Signal>()
  const stoodIn = yield* standIn(driving, real)
  const course: Course = {
    driving,
    signals,
    left: [...deliveries],
    book: new HandedBook(),
    entries: [],
    awaited: recorded.first.no,
    idlePolls: 0
  }
  clock.forward(recorded.first.at)
  const walked = Effect.gen(function* () {
    yield* (yield* Mailbox).accept(envelope)
    const leaseSession = yield* Effect.forkChild(runLeaseSession(address, signals, settings))
    const following = Effect.gen(function* () {
      while (true) {
        const end: DriveEnd | undefined = yield* look(course)
        if (end !== undefined) return end
        yield* pause(real)
      }
    })
    // A lease session ends by itself only when the assistant has retired.
    const left = Effect.andThen(
      Fiber.join(leaseSession),
      Effect.map(look(course), (end): DriveEnd => end ?? { kind: "stalled", reason: "it was left" })
    )
    const end = yield* Effect.raceFirst(following, left)
    yield* Fiber.interrupt(leaseSession)
    return end
  })
  const end = yield* walked.pipe(
    Effect.provideService(Clock.Clock, clock),
    Effect.provideService(StandIns, stoodIn),
    Effect.provideService(Outages, course.book)
  )
  const driven: Driven = { entries: course.entries, end }
  return driven
})
