// Sender: how an assistant is named as the sender of an envelope.
// Owns that name, and telling it from those of others. Leaves how it is shown to spoken.ts.

const ASSISTANT_PREFIX = "assistant:"

/** How an assistant is named as the sender of an envelope. */
export const assistantSender = (assistant: string): string => `${ASSISTANT_PREFIX}${assistant}`

/** The assistant that a sender names; undefined for everybody else. */
export const sendingAssistant = (from: string): string | undefined =>
  from.startsWith(ASSISTANT_PREFIX) ? from.slice(ASSISTANT_PREFIX.length) : undefined
