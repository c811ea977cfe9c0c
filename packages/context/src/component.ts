// Component: one numbered part of a prompt.
// Owns the places of the static parts and the making of a part that is one message. Leaves their order in a prompt to
// `assemble.ts`, and the three parts that history fills to `window.ts`.
// K1  A component is priced once, when it is made; its wire message is one object for as long as the component lives.

import type { PromptMessage } from "@reverie/model"
import type { CountMessage } from "./message-tokens.ts"

/** The static parts by id. A prompt is in ascending order of ids; other components may stand anywhere between. */
export const PLACES = {
  systemPrompt: { id: 0, key: "system_prompt" },
  characterContext: { id: 1000, key: "character_context" },
  conversationHistory: { id: 5000, key: "conversation_history" },
  pendingEvent: { id: 6000, key: "pending_event" },
  toolResult: { id: 7000, key: "tool_result" }
} as const

export interface Component {
  readonly id: number
  readonly key: string
  readonly enabled: boolean
  readonly message: PromptMessage
  readonly tokens: number
}

interface Draft {
  readonly id: number
  readonly key: string
  readonly content: string
  /** Never `tool`: a tool message answers a call, and a component has none. */
  readonly role?: "system" | "user" | "assistant"
  readonly enabled?: boolean
}

export const component = (draft: Draft, count: CountMessage): Component => {
  const { content, enabled = true, id, key, role = "system" } = draft
  return { id, key, enabled, message: { role, content }, tokens: count({ role, content, at: 0 }) }
}

/** The components every assistant has. Without a persona there is no second one. */
export const staticComponents = (
  texts: { readonly systemPrompt: string; readonly persona?: string },
  count: CountMessage
): ReadonlyArray<Component> => [
  component({ ...PLACES.systemPrompt, content: texts.systemPrompt }, count),
  ...(texts.persona === undefined ? [] : [component({ ...PLACES.characterContext, content: texts.persona }, count)])
]
