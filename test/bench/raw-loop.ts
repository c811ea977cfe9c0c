// RawLoop: the same ticks with the bare client and nothing kept but an array.
// Owns the loop that Reverie is compared with: two calls, one tool, a bounded window. No durability, no checks.

import OpenAI from "openai"
import { CONTEXT_TOKENS, PROMPT, question, RESPONSE_TOKENS } from "./scene.ts"

type Wire = OpenAI.Chat.Completions.ChatCompletionMessageParam

const TOOLS: Array<OpenAI.Chat.Completions.ChatCompletionTool> = [
  {
    type: "function",
    function: {
      name: "note",
      description: "Writes a line into the day book.",
      parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] }
    }
  }
]

/** What a message of the script costs, near enough to keep the same window as the other contestant. */
const TOKENS_BY_ROLE: Readonly<Record<string, number>> = { user: 21, assistant: 27, tool: 14 }

const KEPT_SHARE = 0.8

const tokensOf = (messages: ReadonlyArray<Wire>): number =>
  messages.reduce((sum, { role }) => sum + (TOKENS_BY_ROLE[role] ?? 20), 0)

/** Whole turns go, the oldest first, until the window is down to its share. */
const bounded = (history: Array<Wire>): Array<Wire> => {
  const limit = CONTEXT_TOKENS - RESPONSE_TOKENS
  if (tokensOf(history) <= limit) return history
  let kept = history
  while (tokensOf(kept) > limit * KEPT_SHARE) kept = kept.slice(4)
  return kept
}

/** Answers a function that plays `each` ticks in every conversation at once. */
export const rawLoop = async (url: string, conversations: number) => {
  const client = new OpenAI({ baseURL: url, apiKey: "none", maxRetries: 0 })
  const histories: Array<Array<Wire>> = Array.from({ length: conversations }, () => [])
  const create = (history: ReadonlyArray<Wire>) =>
    client.chat.completions.create({
      model: "bench",
      messages: [{ role: "system", content: PROMPT }, ...history],
      tools: TOOLS
    })
  const tick = async (at: number, index: number) => {
    const history = bounded(histories[at]!)
    histories[at] = history
    history.push({ role: "user", content: question(index) })
    for (let iteration = 0; iteration < 5; iteration++) {
      const message = (await create(history)).choices[0]!.message
      history.push(message)
      if (message.tool_calls === undefined || message.tool_calls.length === 0) return
      for (const call of message.tool_calls) {
        if (call.type !== "function") continue
        const { text } = JSON.parse(call.function.arguments) as { readonly text: string }
        history.push({ role: "tool", tool_call_id: call.id, content: `noted: ${text}` })
      }
    }
  }
  return async (each: number, from: number): Promise<void> => {
    await Promise.all(
      histories.map(async (_, at) => {
        for (let index = 0; index < each; index++) await tick(at, from + index)
      })
    )
  }
}
