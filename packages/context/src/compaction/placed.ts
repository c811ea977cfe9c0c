// Placed: messages with their places in the ledger.
// Owns reading them out of entries, and pieces of a history by place. Leaves keeping them to the ledger.
// P1  They stand in the order of history, each where the ledger has it.

import type { MessagePlace, PlacedMessage } from "@reverie/protocol"
import { type Entry, isBefore } from "@reverie/protocol"

/** The messages of entries in their order, from a place on. */
export const placedMessages = (
  entries: ReadonlyArray<Pick<Entry, "no" | "messages">>,
  from?: MessagePlace
): ReadonlyArray<PlacedMessage> => {
  const placed: Array<PlacedMessage> = []
  for (const { messages, no } of entries) {
    for (const [index, message] of messages.entries()) {
      const place = { no, index }
      if (from === undefined || !isBefore(place, from)) placed.push({ place, message })
    }
  }
  return placed
}

/** The messages from one place to another one, both of them among them. */
export const between = (
  history: ReadonlyArray<PlacedMessage>,
  from: MessagePlace,
  to: MessagePlace
): ReadonlyArray<PlacedMessage> => history.filter(({ place }) => !isBefore(place, from) && !isBefore(to, place))

export const tokensOf = (history: ReadonlyArray<PlacedMessage>): number =>
  history.reduce((sum, { message }) => sum + message.tokens, 0)
