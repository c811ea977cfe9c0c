// Script: a well-behaved model, as a function from the request to what is said.
// Owns the form of a scripted answer and the script of the benchmarks. Leaves the wire to `wire.ts`.

import { type ModelRequest, type Said, USAGE } from "./wire.ts"

export interface ScriptedCall {
  readonly tool: string
  /** An object is written as JSON; a text goes out as it is. */
  readonly arguments: unknown
  /** What a server of Gemini puts beside a call, and wants back with it. */
  readonly extra?: unknown
}

export interface ScriptedReply {
  readonly text?: string
  readonly calls?: ReadonlyArray<ScriptedCall>
  /** Reasoning, which comes before it: items of the Responses API, `reasoning_details` of a chat. */
  readonly reasoning?: ReadonlyArray<unknown>
  /** Said in the place of an answer, with this status or 400. */
  readonly refuse?: string
  readonly status?: number
  /** What a provider would say by itself when absent: `tool_calls` with calls, else `stop`. */
  readonly finish?: string
  readonly usage?: unknown
  /** How long the model thinks; no time when not said. */
  readonly afterMillis?: number
}

export type Script = (request: ModelRequest) => ScriptedReply

export const said = (reply: ScriptedReply): Said => {
  const calls = reply.calls ?? []
  return {
    message: {
      content: reply.text ?? null,
      ...(reply.reasoning === undefined ? {} : { reasoning_details: reply.reasoning }),
      ...(calls.length === 0
        ? {}
        : {
            tool_calls: calls.map((call, index) => ({
              id: `call_${index}`,
              type: "function",
              ...(call.extra === undefined ? {} : { extra_content: call.extra }),
              function: {
                name: call.tool,
                arguments: typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments)
              }
            }))
          })
    },
    finish: reply.finish ?? (calls.length > 0 ? "tool_calls" : "stop"),
    usage: reply.usage ?? USAGE
  }
}

/** A person is answered with one call of the first tool offered, a tool result with a final answer. */
export const benchScript: Script = (request) => {
  const last = request.messages.at(-1)
  const tool = request.tools[0]
  return last?.role === "tool" || tool === undefined
    ? { text: "The harbour master has been told, and the berth is free from noon." }
    : { calls: [{ tool, arguments: { text: "berth seven, from noon" } }] }
}

/** Answers everything with one text. */
export const saying =
  (text: string): Script =>
  () => ({ text })
