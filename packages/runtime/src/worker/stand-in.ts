// StandIn: what is given for the end of a job instead of running it.
// Owns the seam. Leaves what stands in to whoever tries a tick again beside the fleet; in a fleet nothing does.
// S1  A job that something stands in for is not begun: no model, no tool and no store is asked for it.

import type { OpenJob } from "@reverie/protocol"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { JobEnd } from "../jobs/job-end.ts"
import type { Session } from "../session/session.ts"

/** The end of a job; undefined where the job is to run. */
export type StandIn = (session: Session, job: OpenJob) => Effect.Effect<JobEnd | undefined>

export const StandIns = Context.Reference<StandIn>("@reverie/runtime/StandIns", {
  defaultValue: () => () => Effect.undefined
})
