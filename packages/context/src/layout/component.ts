// Component: one numbered part of a prompt.
// Owns the making of a part that is one message. Leaves its place to `scheme.ts`, the order in a prompt to `assemble.ts`,
// and the three parts that history fills to `window.ts`.
// K1  A component is priced once, when it is made; its wire message is one object for as long as the component lives.

import type { PromptMessage } from "@reverie/model"
import type { Message } from "@reverie/protocol"
import { PLACES } from "./scheme.ts"

/** What a message is before it is priced. */
export type UncountedMessage = Omit<Message, "tokens">

/** Prices a message, with the vocabulary already chosen. */
export type CountMessage = (message: UncountedMessage) => number

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
