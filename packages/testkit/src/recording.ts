// Recording: the spans of a run, in the order in which they began.
// Owns collecting them. Leaves what the order must be to the test.

import type * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"

export interface RecordedSpan {
  readonly name: string
  /** The name of the span around it; undefined at the root, and when that span came from another process. */
  readonly parent: string | undefined
  readonly traceId: string
  readonly spanId: string
  /** Of the span around it, wherever it is; undefined at the root. */
  readonly parentId: string | undefined
  readonly links: ReadonlyArray<Tracer.SpanLink>
  readonly attributes: ReadonlyMap<string, unknown>
  /** Undefined while it runs. */
  readonly ok: boolean | undefined
}

export interface Recording {
  /** Provide it to whatever is to be recorded. */
  readonly layer: Layer.Layer<never>
  readonly spans: ReadonlyArray<RecordedSpan>
  /** Names in the order of beginning. */
  readonly names: () => ReadonlyArray<string>
}

const parentName = (parent: Option.Option<Tracer.AnySpan>): string | undefined =>
  Option.isSome(parent) && parent.value._tag === "Span" ? parent.value.name : undefined

export const collectSpans = (): Recording => {
  const spans: Array<RecordedSpan> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      const recorded: { -readonly [K in keyof RecordedSpan]: RecordedSpan[K] } = {
        name: options.name,
        parent: parentName(options.parent),
        traceId: span.traceId,
        spanId: span.spanId,
        parentId: Option.isSome(options.parent) ? options.parent.value.spanId : undefined,
        links: span.links,
        attributes: span.attributes,
        ok: undefined
      }
      const end = span.end.bind(span)
      span.end = (endTime: bigint, exit: Exit.Exit<unknown, unknown>) => {
        recorded.ok = exit._tag === "Success"
        end(endTime, exit)
      }
      spans.push(recorded)
      return span
    }
  })
  return { layer: Layer.succeed(Tracer.Tracer, tracer), spans, names: () => spans.map(({ name }) => name) }
}
