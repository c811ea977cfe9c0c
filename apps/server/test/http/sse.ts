// Sse: reads an event stream as a browser does.
// Owns the format. Leaves the connection to the test.

import type { Loose } from "./rig.ts"

export interface SseEvent {
  readonly id: string | undefined
  readonly type: string
  readonly notice: Loose
}

/** Takes text as it comes; what is not whole yet waits, and is gone with a connection that breaks. */
export class Sse {
  readonly events: Array<SseEvent> = []
  comments = 0
  lastId: string | undefined
  #rest = ""

  read(text: string): void {
    const blocks = (this.#rest + text).split("\n\n")
    this.#rest = blocks.pop() ?? ""
    for (const block of blocks) this.#take(block)
  }

  #take(block: string): void {
    const fields = new Map<string, string>()
    for (const line of block.split("\n")) {
      const [, name = "", value = ""] = /^([a-z]*): ?(.*)$/.exec(line) ?? []
      if (name === "") this.comments++
      else fields.set(name, value)
    }
    const id = fields.get("id")
    const data = fields.get("data")
    this.lastId = id ?? this.lastId
    if (data !== undefined) this.events.push({ id, type: fields.get("event") ?? "", notice: JSON.parse(data) })
  }
}
