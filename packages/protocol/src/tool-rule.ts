// ToolRule: a constraint on the order and number of tool calls in a tick.
// Owns the closed list. `tools` enforces it, `context` tells the model of it (F109, F110).

export type ToolRule =
  /** Called before any other tool of the tick. */
  | { readonly type: "start"; readonly tool: string }
  /** A call of it ends the tick. */
  | { readonly type: "exit"; readonly tool: string }
  /** A call of it never ends the tick. */
  | { readonly type: "continue"; readonly tool: string }
  /** Callable only after every one of `prior` was called in the tick. */
  | { readonly type: "requires"; readonly tool: string; readonly prior: ReadonlyArray<string> }
  /** At most `max` calls a tick, failed ones included. */
  | { readonly type: "max-calls"; readonly tool: string; readonly max: number }

/** The order in which rules are told, whatever the order in which they were given (A30). */
export const toolRuleOrder = ["start", "exit", "continue", "requires", "max-calls"] as const
