// Pattern: what a tick is allowed to do.
// Owns the execution pattern and how layers narrow it. Leaves the verdict on a single call to calls.ts.
// I1  A layer can only restrict: fewer iterations, fewer categories, more confirmation (F32).

import type { ToolCategory } from "@reverie/protocol"
import { toolCategories } from "@reverie/protocol"
import type { Settings } from "./settings.ts"

export interface ExecutionPattern {
  readonly mode: "single_action" | "react_loop"
  readonly maxIterations: number
  readonly categories: ReadonlyArray<ToolCategory>
  readonly terminalEndsLoop: boolean
  readonly confirmDangerous: boolean
  readonly multiTool: boolean
}

/** What a later layer may ask for. Anything wider than the pattern it is laid on has no effect. */
export interface Restriction {
  readonly mode?: "single_action" | "react_loop"
  readonly maxIterations?: number
  readonly categories?: ReadonlyArray<ToolCategory>
  readonly confirmDangerous?: boolean
}

/** The static layer. */
export const patternOf = (settings: Settings): ExecutionPattern =>
  settings.multiAction
    ? {
        mode: "react_loop",
        maxIterations: settings.maxIterations,
        categories: toolCategories,
        terminalEndsLoop: settings.terminalEndsLoop,
        confirmDangerous: settings.confirmDangerous,
        multiTool: true
      }
    : singleAction({
        mode: "single_action",
        maxIterations: 1,
        categories: toolCategories,
        terminalEndsLoop: settings.terminalEndsLoop,
        confirmDangerous: settings.confirmDangerous,
        multiTool: false
      })

const singleAction = (pattern: ExecutionPattern): ExecutionPattern => ({
  ...pattern,
  mode: "single_action",
  maxIterations: 1,
  multiTool: false
})

/** A number that is none asks for nothing: a comparison with it would let the loop run for ever. */
const fewer = (limit: number, wish: number = limit): number =>
  Number.isNaN(wish) ? limit : Math.max(1, Math.min(limit, Math.floor(wish)))

/** Lays a restriction on a pattern. */
export const restrict = (pattern: ExecutionPattern, restriction: Restriction): ExecutionPattern => {
  const narrowed: ExecutionPattern = {
    ...pattern,
    maxIterations: fewer(pattern.maxIterations, restriction.maxIterations),
    categories: pattern.categories.filter((category) => restriction.categories?.includes(category) ?? true),
    confirmDangerous: pattern.confirmDangerous || (restriction.confirmDangerous ?? false)
  }
  return restriction.mode === "single_action" ? singleAction(narrowed) : narrowed
}
