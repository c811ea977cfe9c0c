// ToolSpan: tool calls as spans and measures.
// Owns what is said of a call. Leaves running it to tool-job.ts.

import type { ToolCall } from "@reverie/protocol"
import type { Tool, ToolResult } from "@reverie/tools"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Tracer from "effect/Tracer"
import type { Session } from "../session/session.ts"
import { inSpan } from "../span.ts"
import { measureTool } from "./measures.ts"
import { attributes } from "./names.ts"
import { type ContentRequest, fitForSpan, Telemetry } from "./telemetry.ts"
import { agentAttributes } from "./turn-trace.ts"

/** What a model made up is no label of a metric. */
const UNKNOWN = "_OTHER"

const requestOf = (session: Session, call: ToolCall, content: ContentRequest | undefined) => ({
  display: `execute_tool ${call.tool}`,
  attributes: {
    tool: call.tool,
    [attributes.operation]: "execute_tool",
    [attributes.toolName]: call.tool,
    [attributes.toolCall]: call.id,
    [attributes.toolType]: "function",
    ...agentAttributes(session),
    ...(content === undefined
      ? {}
      : { [attributes.toolArguments]: fitForSpan(JSON.stringify(call.arguments) ?? "", content) })
  }
})

const note = (
  span: Tracer.Span,
  { content: text, failure, ok }: Outcome,
  content: ContentRequest | undefined
): void => {
  if (!ok) span.attribute(attributes.errorType, failure ?? UNKNOWN)
  if (content !== undefined) span.attribute(attributes.toolResult, fitForSpan(text, content))
}

type Outcome = Pick<ToolResult, "content" | "failure" | "ok">

/** Runs a call in its span. A result that says that the call failed is a result: the walk goes on with it. */
export const inToolSpan =
  (session: Session, tool: Tool | undefined, call: ToolCall) =>
  <A extends Outcome, E, R>(run: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.gen(function* () {
      const { content } = yield* Telemetry
      const startedAt = yield* Clock.currentTimeMillis
      return yield* inSpan("tools.execute", () => requestOf(session, call, content))((span) =>
        Effect.tap(run, (result) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) => {
            if (span !== undefined) note(span, result, content)
            const error = result.ok ? undefined : (result.failure ?? UNKNOWN)
            return measureTool(tool === undefined ? UNKNOWN : call.tool, now - startedAt, error)
          })
        )
      )
    })
