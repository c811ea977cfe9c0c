// ChatSpan: model calls as spans and measures.
// Owns what is said of a call. Leaves the call itself to the model, and limits to jobs.ts.
// One place for every call of a job, no matter who asks: a tick, a dream, a compaction, an assessment.

import type { Model, ModelError, Prompt, PromptMessage, Reply } from "@reverie/model"
import { contextOf } from "@reverie/assistant"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Tracer from "effect/Tracer"
import type { ToolCall } from "@reverie/protocol"
import type { Tool, ToolResult } from "@reverie/tools"
import type { Session } from "../session/session.ts"
import { agentAttributes, failureType, inSpan, measureChat, measureTokens, measureTool, type Served } from "./spans.ts"
import { attributes } from "./names.ts"
import { type ContentRequest, fitForSpan, Telemetry } from "./telemetry.ts"

type Call = Model["Service"]["infer"]

/** Newest messages of a prompt that a span has when content is wanted. */
const MAX_MESSAGES = 16

const UNNAMED: Served = { provider: "custom", model: "unnamed" }

const servedBy = (model: Model["Service"], prompt: Prompt): Served => {
  const { model: own, provider } = model.serves ?? UNNAMED
  return { provider, model: prompt.model ?? own }
}

const shownMessage = ({ content, role }: Pick<PromptMessage, "content" | "role">, request: ContentRequest) => ({
  role,
  parts: [{ type: "text", content: fitForSpan(content, request) }]
})

const askedWith = ({ messages }: Prompt, request: ContentRequest): string =>
  JSON.stringify(messages.slice(-MAX_MESSAGES).map((message) => shownMessage(message, request)))

const requestOf = (session: Session, served: Served, prompt: Prompt, content: ContentRequest | undefined) => {
  const { iteration, tick } = contextOf(session.decoded)
  return {
    display: `chat ${served.model}`,
    kind: "client" as const,
    attributes: {
      [attributes.operation]: "chat",
      [attributes.provider]: served.provider,
      [attributes.requestModel]: served.model,
      ...(prompt.maxOutputTokens === undefined ? {} : { [attributes.requestMaxTokens]: prompt.maxOutputTokens }),
      ...agentAttributes(session),
      [attributes.tick]: tick,
      [attributes.iteration]: iteration,
      ...(content === undefined ? {} : { [attributes.inputMessages]: askedWith(prompt, content) })
    }
  }
}

const noteReply = (
  span: Tracer.Span,
  { finish, model, text, usage }: Reply,
  content: ContentRequest | undefined
): void => {
  span.attribute(attributes.responseModel, model)
  span.attribute(attributes.finishReasons, [finish])
  span.attribute(attributes.inputTokens, usage.inputTokens)
  span.attribute(attributes.outputTokens, usage.outputTokens)
  if (usage.cachedInputTokens !== undefined) span.attribute(attributes.cachedInputTokens, usage.cachedInputTokens)
  if (content === undefined) return
  span.attribute(
    attributes.outputMessages,
    JSON.stringify([shownMessage({ role: "assistant", content: text }, content)])
  )
}

const noteFailure = (span: Tracer.Span, error: ModelError): void => {
  if ("status" in error && error.status !== undefined) span.attribute(attributes.status, error.status)
}

const measured = (served: Served, startedAt: number, exit: Exit.Exit<Reply, ModelError>) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const duration = measureChat(served, now - startedAt, failureType(exit))
    if (Exit.isFailure(exit)) return duration
    const { inputTokens, outputTokens } = exit.value.usage
    return Effect.andThen(duration, measureTokens(served, inputTokens, outputTokens))
  })

/** The model with each that it may ask in another dress. */
export const aroundEach = (
  model: Model["Service"],
  dress: (model: Model["Service"]) => Model["Service"]
): Model["Service"] =>
  model.inOrder === undefined ? dress(model) : model.inOrder.dressed(model.inOrder.models.map(dress))

/** The model as spans and measures show its calls. */
export const tracedModel = (session: Session, model: Model["Service"]): Model["Service"] => {
  const infer: Call = Effect.fnUntraced(function* (prompt, options) {
    const served = servedBy(model, prompt)
    const { content } = yield* Telemetry
    const startedAt = yield* Clock.currentTimeMillis
    return yield* inSpan("model.infer", () => requestOf(session, served, prompt, content))((span) =>
      model.infer(prompt, options).pipe(
        Effect.tap((reply) => Effect.sync(() => span && noteReply(span, reply, content))),
        Effect.tapError((error) => Effect.sync(() => span && noteFailure(span, error))),
        Effect.onExit((exit) => measured(served, startedAt, exit))
      )
    )
  })
  return { ...model, infer }
}

// ToolSpan: tool calls as spans and measures.

/** What a model made up is no label of a metric. */
const UNKNOWN = "_OTHER"

const toolRequestOf = (session: Session, call: ToolCall, content: ContentRequest | undefined) => ({
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
      return yield* inSpan("tools.execute", () => toolRequestOf(session, call, content))((span) =>
        Effect.tap(run, (result) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) => {
            if (span !== undefined) note(span, result, content)
            const error = result.ok ? undefined : (result.failure ?? UNKNOWN)
            return measureTool(tool === undefined ? UNKNOWN : call.tool, now - startedAt, error)
          })
        )
      )
    })
