// Vocabulary: every name that the statechart is written in.
// Owns putting them together. Leaves what each does to machine/, the states to machine.ts.

import { base } from "./base.ts"
import { compactionActions, compactionGuards } from "./compaction.ts"
import { dreamActions, dreamGuards } from "./dream.ts"
import { haltActions } from "./halt.ts"
import { modelCallActions, modelCallGuards } from "./model-call.ts"
import { subAgentActions, subAgentGuards } from "./sub-agents.ts"
import { tickActions, tickGuards } from "./tick.ts"
import { toolCallActions, toolCallGuards } from "./tool-calls.ts"

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
