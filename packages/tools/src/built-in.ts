// Built-in: the tools that Reverie itself brings, and the names kept for them.
// Owns their definitions. Leaves whether an assistant has them to its toolkit.
// I1  No other tool can take a built-in name.

import { defineTool } from "./define.ts"
import type { Tool } from "./tool.ts"

/** Does nothing and ends nothing: for a model that must call something and wants to change nothing. */
export const noop: Tool = defineTool({
  name: "noop",
  description: "Does nothing. Use it when a tool must be called and nothing should change.",
  idempotent: true,
  run: () => "ok"
})

export const builtIns: ReadonlyMap<string, Tool> = new Map([[noop.name, noop]])
