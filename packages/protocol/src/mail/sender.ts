// Sender: how an assistant is named as the sender of an envelope.
// Owns that name, and telling it from those of others. Leaves how it is shown to spoken.ts, which takes nothing along.

import { senderName } from "../spoken.ts"

/** How an assistant is named as the sender of an envelope. */
export const assistantSender = (assistant: string): string => `assistant:${assistant}`

/** The assistant that a sender names; undefined for everybody else. */
export const sendingAssistant = (from: string): string | undefined => {
  const name = senderName(from)
  return name === from ? undefined : name
}
