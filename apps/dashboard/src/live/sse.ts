// Sse: the event stream format, read piece by piece.
// Owns the rules of the format. Leaves the connection to stream.ts.
// E1  However the bytes are cut into pieces, the same events come out.

export interface SseEvent {
  readonly event: string
  readonly data: string
}

export interface SseReader {
  /** Takes the next piece of text; gives the events that it completes. */
  readonly read: (piece: string) => ReadonlyArray<SseEvent>
  /** Of the last whole event that had one, also of one without data: it says where we stand. */
  readonly lastId: () => string | undefined
}

export const sseReader = (): SseReader => {
  let rest = ""
  let event = ""
  let id: string | undefined
  let last: string | undefined
  let data: Array<string> = []

  const field = (line: string): void => {
    const colon = line.indexOf(":")
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "")
    if (name === "event") event = value
    else if (name === "data") data.push(value)
    else if (name === "id" && !value.includes("\0")) id = value
  }

  const ended = (): SseEvent | undefined => {
    const whole = data.length === 0 ? undefined : { event: event === "" ? "message" : event, data: data.join("\n") }
    last = id ?? last
    event = ""
    data = []
    id = undefined
    return whole
  }

  const read = (piece: string): ReadonlyArray<SseEvent> => {
    rest += piece
    const found: Array<SseEvent> = []
    // A carriage return at the very end may be half of a line's end.
    const lines = rest.split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ""
    for (const line of lines) {
      if (line !== "") {
        if (!line.startsWith(":")) field(line)
        continue
      }
      const whole = ended()
      if (whole !== undefined) found.push(whole)
    }
    return found
  }
  return { read, lastId: () => last }
}
