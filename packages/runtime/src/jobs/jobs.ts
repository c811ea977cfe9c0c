// Jobs: the durable pieces of work that a decision started.
// Owns which runner a job goes to. Leaves running to infer-job.ts, team-job.ts, tool-job.ts, `dream/` and `fold/`, when to
// run to host.ts.
// I1  What a job found out is used only after the commit that its end brings about.
// I2  Whatever a job asks of the model goes through the limits of its tenant (limits.ts). Embeddings do not.

import {
  type Assessment,
  assessmentText,
  assessTask,
  jobDone,
  jobFailed,
  readAssessment,
  type Task
} from "@reverie/assistant"
import { Model } from "@reverie/model"
import type { OpenJob } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Clock from "effect/Clock"
import { dream } from "../dream/dream-job.ts"
import { compactHistory } from "../compact/compact-job.ts"
import { infer } from "./infer-job.ts"
import { type JobEnd, kindOf } from "./job-end.ts"
import { limitedModel } from "./limits.ts"
import { watchedModel } from "../outages/watched-model.ts"
import { noteRun, type Session } from "../session/session.ts"
import { StandIns } from "../worker/stand-in.ts"
import { coordinateTeam } from "./team-job.ts"
import { tracedModel } from "../telemetry/chat-span.ts"
import { attributes as named, COMPACTION, DREAM } from "../telemetry/names.ts"
import { spanning } from "../telemetry/spans.ts"
import { agentAttributes } from "../telemetry/turn-trace.ts"
import { runChild } from "../sub-agents/child-job.ts"
import { isMetered, unreachable } from "../sub-agents/metered.ts"
import { brokenTool, runTool } from "./tool-job.ts"
import { contextTypeNow, restrictionOf } from "../prompt/layers.ts"

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
      elapsedMillis: (yield* Clock.currentTimeMillis) - startedAt,
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

/** Runs an open job to its end. `recovered` says that a crash may have cut an earlier run of it off. */
export const runJob = (session: Session, job: OpenJob, recovered: boolean) =>
  Effect.gen(function* () {
    const model = yield* limitedModel(session, job, yield* watchedModel(yield* Model))
    return yield* Effect.provideService(
      run(session, job, recovered),
      Model,
      job.src !== "infer" && isMetered(session) ? unreachable : tracedModel(session, model)
    )
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
    step: {
      id: job.id,
      kind: kindOf(job),
      name: job.name,
      ok: false,
      elapsedMillis: 0,
      detail: { error: failure.reason }
    }
  }
}
