// Spans: how work is put into a span.
// Owns opening and ending one, its name for people, and who its parent is. Leaves which spans there are to its callers.
// A verb of the walk is one span, and the attributes of the GenAI conventions stand on it: a second span around it would
// say the same twice. Only the name that people read (`chat gpt-5`) is another one, and an exporter shows that.
// S1  Without a tracer no span is made, and nothing is computed for one.
// S2  A span says that something failed and the kind of failure, never the text of it: texts come from outside.

import { defined } from "@reverie/protocol"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Fiber } from "effect/Fiber"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import { attributes as named } from "./names.ts"
import { spanIn, traceparentOf } from "./traceparent.ts"

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
export const isTraced = Effect.withFiberSucceed(isTracedBy)

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
export const failedExit = (type: string): Exit.Exit<never, Error> => Exit.fail(errorOf(type))

export const endSpan = (span: Tracer.Span, exit: Exit.Exit<unknown, unknown>) =>
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

export const makeSpan = (request: SpanRequest, parent?: Tracer.AnySpan): Effect.Effect<Tracer.Span> =>
  Effect.makeSpan(request.name, {
    ...optionsOf(request),
    ...defined({ parent })
  })

/** Runs in a span, when somebody looks. The request is made only then. */
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

/** What is running, as others are told of it; undefined when nobody looks. */
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
