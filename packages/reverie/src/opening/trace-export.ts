// TraceExport: spans on their way to a collector, as OTLP over HTTP.
// Owns the exporter's limits and the names that people read. Leaves batching and the wire format to Effect.
// X1  A collector that is away, slow or refuses costs spans, and nothing else: no one waits for it while working, what
//     waits for it is bounded, and after a failure it is left alone for a minute.
// X2  Closing waits for it for a second at most.

import { defined } from "@reverie/protocol"
import { DisplayName } from "@reverie/runtime"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as OtlpExporter from "effect/observability/OtlpExporter"
import * as OtlpSerialization from "effect/observability/OtlpSerialization"
import * as OtlpTracer from "effect/observability/OtlpTracer"
import * as Tracer from "effect/Tracer"

export interface Collector {
  /** Where traces go, the whole of it. */
  readonly url: string
  readonly service: string
  readonly headers: Readonly<Record<string, string>>
}

const EXPORT_MILLIS = 1_000
const REQUEST_MILLIS = 5_000
const SHUTDOWN_MILLIS = 1_000
const MAX_BATCH_SPANS = 512

/** A request that gets no answer ends as a defect, which the exporter does not try again at once. */
const impatient = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(
    HttpClient.HttpClient,
    HttpClient.transformResponse(
      Effect.timeoutOrElse({ duration: REQUEST_MILLIS, orElse: () => Effect.die("the collector did not answer") })
    )
  )
).pipe(Layer.provide(FetchHttpClient.layer))

/** Spans under the names that people read. */
const displayed = (tracer: Tracer.Tracer): Tracer.Tracer =>
  Tracer.make({
    ...defined({ context: tracer.context }),
    span: (options) => {
      const name = Context.get(options.annotations, DisplayName)
      return tracer.span(name === "" ? options : { ...options, name })
    }
  })

export const traceExport = ({ headers, service, url }: Collector): Layer.Layer<never> =>
  Layer.effect(
    Tracer.Tracer,
    Effect.map(
      OtlpTracer.make({
        url,
        headers: { ...headers },
        resource: { serviceName: service },
        exportInterval: EXPORT_MILLIS,
        maxBatchSize: MAX_BATCH_SPANS,
        shutdownTimeout: SHUTDOWN_MILLIS
      }),
      displayed
    )
  ).pipe(Layer.provide([OtlpExporter.layerFlusher, OtlpSerialization.layerJson, impatient]))
