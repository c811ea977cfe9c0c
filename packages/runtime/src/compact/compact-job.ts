// CompactJob: one step of a compaction as a job.
// Owns which phase runs. Leaves the phases to the modules beside it.
// J1  Whatever fails in a phase leaves the history as it was, with no draft of a compaction behind.
// J2  A model that is away fails no phase: its draft stays, and the same step is tried again.

import type { CompactionPhase } from "@reverie/assistant"
import type { OpenJob } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Session } from "../session.ts"
import { extracting } from "./extracting.ts"
import { endOf } from "./phase.ts"
import { replacing } from "./replacing.ts"
import { summarizing } from "./summarizing.ts"

const run = Effect.fnUntraced(function* (session: Session, job: OpenJob, phase: CompactionPhase) {
  switch (phase) {
    case "extracting":
      return yield* extracting(session, job)
    case "summarizing":
      return yield* summarizing(session, job)
    case "replacing":
      return yield* replacing(session)
  }
})

export const compactHistory = Effect.fnUntraced(function* (session: Session, job: OpenJob) {
  const { phase } = job.input as { readonly phase: CompactionPhase }
  const startedAt = yield* Clock.currentTimeMillis
  const step = yield* run(session, job, phase)
  return yield* endOf(session, job, startedAt, step)
})
