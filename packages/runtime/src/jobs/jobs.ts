// Jobs: the durable pieces of work that a decision started.
// Owns which runner a job goes to. Leaves running to infer-job.ts, team-job.ts, tool-job.ts, `dream/` and `compact/`, when to
// run to host.ts.
// I1  What a job found out is used only after the commit that its end brings about.
// I2  Whatever a job asks of the model goes through the limits of its tenant. Embeddings do not.

import {
  type Assessment,
  assessmentText,
  assessTask,
  jobDone,
  jobFailed,
  readAssessment,
  type Task
} from "@reverie/assistant"
import { Allowance, type AllowanceAnswer, type TenantLimits } from "@reverie/ledger"
import {
  CallLimited,
  CallOverLimit,
  dearestCostMicros,
  failureCost,
  Model,
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
import {
  addressKey,
  addUsage,
  type Amount,
  defined,
  type HookRecord,
  type OpenJob,
  type PriceOf,
  type Purpose,
  sendingAssistant,
  type StepRecord,
  type TenantId,
  type Usage,
  useOf
} from "@reverie/protocol"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import { inHandOf } from "../commit/replies.ts"
import { compactHistory } from "../compact/compact-job.ts"
import { dream } from "../dream/dream-job.ts"
import { watchedModel } from "../outages/outage-book.ts"
import { contextTypeNow, restrictionOf } from "../prompt/layers.ts"
import { unreachable } from "../prompt/metered.ts"
import { noteRun, type Session } from "../session/session.ts"
import { runChild } from "../sub-agents/child-job.ts"
import { aroundEach, tracedModel } from "../telemetry/chat-span.ts"
import { attributes as named, COMPACTION, DREAM } from "../telemetry/names.ts"
import { agentAttributes, spanning } from "../telemetry/spans.ts"
import { guardedModel } from "./hooks.ts"
import { infer } from "./infer-job.ts"
import { earlierIn, isMetered, type JobEnd, kindOf, Limits, pricesNow, Secrets, withHooks } from "./job-end.ts"
import { coordinateTeam } from "./team-job.ts"
import { brokenTool, runTool } from "./tool-job.ts"

// StandIn: what is given for the end of a job instead of running it.
// S1  A job that something stands in for is not begun: no model, no tool and no store is asked for it.

/** The end of a job; undefined where the job is to run. */
export type StandIn = (session: Session, job: OpenJob) => Effect.Effect<JobEnd | undefined>

export const StandIns = Context.Reference<StandIn>("@reverie/runtime/StandIns", {
  defaultValue: () => () => Effect.undefined
})

// Limits: what the model calls of a tenant are held to, before they are sent.
// L1  Of a tenant with limits no call is sent that was not granted; of one without, no one is asked and nothing is written.
// L2  A call is granted for the most it may use, so its reply is cut to what is kept free for one; then what it used counts.
// L3  Where no one knows what a call has used, it counts in full: it was interrupted, or its answer was cut off. One that
//     no one began to answer counts as a call, and one that was never sent as nothing.
// L4  Calls of one run of a job are apart, and so are runs of a job: the call of a run that crashed counts beside the next.
//     So are the models of a list: each that is asked is a call.

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

const limiterOf = (session: Session, job: OpenJob) =>
  Effect.flatMap(Limits, ({ of, tariff }) => {
    const limits = of(session.address.tenant)
    return limits === undefined ? Effect.succeed(unlimited) : limitedBy(limits, tariff, session, job)
  })

const limitedBy = Effect.fnUntraced(function* (limits: TenantLimits, tariff: Tariff, session: Session, job: OpenJob) {
  const { address, claim, definition } = session
  const { tenant } = address
  const priceOf = yield* pricesNow(session)
  const allowance = Option.getOrThrowWith(
    yield* Effect.serviceOption(Allowance),
    () => new Error("tenants have limits, and the store keeps no allowance")
  )
  const tokens = yield* Tokens
  const count = isMeasured(limits) ? yield* tokens.ready : undefined
  const unavailable = ({ message }: { readonly message: string }) =>
    new ModelUnavailable({ provider: PROVIDER, kind: "network", message })
  let calls = 0
  const limited: Dress = (model) => ({
    ...model,
    infer: (asked, options) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function* () {
          const key = `${addressKey(address)}/${job.id}/${claim.epoch}/${++calls}`
          const reserved = definition.reservedResponseTokens
          const dearest = dearestBy(tariff, priceOf, model, asked)
          const { amounts, prompt } = yield* tokens.inSlices(() => measured(asked, reserved, dearest, count))
          const leaseMillis = CALL_LEASE_MILLIS
          // Anyone who is stopped meanwhile leaves a reservation that counts in full, as one who dies does.
          const reserving = restore(allowance.reserve({ tenant, key, amounts, limits, leaseMillis }))
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

// AssessJob: weighs a task before the first model call.
// I1  A model that can not be asked, or answers nonsense, leaves the heuristic's assessment.

/** What started the tick, in the words that are in history. */
const taskOf = ({ window }: Session): Task => {
  const message = window.messages.findLast(({ role }) => role === "user")
  return { type: message?.name === "clock" ? "timer" : "message", text: message?.content ?? "" }
}

const byModel = Effect.fnUntraced(function* (task: Task, job: OpenJob) {
  const model = yield* Model
  const prompt = {
    messages: [{ role: "user" as const, content: assessmentText(task) }],
    tools: [],
    callPrefix: job.id
  }
  return yield* model.infer(prompt).pipe(
    Effect.map(({ text }) => readAssessment(text, task)),
    Effect.catch(() => Effect.succeed(assessTask(task)))
  )
})

const assess = Effect.fnUntraced(function* (session: Session, job: OpenJob): Effect.fn.Return<JobEnd, never, Model> {
  const startedAt = yield* Clock.currentTimeMillis
  const by = session.definition.assessWith ?? "heuristic"
  const task = taskOf(session)
  const found = by === "model" ? yield* byModel(task, job) : assessTask(task)
  const assessment: Assessment = { ...found, by, context_signals: { event_class: found.event_class } }
  const restriction = restrictionOf(session, contextTypeNow(session), assessment)
  return {
    job,
    event: jobDone(job.name, { restriction }),
    messages: [],
    step: {
      id: job.id,
      kind: "assess",
      name: "assess",
      ok: true,
      elapsedMs: (yield* Clock.currentTimeMillis) - startedAt,
      detail: { by, ...found }
    }
  }
})

const run = Effect.fnUntraced(function* (session: Session, job: OpenJob, recovered: boolean) {
  const stoodIn = yield* (yield* StandIns)(session, job)
  if (stoodIn !== undefined) {
    noteRun(session, job, stoodIn.records)
    return stoodIn
  }
  switch (job.src) {
    case "infer": {
      const { team } = session.definition
      return team === undefined ? yield* infer(session, job, recovered) : yield* coordinateTeam(session, job, team)
    }
    case "tool":
      return yield* runTool(session, job, recovered)
    case "child":
      return yield* runChild(session, job)
    case "assess":
      return yield* assess(session, job)
    case "dream":
      return yield* spanning(() => stepRequest(DREAM, session, job))(() => dream(session, job))
    default:
      return yield* spanning(() => stepRequest(COMPACTION, session, job))(() => compactHistory(session, job))
  }
})

/** One step of a dream, or of a compaction, as a span. */
const stepRequest = (name: typeof DREAM | typeof COMPACTION, session: Session, { input }: OpenJob) => {
  const { operation, phase } = input as { readonly operation?: string; readonly phase?: string }
  const what = name === DREAM ? { [named.dreamOperation]: operation } : { [named.compactionPhase]: phase }
  return { name, attributes: { ...agentAttributes(session), ...what } }
}

// OwnModel: the model that a job asks in the place of the fleet's.
// O1  Where a definition names none, none is looked for.

const purposeOf = ({ input, src }: OpenJob): Purpose => {
  switch (src) {
    case "assess":
    case "compact":
      return src
    case "dream":
      return (input as { readonly operation?: string }).operation === "profiling" ? "profile" : "dream"
    default:
      return "answer"
  }
}

const ownModel = (session: Session, job: OpenJob): Model["Service"] | undefined => {
  const { modelFor } = session.definition
  if (modelFor === undefined) return undefined
  const purpose = purposeOf(job)
  const asker = purpose === "answer" && modelFor.forTeams !== undefined ? inHandOf(session)?.from : undefined
  const forTeam = asker === undefined ? undefined : modelFor.forTeams?.get(sendingAssistant(asker) ?? "")
  return forTeam ?? modelFor[purpose]
}

/** The model, whose replies are kept. */
const keeping = (model: Model["Service"], heard: Array<Reply>): Model["Service"] => ({
  ...model,
  infer: (prompt, options) => Effect.tap(model.infer(prompt, options), (reply) => Effect.sync(() => heard.push(reply)))
})

/** What was begun and came to no step of its own has cost what its calls did all the same. */
const bareStep = (job: OpenJob): StepRecord => ({
  id: job.id,
  kind: kindOf(job),
  name: job.name,
  ok: false,
  elapsedMs: 0
})

/** With what the calls took and cost, who answered, and which models of a list did not. A tick says the latter itself. */
const withHeard = (end: JobEnd, heard: ReadonlyArray<Reply>, priceOf: PriceOf, hide: <A>(value: A) => A): JobEnd => {
  const [first, ...others] = heard
  if (first === undefined) return end
  const { job, step = bareStep(job) } = end
  const billed = { ...step, spent: useOf(heard, priceOf) }
  if (job.src === "infer") return { ...end, step: billed }
  const usage = others.reduce((sum, reply) => addUsage(sum, reply.usage), first.usage)
  const model = [...new Set(heard.map((reply) => reply.model))].join(", ")
  const earlier = heard.flatMap((reply) => reply.earlier ?? [])
  const asked = { model, ...defined({ earlier: earlierIn(hide(earlier)) }) }
  return { ...end, step: { ...billed, usage, detail: { ...step.detail, ...asked } } }
}

/** Runs an open job to its end. `recovered` says that a crash may have cut an earlier run of it off. */
export const runJob = (session: Session, job: OpenJob, recovered: boolean) =>
  Effect.gen(function* () {
    const watched = yield* watchedModel(ownModel(session, job) ?? (yield* Model))
    const limited = yield* limiterOf(session, job)
    const isTick = job.src === "infer"
    if (!isTick && isMetered(session)) {
      return yield* Effect.provideService(run(session, job, recovered), Model, unreachable)
    }
    const model = aroundEach(watched, (each) => tracedModel(session, limited(each)))
    const heard: Array<Reply> = []
    const hooks: Array<HookRecord> = []
    const { hide } = yield* Secrets
    const kept = keeping(model, heard)
    const isGuarded = !isTick && session.definition.hooks !== undefined
    const asked = isGuarded ? guardedModel({ session, hide }, kept, purposeOf(job), hooks) : kept
    const end = withHooks(yield* Effect.provideService(run(session, job, recovered), Model, asked), hooks)
    return heard.length === 0 ? end : withHeard(end, heard, yield* pricesNow(session), hide)
  })

/** A job that has no end of its own: said to the statechart as its failure. */
export const failedJob = (
  session: Session,
  job: OpenJob,
  failure: { readonly recovery: "retry" | "tell-owner"; readonly reason: string },
  now: number
): JobEnd => {
  if (job.src === "tool") return brokenTool(session, job, failure.reason, now)
  return {
    job,
    event: jobFailed(job.name, failure),
    messages: [],
    step: { ...bareStep(job), detail: { error: failure.reason } }
  }
}
