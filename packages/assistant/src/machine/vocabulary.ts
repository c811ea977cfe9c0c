// Vocabulary: every name that the statechart is written in.
// Owns putting them together. Leaves what each does to machine/, the states to machine.ts.

import {
  base,
  changing,
  compactionActions,
  compactionGuards,
  dreamActions,
  dreamGuards,
  modelCallActions,
  modelCallGuards,
  tickActions,
  tickGuards
} from "./base.ts"
import { subAgentActions, subAgentGuards, toolCallActions, toolCallGuards } from "./tool-calls.ts"
import * as Now from "../context.ts"
import { inferFailure } from "../events.ts"

// Halt: why an assistant stands still, and going on afterwards.

const haltActions = {
  recordHalt: changing((_, event) => (event.type === "halt" ? Now.halted(event.reason) : {})),
  recordHaltByFailure: changing((_, event) => Now.halted(inferFailure(event).reason)),
  recordResume: changing(() => ({ ...Now.answered(), haltReason: null }))
}

export const vocabulary = base.extend({
  guards: {
    ...tickGuards,
    ...modelCallGuards,
    ...toolCallGuards,
    ...dreamGuards,
    ...compactionGuards,
    ...subAgentGuards
  },
  actions: {
    ...tickActions,
    ...modelCallActions,
    ...toolCallActions,
    ...dreamActions,
    ...compactionActions,
    ...subAgentActions,
    ...haltActions
  }
})
