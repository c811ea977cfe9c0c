// ScriptedModel: a model that answers what a test has written down.
// Owns the forms of answers, their order, and being strict. Leaves time to the clock of the fleet that asks.
// S1  The same script and the same requests give the same answers; nothing else goes in.
// S2  A request that the script has no answer for is never answered by chance: the assistant halts, and `problem` says why.
// S3  A list answers ticks, one answer a model call. What memory asks at night, in compactions and assessments is answered
//     by the offline stand-in by rules, unless a script function answers it.

import { extractionPrefix } from "@reverie/context"
import {
  type Model,
  ModelDenied,
  type ModelError,
  ModelRefused,
  ModelUnavailable,
  type Prompt,
  type PromptMessage,
  type Reply,
  ReplyUnusable,
  type ToolOffer
} from "@reverie/model"
import type { Json } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { ScriptBroken } from "./errors.ts"
import { millisOf, type Span } from "./virtual-clock.ts"

/** What a call is for. `question`: a task is assessed, or a tool asks the model in the middle of its run. */
export type Purpose = "tick" | "dream" | "compaction" | "question"

/** One call of the model, as a test looks at it. */
export interface ModelRequest {
  /** Which call it is, from 1; calls of every purpose count. */
  readonly number: number
  /** What it is asked for: a tick, a dream, a compaction, or a question of a tool. */
  readonly purpose: Purpose
  /** The prompt, in its order. */
  readonly messages: ReadonlyArray<PromptMessage>
  /** The tools that are offered. */
  readonly tools: ReadonlyArray<ToolOffer>
  /** The newest message, of any role. */
  readonly last: string
  /** Every message in one text, for `includes`. */
  readonly text: string
  /** The request as it reached the model. */
  readonly prompt: Prompt
}

/** A call of a tool, as a scripted model makes it. */
export interface ScriptedCall {
  /** The name of the tool. */
  readonly tool: string
  /** An object; empty when not said. */
  readonly arguments?: { readonly [key: string]: Json }
  /** The text of arguments that are no JSON, as weak models send them. */
  readonly malformed?: string
}

/** An answer; what is left out is as plain as can be. */
export interface ScriptedReply {
  /** What the model says; empty when not said. */
  readonly text?: string
  /** The tools that it calls, in their order; none when not said. `calls` makes them. */
  readonly calls?: ReadonlyArray<ScriptedCall>
  /** What it thinks before it speaks: shown, and not kept. */
  readonly reasoning?: string
  /** Tokens; 1 and 1 when not said. */
  readonly usage?: {
    readonly inputTokens: number
    readonly outputTokens: number
    readonly cachedInputTokens?: number
    readonly reasoningTokens?: number
  }
  /** The model that answers, for prices; "scripted" when not said. */
  readonly model?: string
  /** How long the answer takes, by the clock of the fleet. */
  readonly after?: Span
}

/** A call of the model that fails. */
export interface ScriptedFailure {
  /** What the call fails with; `unavailable`, `denied`, `refused` and `unusable` make one. */
  readonly fails: ModelError
  /** How long it takes to fail, by the clock of the fleet; no time when not said. */
  readonly after?: Span
}

/** A text is an answer in words. */
export type Answer = string | ScriptedReply | ScriptedFailure

/** Answers in order, one for each call of a tick; or a function. Undefined: this request is not the script's. */
export type Script =
  | ReadonlyArray<Answer>
  | ((request: ModelRequest) => Answer | undefined | Promise<Answer | undefined>)

/** A model that answers from a script, and keeps what it was asked. */
export interface ScriptedModel extends Readonly<Model["Service"]> {
  /** Every request so far, in the order of the calls. */
  readonly requests: ReadonlyArray<ModelRequest>
  /** Answers of a list that have not been asked for; 0 with a function. */
  readonly left: number
  /** The first thing that the script could not answer, or broke on. */
  readonly problem: ScriptBroken | undefined
}

const provider = "scripted"

/**
 * An answer that calls one tool.
 * @example
 * const model = scriptedModel([calls("find_berth", { ship: "Aurora" }), "Berth 7 is free."])
 */
export const calls = (tool: string, args: ScriptedCall["arguments"] = {}): ScriptedReply => ({
  calls: [{ tool, arguments: args }]
})

/**
 * The same answer, later. A duration is in milliseconds, or says its unit.
 * @example
 * const model = scriptedModel([slow("20s", "Good morning.")])
 */
export const slow = (after: Span, answer: Answer): Answer =>
  typeof answer === "string" ? { text: answer, after } : { ...answer, after }

/** The server can not be reached: the assistant waits, and tries again by itself. */
export const unavailable = (message: string = "connection refused"): ScriptedFailure => ({
  fails: new ModelUnavailable({ provider, kind: "network", message })
})

/** The provider refuses this very prompt (filtered, too long): the message ends in the dead letters. */
export const refused = (message: string = "the request was refused"): ScriptedFailure => ({
  fails: new ModelRefused({ provider, kind: "filtered", message })
})

/** The provider refuses the key: the assistant halts until a person resumes it. */
export const denied = (message: string = "incorrect API key"): ScriptedFailure => ({
  fails: new ModelDenied({ provider, status: 401, message })
})

/** The model answers what can not be used; the call is tried again a few times. */
export const unusable = (message: string = "the answer is empty"): ScriptedFailure => ({
  fails: new ReplyUnusable({ provider, message })
})

/** How the calls of a compaction begin, and the commit that asked for them. */
export const COMPACTION_CALL = new RegExp(`^(?:summary|${extractionPrefix(0).replace(/\W.*$/, "")})\\.(\\d+)$`)

export const purposeOf = ({ callPrefix }: Prompt): Purpose => {
  if (/^\d+\.\d+$/.test(callPrefix)) return "tick"
  if (callPrefix.startsWith("dream.")) return "dream"
  return COMPACTION_CALL.test(callPrefix) ? "compaction" : "question"
}

export const requestOf = (prompt: Prompt, number: number): ModelRequest => {
  const { messages, tools } = prompt
  return {
    number,
    purpose: purposeOf(prompt),
    messages,
    tools,
    last: messages.at(-1)?.content ?? "",
    text: messages.map(({ content }) => content).join("\n\n"),
    prompt
  }
}

const replyOf = ({ callPrefix }: Prompt, { calls = [], model = provider, text = "", usage }: ScriptedReply): Reply => ({
  text,
  calls: calls.map(({ arguments: args = {}, ...call }, index) => ({
    ...call,
    id: `${callPrefix}.${index}`,
    arguments: args
  })),
  finish: calls.length > 0 ? "tool-calls" : "stop",
  usage: { inputTokens: 1, outputTokens: 1, ...usage, source: "provider" },
  model
})

/** Loaded when memory asks the first time. */
const standIn = Effect.map(
  Effect.promise(() => import("@reverie/model-offline")),
  ({ offlineModel }) => offlineModel()
)

const shortOf = (text: string): string => JSON.stringify(text.length > 120 ? `${text.slice(0, 120)}…` : text)

class Scripted implements ScriptedModel {
  readonly serves = { provider, model: provider, output: "native" } as const
  readonly requests: Array<ModelRequest> = []
  problem: ScriptBroken | undefined
  readonly #script: Script
  readonly #left: Array<Answer>

  constructor(script: Script) {
    this.#script = script
    this.#left = typeof script === "function" ? [] : [...script]
  }

  get left(): number {
    return this.#left.length
  }

  readonly infer: Model["Service"]["infer"] = (prompt, options) =>
    Effect.suspend(() => {
      const request = requestOf(structuredClone(prompt), this.requests.length + 1)
      this.requests.push(request)
      return Effect.flatMap(this.#answerTo(request), (answer) => {
        if (answer === undefined) return this.#without(request, prompt, options)
        const { after = 0, ...rest } = typeof answer === "string" ? { text: answer } : answer
        const said = Effect.suspend(() => {
          if ("fails" in rest) return Effect.fail(rest.fails)
          const reply = replyOf(prompt, rest)
          if (rest.reasoning !== undefined) options?.onReasoning?.(rest.reasoning)
          for (const [word] of reply.text.matchAll(/\s*\S+\s*/g)) options?.onText?.(word)
          for (const [call, { arguments: args, malformed, tool }] of reply.calls.entries())
            options?.onCall?.({ call, tool, arguments: malformed ?? JSON.stringify(args) })
          return Effect.succeed(reply)
        })
        const millis = millisOf(after)
        return millis === 0 ? said : Effect.andThen(Effect.sleep(millis), said)
      })
    })

  #answerTo(request: ModelRequest): Effect.Effect<Answer | undefined, ModelError> {
    const script = this.#script
    if (typeof script !== "function") {
      return Effect.succeed(request.purpose === "tick" ? this.#left.shift() : undefined)
    }
    return Effect.tryPromise({
      try: async () => script(request),
      catch: (cause) => this.#broken(`the script threw on call ${request.number}: ${String(cause)}`, cause)
    })
  }

  /** A request that the script has no answer for. */
  #without(
    request: ModelRequest,
    ...asked: Parameters<Model["Service"]["infer"]>
  ): ReturnType<Model["Service"]["infer"]> {
    if (request.purpose !== "tick") return Effect.flatMap(standIn, ({ infer }) => infer(...asked))
    const ticks = this.requests.filter(({ purpose }) => purpose === "tick").length
    const known = typeof this.#script === "function" ? "has no answer" : `has no more answers than ${ticks - 1}`
    const message = `the script ${known}, and the model was asked (call ${request.number}): ${shortOf(request.last)}`
    return Effect.fail(this.#broken(message))
  }

  #broken(message: string, cause?: unknown): ModelDenied {
    this.problem ??= new ScriptBroken(cause === undefined ? { message } : { message, cause })
    return new ModelDenied({ provider, status: 400, message })
  }
}

/**
 * A model that says what is written down, for `Fleet.open({ model })` and `testFleet(fleet, { model })`. It is strict: asked
 * more often than its script knows, it halts the assistant, and a test fleet throws ScriptBroken.
 *
 * A list answers the model calls of ticks in order. A function is given every call, and may answer later; where it answers
 * undefined, a call of a tick fails, and what memory asks is answered by the offline stand-in.
 * @example
 * const model = scriptedModel([calls("find_berth"), "Berth 7."])
 * const other = scriptedModel(({ last }) => (last.includes("berth") ? "Berth 7." : "Good morning."))
 */
export const scriptedModel = (script: Script): ScriptedModel => new Scripted(script)
