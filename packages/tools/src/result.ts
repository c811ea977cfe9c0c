// Result: what a model is told of a run.
// Owns the wording. Leaves running to `execute.ts`, showing a value and the cap to `render.ts`.

import type { Envelope, ToolCall } from "@reverie/protocol"
import { AsyncReport } from "./async-report.ts"
import { capped, render } from "./render.ts"
import { clipped } from "./sentences.ts"
import type { Tool, ToolResult } from "./tool.ts"

const noSends: ReadonlyArray<Envelope> = Object.freeze([])

/** A result that failed. It carries no sends. */
export const failed = (failure: NonNullable<ToolResult["failure"]>, content: string): ToolResult => ({
  ok: false,
  content: capped(content),
  sends: noSends,
  failure
})

/** The result of a run that gave `value`. */
export const finished = (tool: Tool, value: unknown, sends: ReadonlyArray<Envelope>): ToolResult => {
  const isPending = tool.category === "async_required"
  if (value instanceof AsyncReport) {
    if (!isPending)
      return unshowable("it is a later report, which only a tool of the category async_required has", sends)
    return { ok: true, content: capped(value.acknowledgement), sends, pending: true, report: capped(value.report) }
  }
  const rendered = render(value)
  if ("problem" in rendered) return unshowable(rendered.problem, sends)
  const result = { ok: true, content: capped(rendered.text), sends }
  return isPending ? { ...result, pending: true } : result
}

const unshowable = (problem: string, sends: ReadonlyArray<Envelope>): ToolResult =>
  failed("not-json", `The tool ran, but its result can not be shown: ${problem}.${unsent(sends.length)}`)

/** The result of a call that a crash cut off: whether it took effect is not known. */
export const interrupted = (call: ToolCall): ToolResult =>
  failed(
    "interrupted",
    `The call of ${nameOf(call)} was started before a crash; whether it took effect is unknown. ` +
      "Do not assume either; check before repeating it."
  )

/** The result of a call that took its process with it too often. `alone`: the last time no other tool ran. */
export const convicted = (call: ToolCall, times: number, alone: boolean): ToolResult =>
  failed(
    "crashed",
    `The process ended ${times} times while the tool ${nameOf(call)} ran${alone ? ", the last time with no other tool running" : ""}. ` +
      "It is not run again; whether it took effect is unknown."
  )

/** What a tool message says of a crash: whether the call was cut off by one, or is held to have caused it. */
export const crashIn = (content: string): "cut-off" | "caused" | undefined => {
  if (/^The call of "[^"]*" was started before a crash;/.test(content)) return "cut-off"
  return /^The process ended \d+ times while the tool "/.test(content) ? "caused" : undefined
}

/** The result of a call that was not allowed to run. */
export const refused = (call: ToolCall, reason: string): ToolResult =>
  failed("refused", `The call of ${nameOf(call)} was refused and did not run: ${clipped(reason, 2_000)}`)

/** The name as the model gave it, which need not be one. */
export const nameOf = (call: ToolCall): string => JSON.stringify(clipped(call.tool, 64))

/** What became of messages that a failed run wanted to send. */
export const unsent = (count: number): string => {
  if (count === 0) return ""
  const messages = count === 1 ? "message it wanted to send was" : `${count} messages it wanted to send were`
  return ` The ${messages} not sent.`
}

/** `1.5 s`, `30 s`, `250 ms`. */
export const spelledMillis = (millis: number): string => (millis < 1_000 ? `${millis} ms` : `${millis / 1_000} s`)
