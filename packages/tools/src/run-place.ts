// RunPlace: where the functions of users run.
// Owns the port: knowing what a run leaves behind or does to the process, and running in another process. Leaves what becomes
// of the call to `execute.ts`.
// P1  What a function leaves behind in this process, a rejected promise without a handler or a throw in a timer or a callback,
//     and what it does to end the process, is reported to its run while that lasts. The process goes on.
// P2  After the end of a run it is one line of the log, and fails nothing.
// P3  What no run can be found for is none of this: it goes the way that it goes without the port.
// P4  A run in another process ends with its deadline, and whatever it does there, this process goes on.

import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { IsolatedModule, ToolRun } from "./tool.ts"

/** Whose run it is, for the log. */
export interface RunName {
  readonly tenant: string
  readonly assistant: string
  readonly tool: string
  readonly call: string
  /** How the log calls it, where it is no tool call. */
  readonly says?: string
  /** Takes secrets out of what is logged. */
  readonly hide: (text: string) => string
}

/** One run, watched. */
export interface Watch {
  /** Calls a function of the user; what it leaves behind belongs to this run. */
  readonly inside: <A>(code: () => A) => A
  /** Calls a function of ours from within one of the user. */
  readonly outside: <A>(code: () => A) => A
  /** Done when everything that the function left rejected has been told. */
  readonly settled: Effect.Effect<void>
  readonly end: () => void
}

export interface IsolatedCall extends IsolatedModule {
  readonly tool: string
  readonly timeoutMs: number
  readonly args: unknown
  readonly run: ToolRun
}

export interface Place {
  /** `onStray` receives the problem, once for each; it must not throw. */
  readonly watch: (name: RunName, onStray: (problem: string) => void) => Watch
  /** Gives what the run gave: a text, or `{ text, parts }`. Interrupting it ends the process of the run. Fails with an error whose message says why. */
  readonly isolated: (call: IsolatedCall) => Effect.Effect<unknown, unknown>
  /** One sentence of what is wrong with a module; undefined when it can be run. */
  readonly flawOf: (module: string) => string | undefined
}

export const UNWATCHED: Watch = {
  inside: (code) => code(),
  outside: (code) => code(),
  settled: Effect.void,
  end: () => {}
}

const elsewhere = new Error("this process runs no isolated tools")

/** By default nothing is watched, and nothing runs elsewhere. */
export const RunPlace = Context.Reference<Place>("@reverie/tools/RunPlace", {
  defaultValue: () => ({
    watch: () => UNWATCHED,
    isolated: () => Effect.fail(elsewhere),
    flawOf: () => undefined
  })
})

/** The run that a function is called for. */
export const CurrentWatch = Context.Reference<Watch>("@reverie/tools/CurrentWatch", { defaultValue: () => UNWATCHED })
