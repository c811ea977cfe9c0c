// Limiter: what the model calls of a tenant are held to, before they are sent.
// Owns asking for a grant and settling it. Leaves the arithmetic and what is kept to the allowance of the ledger room.
// L1  Of a tenant with limits no call is sent that was not granted; of one without, nothing is written.
// L2  A call is granted for the most it may use, so its reply is cut to what is kept free for one; then what it used counts.
// L3  Where no one knows what a call has used, it counts in full: it was interrupted, or its answer was cut off. One that
//     no one began to answer counts as a call, and one that was never sent as nothing.
// L4  Calls of one run of a job are apart, and so are runs of a job: the call of a run that crashed counts beside the next.
//     So are the models of a list: each that is asked is a call.

import { Allowance, type AllowanceAnswer, type TenantLimits } from "@reverie/ledger"
import {
  CallLimited,
  CallOverLimit,
  dearestCostMicros,
  failureCost,
  type Model,
  type ModelError,
  ModelUnavailable,
  outputText,
  type Prompt,
  type Reply,
  type Tariff,
  Tokens,
  TOKENS_PER_MESSAGE,
  tokensOfParts
} from "@reverie/model"
import { addressKey, type Amount, type OpenJob, type PriceOf, type TenantId, type Usage } from "@reverie/protocol"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import type { Session } from "../session/session.ts"
import { Limits, pricesNow } from "./job-end.ts"

/** Model calls that were held back, by the limit that did it. */
export const refusedCalls = Metric.counter("reverie_model_calls_refused_total", { incremental: true })

/** Longer than any adapter takes for a call, its own retries included. */
const CALL_LEASE_MILLIS = 10 * 60_000
/** Before the lease ends a call has been stopped and settled. */
const CALL_MILLIS = CALL_LEASE_MILLIS - 30_000

const PROVIDER = "allowance"

type Count = (text: string) => number

type TokensOfCall = Pick<Usage, "inputTokens" | "outputTokens">

/** Most that a call may cost: which model answers it is not known before. */
const dearestBy =
  (tariff: Tariff, priceOf: PriceOf, { serves }: Model["Service"], { model }: Prompt) =>
  (tokens: TokensOfCall): number =>
    Math.max(
      model === undefined ? dearestCostMicros(tariff, tokens) : 0,
      priceOf(model ?? serves?.model ?? "", tokens) ?? 0
    )

/** What a prompt and its reply may come to. */
interface Measure {
  readonly prompt: Prompt
  readonly amounts: Amount
}

const isMeasured = ({ costMicrosPerDay, costMicrosPerMinute, tokensPerDay, tokensPerMinute }: TenantLimits): boolean =>
  [costMicrosPerDay, costMicrosPerMinute, tokensPerDay, tokensPerMinute].some((limit) => limit !== undefined)

const promptTokens = ({ messages, output, tools }: Prompt, count: Count): number =>
  messages.reduce(
    (sum, { calls, content, parts = [] }) =>
      sum +
      TOKENS_PER_MESSAGE +
      count(content) +
      tokensOfParts(parts, count) +
      (calls === undefined ? 0 : count(JSON.stringify(calls))),
    (tools.length === 0 ? 0 : count(JSON.stringify(tools))) + (output === undefined ? 0 : count(outputText(output)))
  )

/** Counting takes time in proportion to the prompt, so it is done only where it matters. */
const measured = (
  prompt: Prompt,
  reserved: number,
  dearest: (tokens: TokensOfCall) => number,
  count: Count | undefined
): Measure => {
  if (count === undefined) return { prompt, amounts: { calls: 1, tokens: 0, costMicros: 0 } }
  const maxOutputTokens = prompt.maxOutputTokens ?? reserved
  const tokens = { inputTokens: promptTokens(prompt, count), outputTokens: maxOutputTokens }
  return {
    prompt: { ...prompt, maxOutputTokens },
    amounts: { calls: 1, tokens: tokens.inputTokens + tokens.outputTokens, costMicros: dearest(tokens) }
  }
}

const failedUse = (error: ModelError, amounts: Amount): Amount => {
  const cost = failureCost(error)
  return cost === "unknown" ? amounts : { calls: cost === "unsent" ? 0 : 1, tokens: 0, costMicros: 0 }
}

const usedBy = (exit: Exit.Exit<Reply, ModelError>, priceOf: PriceOf, amounts: Amount): Amount => {
  if (Exit.isSuccess(exit)) {
    const { model, usage } = exit.value
    const tokens = usage.inputTokens + usage.outputTokens
    return { calls: 1, tokens, costMicros: priceOf(model, usage) ?? 0 }
  }
  const error = Cause.findErrorOption(exit.cause)
  return Option.isSome(error) ? failedUse(error.value, amounts) : amounts
}

type Refusal = Extract<AllowanceAnswer, { readonly outcome: "refused" }>

const refusedFor = Effect.fnUntraced(function* (tenant: TenantId, { limit, until }: Refusal) {
  yield* Metric.update(Metric.withAttributes(refusedCalls, { reason: limit }), 1)
  if (until === undefined) {
    const message = `this call alone is larger than the limit ${limit} of the tenant ${tenant}; it was not sent`
    return yield* new CallOverLimit({ provider: PROVIDER, limit, message })
  }
  const time = new Date(until).toISOString()
  const message = `the limit ${limit} of the tenant ${tenant} leaves no room until ${time}; the call was not sent`
  const retryAfterMs = Math.max(1, until - (yield* Clock.currentTimeMillis))
  return yield* new CallLimited({ provider: PROVIDER, limit, message, retryAfterMs })
})

const tooLong = new ModelUnavailable({
  provider: PROVIDER,
  kind: "timeout",
  message: "the call took too long",
  begun: true
})

/** Dresses a model as the calls of one run of a job reach it. */
type Dress = (model: Model["Service"]) => Model["Service"]

const unlimited: Dress = (model) => model

export const limiterOf = Effect.fnUntraced(function* (session: Session, job: OpenJob) {
  const { of, tariff } = yield* Limits
  const said = of(session.address.tenant)
  const allowance = Option.getOrUndefined(yield* Effect.serviceOption(Allowance))
  if (allowance !== undefined) return yield* limitedBy({ allowance, said: said ?? {}, tariff }, session, job)
  if (said !== undefined) throw new Error("tenants have limits, and the store keeps no allowance")
  return unlimited
})

interface Terms {
  readonly allowance: Allowance["Service"]
  /** What the program limits; what was set stands in its place. */
  readonly said: TenantLimits
  readonly tariff: Tariff
}

const limitedBy = Effect.fnUntraced(function* ({ allowance, said, tariff }: Terms, session: Session, job: OpenJob) {
  const { address, claim, definition } = session
  const { tenant } = address
  const priceOf = yield* pricesNow(session)
  const tokens = yield* Tokens
  const unavailable = ({ message }: { readonly message: string }) =>
    new ModelUnavailable({ provider: PROVIDER, kind: "network", message })
  let calls = 0
  const limited: Dress = (model) => ({
    ...model,
    infer: (asked, options) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function* () {
          const set = yield* Effect.mapError(restore(allowance.limits(tenant)), unavailable)
          const limits = { ...said, ...set }
          if (Object.keys(limits).length === 0) return yield* restore(model.infer(asked, options))
          const key = `${addressKey(address)}/${job.id}/${claim.epoch}/${++calls}`
          const reserved = definition.reservedResponseTokens
          const dearest = dearestBy(tariff, priceOf, model, asked)
          const count = isMeasured(limits) ? yield* tokens.ready : undefined
          const { amounts, prompt } = yield* tokens.inSlices(() => measured(asked, reserved, dearest, count))
          const leaseMillis = CALL_LEASE_MILLIS
          // Anyone who is stopped meanwhile leaves a reservation that counts in full, as one who dies does.
          const reserving = restore(allowance.reserve({ tenant, key, amounts, limits: said, leaseMillis }))
          const answer = yield* Effect.mapError(reserving, unavailable)
          if (answer.outcome === "refused") return yield* refusedFor(tenant, answer)
          const call = model
            .infer(prompt, options)
            .pipe(Effect.timeoutOrElse({ duration: CALL_MILLIS, orElse: () => Effect.fail(tooLong) }))
          // A call that could not be settled counts in full.
          const settled = (exit: Exit.Exit<Reply, ModelError>) =>
            Effect.ignore(allowance.settle(tenant, key, usedBy(exit, priceOf, amounts)))
          return yield* Effect.onExit(restore(call), settled)
        })
      )
  })
  return limited
})
