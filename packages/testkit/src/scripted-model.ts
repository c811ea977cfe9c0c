// ScriptedModel: the Model port, played from a script.
// Owns numbering the calls, naming the tool calls and remembering the prompts. Leaves every answer to the script.
// S1  The same script and the same prompts give the same replies: nothing else goes in.
// S2  Tool calls are named as the port asks, `<callPrefix>.<index>`.

import { Model, type ModelError, type Prompt, type Reply } from "@reverie/model"
import type { Json } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** What the model answers to a prompt. Calls are numbered from 1. */
export type Script = (prompt: Prompt, call: number) => Effect.Effect<Line, ModelError>

/** A reply as a script says it; what is left out is as plain as can be. */
export interface Line {
  readonly text?: string
  readonly calls?: ReadonlyArray<{ readonly tool: string; readonly arguments?: Json; readonly malformed?: string }>
  readonly usage?: Reply["usage"]
  readonly finish?: Reply["finish"]
  /** Shown before it speaks, in pieces. */
  readonly thinks?: ReadonlyArray<string>
}

export interface ScriptedModel {
  readonly model: Model["Service"]
  readonly layer: Layer.Layer<Model>
  /** Every prompt so far, in the order of the calls. */
  readonly prompts: ReadonlyArray<Prompt>
}

const replyOf = ({ callPrefix }: Prompt, { text = "", calls = [], usage, finish }: Line): Reply => ({
  text,
  calls: calls.map(({ arguments: args = {}, ...call }, index) => ({
    ...call,
    id: `${callPrefix}.${index}`,
    arguments: args
  })),
  finish: finish ?? (calls.length > 0 ? "tool-calls" : "stop"),
  usage: usage ?? { inputTokens: 1, outputTokens: 1, source: "provider" },
  model: "scripted"
})

export const scriptedModel = (script: Script): ScriptedModel => {
  const prompts: Array<Prompt> = []
  const model: Model["Service"] = {
    infer: (prompt, options) =>
      Effect.suspend(() => {
        const call = prompts.push(structuredClone(prompt))
        return Effect.map(script(prompt, call), (line) => {
          const reply = replyOf(prompt, line)
          for (const thought of line.thinks ?? []) options?.onReasoning?.(thought)
          if (reply.text !== "") options?.onText?.(reply.text)
          for (const [call, { arguments: args, tool }] of reply.calls.entries())
            options?.onCall?.({ call, tool, arguments: JSON.stringify(args) })
          return reply
        })
      })
  }
  return { model, layer: Layer.succeed(Model, model), prompts }
}

/** A script of lines in order. When they are used up the last one is said again. */
export const inTurn =
  (first: Line | ModelError, ...others: ReadonlyArray<Line | ModelError>): Script =>
  (_, call) => {
    const lines = [first, ...others]
    const line = lines[Math.min(call, lines.length) - 1] ?? first
    return "recovery" in line ? Effect.fail(line) : Effect.succeed(line)
  }
