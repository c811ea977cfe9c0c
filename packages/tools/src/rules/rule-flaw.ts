// RuleFlaw: rules that can not be followed, found when an assistant is defined.
// Owns the search for contradictions. Leaves refusing the definition to the code that reads it.
// I1  Without a flaw, every tool that the rules name can be called in some order; only a limit of 0 shuts one out.

import type { ToolRule } from "@reverie/protocol"

/** One sentence about the first flaw; undefined when there is none. */
export const flawOfRules = (rules: ReadonlyArray<ToolRule>): string | undefined => {
  for (const rule of rules) {
    if (rule.type === "max-calls" && !(Number.isSafeInteger(rule.max) && rule.max >= 0)) {
      return `the limit of ${named(rule.tool)} must be a whole number of at least 0`
    }
    if (rule.type === "exit" && rules.some(({ tool, type }) => type === "continue" && tool === rule.tool)) {
      return `${named(rule.tool)} can not both end the tick and keep it going`
    }
    if (rule.type === "start" && isShut(rule.tool, rules)) {
      return `${named(rule.tool)} must be called first, and can never be called: its limit is 0`
    }
  }
  const reachable = reachableUnder(rules)
  const stuck = toolsOf(rules).find((tool) => !reachable.has(tool) && !isShut(tool, rules))
  return stuck === undefined ? undefined : `${named(stuck)} can never be called: what must come before it never can`
}

const named = (tool: string): string => JSON.stringify(tool)

const toolsOf = (rules: ReadonlyArray<ToolRule>): ReadonlyArray<string> => [
  ...new Set(rules.flatMap((rule) => (rule.type === "requires" ? [rule.tool, ...rule.prior] : [rule.tool])))
]

const isShut = (tool: string, rules: ReadonlyArray<ToolRule>): boolean =>
  rules.some((rule) => rule.type === "max-calls" && rule.tool === tool && rule.max === 0)

/** Grows the set of tools that can be called until nothing is added. */
const reachableUnder = (rules: ReadonlyArray<ToolRule>): ReadonlySet<string> => {
  const starts = rules.filter(({ type }) => type === "start").map(({ tool }) => tool)
  const reached = new Set<string>()
  const opens = (tool: string): boolean =>
    !isShut(tool, rules) &&
    (starts.includes(tool) || starts.every((start) => reached.has(start))) &&
    rules.every((rule) => rule.type !== "requires" || rule.tool !== tool || rule.prior.every((it) => reached.has(it)))
  for (let before = -1; before < reached.size;) {
    before = reached.size
    for (const tool of toolsOf(rules)) if (opens(tool)) reached.add(tool)
  }
  return reached
}
