// ToolRules: what a model is told of the order and number of its tool calls (F109, F110).
// Owns the sentences and their order. Leaves enforcing the rules to `tools`.
// R1  Lines stand in the order start, exit, continue, requires, max, whatever the order of the rules (A30); within a
//     kind, in the order in which they were given, each once.
// R2  Without a rule there is no heading either.

import { type ToolRule, toolRuleOrder } from "@reverie/protocol"

const HEADING = "# Tool Execution Rules"

const lineOf = (rule: ToolRule): string => {
  switch (rule.type) {
    case "start":
      return `- Call \`${rule.tool}\` first before any other tools`
    case "exit":
      return `- The conversation will end after calling \`${rule.tool}\``
    case "continue":
      return `- The conversation will be continued after calling \`${rule.tool}\``
    case "requires":
      return `- Call \`${rule.tool}\` only after calling: ${rule.prior.join(", ")}`
    case "max-calls":
      return `- Call \`${rule.tool}\` at most ${rule.max} times`
  }
}

export const toolRulesText = (rules: ReadonlyArray<ToolRule>): string => {
  const lines = toolRuleOrder.flatMap((type) => rules.filter((rule) => rule.type === type).map(lineOf))
  return lines.length === 0 ? "" : [HEADING, "", ...new Set(lines)].join("\n")
}
