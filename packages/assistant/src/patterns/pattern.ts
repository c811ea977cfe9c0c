// Pattern: what a tick is allowed to do.
// Owns the execution pattern and how a restriction narrows it. Leaves what the layers ask for to select-pattern.ts, the
// verdict on a single call to calls.ts.
// I1  A layer can only restrict: fewer iterations, fewer categories, more confirmation (F32).
// I2  One action means one iteration and one call (A9).
// I3  `plan_execute` runs as a react_loop; that a plan comes first is said in the prompt (A8).

import type { ToolCategory } from "@reverie/protocol"
import { toolCategories } from "@reverie/protocol"
import type { Settings } from "../settings.ts"

/** From the narrowest to the widest (F3, A8). */
export const executionModes = ["single_action", "react_loop", "plan_execute"] as const
export type ExecutionMode = (typeof executionModes)[number]

export interface ExecutionPattern {
  readonly mode: ExecutionMode
  readonly maxIterations: number
  readonly categories: ReadonlyArray<ToolCategory>
  readonly terminalEndsLoop: boolean
  readonly confirmDangerous: boolean
  readonly multiTool: boolean
  readonly subAgents: boolean
}

/** What a later layer may ask for. Anything wider than the pattern it is laid on has no effect. */
export interface Restriction {
  readonly mode?: ExecutionMode
  readonly maxIterations?: number
  readonly categories?: ReadonlyArray<ToolCategory>
  readonly confirmDangerous?: boolean
  readonly terminalEndsLoop?: boolean
  readonly subAgents?: boolean
}

/** The static layer. */
export const patternOf = (settings: Settings): ExecutionPattern => {
  const pattern: ExecutionPattern = {
    mode: "react_loop",
    maxIterations: settings.maxIterations,
    categories: toolCategories,
    terminalEndsLoop: settings.terminalEndsLoop,
    confirmDangerous: settings.confirmDangerous,
    multiTool: true,
    subAgents: settings.subAgents
  }
  return settings.multiAction ? pattern : singleAction(pattern)
}

const singleAction = (pattern: ExecutionPattern): ExecutionPattern => ({
  ...pattern,
  mode: "single_action",
  maxIterations: 1,
  multiTool: false
})

/** A number that is none asks for nothing: a comparison with it would let the loop run for ever. */
export const fewer = (limit: number, request: number = limit): number =>
  Number.isNaN(request) ? limit : Math.max(1, Math.min(limit, Math.floor(request)))

/** The narrower of two modes. */
export const narrower = (one: ExecutionMode, other: ExecutionMode = one): ExecutionMode =>
  executionModes[Math.min(executionModes.indexOf(one), executionModes.indexOf(other))] ?? one

/** Lays a restriction on a pattern. */
export const restrict = (pattern: ExecutionPattern, restriction: Restriction): ExecutionPattern => {
  const narrowed: ExecutionPattern = {
    ...pattern,
    mode: narrower(pattern.mode, restriction.mode),
    maxIterations: fewer(pattern.maxIterations, restriction.maxIterations),
    categories: pattern.categories.filter((category) => restriction.categories?.includes(category) ?? true),
    confirmDangerous: pattern.confirmDangerous || (restriction.confirmDangerous ?? false),
    terminalEndsLoop: pattern.terminalEndsLoop || (restriction.terminalEndsLoop ?? false),
    subAgents: pattern.subAgents && (restriction.subAgents ?? true)
  }
  return narrowed.mode === "single_action" ? singleAction(narrowed) : narrowed
}
