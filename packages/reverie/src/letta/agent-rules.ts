// AgentRules: tool rules of Letta as ours.
// Owns the mapping. What has no counterpart is told, never guessed at.

import { isJsonObject, type Json, type ToolRule } from "@reverie/protocol"
import { isOwnTool, type Leave, listIn, textIn } from "./reading.ts"

const MAX_RULES = 256

const nameIn = (value: Json | undefined): string =>
  textIn(value)
    .replaceAll(/[^A-Za-z0-9_-]+/g, "_")
    .slice(0, 64)

const ruleOf = (rule: { readonly [key: string]: Json }): ReadonlyArray<ToolRule> | string => {
  const tool = nameIn(rule["tool_name"])
  switch (rule["type"]) {
    case "run_first":
    case "InitToolRule":
      return [{ type: "start", tool }]
    case "exit_loop":
    case "TerminalToolRule":
      return [{ type: "exit", tool }]
    case "continue_loop":
      return [{ type: "continue", tool }]
    case "max_count_per_step": {
      const max = rule["max_count_limit"]
      return typeof max === "number" && Number.isSafeInteger(max) && max > 0
        ? [{ type: "max-calls", tool, max }]
        : "it names no limit"
    }
    case "parent_last_tool":
      // Theirs says directly after it, ours at any time after it.
      return listIn(rule["children"])
        .map(nameIn)
        .filter((child) => child !== "" && child !== tool)
        .map((child) => ({ type: "requires", tool: child, prior: [tool] }))
    default:
      return "there is no rule like it here"
  }
}

export const rulesOf = (given: ReadonlyArray<Json>, leave: Leave): ReadonlyArray<ToolRule> => {
  const rules: Array<ToolRule> = []
  for (const each of given.slice(0, MAX_RULES)) {
    if (!isJsonObject(each)) continue
    const tool = nameIn(each["tool_name"])
    const what = `the rule ${textIn(each["type"]).slice(0, 60)} of ${tool}`
    if (tool === "" || isOwnTool(tool)) {
      if (tool !== "") leave(what, "Reverie does what this tool did in its own way")
      continue
    }
    const found = ruleOf(each)
    if (typeof found === "string") leave(what, found)
    else
      for (const rule of found)
        if (!rules.some((known) => JSON.stringify(known) === JSON.stringify(rule))) rules.push(rule)
  }
  return rules
}
