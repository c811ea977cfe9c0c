// EventStream: server-sent events out of chunks of text.
// Owns lines and events. Leaves the meaning of the data to its reader.
// I1  The events do not depend on where the text was cut into chunks.
// I2  Work grows with the text: a line is searched once, however many chunks it came in.

export class EventStream {
  #line = ""
  #data: string | undefined
  #afterReturn = false
  readonly #onData: (data: string) => void

  constructor(onData: (data: string) => void) {
    this.#onData = onData
  }

  feed(chunk: string): void {
    if (chunk === "") return
    let text = this.#afterReturn && chunk.startsWith("\n") ? chunk.slice(1) : chunk
    this.#afterReturn = text.endsWith("\r")
    if (text.includes("\r")) text = text.replace(/\r\n?/g, "\n")
    let from = 0
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", from)) {
      const line = text.slice(from, at)
      this.#take(this.#line === "" ? line : this.#line + line)
      this.#line = ""
      from = at + 1
    }
    this.#line += text.slice(from)
  }

  /** What stood at the end without the blank line that closes an event. */
  end(): void {
    if (this.#line !== "") this.#take(this.#line)
    this.#line = ""
    this.#take("")
  }

  #take(line: string): void {
    if (line === "") {
      const data = this.#data
      this.#data = undefined
      if (data !== undefined) this.#onData(data)
    } else if (line.startsWith("data:")) {
      const value = line.slice(line.charCodeAt(5) === 32 ? 6 : 5)
      this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`
    }
  }
}
