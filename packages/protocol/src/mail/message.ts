// Message: one line of an assistant's history, and the tool calls it may carry.
// Owns their shape. Leaves rendering to `context` and pricing to `model`.
// I1  Every tool call of an assistant message has one tool message with the same `call`, later in the history.
// I2  Call ids are ours (`<tick>.<iteration>.<index>`), never the provider's, so two can not collide.

import type { Json } from "../json.ts"

export type Role = "system" | "user" | "assistant" | "tool"

export interface ToolCall {
  readonly id: string
  readonly tool: string
  /** Arguments as parsed, or why they could not be. */
  readonly arguments: Json
  readonly malformed?: string
}

export interface Message {
  readonly role: Role
  readonly content: string
  /** Who speaks, for user messages; the tool, for tool messages. */
  readonly name?: string
  readonly calls?: ReadonlyArray<ToolCall>
  /** The call that this tool message answers. */
  readonly call?: string
  /** Ids of memory blocks that a user message refers to. */
  readonly blocks?: ReadonlyArray<string>
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Counted once, when the message was committed. */
  readonly tokens: number
  /** What Reverie knows of it; no model is told. Its `type` says what the message is besides something said. */
  readonly meta?: { readonly [key: string]: Json }
}

/** Where a message stands in the ledger: the number of its entry, and its index among the messages of that entry. */
export interface MessagePlace {
  readonly no: number
  readonly index: number
}

export interface PlacedMessage {
  readonly place: MessagePlace
  readonly message: Message
}

/** True when one place lies before another one in the history. */
export const isBefore = (one: MessagePlace, other: MessagePlace): boolean =>
  one.no < other.no || (one.no === other.no && one.index < other.index)

/** Tokens of one model call, as the provider reported them or as we counted them. */
export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedInputTokens?: number
  readonly source: "provider" | "counted"
}

/** What a model may be expected to have stopped for. */
export type FinishReason = "stop" | "tool-calls" | "length" | "content-filter"

export const toolCategories = ["safe_chain", "terminal", "dangerous", "async_required"] as const
/**
 * safe_chain: fast and harmless, chains freely. terminal: speaks, ends the loop. dangerous: changes the world, at most
 * one a tick. async_required: answered by a later envelope.
 */
export type ToolCategory = (typeof toolCategories)[number]
