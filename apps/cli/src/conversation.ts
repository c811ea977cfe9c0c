// Conversation: lines of a person, answers of an assistant, one after the other.
// Owns the commands (/state ...), the order of questions and the printing of answers. Leaves reading lines to chat.ts.
// C1  A question is durable as soon as it is asked: to stop waiting for its answer does not take it back.
// C2  Commands are heard at once, also while an answer is awaited; further questions wait their turn.

import type { Part } from "reverie"
import { answerSlash, SLASH_HELP } from "./slash.ts"
import { writtenCall } from "./written-call.ts"
import { CommandFailed, failureOf } from "./failure.ts"
import { note, painted, say, sayPart } from "./output.ts"
import { onOneLine, plain } from "./plain.ts"
import type { Backend } from "./backend/backend.ts"
import type { Stop } from "./stop.ts"

export class Conversation {
  readonly #backend: Backend
  readonly #stop: Stop
  readonly #questions: Array<string> = []
  #to: string
  #answering: Promise<void> | undefined

  constructor(backend: Backend, stop: Stop, to: string) {
    this.#backend = backend
    this.#stop = stop
    this.#to = to
  }

  get to(): string {
    return this.#to
  }

  /** Takes one line of a person. False: the person leaves. */
  async hear(line: string): Promise<boolean> {
    const text = line.trim()
    if (text === "") return true
    if (text === "/quit" || text === "/exit") return false
    if (text.startsWith("/") && (await this.#command(text))) return true
    this.#questions.push(text)
    this.#answering ??= this.#answerAll().finally(() => {
      this.#answering = undefined
    })
    return true
  }

  /** Resolves when every question so far has been answered. */
  async answered(): Promise<void> {
    await this.#answering
  }

  /** True when it is one of ours; anything else with a slash is said to the assistant. */
  async #command(text: string): Promise<boolean> {
    const [command = "", argument] = text.split(/\s+/)
    switch (command) {
      case "/help":
        say(SLASH_HELP)
        return true
      case "/approve":
        await this.#decide("approved", argument)
        return true
      case "/deny":
        await this.#decide("denied", argument)
        return true
      case "/to":
        await this.#turnTo(argument)
        return true
      default:
        return this.#slash(command)
    }
  }

  /** What can not be done is told, and ends nothing. */
  async #slash(command: string): Promise<boolean> {
    try {
      return await answerSlash(this.#backend, this.#to, command)
    } catch (error) {
      note(`${painted("red", "reverie:")} ${onOneLine(failureOf(error).message)}`)
      return true
    }
  }

  async #decide(decision: "approved" | "denied", approval: string | undefined): Promise<void> {
    const view = await this.#backend.view(this.#to)
    const asked = view?.approvals.find((each) => approval === undefined || each.approval.startsWith(approval))
    if (asked === undefined) return note(`${this.#to} asks for no such approval`)
    await this.#backend.decide(this.#to, asked.approval, decision, {})
    note(`${asked.tool}: ${decision}`)
  }

  async #turnTo(id: string | undefined): Promise<void> {
    const known = await this.#backend.beginning("")
    if (id !== undefined && known.includes(id)) this.#to = id
    else note(`there are ${known.join(", ")}`)
  }

  async #answerAll(): Promise<void> {
    while (true) {
      const question = this.#questions.shift()
      if (question === undefined) return
      try {
        await this.#answer(question)
      } catch (error) {
        if (error instanceof CommandFailed && error.failure.code !== "answer-failed") throw error
        note(`${painted("red", "reverie:")} ${onOneLine(failureOf(error).message)}`)
      }
    }
  }

  /** Asks and prints what comes back. A Ctrl-C ends the waiting, not the question. */
  async #answer(question: string): Promise<void> {
    const cancelled = Promise.withResolvers<undefined>()
    const release = this.#stop.intercept(() => {
      cancelled.resolve(undefined)
      return true
    })
    const parts = this.#backend.ask(this.#to, question, { from: "person" })[Symbol.asyncIterator]()
    const printer = new AnswerPrinter()
    try {
      while (true) {
        const next = await this.#backend.within(Promise.race([parts.next(), cancelled.promise]))
        if (next === undefined) {
          printer.breakLine()
          note(painted("dim", `${this.#to} goes on without us; the answer will stand in its history`))
          return
        }
        if (next.done === true) return
        printer.print(next.value)
        if (next.value.type === "approval") note(`  ${await writtenCall(this.#backend, this.#to, next.value.call)}`)
      }
    } finally {
      release()
      // Not awaited: a generator that waits for its next part returns only after it.
      void parts.return?.()
    }
  }
}

/** Prints the parts of one answer. */
class AnswerPrinter {
  /** What has been streamed since the last line break of ours. */
  #streamed = ""

  breakLine(): void {
    if (this.#streamed !== "") sayPart("\n")
    this.#streamed = ""
  }

  print(part: Part): void {
    if (part.type === "text") {
      const text = plain(part.text)
      this.#streamed += text
      return sayPart(text)
    }
    const streamed = this.#streamed
    this.breakLine()
    switch (part.type) {
      case "tool":
        return note(painted("dim", `  ${onOneLine(part.tool)}: ${onOneLine(part.content)}`))
      case "trouble":
        return note(painted("yellow", `  ${onOneLine(part.reason)}`))
      case "approval":
        return note(painted("yellow", `  it waits for you: /approve or /deny (${part.approval})`))
      case "done": {
        const reply = plain(part.reply).trim()
        if (reply !== streamed.trim()) say(reply === "" ? painted("dim", `(${part.outcome})`) : reply)
        return
      }
      case "failed":
        return note(`${painted("red", "no answer:")} ${onOneLine(part.reason)}`)
      case "halted":
        return note(painted("yellow", "it is halted; the question waits until it is resumed"))
    }
  }
}
