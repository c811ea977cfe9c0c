// Walk: a random life of one assistant, made into turns as the runtime makes them, without a store and without time.
// Owns which request can come true, and the bookkeeping a host would do. Leaves what must hold to the properties.

import {
  creation,
  callId,
  contextOf,
  type Decoded,
  decide,
  receives,
  type Input,
  isIgnored,
  jobDone,
  jobFailed,
  persist,
  type Settings,
  statusOf
} from "@reverie/assistant"
import {
  type Cause,
  type Entry,
  EnvelopeId,
  type Json,
  type Lane,
  type Message,
  type OpenJob,
  type OpenTimer,
  type StepRecord,
  toolCategories
} from "@reverie/protocol"
import * as fc from "fast-check"
import { draftOf, type Inputs, type Turn, turnOf } from "../src/commit/turn.ts"
import type { TurnInput, UncountedMessage } from "../src/commit/commit-draft.ts"

/** One turn, with what stood before it. */
export interface Moment {
  readonly before: Decoded
  readonly after: Decoded
  readonly turnInput: TurnInput
  readonly turn: Turn
}

const NO_SIGNALS = { tokenRatio: 0, mailWaiting: false }

export const aRequest = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("message" as const), text: fc.string({ maxLength: 20 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom("sleep" as const, "sleep" as const, "compact" as const) })
  },
  {
    weight: 14,
    arbitrary: fc.record({
      kind: fc.constant("end" as const),
      pick: fc.nat(),
      fails: fc.constantFrom(false, false, false, false, true),
      recovery: fc.constantFrom("retry" as const, "park" as const, "tell-owner" as const, "stop" as const),
      text: fc.string({ maxLength: 20 }),
      calls: fc.array(fc.constantFrom(...toolCategories), { maxLength: 4 }),
      ok: fc.constantFrom(true, true, true, false)
    })
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("timer" as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("report" as const), index: fc.nat(4), text: fc.string() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("approval" as const), approved: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("halt" as const, "wake" as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("resume" as const) }) }
)
export type Request = typeof aRequest extends fc.Arbitrary<infer T> ? T : never

export interface Life {
  readonly settings: Partial<Settings>
  readonly options: ReadonlyArray<Request>
  readonly retires: boolean
}

export const aLife: fc.Arbitrary<Life> = fc.record({
  settings: fc.record({
    maxIterations: fc.integer({ min: 1, max: 4 }),
    confirmDangerous: fc.boolean(),
    multiAction: fc.constantFrom(true, true, true, false),
    assessTask: fc.boolean()
  }),
  options: fc.array(aRequest, { minLength: 1, maxLength: 80, size: "max" }),
  retires: fc.boolean()
})

interface Coming {
  readonly event: Input
  readonly cause: Cause
  readonly more?: Partial<TurnInput>
}

const laneOf: Readonly<Record<string, Lane>> = {
  message: "mail",
  sleep: "mail",
  compact: "mail",
  report: "reply",
  approval: "reply",
  wake: "reply"
}

export class Walk {
  decoded: Decoded
  jobs: ReadonlyArray<OpenJob> = []
  timers: ReadonlyArray<OpenTimer> = []
  readonly messages: Array<Message> = []
  readonly entries: Array<Entry> = []
  readonly moments: Array<Moment> = []
  readonly settings: Partial<Settings>
  #version = 1
  #seq = 0
  #now = 1_000

  constructor(settings: Partial<Settings>) {
    this.settings = settings
    this.decoded = creation(settings).next
  }

  /** Lives through a request, when it can come true. */
  take(request: Request | { readonly kind: "retire" }): void {
    this.#now += 10
    const coming = this.#comingOf(request)
    if (coming === undefined) return
    const { cause, event, more = {} } = coming
    if (cause.kind === "envelope" && !receives(this.decoded).includes(cause.lane)) return
    const before = this.decoded
    const decision = decide(before, event)
    const isPassed = cause.kind === "envelope" && isIgnored(before, decision)
    const turnInput: TurnInput = {
      cause,
      event: event as unknown as Json,
      messages: [],
      ...more,
      ...(isPassed ? { messages: [] } : {}),
      ...(cause.kind !== "envelope" || (cause.lane === "mail" && event.type !== "compact" && !isPassed)
        ? {}
        : { settled: { id: cause.id, outcome: isPassed ? ("ignored" as const) : ("handled" as const) } })
    }
    const inputs: Inputs = {
      before,
      decision,
      version: this.#version,
      epoch: 1,
      now: this.#now,
      definition: "walker",
      jobs: this.jobs,
      timers: this.timers,
      count: ({ content }) => content.length,
      tail: this.messages
    }
    const turn = turnOf(inputs, draftOf(inputs, turnInput))
    this.#version = turn.entry.no
    this.decoded = decision.next
    this.jobs = turn.state.jobs
    this.timers = turn.state.timers
    this.messages.push(...turn.entry.messages)
    this.entries.push(turn.entry)
    this.moments.push({ before, after: decision.next, turnInput, turn })
  }

  #envelope(event: Input, more?: Partial<TurnInput>): Coming {
    const id = EnvelopeId.make(`e-${++this.#seq}`)
    const lane = laneOf[event.type] ?? "control"
    const mail = lane === "mail" ? { envelope: id, hops: 0, signals: NO_SIGNALS } : {}
    return {
      event: { ...event, ...mail },
      cause: { kind: "envelope", lane, seq: this.#seq, id },
      ...(more === undefined ? {} : { more })
    }
  }

  #comingOf(request: Request | { readonly kind: "retire" }): Coming | undefined {
    const at = this.#now
    switch (request.kind) {
      case "message":
        return this.#envelope(
          { type: "message" },
          { messages: [{ role: "user", content: request.text, name: "kim", at }] }
        )
      case "end": {
        const job = this.jobs[request.pick % Math.max(1, this.jobs.length)]
        return job === undefined ? undefined : this.#endOf(job, request)
      }
      case "timer": {
        const [timer] = this.timers
        if (timer === undefined) return undefined
        this.timers = this.timers.slice(1)
        return { event: timer.event as unknown as Input, cause: { kind: "timer", name: timer.name } }
      }
      case "report": {
        const { iteration, tick } = contextOf(this.decoded)
        return this.#envelope(
          { type: "report", call: callId(tick, iteration, request.index) },
          { report: request.text }
        )
      }
      case "approval":
        return this.#envelope({ type: "approval", decision: request.approved ? "approved" : "denied" })
      case "halt":
        return this.#envelope({ type: "halt", reason: "a drill" })
      default:
        return this.#envelope({ type: request.kind })
    }
  }

  #endOf(job: OpenJob, request: Extract<Request, { readonly kind: "end" }>): Coming {
    const cause: Cause = { kind: "job", id: job.id }
    const at = this.#now
    const step: StepRecord = {
      id: job.id,
      kind: job.src as StepRecord["kind"],
      name: job.name,
      ok: !request.fails,
      elapsedMs: 0
    }
    const { iteration, tick } = contextOf(this.decoded)
    if (job.src === "infer") {
      if (request.fails)
        return { event: jobFailed("infer", { recovery: request.recovery, reason: "it failed" }), cause, more: { step } }
      const requests = request.calls.map((category) => ({ tool: category, category }))
      const calls = requests.map(({ tool }, index) => ({ id: callId(tick, iteration, index), tool, arguments: {} }))
      const said: UncountedMessage = {
        role: "assistant",
        content: request.text,
        at,
        ...(calls.length === 0 ? {} : { calls })
      }
      return { event: jobDone("infer", { calls: requests }), cause, more: { step, messages: [said] } }
    }
    if (job.src === "tool") {
      if (request.fails) return { event: jobFailed(job.name, "it broke"), cause, more: { step } }
      const { index } = job.input as { readonly index: number }
      const category = contextOf(this.decoded).calls[index]?.category
      const pending = request.ok && category === "async_required"
      const told: UncountedMessage = { role: "tool", content: request.text, call: callId(tick, iteration, index), at }
      return {
        event: jobDone(job.name, { ok: request.ok, pending }),
        cause,
        more: { step: { ...step, ok: request.ok }, messages: pending ? [] : [told] }
      }
    }
    const output = job.src === "assess" ? { restriction: {} } : { skipped: true, signals: NO_SIGNALS }
    return { event: request.fails ? jobFailed(job.name, "it broke") : jobDone(job.name, output), cause, more: { step } }
  }
}

export const walk = ({ retires, settings, options }: Life): Walk => {
  const walked = new Walk(settings)
  for (const request of options) walked.take(request)
  if (retires) walked.take({ kind: "retire" })
  return walked
}

/** Jobs that the machine itself says are open, as names. */
export const childrenOf = (decoded: Decoded): ReadonlyArray<string> =>
  Object.keys((persist(decoded) as { readonly children: Readonly<Record<string, Json>> }).children).toSorted()

/** The timer that the present state runs by, if it is one of those that do. */
export const timerOf = (decoded: Decoded): ReadonlyArray<string> => {
  const delays: Readonly<Record<string, string>> = {
    "awake.thinking.parked": "park",
    "awake.awaitingApproval": "approval",
    "awake.awaitingReports": "report",
    "dreaming.resting": "sleep"
  }
  const status = statusOf(decoded)
  return delays[status] === undefined ? [] : [`xstate.after.${delays[status]}.assistant.${status}`]
}
