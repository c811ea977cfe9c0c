// OutageSeen: a failed call of a job, in the words in which the statechart hears of an outage.
// Owns what is said of it. Leaves what is an outage to `model`, and what follows to the statechart.
// S1  What is said follows from the job and the failure: no two assistants are told to come back at the same moment.
// S2  Of a call that was not sent the reason is the one for which it was not.

import { contextOf, type OutageSeen } from "@reverie/assistant"
import { CallWithheld, isOutage, Model, type ModelError } from "@reverie/model"
import { addressKey, type OpenJob, defined } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { Session } from "../session/session.ts"
import { Outages } from "./outage-book.ts"
import { serverOf, withheldCalls } from "./watched-model.ts"

/** From 0 to 1, another one for each text (FNV-1a). */
const shareOf = (text: string): number => {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return ((hash ^ (hash >>> 15)) >>> 0) / 4_294_967_296
}

/** A server that is busy speaks to whoever asks; one that counts what it is asked, to this one. */
const namedBy = (error: ModelError): Pick<OutageSeen, "named"> =>
  error._tag === "ModelParked" ? { named: error.status === 429 ? "one" : "all" } : {}

/** What a failure says of the model's server; undefined when it speaks of the call. */
export const outageSeen = Effect.fnUntraced(function* (
  { address, decoded }: Session,
  { id }: OpenJob,
  error: ModelError
) {
  if (!isOutage(error)) return undefined
  const book = yield* Outages
  const known = contextOf(decoded).outage
  const isWithheld = error._tag === "CallWithheld"
  const outage: OutageSeen = {
    server: serverOf(yield* Model, error),
    at: yield* Clock.currentTimeMillis,
    spread: Math.round(shareOf(`${addressKey(address)}/${id}`) * 1_000) / 1_000,
    ...defined({
      withheld: isWithheld ? true : undefined,
      alone: !isWithheld && known !== null && book.hasAnsweredSince(known.at) ? true : undefined
    }),
    ...namedBy(error)
  }
  const reason = isWithheld ? (book.away?.reason ?? known?.reason) : undefined
  return {
    recovery: error.recovery,
    reason: reason ?? `${error._tag}: ${error.message}`,
    ...defined({ retryAfterMillis: "retryAfterMillis" in error ? error.retryAfterMillis : undefined }),
    outage
  }
})

/** Why a call would not be sent now: said before anything is made ready for it. */
export const withheldBefore = Effect.gen(function* () {
  const model = yield* Model
  const retryAfterMillis = model.circuit === undefined ? 0 : yield* model.circuit.withheldMillis()
  if (retryAfterMillis === 0) return undefined
  yield* Metric.update(withheldCalls, 1)
  const message = `not asked: it is away, and is tried again in ${retryAfterMillis} ms`
  return new CallWithheld({ provider: serverOf(model), message, retryAfterMillis })
})
