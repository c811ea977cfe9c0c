// MessageView: a message of a history as it crosses the wire.
// Owns its form. Leaves which messages are told to the groups.
// V1  What a person or a model wrote stays the text that it was, cut where it is longer than asked for.

import { defined } from "@reverie/protocol"
import type { PlacedMessage } from "reverie"
import type { MessageView } from "../api/index.ts"
import { clip } from "./clip.ts"

export const messageViewOf = ({ message, place }: PlacedMessage, maxChars: number): MessageView => {
  const { at, call, calls, content, name, role, tokens } = message
  return {
    no: place.no,
    index: place.index,
    role,
    content: clip(content, maxChars),
    ...defined({
      name,
      call,
      calls:
        calls === undefined
          ? undefined
          : calls.map(({ arguments: asked, id, malformed, tool }) => ({
              id,
              tool,
              arguments: clip(malformed ?? JSON.stringify(asked), maxChars)
            }))
    }),
    at,
    tokens
  }
}
