// AnswerPrinter: the parts of an answer as they come, on the terminal of the one who asked.
// Owns which parts get a line, and where lines break. Leaves the words of a person's commands to conversation.ts.
// P1  Words of the answer go to stdout; what stands beside them goes to stderr, harmless and on its line.

import { withoutJson } from "@reverie/protocol"
import type { Part } from "reverie"
import { note, notePart, painted, say, sayPart } from "../output.ts"
import { onOneLine, plain } from "./plain.ts"

/** Parts that have a line of their own. */
type LinePart = Exclude<Part, { readonly type: "text" | "reasoning" | "usage" | "tool-arguments" | "approval-decided" }>

/** Prints the parts of one answer. */
export class AnswerPrinter {
  /** What has been streamed since the last line break of ours. */
  #streamed = ""
  #isThinking = false
  /** Calls whose beginning was printed. */
  readonly #begun = new Set<string>()

  breakLine(): void {
    if (this.#streamed !== "") sayPart("\n")
    this.#streamed = ""
  }

  print(part: Part): void {
    switch (part.type) {
      case "text":
        return this.#stream(plain(part.text))
      case "reasoning":
        return this.#think(plain(part.text))
      case "usage":
      case "tool-arguments":
      case "approval-decided":
        return
      default:
        return this.#line(part)
    }
  }

  #stream(text: string): void {
    this.#endThought()
    this.#streamed += text
    sayPart(text)
  }

  /** Beside the answer, as everything that is none of it. */
  #think(text: string): void {
    if (this.#streamed !== "") this.breakLine()
    this.#isThinking = true
    notePart(painted("dim", text))
  }

  #endThought(): void {
    if (this.#isThinking) notePart("\n")
    this.#isThinking = false
  }

  #line(part: LinePart): void {
    const streamed = this.#streamed
    this.#endThought()
    this.breakLine()
    switch (part.type) {
      case "tool-start":
        this.#begun.add(part.call)
        return note(painted("dim", `  calls ${onOneLine(part.tool)} ...`))
      case "tool-call":
        return this.#begun.has(part.call) ? undefined : note(painted("dim", `  calls ${onOneLine(part.tool)} ...`))
      case "discarded":
        return streamed === ""
          ? undefined
          : note(painted("yellow", "  it is asked again; what it had begun to say is void"))
      case "tool-refused":
        return note(painted("yellow", `  ${onOneLine(part.tool)}: refused, ${onOneLine(part.reason)}`))
      case "sub-agent-start":
        return note(painted("dim", `  ${onOneLine(part.id)} works on: ${onOneLine(part.task)}`))
      case "sub-agent-end":
        return note(painted("dim", `  ${onOneLine(part.id)}: ${part.end}`))
      case "tool-result":
        return note(painted("dim", `  ${onOneLine(part.tool)}: ${onOneLine(withoutJson(part.content))}`))
      case "retry":
        return note(painted("yellow", `  ${onOneLine(part.error.message)}`))
      case "approval":
        return note(painted("yellow", `  it waits for you: /approve or /deny (${part.approval})`))
      case "done": {
        const reply = plain(part.reply).trim()
        if (reply !== streamed.trim()) say(reply === "" ? painted("dim", `(${part.outcome})`) : reply)
        return
      }
      case "stopped": {
        const reply = plain(part.reply).trim()
        if (reply !== streamed.trim()) say(reply)
        return note(`${painted("yellow", "not done:")} ${onOneLine(part.error.message)}`)
      }
      case "failed":
        return note(`${painted("red", "no answer:")} ${onOneLine(part.error.message)}`)
      case "halted":
        return note(painted("yellow", "it is halted; the question waits until it is resumed"))
    }
  }
}
