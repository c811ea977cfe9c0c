// RecordedModel: the replies of a tick, given again by a model that asks no one.
// Owns finding the reply of a call, and noting what every call was shown. Leaves when a reply may come to drive.ts.
// M1  The calls of one iteration get their replies in the order in which they were recorded, failures among them; in the
//     recorded order each job gets its own.
// M2  A call that was never recorded is refused with a plain sentence.

import type { InferFailure } from "@reverie/assistant"
import {
  CallLimited,
  CallOverLimit,
  CallWithheld,
  type Model,
  ModelDenied,
  type ModelError,
  ModelParked,
  ModelRefused,
  ModelUnavailable,
  type Prompt,
  type Reply,
  ReplyUnusable
} from "@reverie/model"
import { defined, type FinishReason, isJsonObject, type Usage } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import type { RecordedAsk } from "./recorded-tick.ts"

const provider = "recorded"

const UNCOUNTED: Usage = { inputTokens: 0, outputTokens: 0, source: "counted" }

const failureIn = ({ entry }: RecordedAsk): InferFailure | undefined => {
  const error = isJsonObject(entry.event) ? entry.event["error"] : undefined
  return isJsonObject(error) ? (error as unknown as InferFailure) : undefined
}

/** The failure that the adapter told of, by the name that stands before its message. */
const errorOf = ({ reason, recovery, retryAfterMillis = 1 }: InferFailure): ModelError => {
  const [, tag = "", message = reason] = /^(\w+): (.*)$/s.exec(reason) ?? []
  const where = { provider, message }
  switch (tag) {
    case "ModelParked":
      return new ModelParked({ ...where, retryAfterMillis })
    case "CallWithheld":
      return new CallWithheld({ ...where, retryAfterMillis })
    case "ModelDenied":
      return new ModelDenied({ ...where, status: 401 })
    case "ReplyUnusable":
      return new ReplyUnusable(where)
    case "CallLimited":
      return new CallLimited({ ...where, limit: "recorded", retryAfterMillis })
    case "CallOverLimit":
      return new CallOverLimit({ ...where, limit: "recorded" })
    case "ModelRefused":
      return new ModelRefused({ ...where, kind: "bad-request" })
    default:
      return recovery === "tell-owner"
        ? new ModelRefused({ ...where, kind: "bad-request" })
        : new ModelUnavailable({ ...where, kind: "network" })
  }
}

/** What a recorded call came to, under the names that this prompt asks for. */
const replyOf = (ask: RecordedAsk, { callPrefix }: Prompt): Effect.Effect<Reply, ModelError> => {
  const { messages, step } = ask.entry
  const failure = failureIn(ask)
  if (failure !== undefined) return Effect.fail(errorOf(failure))
  const said = messages.find(({ role }) => role === "assistant")
  const { finish, model } = step?.detail ?? {}
  return Effect.succeed({
    text: said?.content ?? "",
    calls: (said?.calls ?? []).map((call, index) => ({ ...call, id: `${callPrefix}.${index}` })),
    finish: typeof finish === "string" ? (finish as FinishReason) : "stop",
    usage: step?.usage ?? UNCOUNTED,
    model: typeof model === "string" ? model : provider
  })
}

/** A prompt as it reached the model. */
export interface Shown {
  readonly prompt: Prompt
  readonly iteration: number
  /** The job that asked. */
  readonly job: string
}

/** Which job of the assistant is asking; there is one at a time. */
export interface Asking {
  job: string
}

const iterationIn = ({ callPrefix }: Prompt): number => Number(callPrefix.split(".")[1] ?? NaN)

/** A call of the tick itself, and none of a run or of memory's. */
const isOfTick = ({ callPrefix }: Prompt): boolean => /^\d+\.\d+$/.test(callPrefix)

/** The same model, with every prompt of the tick noted. */
export const noting = (inner: Model["Service"], asking: Asking, shown: Array<Shown>): Model["Service"] => ({
  ...defined({ serves: inner.serves }),
  infer: (prompt, options) =>
    Effect.suspend(() => {
      if (isOfTick(prompt)) shown.push({ prompt, iteration: iterationIn(prompt), job: asking.job })
      return inner.infer(prompt, options)
    })
})

/** The replies in their order, whichever jobs ask. */
export const recordedModel = (asks: ReadonlyArray<RecordedAsk>): Model["Service"] => {
  const left = [...asks]
  return {
    infer: (prompt) =>
      Effect.suspend(() => {
        const at = isOfTick(prompt) ? left.findIndex(({ iteration }) => iteration === iterationIn(prompt)) : -1
        const [ask] = at < 0 ? [] : left.splice(at, 1)
        if (ask !== undefined) return replyOf(ask, prompt)
        const message = `no reply was recorded for the call ${prompt.callPrefix}`
        return Effect.fail(new ModelRefused({ provider, kind: "bad-request", message }))
      })
  }
}

/** The replies to the very jobs that asked, when their turn has come. A job that no one answered then waits. */
export const steppedModel = (
  asks: ReadonlyArray<RecordedAsk>,
  asking: Asking,
  turn: (no: number) => Effect.Effect<void>
): Model["Service"] => ({
  infer: (prompt) =>
    Effect.suspend(() => {
      const { job } = asking
      const ask = asks.find(({ entry: { cause } }) => cause.kind === "job" && cause.id === job)
      return ask === undefined ? Effect.never : Effect.andThen(turn(ask.no), replyOf(ask, prompt))
    })
})
