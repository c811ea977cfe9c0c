// Traceparent: the trace context of the W3C as the text that envelopes and wake-ups carry.
// Owns reading and writing it. Leaves what is done with it to spans.ts.
// P1  A text that is no trace context is no error: it is as if nobody had said anything.
// P2  What is written has the form of version 00; a newer version is read as far as version 00 knows it.

import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"

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

/** What somebody said, in the form that is kept; undefined when it is no trace context. */
export const storedTraceparent = (text: string | undefined): string | undefined =>
  Option.fromNullishOr(spanIn(text)).pipe(Option.map(traceparentOf), Option.getOrUndefined)
