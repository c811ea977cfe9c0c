// RuleFlaw: rules that can not be followed, found when an assistant is defined.
// Owns the search for contradictions. Leaves refusing the definition to the code that reads it.
// I1  Without a flaw, every rule is of a kind that there is and names tools that there are.
// I2  Without a flaw, every tool that the rules name can be called in some order; only a limit of 0 shuts one out.

import type { ToolRule } from "@reverie/protocol"

/** What each kind of rule says besides its type. */
const fieldsOf: Readonly<Record<ToolRule["type"], ReadonlyArray<string>>> = {
  start: ["tool"],
  exit: ["tool"],
  continue: ["tool"],
  requires: ["tool", "prior"],
  "max-calls": ["tool", "max"]
}

/** A rule of an unknown kind, with an unknown field, or without one that it needs. */
const flawOfForm = (rule: ToolRule): string | undefined => {
  const given: unknown = rule
  const fields = typeof given === "object" && given !== null ? fieldsOf[(given as ToolRule).type] : undefined
  if (fields === undefined) {
    return `a rule is one of ${Object.keys(fieldsOf).join(", ")}, and not ${JSON.stringify(given)}`
  }
  const strange = Object.keys(rule).find((field) => field !== "type" && !fields.includes(field))
  if (strange !== undefined) return `a rule of the type ${rule.type} has no ${JSON.stringify(strange)}`
  const missing = fields.find((field) => Reflect.get(rule, field) === undefined)
  if (missing !== undefined) return `a rule of the type ${rule.type} needs ${JSON.stringify(missing)}`
  return rule.type === "requires" && !Array.isArray(rule.prior) ? `the "prior" of a rule is a list of tools` : undefined
}

/** One sentence about the first flaw; undefined when there is none. `names` are those of the tools that there are. */
export const flawOfRules = (rules: ReadonlyArray<ToolRule>, names: ReadonlyArray<string>): string | undefined => {
  const form = rules.map(flawOfForm).find((flaw) => flaw !== undefined)
  if (form !== undefined) return form
  const strange = toolsOf(rules).find((tool) => !names.includes(tool))
  if (strange !== undefined) {
    return `a tool rule names ${named(strange)}, which is none of its tools: ${names.join(", ")}`
  }
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
