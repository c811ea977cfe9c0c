// AssessJob: weighs a task before the first model call.
// Owns asking the heuristic, or the model where the definition says so, and what follows for the pattern.
// Leaves the rules of both to `assistant`.
// I1  A model that can not be asked, or answers nonsense, leaves the heuristic's assessment.

import { type Assessment, assessmentText, assessTask, jobDone, readAssessment, type Task } from "@reverie/assistant"
import { Model } from "@reverie/model"
import type { OpenJob } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { JobEnd } from "./job-end.ts"
import { contextTypeNow, restrictionOf } from "./layers.ts"
import type { Session } from "./session.ts"

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

export const assess = Effect.fnUntraced(function* (
  session: Session,
  job: OpenJob
): Effect.fn.Return<JobEnd, never, Model> {
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
