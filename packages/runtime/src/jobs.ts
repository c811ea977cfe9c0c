// Jobs: the durable pieces of work that a decision started.
// Owns which runner a job goes to. Leaves running to infer-job.ts and tool-job.ts, when to run to host.ts.
// I1  What a job found out is used only after the commit that its end brings about.

import { jobDone, jobFailed } from "@reverie/assistant"
import type { OpenJob } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { assess } from "./assess-job.ts"
import { infer } from "./infer-job.ts"
import { type JobEnd, kindOf } from "./job-end.ts"
import type { Session } from "./session.ts"
import { brokenTool, runTool } from "./tool-job.ts"

const NOTHING_TO_DO = "not part of this version yet"

/** Dreams and compactions: answered `skipped`, which the entry and a notice say, until their rooms exist. */
const skipped = (job: OpenJob): JobEnd => {
  const input = job.input as { readonly operation?: string; readonly phase?: string }
  return {
    job,
    event: jobDone(job.name, { skipped: true }),
    messages: [],
    step: {
      id: job.id,
      kind: kindOf(job),
      name: `${job.src} ${input.operation ?? input.phase ?? ""}`.trim(),
      ok: true,
      elapsedMillis: 0,
      detail: { skipped: NOTHING_TO_DO }
    }
  }
}

/** Runs an open job to its end. `recovered` says that a crash may have cut an earlier run of it off. */
export const runJob = (session: Session, job: OpenJob, recovered: boolean) => {
  switch (job.src) {
    case "infer":
      return infer(session, job)
    case "tool":
      return runTool(session, job, recovered)
    case "assess":
      return assess(session, job)
    default:
      return Effect.succeed(skipped(job))
  }
}

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
