// Options: how one model or embedder behind one base URL is reached, and what limits a call has.
// Owns the defaults. Leaves reading the environment to the code that starts a fleet.

import type { Json } from "@reverie/protocol"
import type * as Redacted from "effect/Redacted"
import { type BreakerOptions, type CallLimits, callLimitsOf } from "@reverie/model/wire"

/** How a server is reached, and what bounds a call to it. */
export interface ServerOptions {
  /** Root of the API, usually ending in `/v1`. */
  readonly baseURL: string
  readonly apiKey: Redacted.Redacted
  readonly model: string
  /** Sent with every request. What they hold is treated as a key is. */
  readonly headers?: { readonly [name: string]: string }
  /** Longest a call may take, with its retries and its repair; of texts to embed, a batch of them. */
  readonly timeoutMs?: number
  /** Longest silence between two chunks of a body. */
  readonly idleMs?: number
  /** Largest body that is read. */
  readonly maxReplyBytes?: number
  /** How often a call is tried again after a passing failure. */
  readonly retries?: number
  /** First delay before trying again; it doubles from there, with jitter, up to eight seconds. */
  readonly backoffMs?: number
  /** A provider that asks for a longer wait than this parks the assistant instead of the call. */
  readonly parkAfterMs?: number
  readonly breaker?: Partial<BreakerOptions>
}

/** How hard a model that reasons is asked to think; servers have words of their own. */
export type ReasoningEffort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max"

export interface OpenAiModelOptions extends ServerOptions {
  /** `responses`: OpenAI's Responses API, without anything being kept there. Chat Completions when absent. */
  readonly wire?: "chat" | "responses"
  readonly temperature?: number
  readonly reasoningEffort?: ReasoningEffort
  /** Ask for a stream. When absent, a call streams if someone looks on. */
  readonly stream?: boolean
  /** `json` describes the tools in the system prompt and asks for one JSON object, for servers without native tools. */
  readonly tools?: "native" | "json"
  /** `described` says the form of an answer in words only, for servers without `response_format`; with `tools: "json"` so by itself. */
  readonly output?: "native" | "described"
  /** Which parts it takes: types, media types or ranges of them. What its name is known for when absent. Not with `tools: "json"`. */
  readonly accepts?: ReadonlyArray<string>
  /** Most tool calls that one reply may hold. */
  readonly maxCalls?: number
  /** Ask for usage in streams. Turn it off for servers that refuse unknown fields. */
  readonly streamUsage?: boolean
  /**
   * Mark with `cache_control` where the part of a prompt ends that comes again, for models whose cache asks for it. When
   * absent it is done for openrouter.ai, and for Claude behind ai-gateway.vercel.sh; others keep beginnings of prompts by themselves.
   */
  readonly cacheMarks?: boolean
  /** Fields added to every request; one that would be sent anyway gives way to it. */
  readonly extraBody?: { readonly [key: string]: Json }
}

export interface OpenAiEmbedderOptions extends ServerOptions {
  /** The length of the vectors; learned from the first one when absent. */
  readonly dimensions?: number
  /** Tell the server the length. When absent, it is reported to the models of OpenAI that can shorten their vectors. */
  readonly sendDimensions?: boolean
}

export interface Limits extends CallLimits {
  readonly maxCalls: number
}

export const limitsOf = (options: OpenAiModelOptions): Limits => ({
  ...callLimitsOf(options, 120_000, 4 * 1024 * 1024),
  maxCalls: options.maxCalls ?? 16
})

/** 96 vectors of 3,072 numbers, spelt out, are about six megabytes. */
export const embedderLimitsOf = (options: OpenAiEmbedderOptions): CallLimits =>
  callLimitsOf(options, 60_000, 32 * 1024 * 1024)

/** Gateways that pass marks on; one of them only to models whose cache asks for them. */
export const takesMarks = ({ baseURL, cacheMarks, model }: OpenAiModelOptions): boolean => {
  const host = URL.parse(baseURL)?.hostname
  return cacheMarks ?? (host === "openrouter.ai" || (host === "ai-gateway.vercel.sh" && model.startsWith("anthropic/")))
}
