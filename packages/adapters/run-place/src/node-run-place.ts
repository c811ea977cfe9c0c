// NodeRunPlace: where runs take place under Node: watched in this process, or in one of their own.
// Owns the adapter of the port. Leaves finding the run of a stray to guard.ts, the other process to isolated.ts.

import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { type Place, RunPlace } from "@reverie/tools"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { guardProcess, type GuardedRun, inRun, outsideRuns } from "./runs.ts"
import { runIsolated } from "./isolated.ts"

/** A rejection without a handler is reported before the next turn of the event loop. */
const settled = Effect.callback<void>((resume) => {
  const turn = outsideRuns(() => setImmediate(() => resume(Effect.void)))
  return Effect.sync(() => clearImmediate(turn))
})

const flawOf = (module: string): string | undefined => {
  const path = fileURLToPath(module)
  return existsSync(path) ? undefined : `there is no module ${path}`
}

export const nodeRunPlace: Place = {
  watch: ({ assistant, call, hide, says: said, tenant, tool }, onStray) => {
    const says = said ?? `the call ${call} of the tool "${tool}" of ${tenant}/${assistant}`
    const run: GuardedRun = { says, hide, onStray, isOver: false, lateLines: 0 }
    return {
      inside: (code) => inRun(run, code),
      outside: outsideRuns,
      settled,
      end: () => {
        run.isOver = true
      }
    }
  },
  isolated: runIsolated,
  flawOf
}

/** Guards the process as long as it is there. */
export const runPlaceLayer: Layer.Layer<never> = Layer.effect(
  RunPlace,
  Effect.as(
    Effect.acquireRelease(
      Effect.sync(() => guardProcess()),
      (release) => Effect.sync(release)
    ),
    nodeRunPlace
  )
)
