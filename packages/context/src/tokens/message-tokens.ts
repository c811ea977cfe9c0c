// MessageTokens: how long one message is for a model.
// Owns the one formula by which every message is priced. Leaves the vocabulary to the Tokens port.
// M1  The price depends on the message alone, never on its neighbours, so that it can be remembered with it.
// M2  A message with more in it is never cheaper.

import { TOKENS_PER_MESSAGE } from "@reverie/model"
import type { Message } from "@reverie/protocol"

export type CountText = (text: string) => number

/** What a message is before it is priced. */
export type UncountedMessage = Omit<Message, "tokens">

/** Prices a message, with the vocabulary already chosen. */
export type CountMessage = (message: UncountedMessage) => number

/** Tokens of a message on the wire: what it says, who says it, the calls it makes, and what a chat format adds. */
export const countMessage = (message: Pick<Message, "content" | "name" | "calls">, count: CountText): number =>
  TOKENS_PER_MESSAGE +
  count(message.content) +
  (message.name === undefined ? 0 : count(message.name)) +
  (message.calls === undefined || message.calls.length === 0 ? 0 : count(JSON.stringify(message.calls)))
