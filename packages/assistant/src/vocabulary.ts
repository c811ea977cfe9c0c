// Vocabulary: every name that the statechart is written in.
// Owns putting them together. Leaves what each does to machine/, the states to machine.ts.

import { base } from "./machine/base.ts"
import { compactionActions, compactionGuards } from "./machine/compaction.ts"
import { dreamActions, dreamGuards } from "./machine/dream.ts"
import { haltActions } from "./machine/halt.ts"
import { modelCallActions, modelCallGuards } from "./machine/model-call.ts"
import { subAgentActions, subAgentGuards } from "./machine/sub-agents.ts"
import { tickActions, tickGuards } from "./machine/tick.ts"
import { toolCallActions, toolCallGuards } from "./machine/tool-calls.ts"

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
