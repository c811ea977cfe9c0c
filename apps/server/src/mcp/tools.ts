// Tools: what an MCP client may do with a fleet.
// Owns their list. Leaves each to its file, carrying them out to a fleet, the protocol to mcp-server.ts.
// T1  They are listed in one order, always the same: that of their names.
// T2  Arguments that do not fit are refused before anything is asked, in words that a model can act on.
// T3  Whoever may only look is not offered what says something, and is refused it.

import { agentsAnswer, agentsList, agentsSend, agentsStatus } from "./agent-tools.ts"
import { memoryRead, memorySearch } from "./memory-tools.ts"
import type { McpTool } from "./tool.ts"

export const mcpTools = (freshId: () => string): ReadonlyArray<McpTool> => [
  agentsAnswer,
  agentsList,
  agentsSend(freshId),
  agentsStatus,
  memoryRead,
  memorySearch
]
