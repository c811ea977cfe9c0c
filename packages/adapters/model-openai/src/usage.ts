// Usage: what a call cost in tokens.
// Owns believing the provider, counting where it can not be believed, and adding up rounds. Leaves prices to others.
// I1  A usage is made of whole numbers from 0; anything else a provider says is replaced by our own count.

import { type Prompt, TOKENS_PER_MESSAGE } from "@reverie/model"
import { isJsonObject, type Json, type Usage } from "@reverie/protocol"
import type { Assembly } from "./assembly.ts"

/** More tokens than any model has ever been given: a larger number is a mistake. */
const MOST_TOKENS = 1_000_000_000

export type Count = (text: string) => number

/** A rough count for when no vocabulary is at hand: four bytes a token. */
export const roughCount: Count = (text) => Math.ceil(Buffer.byteLength(text) / 4)

const tokens = (value: Json | undefined): number | undefined =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MOST_TOKENS ? value : undefined

const provided = (usage: Json | undefined): Usage | undefined => {
  if (!isJsonObject(usage)) return undefined
  const inputTokens = tokens(usage["prompt_tokens"])
  const outputTokens = tokens(usage["completion_tokens"])
  if (inputTokens === undefined || outputTokens === undefined) return undefined
  const details = usage["prompt_tokens_details"]
  const cached = isJsonObject(details) ? tokens(details["cached_tokens"]) : undefined
  return {
    inputTokens,
    outputTokens,
    ...(cached === undefined || cached > inputTokens ? {} : { cachedInputTokens: cached }),
    source: "provider"
  }
}

const counted = (prompt: Prompt, assembly: Assembly, count: Count): Usage => {
  let inputTokens = 0
  for (const { calls, content } of prompt.messages) {
    inputTokens += TOKENS_PER_MESSAGE + count(content)
    for (const call of calls ?? []) inputTokens += count(call.tool) + count(JSON.stringify(call.arguments))
  }
  for (const offer of prompt.tools) {
    inputTokens += count(offer.name) + count(offer.description) + count(JSON.stringify(offer.parameters))
  }
  let outputTokens = count(assembly.text)
  for (const call of assembly.calls) {
    outputTokens +=
      count(call.name) + count(typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments))
  }
  return { inputTokens, outputTokens, source: "counted" }
}

export const usageOf = (prompt: Prompt, assembly: Assembly, count: Count): Usage =>
  provided(assembly.usage) ?? counted(prompt, assembly, count)

/** Two rounds of one call as one. */
export const addUsage = (first: Usage, second: Usage): Usage => {
  const cached = (first.cachedInputTokens ?? 0) + (second.cachedInputTokens ?? 0)
  return {
    inputTokens: first.inputTokens + second.inputTokens,
    outputTokens: first.outputTokens + second.outputTokens,
    ...(cached === 0 ? {} : { cachedInputTokens: cached }),
    source: first.source === "provider" && second.source === "provider" ? "provider" : "counted"
  }
}
