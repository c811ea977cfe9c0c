// Limits: what the model calls of a tenant are held to, before they are sent.
// Owns asking the allowance for a call and settling it. Leaves the arithmetic to `ledger`, and what becomes of a call that
// is held back to the statechart.
// L1  Of a tenant with limits no call is sent that was not granted; of one without, nobody is asked and nothing is written.
// L2  A call is granted for the most it may use, so its reply is cut to what is kept free for one; then what it used counts.
// L3  Where nobody knows what a call has used, it counts in full: it was interrupted, or its answer was cut off. One that
//     nobody began to answer counts as a call, and one that was never sent as nothing.
// L4  Calls of one run of a job are apart, and so are runs of a job: the call of a run that crashed counts beside the next.

import { Allowance, type AllowanceAnswer, type TenantLimits } from "@reverie/ledger"
import {
  CallLimited,
  CallOverLimit,
  costMicrosOf,
  dearestCostMicros,
  failureCost,
  type Model,
  type ModelError,
  ModelUnavailable,
  type Prompt,
  type Reply,
  type Tariff,
  Tokens,
  TOKENS_PER_MESSAGE
} from "@reverie/model"
import { addressKey, type Amount, type OpenJob, type TenantId } from "@reverie/protocol"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import type { Session } from "../session/session.ts"

/** What tenants may use, and what it costs. By default nothing is limited. */
export const Limits = Context.Reference<{
  readonly of: (tenant: TenantId) => TenantLimits | undefined
  readonly tariff: Tariff
}>("@reverie/runtime/Limits", { defaultValue: () => ({ of: () => undefined, tariff: {} }) })

/** Model calls that were held back, by the limit that did it. */
export const refusedCalls = Metric.counter("reverie_model_calls_refused_total", { incremental: true })

/** Longer than any adapter takes for a call, its own retries included. */
const CALL_LEASE_MILLIS = 10 * 60_000
/** Before the lease ends a call has been stopped and settled. */
const CALL_MILLIS = CALL_LEASE_MILLIS - 30_000

const PROVIDER = "allowance"

type Count = (text: string) => number

/** What a prompt and its reply may come to. */
interface Measure {
  readonly prompt: Prompt
  readonly amounts: Amount
}

const isMeasured = ({ costMicrosPerDay, costMicrosPerMinute, tokensPerDay, tokensPerMinute }: TenantLimits): boolean =>
  [costMicrosPerDay, costMicrosPerMinute, tokensPerDay, tokensPerMinute].some((limit) => limit !== undefined)

const promptTokens = ({ messages, tools }: Prompt, count: Count): number =>
  messages.reduce(
    (sum, { calls, content }) =>
      sum + TOKENS_PER_MESSAGE + count(content) + (calls === undefined ? 0 : count(JSON.stringify(calls))),
    tools.length === 0 ? 0 : count(JSON.stringify(tools))
  )

/** Counting takes time in proportion to the prompt, so it is done only where it matters. */
const measured = (prompt: Prompt, reserved: number, tariff: Tariff, count: Count | undefined): Measure => {
  if (count === undefined) return { prompt, amounts: { calls: 1, tokens: 0, costMicros: 0 } }
  const maxOutputTokens = prompt.maxOutputTokens ?? reserved
  const tokens = { inputTokens: promptTokens(prompt, count), outputTokens: maxOutputTokens }
  const costMicros =
    prompt.model === undefined ? dearestCostMicros(tariff, tokens) : costMicrosOf(tariff, prompt.model, tokens)
  return {
    prompt: { ...prompt, maxOutputTokens },
    amounts: { calls: 1, tokens: tokens.inputTokens + tokens.outputTokens, costMicros }
  }
}

const failedUse = (error: ModelError, amounts: Amount): Amount => {
  const cost = failureCost(error)
  return cost === "unknown" ? amounts : { calls: cost === "unsent" ? 0 : 1, tokens: 0, costMicros: 0 }
}

const usedBy = (exit: Exit.Exit<Reply, ModelError>, tariff: Tariff, amounts: Amount): Amount => {
  if (Exit.isSuccess(exit)) {
    const { model, usage } = exit.value
    const tokens = usage.inputTokens + usage.outputTokens
    return { calls: 1, tokens, costMicros: costMicrosOf(tariff, model, usage) }
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
  const retryAfterMillis = Math.max(1, until - (yield* Clock.currentTimeMillis))
  return yield* new CallLimited({ provider: PROVIDER, limit, message, retryAfterMillis })
})

const tooLong = new ModelUnavailable({
  provider: PROVIDER,
  kind: "timeout",
  message: "the call took too long",
  begun: true
})

/** The model as the calls of one run of a job reach it. */
export const limitedModel = Effect.fnUntraced(function* (session: Session, job: OpenJob, model: Model["Service"]) {
  const { of, tariff } = yield* Limits
  const { address, claim, definition } = session
  const { tenant } = address
  const limits = of(tenant)
  if (limits === undefined) return model
  const allowance = Option.getOrThrowWith(
    yield* Effect.serviceOption(Allowance),
    () => new Error("tenants have limits, and the store keeps no allowance")
  )
  const tokens = yield* Tokens
  const count = isMeasured(limits) ? yield* tokens.ready : undefined
  const unavailable = ({ message }: { readonly message: string }) =>
    new ModelUnavailable({ provider: PROVIDER, kind: "network", message })
  let calls = 0
  const limited: Model["Service"] = {
    ...model,
    infer: (asked, options) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function* () {
          const key = `${addressKey(address)}/${job.id}/${claim.epoch}/${++calls}`
          const reserved = definition.reservedResponseTokens
          const { amounts, prompt } = yield* tokens.inSlices(() => measured(asked, reserved, tariff, count))
          const leaseMillis = CALL_LEASE_MILLIS
          // Whoever is stopped meanwhile leaves a reservation that counts in full, as one who dies does.
          const reserving = restore(allowance.reserve({ tenant, key, amounts, limits, leaseMillis }))
          const answer = yield* Effect.mapError(reserving, unavailable)
          if (answer.outcome === "refused") return yield* refusedFor(tenant, answer)
          const call = model
            .infer(prompt, options)
            .pipe(Effect.timeoutOrElse({ duration: CALL_MILLIS, orElse: () => Effect.fail(tooLong) }))
          // A call that could not be settled counts in full.
          const settled = (exit: Exit.Exit<Reply, ModelError>) =>
            Effect.ignore(allowance.settle(tenant, key, usedBy(exit, tariff, amounts)))
          return yield* Effect.onExit(restore(call), settled)
        })
      )
  }
  return limited
})
