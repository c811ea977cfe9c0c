// Command: what the statechart asks for, as data.
// Owns the closed list. Leaves making them durable and running them to `runtime`.
// I1  A command is JSON: it can be stored, compared and replayed.

import type { Json } from "./json.ts"

export type Command =
  | { readonly _tag: "StartJob"; readonly name: string; readonly src: string; readonly input: Json }
  | { readonly _tag: "StopJob"; readonly name: string }
  | { readonly _tag: "SetTimer"; readonly name: string; readonly delayMillis: number; readonly event: Json }
  | { readonly _tag: "CancelTimer"; readonly name: string }
  | { readonly _tag: "Send"; readonly to: string; readonly event: Json }
  | { readonly _tag: "Emit"; readonly event: { readonly type: string; readonly [key: string]: Json } }
  | { readonly _tag: "Action"; readonly type: string; readonly params: Json }

/** A durable piece of work that a command started and no result has ended. */
export interface OpenJob {
  /** `<commit number>/<name>`: unique for the assistant, so a late result of an older job can not be taken for it. */
  readonly id: string
  readonly name: string
  readonly src: string
  readonly input: Json
  /** How many holders were lost while it was open, up to the last commit that left it open. None when not said. */
  readonly lost?: number
  /** How many of them were lost while it was tried under suspicion: alone, where that is asked for, and beside others. */
  readonly tried?: number
  readonly triedBeside?: number
}

/** A durable timer. `dueAt` is milliseconds since the epoch, by the store's clock. */
export interface OpenTimer {
  readonly name: string
  readonly dueAt: number
  readonly event: Json
}

// ToolRule: a constraint on the order and number of tool calls in a tick.

/** A constraint on the order or number of tool calls in a tick. */
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

/** The order in which rules are reported, whatever the order in which they were given (A30). */
export const toolRuleOrder = ["start", "exit", "continue", "requires", "max-calls"] as const
