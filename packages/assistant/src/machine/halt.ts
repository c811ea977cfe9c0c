// Halt: why an assistant stands still, and going on afterwards.
// Owns what is recorded of it. Leaves the sub-agents, which halt with it, to sub-agents.ts.

import * as Now from "../context.ts"
import { inferFailure } from "../events.ts"
import { changing } from "./base.ts"

export const haltActions = {
  recordHalt: changing((_, event) => (event.type === "halt" ? Now.halted(event.reason) : {})),
  recordHaltByFailure: changing((_, event) => Now.halted(inferFailure(event).reason)),
  recordResume: changing(() => ({ ...Now.answered(), haltReason: null }))
}
