// Context mutants: breaks of the kinds of context, the components of a prompt, its templates and their registry.

import type { Mutant } from "./mutant.ts"

const types = "packages/context/src/layout/context-types.ts"
const scheme = "packages/context/src/layout/scheme.ts"
const collecting = "packages/context/src/collect.ts"
const definition = "packages/context/src/prompt/definition.ts"
const templates = "packages/context/src/prompt/templates.ts"
const components = "packages/context/src/prompt/components.ts"
const registry = "packages/context/src/prompt/registry.ts"

export const contextMutants: ReadonlyArray<Mutant> = [
  {
    row: "F1",
    file: types,
    find: "(all.map((config) => [config.contextType, config]))",
    put: "(all.slice(0, 6).map((config) => [config.contextType, config]))"
  },
  {
    row: "F2",
    file: "packages/context/src/assemble.ts",
    find: "Math.floor(context?.tokenBudget ?? Infinity)",
    put: "Infinity"
  },
  {
    row: "F3",
    file: collecting,
    find: `const plans = context.executionMode === "plan_execute" && mode !== "single_action"`,
    put: "const plans = false"
  },
  { row: "F4", file: types, find: "maxIterations: 10\n", put: "maxIterations: 9\n" },
  {
    row: "F5",
    file: types,
    find: `description: "Something arrived and is dealt with.",\n    enabledComponents: orderedStaticIds(),`,
    put: `description: "Something arrived and is dealt with.",\n    enabledComponents: orderedStaticIds().slice(0, 8),`
  },
  {
    row: "F6",
    file: types,
    find: "idsOf(systemPrompt, pendingEvent, toolResult)",
    put: "idsOf(systemPrompt, conversationHistory, pendingEvent, toolResult)"
  },
  { row: "F7", file: types, find: "idsOf(systemPrompt, semanticMemories)", put: "idsOf(systemPrompt)" },
  { row: "F8", file: types, find: "toolFilter: [],", put: "toolFilter: null," },
  {
    row: "F9",
    file: types,
    find: "idsOf(systemPrompt, conversationHistory, pendingEvent, toolResult)",
    put: "idsOf(systemPrompt, pendingEvent, toolResult)"
  },
  {
    row: "F10",
    file: "packages/runtime/src/prompt/prompt.ts",
    find: "...defined({ allow: toolFilter === null ? undefined : toolFilter })",
    put: ""
  },
  {
    row: "F11",
    file: types,
    find: `[...REFLECTION_TOOLS, "recall_memories", "store_memory"]`,
    put: `[...REFLECTION_TOOLS, "recall_memories"]`
  },
  {
    row: "F12",
    file: types,
    find: `["noop", "add_journal_entry", "update_entity_observation"]`,
    put: `["noop", "add_journal_entry", "update_entity_observation", "review_journal"]`
  },
  {
    row: "F13",
    file: types,
    find: `executionMode: "single_action",\n    maxIterations: 1,\n    allowsMultiTool: false\n`,
    put: `executionMode: "react_loop",\n    maxIterations: 1,\n    allowsMultiTool: true\n`
  },
  { row: "F13", file: types, find: "allowsSubAgents: false\n", put: "allowsSubAgents: true\n" },
  { row: "F14", file: collecting, find: "if (override !== null) return filled(override)", put: "" },
  {
    row: "F15",
    file: types,
    find: `if (!isJsonObject(override) || !Object.hasOwn(override, "content")) return null`,
    put: "if (override === undefined) return null"
  },
  {
    row: "F16",
    file: "packages/runtime/src/prompt/prompt.ts",
    find: `things: heard.map(([id]) => ({ id, says: "heard" })),`,
    put: "things: [],"
  },
  {
    row: "F17",
    file: definition,
    find: "isPluggableRole(role) ? undefined :",
    put: `isPluggableRole(role) || role === "mixed" ? undefined :`
  },
  {
    row: "F18",
    file: types,
    find: "parts.toSorted((a, b) => rankOf(a) - rankOf(b))",
    put: "parts"
  },
  {
    row: "F19",
    file: collecting,
    find: "() => safeRenderTemplate({ content: text }, values))",
    put: "() => text)"
  },
  { row: "F20", file: scheme, find: "=> staticById.has(id)", put: "=> id % 1000 === 0" },
  {
    row: "F21",
    file: scheme,
    find: "Math.min(next - 1, afterStatic + MAX_PLACES)",
    put: "afterStatic + MAX_PLACES"
  },
  {
    row: "F22",
    file: definition,
    find: `checked("template", { ...template, placeholders }, fault)`,
    put: `checked("template", template, fault)`
  },
  {
    row: "F23",
    file: "packages/runtime/src/prompt/blocks.ts",
    find: "const own = isPlain ? templateIn(session, `${key}${FALLBACK}`) : templateIn(session, key)",
    put: "const own = templateIn(session, key)"
  },
  {
    row: "F24",
    file: "packages/context/src/prompt/template.ts",
    find: "return missing.length === 0",
    put: "return missing.length >= 0"
  },
  {
    row: "F25",
    file: templates,
    find: 'const newest: Overrides["newest"] = (line) => Effect.map(history(line, { limit: 1 }), ([version]) => version)',
    put: `const seen = new Map<string, PromptVersion | undefined>()
  const newest: Overrides["newest"] = (line) =>
    Effect.map(history(line, { limit: 1 }), ([version]) => {
      const key = line.kind + line.key
      if (!seen.has(key)) seen.set(key, version)
      return seen.get(key)
    })`
  },
  {
    row: "F26",
    file: templates,
    find: "if (value !== undefined) return { ...value, version }",
    put: "if (value !== undefined && !builtInTemplates.has(key)) return { ...value, version }"
  },
  {
    row: "F27",
    file: components,
    find: "components.filter(({ id }) => staticBefore(id) === afterStatic)",
    put: "components.filter(({ id }) => staticBefore(id) >= afterStatic)"
  },
  {
    row: "F28",
    file: components,
    find: "keepingComponent(moved, version, [left, ...seat.changes])",
    put: "keepingComponent(moved, version, seat.changes)"
  },
  {
    row: "F29",
    file: registry,
    find: "changedComponent(present, { content }, now)",
    put: "changedComponent(present, {}, now)"
  },
  {
    row: "F30",
    file: "packages/context/src/prompt/store/exchange.ts",
    find: "if (present.value !== undefined && !overwrite)",
    put: "if (false)"
  },
  {
    row: "F31",
    file: definition,
    find: "description, content, category, updatedAt: now }, patch.placeholders)",
    put: "description, content, category, createdAt: now, updatedAt: now }, patch.placeholders)"
  },
  {
    row: "F112",
    file: "packages/runtime/src/prompt/blocks.ts",
    find: "rendering.templates.get(key) ?? builtInTemplates.get(key)",
    put: "builtInTemplates.get(key)"
  },
  {
    row: "F119",
    file: "packages/memory/src/blocks/document/content.ts",
    find: "return value.map((each: Json) => misfitOfItem(itemSchema, each))",
    put: "return value.map(() => undefined)"
  },
  {
    row: "F119",
    file: "packages/tools/src/memory/memory-tools.ts",
    find: "...defined({ metadata: wanted.metadata, thread: from })",
    put: "...defined({ thread: from })"
  },
  {
    row: "F120",
    file: "packages/tools/src/self/project-tools.ts",
    find: `"steps to follow are goals, and a single simple request needs neither.",`,
    put: `"",`
  },
  {
    row: "F121",
    file: "apps/server/src/groups/assistant/subagents.ts",
    find: "sub_agent_budget: slots.budget,",
    put: ""
  }
]
