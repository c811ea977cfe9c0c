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
import { Model, type Reply } from "@reverie/model"
import {
  addUsage,
  defined,
  type HookRecord,
  type OpenJob,
  type PriceOf,
  type Purpose,
  sendingAssistant,
  type StepRecord,
  useOf
} from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { inHandOf } from "../commit/replies.ts"
import { compactHistory } from "../compact/compact-job.ts"
import { dream } from "../dream/dream-job.ts"
import { watchedModel } from "../outages/outage-book.ts"
import { contextTypeNow, restrictionOf } from "../prompt/layers.ts"
import { unmetered } from "../prompt/metered.ts"
import { noteRun, type Session } from "../session/session.ts"
import { runChild } from "../sub-agents/child-job.ts"
import { aroundEach, tracedModel } from "../telemetry/chat-span.ts"
import { attributes as named, COMPACTION, DREAM } from "../telemetry/names.ts"
import { agentAttributes, spanning } from "../telemetry/spans.ts"
import { guardedModel } from "./hooks.ts"
import { infer } from "./infer-job.ts"
import { limiterOf } from "./limiter.ts"
import { earlierIn, isMetered, type JobEnd, kindOf, pricesNow, Secrets, withHooks } from "./job-end.ts"
import { coordinateTeam } from "./team-job.ts"
import { brokenTool, runTool } from "./tool-job.ts"

// StandIn: what is given for the end of a job instead of running it.
// S1  A job that something stands in for is not begun: no model, no tool and no store is asked for it.

/** The end of a job; undefined where the job is to run. */
export type StandIn = (session: Session, job: OpenJob) => Effect.Effect<JobEnd | undefined>

export const StandIns = Context.Reference<StandIn>("@reverie/runtime/StandIns", {
  defaultValue: () => () => Effect.undefined
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
      return yield* Effect.provideService(run(session, job, recovered), Model, yield* unmetered(job))
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
