// Toolkit: the tools of one assistant, by name.
// Owns lookup, the offers made to a model and narrowing. Leaves who gets which tools to the definition of an assistant.
// I1  A name stands for one tool; a second one under it, or another one under a built-in name, is refused.
// I2  Narrowing never adds: what a narrowed toolkit offers and finds, the wider one offers and finds too.
// I3  Offers keep the order of definition and are the same objects each time, so that prompts can be cached.

import type { ToolOffer } from "@reverie/model"
import type { ToolCategory } from "@reverie/protocol"
import { ToolDefinitionInvalid } from "./errors.ts"
import type { Tool } from "./tool.ts"
import { defineTool } from "./define.ts"

// Built-in: the tools that Reverie itself brings, and the names kept for them.
// I1  No other tool can take a built-in name.

/** Does nothing and ends nothing: for a model that must call something and wants to change nothing. */
export const noop: Tool = defineTool({
  name: "noop",
  description: "Does nothing. Use it when a tool must be called and nothing should change.",
  idempotent: true,
  run: () => "ok"
})

const builtIns: ReadonlyMap<string, Tool> = new Map([[noop.name, noop]])

/** Every condition given must hold; an empty filter lets everything through. */
export interface ToolFilter {
  readonly categories?: ReadonlyArray<ToolCategory>
  /** Names; those that no tool has are of no effect. */
  readonly allow?: ReadonlyArray<string>
}

export interface Toolkit {
  /** In the order of definition. */
  readonly names: ReadonlyArray<string>
  readonly get: (name: string) => Tool | undefined
  readonly offers: (filter?: ToolFilter) => ReadonlyArray<ToolOffer>
  /** The toolkit that is left: what the filter shuts out can neither be offered nor found. */
  readonly only: (filter: ToolFilter) => Toolkit
}

/** Throws ToolDefinitionInvalid when two tools share a name, or one takes a built-in name. */
export const toolkitOf = (tools: Iterable<Tool>): Toolkit => {
  const byName = new Map<string, Kept>()
  for (const tool of tools) {
    const { description, name, parameters } = tool
    const builtIn = builtIns.get(name)
    if (builtIn !== undefined && builtIn !== tool) refuse(name, "this name belongs to a built-in tool")
    if (byName.has(name)) refuse(name, "two tools have this name")
    byName.set(name, { tool, offer: Object.freeze({ name, description, parameters }) })
  }
  return kitOf(byName)
}

interface Kept {
  readonly tool: Tool
  readonly offer: ToolOffer
}

const refuse = (tool: string, why: string): never => {
  throw new ToolDefinitionInvalid({ tool, message: `tool ${JSON.stringify(tool)}: ${why}` })
}

const kitOf = (byName: ReadonlyMap<string, Kept>): Toolkit => {
  const offers = Object.freeze([...byName.values()].map(({ offer }) => offer))
  // Keyed by the filter object itself: a filter is written once and used at every iteration.
  const narrowed = new WeakMap<ToolFilter, Toolkit>()
  const only = (filter: ToolFilter): Toolkit => {
    const known = narrowed.get(filter)
    if (known !== undefined) return known
    const kit = kitOf(new Map([...byName].filter(([, kept]) => admits(filter, kept.tool))))
    narrowed.set(filter, kit)
    return kit
  }
  return {
    names: Object.freeze([...byName.keys()]),
    get: (name) => byName.get(name)?.tool,
    offers: (filter) => (filter === undefined ? offers : only(filter).offers()),
    only
  }
}

const admits = ({ allow, categories }: ToolFilter, tool: Tool): boolean =>
  (categories === undefined || categories.includes(tool.category)) && (allow === undefined || allow.includes(tool.name))
