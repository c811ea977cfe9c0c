// RunTool: one run of one tool, as a plain function call.
// Owns the world that the run sees: its own records, no other assistant, and no fleet. Leaves checking, the deadline and the words
// for the model to `tools/execute.ts`, which is what runs it in a fleet.
// R1  What the model would be shown is exactly what it is shown in a fleet.
// R2  What the tool throws is thrown, the very same value; what stops it before or after that is a ToolCallFailed.

import {
  AssistantId,
  defined,
  type Json,
  type RecordChange,
  type RecordKind,
  TenantId,
  type ToolCall
} from "@reverie/protocol"
import { runPlaceLayer } from "@reverie/run-place"
import { execute, openLoop, type RecordAccess, type Tool, type ToolRecords } from "@reverie/tools"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { ToolCallFailed } from "./errors.ts"
import type { TestClock } from "./test-clock.ts"

/** What a run of a tool by itself may know; everything has a default. */
export interface RunToolOptions {
  /** Who runs it; "tester" when not said. */
  readonly assistant?: string
  /** The idempotency key; the same for every attempt at a call. "test" when not said. */
  readonly key?: string
  /** What the assistant keeps, by kind and key: what `run.records.read` gives. Nothing when not said. */
  readonly records?: { readonly [Kind in RecordKind]?: { readonly [key: string]: Json } }
  /** What `run.records.recall` gives; nothing when not said. */
  readonly recall?: ToolRecords["recall"]
  /** What the model says to `run.records.consult`, which rejects when this is not said. */
  readonly consult?: (context: string, text: string) => string | Promise<string>
  /** Aborts the run, as an order to halt would: `run.signal` says so. */
  readonly signal?: AbortSignal
  /** `run.now` and the deadline go by this clock; by that of the machine when not said. */
  readonly clock?: TestClock
}

/** What a run of a tool by itself came to. */
export interface ToolRunResult {
  /** What the function of the tool gave, before it was made a text. */
  readonly output: unknown
  /** What the model is shown. */
  readonly content: string
  /** Messages that leave with the result. */
  readonly sends: ReadonlyArray<{ readonly to: string; readonly text: string }>
  /** Changes that the run made to the records; a null value took one away. */
  readonly changes: ReadonlyArray<RecordChange>
  /** True when the real result comes later as a report. */
  readonly isPending: boolean
}

const accessOf = ({ consult, recall, records = {} }: RunToolOptions): RecordAccess => ({
  read: (kind) => new Map(Object.entries(records[kind] ?? {})),
  consult: async (context, text) => {
    if (consult === undefined) throw new Error("there is no model to ask here: give runTool a `consult`")
    return consult(context, text)
  },
  ...defined({ recall }),
  loop: openLoop
})

/** What the function of a tool came to, which a result in words does not hold. */
interface Seen {
  output?: unknown
  thrown?: { readonly value: unknown }
}

const watched = (tool: Tool, seen: Seen): Tool => ({
  ...tool,
  effect: (args, run) =>
    tool.effect(args, run).pipe(
      Effect.tap((output) =>
        Effect.sync(() => {
          seen.output = output
        })
      ),
      Effect.tapError((value) =>
        Effect.sync(() => {
          seen.thrown = { value }
        })
      )
    )
})

/**
 * Runs a tool as an assistant would: its arguments are checked, its deadline holds, and its result is made into what the
 * model is shown. Resolves with all of it. Rejects with what the tool threw; with ToolCallFailed when its arguments do not
 * fit, it was too late, or its result is no JSON; with the reason of `signal` when that was aborted.
 * @example
 * const { content, output } = await runTool(findBerth, { ship: "Aurora" })
 */
export const runTool = async (tool: Tool, input: Json = {}, options: RunToolOptions = {}): Promise<ToolRunResult> => {
  const { assistant = "tester", clock, key = "test", signal } = options
  const seen: Seen = {}
  const call: ToolCall = { id: "1.1.0", tool: tool.name, arguments: input }
  const address = { tenant: TenantId.make("default"), assistant: AssistantId.make(assistant) }
  const context = { address, key, hops: 0, records: accessOf(options), names: [tool.name] }
  const running = execute(watched(tool, seen), call, context)
  const placed = tool.isolated === undefined ? running : Effect.provide(running, runPlaceLayer)
  const timed = clock === undefined ? placed : Effect.provideService(placed, Clock.Clock, clock.virtual)
  const exit = await Effect.runPromiseExit(timed, signal === undefined ? {} : { signal })
  if (Exit.isFailure(exit)) throw signal?.aborted === true ? signal.reason : exit.cause
  const { content, failure, pending = false, records = [], sends } = exit.value
  if (failure === "threw" && seen.thrown !== undefined) throw seen.thrown.value
  if (failure !== undefined) throw new ToolCallFailed({ tool: tool.name, failure, message: content })
  return {
    output: seen.output,
    content,
    sends: sends.flatMap(({ event, to }) => (event.type === "message" ? [{ to: to.assistant, text: event.text }] : [])),
    changes: records,
    isPending: pending
  }
}
