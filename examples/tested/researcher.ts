// Researcher: an assistant that hands parts of a question on to sub-agents, within a budget.

import { defineAssistant } from "reverie"

export const researcher = defineAssistant({
  id: "researcher",
  instructions: "You answer questions. Hand each part of one on, and join the reports.",
  budget: { tokens: 20_000 },
  subAgents: { maxConcurrent: 2, budget: { tokens: 2_500, timeoutMs: 60_000 } }
})
