// EventStream: server-sent events, read from a response.
// Owns splitting the text into events. Leaves asking and asking again to whoever reads.

import { defined } from "@reverie/protocol"
export interface StreamEvent {
  readonly id?: string
  readonly event?: string
  readonly data: string
}

const eventOf = (block: string): StreamEvent | undefined => {
  let id: string | undefined
  let event: string | undefined
  const data: Array<string> = []
  for (const line of block.split(/\r\n|\n|\r/)) {
    const [, field = "", value = ""] = /^([a-z]+): ?(.*)$/s.exec(line) ?? []
    if (field === "data") data.push(value)
    else if (field === "id") id = value
    else if (field === "event") event = value
  }
  if (data.length === 0) return undefined
  return { data: data.join("\n"), ...defined({ id, event }) }
}

/** The events of a body, as they come; comments are passed over. */
export async function* eventsIn(body: AsyncIterable<Uint8Array>): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder()
  let text = ""
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true })
    const blocks = text.split(/\r\n\r\n|\n\n|\r\r/)
    text = blocks.pop() ?? ""
    for (const block of blocks) {
      const found = eventOf(block)
      if (found !== undefined) yield found
    }
  }
}
