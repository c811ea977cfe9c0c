// Walk: a random life of one assistant, driven as the runtime drives it.
// Owns which request can come true: mail only in a lane that is heard, an end only for a job that is open, a timer only
// while it is set. Leaves to the properties what must hold at every moment.

import { type Command, laneOf, type Event } from "@reverie/protocol"
import * as fc from "fast-check"
import { callId, type Decoded, type Input, jobDone, jobFailed, type Settings } from "../src/index.ts"
import {
  aFailure,
  aReply,
  aStoredRestriction,
  aToolOutput,
  anySettings,
  someSignals,
  usualSettings
} from "./arbitraries.ts"
import { compact, message, Rig, sleep, timer } from "./rig.ts"

/** One step of a walk: what was, what came, what followed. */
export interface Moment {
  readonly before: Decoded
  readonly event: Input
  readonly after: Decoded
  readonly commands: ReadonlyArray<Command>
  readonly ignored: boolean
  /** Jobs open and timers set afterwards, counted from the commands alone. */
  readonly jobs: ReadonlyArray<string>
  readonly timers: ReadonlyArray<string>
}

const anEnd = fc.record({
  pick: fc.nat(),
  breaks: fc.constantFrom(false, false, false, true),
  delegates: fc.constantFrom(false, false, true),
  reply: aReply,
  failure: aFailure,
  tool: aToolOutput,
  restriction: aStoredRestriction,
  step: fc.record(
    { skipped: fc.boolean(), signals: someSignals, more: fc.boolean(), at: fc.nat(100_000) },
    { requiredKeys: ["skipped", "signals"] }
  )
})
type End = typeof anEnd extends fc.Arbitrary<infer T> ? T : never

const someMail = fc.record({
  kind: fc.constantFrom(
    "message" as const,
    "message" as const,
    "message" as const,
    "timer" as const,
    "sleep" as const,
    "compact" as const
  ),
  signals: someSignals,
  settings: fc.option(anySettings, { freq: 10 }),
  forMs: fc.option(fc.integer({ min: 1, max: 100_000 }))
})

const aRequest = fc.oneof(
  { weight: 12, arbitrary: fc.record({ request: fc.constant("end" as const), end: anEnd }) },
  { weight: 4, arbitrary: fc.record({ request: fc.constant("mail" as const), mail: someMail }) },
  { weight: 2, arbitrary: fc.record({ request: fc.constant("timer" as const), pick: fc.nat(5) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      request: fc.constant("delegate" as const),
      order: fc.nat(3),
      at: fc.nat(100_000),
      limits: fc.record(
        { tokens: fc.nat(60_000), calls: fc.nat(30), costMicros: fc.nat(2_000), millis: fc.nat(400_000) },
        { requiredKeys: [] }
      )
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({
      request: fc.constant("news" as const),
      pick: fc.nat(5),
      end: fc.constantFrom("completed" as const, "cut" as const, "failed" as const, "cancelled" as const),
      spent: fc.option(fc.record({ tokens: fc.nat(80_000), costMicros: fc.nat(3_000), calls: fc.nat(40) })),
      known: fc.constantFrom(true, true, true, false),
      at: fc.nat(100_000)
    })
  },
  { weight: 1, arbitrary: fc.constant({ request: "wake" as const }) },
  { weight: 3, arbitrary: fc.record({ request: fc.constant("report" as const), index: fc.option(fc.nat(3)) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      request: fc.constant("approval" as const),
      decision: fc.constantFrom("approved" as const, "denied" as const),
      known: fc.constantFrom(true, true, false)
    })
  },
  { weight: 1, arbitrary: fc.record({ request: fc.constant("halt" as const), reason: fc.string({ maxLength: 300 }) }) },
  { weight: 1, arbitrary: fc.record({ request: fc.constant("stop" as const), late: fc.constantFrom(0, 0, 1) }) },
  { weight: 2, arbitrary: fc.constant({ request: "resume" as const }) }
)
type Request = typeof aRequest extends fc.Arbitrary<infer T> ? T : never

/** A tool call that hands a task on. */
const delegating = ({ context }: Rig, name: string): Input => {
  const call = callId(context.tick, context.iteration, Number(name.split(".")[1]))
  return jobDone(name, { ok: true, pending: true, delegate: { call, at: 1_000 } })
}

/** The end of an open job, as its kind ends. */
export const endOf = (name: string, src: string, end: Omit<End, "delegates">): Input => {
  const meetsOutage = (src === "dream" || src === "compact") && end.failure.outage !== undefined
  if (end.breaks) return jobFailed(name, src === "infer" || meetsOutage ? end.failure : { message: "it broke" })
  switch (src) {
    case "infer":
      return jobDone(name, end.reply)
    case "tool":
      return jobDone(name, end.tool)
    case "assess":
      return jobDone(name, { restriction: end.restriction })
    default:
      return jobDone(name, end.step)
  }
}

const mailOf = (id: string, { forMs, kind, settings, signals }: Extract<Request, { request: "mail" }>["mail"]) => {
  if (kind === "compact") return compact(forMs ?? undefined)
  const more = { signals, ...(settings === null ? {} : { settings }) }
  if (kind === "sleep") return sleep(id, { ...more, ...(forMs === null ? {} : { forMs }) })
  return kind === "message" ? message(id, more) : timer(id, more)
}

/** A report of one that is open, or of no one. */
const newsOf = (
  rig: Rig,
  { at, end, known, pick, spent }: Extract<Request, { request: "news" }>
): Input | undefined => {
  const { subAgents } = rig.context
  const line = subAgents[pick % Math.max(1, subAgents.length)]
  if (line === undefined) return undefined
  const tries = known ? line.tries : line.tries + 1
  const said = spent === null ? {} : { spent }
  return { type: "news", what: "reported", call: line.call, tries, end, at, ...said }
}

/** The event that a request comes to, or undefined when nothing of the kind can come now. */
const eventOf = (rig: Rig, request: Request, id: string): Input | undefined => {
  switch (request.request) {
    case "end": {
      const open = [...rig.jobs]
      const [name, job] = open[request.end.pick % Math.max(1, open.length)] ?? []
      if (name === undefined || job === undefined) return undefined
      return job.src === "tool" && request.end.delegates && !request.end.breaks
        ? delegating(rig, name)
        : endOf(name, job.src, request.end)
    }
    case "timer": {
      const timers = [...rig.timers.values()]
      return timers[request.pick % Math.max(1, timers.length)]?.event
    }
    case "delegate":
      return { type: "delegate", call: `order-${request.order}`, at: request.at, ...request.limits }
    case "news":
      return newsOf(rig, request)
    case "mail":
      return mailOf(id, request.mail)
    case "report": {
      const { iteration, tick } = rig.context
      return { type: "report", ...(request.index === null ? {} : { call: callId(tick, iteration, request.index) }) }
    }
    case "approval": {
      const asking = rig.context.calls.find(({ phase }) => phase === "asking")?.approval
      const approval = request.known ? asking : "somebody-else's"
      return { type: "approval", decision: request.decision, ...(approval === undefined ? {} : { approval }) }
    }
    case "stop":
      return { type: "stop", tick: rig.context.tick - request.late }
    case "halt":
      return { type: "halt", reason: request.reason }
    default:
      return { type: request.request }
  }
}

/** News comes in the lane of reports, or with a timer. */
const isHeard = (rig: Rig, event: Input): boolean =>
  event.type.startsWith("xstate.") ||
  (event.type === "news" && (event["what"] !== "reported" || rig.receives.includes("reply"))) ||
  rig.receives.includes(laneOf(event as unknown as Event))

export interface Life {
  readonly settings: Partial<Settings>
  readonly requests: ReadonlyArray<Request>
  readonly retires: boolean
}

export const aLife: fc.Arbitrary<Life> = fc.record({
  settings: fc.oneof({ weight: 4, arbitrary: usualSettings }, { weight: 1, arbitrary: anySettings }),
  requests: fc.array(aRequest, { minLength: 1, maxLength: 90, size: "max" }),
  retires: fc.constantFrom(false, false, false, true)
})

/** Lives it, step by step. */
export const live = ({ retires, settings, requests }: Life): ReadonlyArray<Moment> => {
  const rig = new Rig(settings, { throughStore: false })
  const moments: Array<Moment> = []
  const take = (event: Input | undefined) => {
    if (event === undefined || !isHeard(rig, event)) return
    const before = rig.decoded
    rig.ended(event).hear(event)
    const { commands, decoded: after, ignored, jobs, timers } = rig
    moments.push({ before, event, after, commands, ignored, jobs: [...jobs.keys()], timers: [...timers.keys()] })
  }
  requests.forEach((request, index) => take(eventOf(rig, request, `envelope-${index}`)))
  if (retires) take({ type: "retire" })
  return moments
}
