// WatchedModel: the model, and what its calls say of its server.
// Owns telling the book of every answer and every outage, and the measures of both. Leaves what follows for those that wait
// to recovery.ts.
// W1  A call that was never sent says nothing of the server.
// W2  Any call counts, whoever makes it: a tick, a dream, a compaction, an assessment.

import type { Outage } from "@reverie/assistant"
import { isOutage, type Model, type ModelError } from "@reverie/model"
import type { Address } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { Secrets } from "../jobs/secrets.ts"
import { Outages } from "./outage-book.ts"

/** 1 while the server of the model answers, 0 while it is away. */
export const modelUp = Metric.gauge("reverie_model_up", { description: "Whether the server of the model answers." })
const modelWaiting = Metric.gauge("reverie_model_waiting", {
  description: "Assistants known to this process that wait for the server of their model."
})
export const withheldCalls = Metric.counter("reverie_model_calls_withheld_total", {
  description: "Model calls that were not sent, because the server is known to be away.",
  incremental: true
})

const upAt = (server: string) => Metric.withAttributes(modelUp, { server })

/** Host and port of the server, as it names itself or as the failure does. */
export const serverOf = ({ serves }: Pick<Model["Service"], "serves">, error?: ModelError): string =>
  serves?.server ?? error?.provider ?? "its model"

/** What is known of an assistant that may wait; the measures follow. */
export const followed = Effect.fnUntraced(function* (address: Address, outage: Outage | undefined) {
  const book = yield* Outages
  if (!book.follow(address, outage)) return
  yield* Metric.update(modelWaiting, book.waiting)
  if (book.away !== undefined) yield* Metric.update(upAt(book.away.server), 0)
})

export const watchedModel = Effect.fnUntraced(function* (model: Model["Service"]) {
  const book = yield* Outages
  const { hide } = yield* Secrets
  const up = model.serves?.server === undefined ? undefined : upAt(model.serves.server)
  /** The gauge says so already: nothing is measured with each answer of a server that goes on answering. */
  let isSaidUp = false
  const failed = Effect.fnUntraced(function* (error: ModelError) {
    if (error._tag === "CallWithheld") return yield* Metric.update(withheldCalls, 1)
    if (!isOutage(error)) return
    const server = serverOf(model, error)
    book.failed(yield* Clock.currentTimeMillis, server, hide(`${error._tag}: ${error.message}`))
    isSaidUp = false
    yield* Metric.update(upAt(server), 0)
  })
  const answered = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const isNews = !isSaidUp || book.away !== undefined
    book.answered(now)
    if (up === undefined || !isNews) return Effect.void
    isSaidUp = true
    return Metric.update(up, 1)
  })
  const watched: Model["Service"] = {
    ...model,
    infer: (prompt, options) =>
      model.infer(prompt, options).pipe(
        Effect.tap(() => answered),
        Effect.tapError(failed)
      )
  }
  return watched
})
