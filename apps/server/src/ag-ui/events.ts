// Events: those of AG-UI 1.0 that are sent.
// Owns their shapes, and how one crosses the wire. Leaves their order to teller.ts.
// E1  One event is one line of JSON: nothing that is said in it ends it.

import type { Json } from "reverie"

export interface Usage {
  readonly model?: string
  readonly inputTokens: number
  readonly outputTokens: number
  readonly totalTokens: number
}

interface Interrupt {
  readonly id: string
  readonly reason: string
  readonly message: string
  readonly toolCallId: string
  /** ISO 8601. */
  readonly expiresAt?: string
}

export type RunOutcome =
  | { readonly type: "success" }
  | {
      readonly type: "interrupt"
      readonly interrupts: ReadonlyArray<Interrupt>
      readonly pendingToolCallIds: ReadonlyArray<string>
    }

interface Timed {
  /** Milliseconds since the epoch. */
  readonly timestamp?: number
}

export type AgUiEvent =
  | { readonly type: "RUN_STARTED"; readonly threadId: string; readonly runId: string }
  | {
      readonly type: "RUN_FINISHED"
      readonly threadId: string
      readonly runId: string
      readonly outcome: RunOutcome
      readonly result?: { readonly outcome: string; readonly reply: string }
      readonly usage?: ReadonlyArray<Usage>
    }
  | {
      readonly type: "RUN_ERROR"
      readonly message: string
      readonly code: string
      /** What a run had come to that was ended before it was done. */
      readonly result?: { readonly outcome: string; readonly reply: string }
      readonly usage?: ReadonlyArray<Usage>
    }
  | { readonly type: "STEP_STARTED" | "STEP_FINISHED"; readonly stepName: string }
  | { readonly type: "TEXT_MESSAGE_START"; readonly messageId: string; readonly role: "assistant" }
  | { readonly type: "TEXT_MESSAGE_CONTENT"; readonly messageId: string; readonly delta: string }
  | { readonly type: "TEXT_MESSAGE_END"; readonly messageId: string }
  | { readonly type: "REASONING_START" | "REASONING_END" | "REASONING_MESSAGE_END"; readonly messageId: string }
  | { readonly type: "REASONING_MESSAGE_START"; readonly messageId: string; readonly role: "reasoning" }
  | { readonly type: "REASONING_MESSAGE_CONTENT"; readonly messageId: string; readonly delta: string }
  | (Timed & {
      readonly type: "TOOL_CALL_START"
      readonly toolCallId: string
      readonly toolCallName: string
      readonly parentMessageId?: string
    })
  | { readonly type: "TOOL_CALL_ARGS"; readonly toolCallId: string; readonly delta: string }
  | { readonly type: "TOOL_CALL_END"; readonly toolCallId: string }
  | (Timed & {
      readonly type: "TOOL_CALL_RESULT"
      readonly messageId: string
      readonly toolCallId: string
      readonly role: "tool"
      readonly content: string
    })
  | { readonly type: "STATE_SNAPSHOT"; readonly snapshot: RunState }
  | {
      readonly type: "STATE_DELTA"
      readonly delta: ReadonlyArray<{ readonly op: "replace"; readonly path: string; readonly value: Json }>
    }
  | { readonly type: "CUSTOM"; readonly name: string; readonly value: Json }

/** What `STATE_SNAPSHOT` tells and `STATE_DELTA` changes. */
export interface RunState {
  /** The path of the machine state. */
  readonly status: string
  readonly tick: number
  /** What the run answers. */
  readonly envelope: string
}

export const snapshotOf = (status: string, tick: number, envelope: string): RunState => ({ status, tick, envelope })

export const custom = (name: string, value: Json): AgUiEvent => ({ type: "CUSTOM", name: `reverie.${name}`, value })

export const frameOf = (event: AgUiEvent): string => `data: ${JSON.stringify(event)}\n\n`

/** Keeps a stream open that has nothing to tell. */
export const BEAT = ": here\n\n"
