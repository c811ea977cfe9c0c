// Fallback: several models as one, asked in their order until one answers.
// Owns who is asked next, and what is said of those that did not answer. Leaves a model's own tries to its adapter.
// O1  Within one call each model is asked at most once, in the order of the list, and none after the first that answers.
// O2  The reply is the words of the model that answered; `earlier` names all before it, in their order, with their reasons.
// O3  The next one is asked after a failure that speaks of a model or of its server. A prompt that is refused for what it is,
//     a limit of the tenant and an interrupt end the call, and a defect is not covered up.
// O4  When none answers, the call fails as an outage if any of them was away, and names each server that is: waiting helps
//     as soon as one of them answers. Else it fails with what can be tried again, before what a person must act on.
// O5  A model that named a time is asked no sooner, and a call is withheld only when it would be by each of them.
// O6  Where a call may be paid for once (`paidOnce`), no other model is asked after one that may have worked.
// O7  What is previewed of a model that did not answer is dropped before the next one shows any; where the listener can not drop,
//     the first that shows any is the only one.
// O8  The form of an answer is said in words to each model that does not read it by itself.
// O9  Another model name in the prompt is one of the first model's server, and is said to no other.

import { defined, type EarlierModel } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import {
  CallWithheld,
  failureCost,
  isOutage,
  ModelDenied,
  type ModelError,
  ModelParked,
  ModelRefused,
  ModelUnavailable,
  ReplyUnusable
} from "./errors.ts"
import { type Circuit, type Model, type Prompt, withOutputDescribed } from "./model.ts"
import { Preview } from "./wire/trying.ts"

type Service = Model["Service"]

const MAX_REASON_CHARS = 300

// Rests: until when each model of a list wants to be left alone, by its own word.

interface Rest {
  readonly until: number
  /** It was meant for this caller, and the success of others does not end it. */
  readonly isForOne: boolean
}

type Rests = Map<number, Rest>

const restMillis = (rests: Rests, index: number, now: number): number => {
  const { until = 0 } = rests.get(index) ?? {}
  return Math.max(0, until - now)
}

const noteEnd = (rests: Rests, index: number, error: ModelError | undefined, now: number): void => {
  if (error === undefined) rests.delete(index)
  if (error?._tag !== "ModelParked") return
  rests.set(index, { until: now + error.retryAfterMs, isForOne: error.status === 429 })
}

/** A model that did not answer. */
interface Failed {
  readonly model: Service
  readonly error: ModelError
}

/** Who failed, as a person learns of it. */
const earlierOf = ({ error, model: { serves } }: Failed): EarlierModel => ({
  model: serves?.model ?? error.provider,
  ...defined({ server: serves?.server }),
  reason: `${error._tag}: ${error.message}`.slice(0, MAX_REASON_CHARS).toWellFormed()
})

const serverOf = ({ error, model }: Failed): string => model.serves?.server ?? error.provider

const mayAskNext = (error: ModelError, { paidOnce }: Prompt): boolean => {
  if (paidOnce === true && failureCost(error) === "unknown") return false
  switch (error._tag) {
    case "ModelRefused":
      return error.kind === "too-long"
    case "CallLimited":
    case "CallOverLimit":
      return false
    default:
      return true
  }
}

/** The smaller, the more is gained by waiting, or by trying again. */
const hopelessness: Readonly<Record<ModelError["_tag"], number>> = {
  CallLimited: 0,
  CallOverLimit: 0,
  ModelUnavailable: 1,
  ModelParked: 2,
  // What was sent says more than what was not.
  CallWithheld: 3,
  ReplyUnusable: 4,
  ModelRefused: 5,
  ModelDenied: 6
}

const hopeOf = (error: ModelError): number =>
  error._tag === "ModelUnavailable" && !isOutage(error) ? hopelessness.ReplyUnusable : hopelessness[error._tag]

const said = ({ model, reason, server }: EarlierModel): string =>
  `${model}${server === undefined ? "" : ` at ${server}`}: ${reason}`

/** The outage of all servers that are away: it may end with any of them, and is over no later than the first named time. */
const outageOf = (first: Failed, failed: ReadonlyArray<Failed>, message: string): ModelError => {
  const { error } = first
  const away = failed.filter((each) => isOutage(each.error))
  const provider = serverOf(first)
  const others = [...new Set(away.map(serverOf))].filter((server) => server !== provider)
  const among = { provider, message, ...defined({ others: others.length === 0 ? undefined : others }) }
  const retryAfterMs = Math.min(
    ...away.map((each) => ("retryAfterMs" in each.error ? each.error.retryAfterMs : Infinity))
  )
  switch (error._tag) {
    case "ModelUnavailable":
      return new ModelUnavailable({
        ...among,
        kind: error.kind,
        ...defined({ begun: error.begun, status: error.status })
      })
    case "ModelParked": {
      // A time that is meant for this caller keeps it waiting only where each of them named one.
      const isForOne = away.every((each) => each.error._tag === "ModelParked" && each.error.status === 429)
      return new ModelParked({ ...among, retryAfterMs, ...defined({ status: isForOne ? 429 : undefined }) })
    }
    default:
      // Where any of them was asked, something was sent.
      return failed.every((each) => each.error._tag === "CallWithheld")
        ? new CallWithheld({ ...among, retryAfterMs })
        : new ModelParked({ ...among, retryAfterMs })
  }
}

const withMessage = (error: ModelError, message: string): ModelError => {
  const where = { provider: error.provider, message }
  switch (error._tag) {
    case "ModelRefused":
      return new ModelRefused({ ...where, kind: error.kind, ...defined({ status: error.status }) })
    case "ModelDenied":
      return new ModelDenied({ ...where, status: error.status })
    case "ReplyUnusable":
      return new ReplyUnusable(where)
    default:
      return error
  }
}

/** What the call comes to when no model has answered; the failures stand in the order of the list. */
const failureOf = (failed: ReadonlyArray<Failed>, prompt: Prompt): ModelError => {
  const [first] = failed.toSorted((a, b) => hopeOf(a.error) - hopeOf(b.error))
  const last = failed.at(-1)
  if (first === undefined || last === undefined) throw new Error("a list of models asked none of them")
  if (failed.length === 1 || (prompt.paidOnce === true && failureCost(last.error) === "unknown")) {
    return isOutage(last.error) ? outageOf(last, [last], last.error.message) : last.error
  }
  const others = failed.filter((each) => each !== first).map((each) => said(earlierOf(each)))
  const message = `${first.error.message} (nor did ${others.join("; nor ")})`
  return isOutage(first.error) ? outageOf(first, failed, message) : withMessage(first.error, message)
}

const circuitOf = (models: ReadonlyArray<Service>, rests: Rests): Circuit => ({
  withheldMillis: Effect.fnUntraced(function* (named) {
    const now = yield* Clock.currentTimeMillis
    let least = Infinity
    for (const [index, { circuit }] of models.entries()) {
      const own = circuit === undefined ? 0 : yield* circuit.withheldMillis(index === 0 ? named : undefined)
      least = Math.min(least, Math.max(own, restMillis(rests, index, now)))
    }
    return least
  }),
  tryNow: Effect.suspend(() => {
    for (const [index, { isForOne }] of rests) if (!isForOne) rests.delete(index)
    return Effect.forEach(models, ({ circuit }) => circuit?.tryNow ?? Effect.void, { discard: true })
  })
})

const resting = (model: Service, retryAfterMs: number): CallWithheld => {
  const provider = model.serves?.server ?? model.serves?.provider ?? "a model"
  const message = `not asked: it named a time, and is asked again in ${retryAfterMs} ms`
  return new CallWithheld({ provider, message, retryAfterMs })
}

const promptFor = ({ serves }: Service, prompt: Prompt): Prompt =>
  serves?.output === "native" ? prompt : withOutputDescribed(prompt)

const listed = (models: ReadonlyArray<Service>, rests: Rests): Service => {
  const infer: Service["infer"] = Effect.fnUntraced(function* (prompt, options) {
    const failed: Array<Failed> = []
    const preview = new Preview(options)
    const { model: _, ...unnamed } = prompt
    for (const [index, model] of models.entries()) {
      const restingMillis = restMillis(rests, index, yield* Clock.currentTimeMillis)
      const asked =
        restingMillis > 0
          ? Result.fail(resting(model, restingMillis))
          : yield* Effect.result(model.infer(promptFor(model, index === 0 ? prompt : unnamed), preview.attempt()))
      if (Result.isSuccess(asked)) {
        noteEnd(rests, index, undefined, 0)
        const earlier = failed.map(earlierOf)
        const server = asked.success.server ?? model.serves?.server
        return { ...asked.success, ...defined({ server, earlier: earlier.length === 0 ? undefined : earlier }) }
      }
      noteEnd(rests, index, asked.failure, yield* Clock.currentTimeMillis)
      failed.push({ model, error: asked.failure })
      if (!mayAskNext(asked.failure, prompt)) break
    }
    return yield* Effect.fail(failureOf(failed, prompt))
  })
  const [first] = models
  const tools = models.every(({ serves }) => serves?.tools === "json") ? ("json" as const) : undefined
  const output = models.some(({ serves }) => serves?.output === "native") ? ("native" as const) : undefined
  const each = models.map(({ serves }) => serves?.accepts)
  const accepts = each.includes(undefined) ? undefined : [...new Set(each.flatMap((some) => some ?? []))]
  const { model, provider } = first?.serves ?? {}
  const isNamed = model !== undefined && provider !== undefined
  const serves = isNamed ? { provider, model, ...defined({ tools, output, accepts }) } : undefined
  return {
    infer,
    ...defined({ serves }),
    circuit: circuitOf(models, rests),
    inOrder: { models, dressed: (dressed) => listed(dressed, rests) }
  }
}

/** These models as one: the first that can, answers. Lists within are part of the list. */
export const firstOf = (models: readonly [Service, ...ReadonlyArray<Service>]): Service => {
  const all = models.flatMap((model) => model.inOrder?.models ?? [model])
  const [only] = all
  return only !== undefined && all.length === 1 ? only : listed(all, new Map())
}
