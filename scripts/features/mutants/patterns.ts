// Pattern mutants: breaks of the three layers of the execution pattern, and of the signals that narrow it.

import type { Mutant } from "./mutant.ts"

const select = "packages/assistant/src/patterns/select-pattern.ts"
const settings = "packages/assistant/src/settings.ts"

export const patternMutants: ReadonlyArray<Mutant> = [
  {
    row: "F32",
    file: select,
    find: "Math.min(executionModes.indexOf(one), executionModes.indexOf(other))",
    put: "Math.max(executionModes.indexOf(one), executionModes.indexOf(other))"
  },
  { row: "F33", file: settings, find: "subAgentBudget: 3,", put: "subAgentBudget: 4," },
  {
    row: "F34",
    file: select,
    find: "Math.max(1, Math.min(limit, Math.floor(request)))",
    put: "Math.max(1, Math.floor(request))"
  },
  {
    row: "F35",
    file: select,
    find: "return settings.multiAction ? pattern : singleAction(pattern)",
    put: "return pattern"
  },
  {
    row: "F36",
    file: select,
    find: "subAgents: pattern.subAgents && (restriction.subAgents ?? true)",
    put: "subAgents: pattern.subAgents"
  },
  {
    row: "F37",
    file: select,
    find: "mode: isMode(recommended_mode) ? recommended_mode : undefined,",
    put: "mode: undefined,"
  },
  {
    row: "F38",
    file: select,
    find: `if (token_pressure === "critical") requests.push({ source, mode: "single_action" })`,
    put: ""
  },
  {
    row: "F39",
    file: select,
    find: `if (token_pressure === "high") requests.push({ source, maxIterations: PRESSED_ITERATIONS })`,
    put: ""
  },
  { row: "F40", file: select, find: "if (recent_errors >= 3)", put: "if (recent_errors > 3)" },
  { row: "F41", file: select, find: "else if (recent_errors >= 2)", put: "else if (recent_errors > 2)" },
  {
    row: "F42",
    file: select,
    find: `if (event_class === "communication") requests.push({ source, mode: "single_action" })`,
    put: ""
  },
  {
    row: "F43",
    file: select,
    find: `if (event_class === "building") requests.push({ source, confirm: true })`,
    put: ""
  },
  {
    row: "F44",
    file: "packages/runtime/src/prompt/layers.ts",
    find: "...defined({ goal_urgency: urgencyOf(session) })",
    put: ""
  },
  { row: "F45", file: select, find: "  multi_tool_enabled: pattern.multiTool,", put: "" },
  {
    row: "F46",
    file: select,
    find: `source: isContexts ? "context" : "static" }`,
    put: `source: isContexts ? "static" : "static" }`
  },
  {
    row: "F116",
    file: "packages/assistant/src/context.ts",
    find: "ok ? 0 : context.toolFailures + 1",
    put: "ok ? context.toolFailures : context.toolFailures + 1"
  },
  {
    row: "F117",
    file: "packages/runtime/src/prompt/layers.ts",
    find: `isMessage ? "communication" : "goal_action"`,
    put: `isMessage ? "goal_action" : "goal_action"`
  },
  {
    row: "F118",
    file: "packages/reverie/src/views/definition-view.ts",
    find: "overrides: Object.fromEntries(overridden)",
    put: "overrides: {}"
  },
  {
    row: "F118",
    file: "apps/cli/src/commands/agents/orders.ts",
    find: "defined({ parts: order.parts, context: order.context })",
    put: "defined({ parts: order.parts })"
  }
]
