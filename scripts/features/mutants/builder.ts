// Builder: breaks of what prompts hold, of rules of tools, and of the rows that an audit added (F85-F87, F103, F104, F109-F121).
// Owns these breaks. Leaves making and judging them to mutate.ts.

import type { Mutant } from "./mutant.ts"

const blocks = "packages/runtime/src/prompt/blocks.ts"

export const builderMutants: ReadonlyArray<Mutant> = [
  {
    row: "F85",
    file: "packages/runtime/src/prompt/prompt.ts",
    find: "activity: session.rendering.activity,",
    put: `activity: "",`
  },
  {
    row: "F86",
    file: blocks,
    find: "opening: firstMessageUser === true ? openingOf(book) : undefined",
    put: "opening: undefined"
  },
  {
    row: "F87",
    file: "packages/runtime/src/prompt/prompt.ts",
    find: "working_blocks: session.blocks.working,",
    put: `working_blocks: "",`
  },
  {
    row: "F103",
    file: blocks,
    find: "includeSchemas: prompt.includeSchemas ?? false",
    put: "includeSchemas: false"
  },
  {
    row: "F104",
    file: "packages/reverie/src/options/contexts.ts",
    find: "...defined({ maxContextTokens: maxTokens, reservedResponseTokens }),",
    put: "...defined({ maxContextTokens: maxTokens }),"
  },
  {
    row: "F109",
    file: "packages/tools/src/rules/rules.ts",
    find: "return used >= max ? usedUp(tool, max, used) : undefined",
    put: "return used > max ? usedUp(tool, max, used) : undefined"
  },
  {
    row: "F110",
    file: "packages/context/src/collect.ts",
    find: "toolRuleOrder.flatMap((type) => rules.filter((rule) => rule.type === type).map(lineOf))",
    put: "rules.map(lineOf)"
  },
  {
    row: "F111",
    file: "packages/runtime/src/jobs/infer-job.ts",
    find: "const seen = seeing(end, report, patternShown(session, pressed), session.recollection, served)",
    put: "const seen = end"
  },
  {
    row: "F112",
    file: "packages/runtime/src/prompt/prompt.ts",
    find: "const template = templateNow(session, isPlain)",
    put: "const template = undefined"
  },
  {
    row: "F116",
    file: "packages/runtime/src/prompt/layers.ts",
    find: "contextOf(session.decoded).modelFailures + contextOf(session.decoded).toolFailures",
    put: "contextOf(session.decoded).modelFailures"
  },
  {
    row: "F117",
    file: "packages/runtime/src/prompt/layers.ts",
    find: "event_class: restriction.eventClass ?? classByKind(isMessageInHand(session)),",
    put: "event_class: restriction.eventClass,"
  },
  {
    row: "F118",
    file: "packages/context/src/layout/context-types.ts",
    find: "return Object.hasOwn(contexts, contextType) ? contexts[contextType] : byType.get(contextType)",
    put: "return byType.get(contextType) ?? contexts[contextType]"
  },
  {
    row: "F119",
    file: "packages/memory/src/blocks/document/document.ts",
    find: `return contentOf(this.#doc, this.#schema, "all")`,
    put: `return contentOf(this.#doc, this.#schema, "shown")`
  },
  {
    row: "F121",
    file: "apps/server/src/groups/assistant/subagents.ts",
    find: "sub_agent_budget",
    put: "subAgentBudget"
  }
]
