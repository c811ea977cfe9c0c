// Spans: how work is put into a span.
// Owns opening and ending one, its name for people, and who its parent is. Leaves which spans there are to its callers.
// A verb of the walk is one span, and the attributes of the GenAI conventions stand on it: a second span around it would
// say the same twice. Only the name that people read (`chat gpt-5`) is another one, and an exporter shows that.
// S1  Without a tracer no span is made, and nothing is computed for one.
// S2  A span says that something failed and the kind of failure, never the text of it: texts come from outside.

import { type AcceptedEnvelope, defined, type Entry, type Envelope } from "@reverie/protocol"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Fiber } from "effect/Fiber"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import { contextOf, type Decision } from "@reverie/assistant"
import * as Metric from "effect/Metric"
import { attributes as named, attributes, metrics } from "./names.ts"
import type { CommitDraft } from "../commit/commit-draft.ts"
import type { Session } from "../session/session.ts"
import type { CommitView } from "../commit/commit-view.ts"
import type { TurnTrace } from "./telemetry.ts"

// Measures: how long things take and how much they use, as metrics.
// M1  No assistant, tenant, envelope or text is a label: only what the code, a definition or an operator has named.
// M2  What is written costs less than what it measures by orders of magnitude; there are no metrics of single decisions.

/** The buckets that the conventions advise, in seconds. */
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
const LONG_SECONDS = [0.01, 0.04, 0.16, 0.64, 2.56, 10.24, 40.96, 163.84, 655.36, 2621.44]
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864]

type Labels = Readonly<Record<string, string>>

/**
 * A histogram with labels, each combination made once: `key` stands for it. Each is an object of its own, for a metric
 * remembers under which name it stands in the registry only as long as it is asked for with the same labels.
 */
const labelled = (name: string, description: string, boundaries: ReadonlyArray<number>) => {
  const known = new Map<string, Metric.Histogram<number>>()
  return (key: string, labels: () => Labels, value: number): Effect.Effect<void> => {
    const found =
      known.get(key) ??
      (Metric.withAttributes(Metric.histogram(name, { description, boundaries }), labels()) as Metric.Histogram<number>)
    known.set(key, found)
    return Metric.update(found, value)
  }
}

const chatDuration = labelled(metrics.chatDuration, "Seconds that a model call took.", SECONDS)
const tokenUsage = labelled(metrics.tokenUsage, "Tokens of a model call.", TOKENS)
const toolDuration = labelled(metrics.toolDuration, "Seconds that a tool call took.", SECONDS)
const turnDuration = labelled(metrics.turnDuration, "Seconds from taking work up until nothing runs.", LONG_SECONDS)
const queueAge = labelled(metrics.queueAge, "Seconds that an envelope waited to be taken up.", LONG_SECONDS)

export interface Served {
  readonly provider: string
  readonly model: string
}

const labelsOf = ({ model, provider }: Served) => ({
  [named.operation]: "chat",
  [named.provider]: provider,
  [named.requestModel]: model
})

export const measureChat = (served: Served, millis: number, error = ""): Effect.Effect<void> =>
  chatDuration(
    `${served.provider}\0${served.model}\0${error}`,
    () => ({ ...labelsOf(served), [named.errorType]: error }),
    millis / 1_000
  )

export const measureTokens = (served: Served, inputTokens: number, outputTokens: number): Effect.Effect<void> => {
  const measure = (type: string, tokens: number) =>
    tokenUsage(
      `${served.provider}\0${served.model}\0${type}`,
      () => ({ ...labelsOf(served), [named.tokenType]: type }),
      tokens
    )
  return Effect.andThen(measure("input", inputTokens), measure("output", outputTokens))
}

export const measureTool = (tool: string, millis: number, error = ""): Effect.Effect<void> =>
  toolDuration(`${tool}\0${error}`, () => ({ [named.toolName]: tool, [named.errorType]: error }), millis / 1_000)

const measureTurn = (outcome: string, millis: number): Effect.Effect<void> =>
  turnDuration(outcome, () => ({ [named.outcome]: outcome }), millis / 1_000)

const measureWait = (lane: string, millis: number): Effect.Effect<void> =>
  queueAge(lane, () => ({ "reverie.lane": lane }), Math.max(0, millis) / 1_000)

// Traceparent: the trace context of the W3C as the text that envelopes and wake-ups carry.
// P1  A text that is no trace context is no error: it is as if no one had said anything.
// P2  What is written has the form of version 00; a newer version is read as far as version 00 knows it.

/** No newer version is read that says more than this. */
const MAX_CHARS = 256

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

const isZero = (id: string): boolean => /^0+$/.test(id)

/** The span that a text names; undefined when it names none. */
export const spanIn = (text: string | undefined): Tracer.ExternalSpan | undefined => {
  if (text === undefined || text.length > MAX_CHARS) return undefined
  const [, version = "ff", traceId = "0", spanId = "0", flags = "0", more] = form.exec(text) ?? []
  const isForm = version !== "ff" && (version !== "00" || more === undefined) && !isZero(traceId) && !isZero(spanId)
  return isForm ? Tracer.externalSpan({ traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 }) : undefined
}

/** How a span is named to others; undefined for one that was made without a tracer. */
export const traceparentOf = ({ sampled, spanId, traceId }: Tracer.AnySpan): string | undefined => {
  const text = `00-${traceId.padStart(32, "0")}-${spanId}-${sampled ? "01" : "00"}`
  return form.test(text) ? text : undefined
}

/** What someone said, in the form that is kept; undefined when it is no trace context. */
export const storedTraceparent = (text: string | undefined): string | undefined =>
  Option.fromNullishOr(spanIn(text)).pipe(Option.map(traceparentOf), Option.getOrUndefined)

/** The name that people read, where it says more than the span's own. */
export const DisplayName = Context.Reference<string>("@reverie/runtime/DisplayName", { defaultValue: () => "" })

export type Attributes = Readonly<Record<string, unknown>>

export interface SpanRequest {
  readonly name: string
  readonly display?: string
  readonly kind?: Tracer.SpanKind
  readonly attributes?: Attributes
  readonly links?: ReadonlyArray<Tracer.AnySpan>
}

const isTracedBy = (fiber: Fiber<unknown, unknown>): boolean => fiber.getRef(Tracer.Tracer) !== Tracer.nativeTracer

/** Whether anybody looks at spans. */
const isTraced = Effect.withFiberSucceed(isTracedBy)

const errors = new Map<string, Error>()

/** An error that says its kind and nothing else. There are few kinds, and they come from code. */
const errorOf = (type: string): Error => {
  const known = errors.get(type)
  if (known !== undefined) return known
  const error = new Error(type)
  error.name = type
  error.stack = type
  if (errors.size < 256) errors.set(type, error)
  return error
}

const typeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "_tag" in error && typeof error._tag === "string"
    ? error._tag
    : "_OTHER"

/** The kind of failure; undefined for success, and for what was interrupted. */
export const failureType = (exit: Exit.Exit<unknown, unknown>): string | undefined => {
  if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return undefined
  const failure = Cause.findErrorOption(exit.cause)
  return Option.isSome(failure) ? typeOf(failure.value) : "defect"
}

/** Marks a span as failed, in the same words wherever it failed. */
const failedExit = (type: string): Exit.Exit<never, Error> => Exit.fail(errorOf(type))

const endSpan = (span: Tracer.Span, exit: Exit.Exit<unknown, unknown>) =>
  Effect.map(Clock.currentTimeNanos, (now) => {
    const type = failureType(exit)
    if (type !== undefined) span.attribute(named.errorType, type)
    span.end(now, type === undefined ? exit : failedExit(type))
  })

const optionsOf = ({ attributes = {}, display = "", kind = "internal", links = [], name }: SpanRequest) => ({
  kind,
  attributes: display === "" ? { ...attributes } : { ...attributes, [named.verb]: name },
  links: links.map((span) => ({ span, attributes: {} })),
  ...defined({ annotations: display === "" ? undefined : Context.make(DisplayName, display) })
})

const makeSpan = (request: SpanRequest, parent?: Tracer.AnySpan): Effect.Effect<Tracer.Span> =>
  Effect.makeSpan(request.name, {
    ...optionsOf(request),
    ...defined({ parent })
  })

/** Runs in a span, when someone looks. The request is made only then. */
export const spanning =
  (request: () => SpanRequest) =>
  <A, E, R>(work: (span: Tracer.Span | undefined) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiber((fiber) => {
      if (!isTracedBy(fiber)) return work(undefined)
      const made = request()
      return Effect.useSpan(made.name, optionsOf(made), (span) =>
        Effect.onExit(Effect.provideService(work(span), Tracer.ParentSpan, span), (exit) => endSpan(span, exit))
      )
    })

/** The traceparent of the running span; undefined without a tracer. */
export const runningTraceparent: Effect.Effect<string | undefined> = Effect.withFiberSucceed((fiber) => {
  if (!isTracedBy(fiber)) return undefined
  const span = Context.getOption(fiber.context, Tracer.ParentSpan)
  return Option.isSome(span) ? traceparentOf(span.value) : undefined
})

/** Runs below a span, or below what a text names as one. */
export const below =
  (parent: Tracer.AnySpan | string | undefined) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    parent === undefined
      ? work
      : Effect.withFiber((fiber) => {
          const span = isTracedBy(fiber) ? (typeof parent === "string" ? spanIn(parent) : parent) : undefined
          return span === undefined ? work : Effect.provideService(work, Tracer.ParentSpan, span)
        })

// Span: the verbs of the walk, as traces show them.

type Verb =
  | "mailbox.accept"
  | "queue.wake"
  | "mailbox.claim"
  | "assistant.decide"
  | "context.assemble"
  | "model.infer"
  | "tools.execute"
  | "ledger.commit"
  | "ledger.relay"

/** What a span of a verb says besides its name. */
type VerbRequest = Omit<SpanRequest, "name">

const NOTHING: Attributes = {}

/** Runs in a span. Work that is a function is given the span, when someone looks at it. */
export const inSpan =
  (verb: Verb, request?: () => VerbRequest) =>
  <A, E, R>(
    work: Effect.Effect<A, E, R> | ((span: Tracer.Span | undefined) => Effect.Effect<A, E, R>)
  ): Effect.Effect<A, E, R> =>
    spanning(() => ({ attributes: NOTHING, ...request?.(), name: verb }))((span) =>
      typeof work === "function" ? work(span) : work
    )

// TurnTrace: one turn of work on an assistant as a span, from what is taken up until nothing runs for it any more.
// T1  It continues the trace of the envelope that it takes up; work that goes on by itself continues its tick's.
// T2  It ends with the commit after which no job is open, however long the tick then waits for a person or a report; what
//     ends the waiting brings its own trace, and goes on in another turn.
// T3  Everything that leaves with a commit carries the turn's trace, or what its sender made of it. Without a tracer the
//     trace of the envelope in hand is passed on unchanged.

/** Who works, in the words of the conventions. */
export const agentAttributes = ({ address, definition }: Pick<Session, "address" | "definition">) => ({
  [attributes.agentId]: address.assistant,
  [attributes.agentName]: definition.name,
  [attributes.tenant]: address.tenant
})

/** Begins a turn, unless one is going on. */
export const beginTurn = (session: Session, arrival?: AcceptedEnvelope) =>
  session.trace.startedAt === undefined ? openTurn(session, arrival) : Effect.void

const openTurn = Effect.fnUntraced(function* (session: Session, arrival: AcceptedEnvelope | undefined) {
  const { definition, trace } = session
  const now = yield* Clock.currentTimeMillis
  trace.startedAt = now
  if (arrival?.lane === "mail") {
    trace.carried = arrival.traceparent
    yield* measureWait(arrival.lane, now - arrival.acceptedAt)
  }
  trace.carried ??= arrival?.traceparent
  if (!(yield* isTraced)) return
  const request = {
    name: `invoke_agent ${definition.name}`,
    attributes: {
      [attributes.operation]: "invoke_agent",
      ...agentAttributes(session),
      ...(arrival === undefined ? {} : { [attributes.envelope]: arrival.id, [attributes.event]: arrival.event.type })
    }
  }
  trace.span = yield* makeSpan(request, spanIn(arrival?.traceparent) ?? spanIn(trace.carried))
})

const outcomeOf = ({ tickEnd }: Pick<Entry, "tickEnd">, isTickOpen: boolean): string =>
  tickEnd?.outcome ?? (isTickOpen ? "waiting" : "rest")

/** Ends the turn at hand when the commit of this entry leaves nothing to run, and begins one where something does. */
export const followTurn = (
  session: Session,
  entry: Pick<Entry, "tickEnd" | "settled">,
  arrival?: AcceptedEnvelope
): Effect.Effect<void> => (session.jobs.length > 0 ? beginTurn(session, arrival) : endTurn(session, entry))

const endTurn = Effect.fnUntraced(function* (session: Session, entry: Pick<Entry, "tickEnd" | "settled">) {
  const { trace } = session
  const { envelope, tick } = contextOf(session.decoded)
  const { span, startedAt } = trace
  if (startedAt !== undefined) {
    const outcome = outcomeOf(entry, envelope !== null)
    yield* measureTurn(outcome, (yield* Clock.currentTimeMillis) - startedAt)
    span?.attribute(attributes.tick, tick)
    span?.attribute(attributes.outcome, outcome)
    yield* closeTurn(trace, outcome === "failed" ? failedExit("failed") : Exit.void)
  }
  if (envelope === null) trace.carried = undefined
})

/** Ends the turn at hand, whatever it has come to. */
export const closeTurn = (trace: TurnTrace, exit: Exit.Exit<unknown, unknown>) =>
  Effect.suspend(() => {
    const { span } = trace
    trace.span = undefined
    trace.startedAt = undefined
    return span === undefined ? Effect.void : endSpan(span, exit)
  })

/** Puts work into the turn at hand; what an envelope brings about outside of one, below the envelope's own trace. */
export const inTurn = ({ trace }: Pick<Session, "trace">, arrival?: Pick<Envelope, "traceparent">) =>
  below(trace.span ?? arrival?.traceparent)

/** What leaves with a commit, with the trace that it belongs to. */
export const addTraces = ({ sends }: CommitDraft, _decision: Decision, view: CommitView): Partial<CommitDraft> => {
  const { arrival, session } = view
  const { trace } = session
  const own = trace.span === undefined ? undefined : traceparentOf(trace.span)
  const traceparent = own ?? trace.carried ?? arrival?.traceparent
  if (sends === undefined || traceparent === undefined) return {}
  return { sends: sends.map((send) => (send.traceparent === undefined ? { ...send, traceparent } : send)) }
}
