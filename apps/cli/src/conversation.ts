// Conversation: lines of a person, answers of an assistant, one after the other.
// Owns the commands (/state ...), the order of questions, and reading lines. Leaves answering to the backend, and how an
// answer looks to answer-printer.ts.
// C1  A question is durable as soon as it is asked: to stop waiting for its answer does not take it back.
// C2  At a terminal commands are heard at once, also while an answer is awaited; further questions wait their turn. Lines that are
//     piped in are taken one after the other, but for a decision that an answer waits for.
// C3  What looks like a command and is none is an error with a suggestion, and no one hears it.
// C4  A question is for the one who was spoken with when it was asked.

import { defined, unknownName } from "@reverie/protocol"
import { writtenCall } from "./named.ts"
import { CommandFailed, failureOf } from "./failure.ts"
import { note, painted, say } from "./output.ts"
import { onOneLine, plain, counted } from "./texts/plain.ts"
import type { Backend, SubAgentTree } from "./backend/backend.ts"
import type { Stop } from "./running/stop.ts"
import { AnswerPrinter } from "./texts/answer-printer.ts"
import { contextText } from "./texts/context-text.ts"
import { dreamsText } from "./texts/memory-text.ts"
import { foremost } from "./commands/top.ts"
import { useText } from "./texts/report.ts"
import { createInterface } from "node:readline"

// Slash: what a person may ask of the command line in a chat, besides speaking.

const SLASH_HELP = `/state              who is doing what
/context            what the model was shown last
/memory             what it keeps
/compact            tell it to compact its history, and how full its window is
/dream              start dreaming, and show its last dream
/undo               undo the newest compaction of its history
/cost               what it and its sub-agents have used
/approve [id]       let the call that waits for you run
/deny [id]          refuse it
/to ASSISTANT       speak with someone else
/help               this list
/quit               leave
//WORD ...          say what begins with a slash`

/** `/word`, alone or before other words. A path has another slash, and a call of a tool has `{...}` or `name=value` behind it. */
const COMMAND_FORM = /^\/[A-Za-z][\w-]*(?=\s|$)(?!\s+(?:\{|[\w-]+=))/

const commandNames = SLASH_HELP.split("\n").flatMap((line) => /^\/[a-z]+/.exec(line) ?? [])

const context = async (backend: Backend, id: string): Promise<string> => {
  const report = await backend.contextReport(id, {})
  return report === undefined ? `no run of ${id} keeps the report of a prompt` : contextText(id, report)
}

const memory = async (backend: Backend, id: string): Promise<string> => {
  const kept = Object.entries(await backend.kept(id)).map(([kind, count]) => `${kind} ${count}`)
  return `${id} keeps: ${kept.join(", ")}`
}

const compact = async (backend: Backend, id: string): Promise<string> => {
  const report = await backend.contextReport(id, {})
  const compacted = await backend.compactions(id)
  const share = report === undefined ? "its window is empty" : `its window is ${Math.round(report.share * 100)} % full`
  const so = `${share}, ${counted(compacted.length, "compaction")} so far`
  const view = await backend.view(id)
  if (view?.activity === "compacting") return `${id} compacts its history: ${so}`
  await backend.order(id, "compact", {})
  return `${id} is asked to compact its history: ${so}`
}

/** A dream by rules is over by then; one by a model goes on, and is shown the next time. */
const DREAM_MILLIS = 5_000
const LOOK_MILLIS = 200

const newestDream = async (backend: Backend, id: string) => (await backend.dreams(id)).at(0)

const dream = async (backend: Backend, id: string): Promise<string> => {
  const before = await newestDream(backend, id)
  const view = await backend.view(id)
  if (view?.activity === "dreaming") return `${id} dreams\n${dreamsText(id, before === undefined ? [] : [before])}`
  await backend.order(id, "sleep", {})
  const until = Date.now() + DREAM_MILLIS
  while (Date.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MILLIS))
    const newest = await newestDream(backend, id)
    const isBusy = (await backend.view(id))?.tags.includes("busy") === true
    if (!isBusy && newest !== undefined && newest.key !== before?.key) return dreamsText(id, [newest])
  }
  return `${id} is asked to dream, and has not ended it yet: /dream shows it once it has`
}

const undo = async (backend: Backend, id: string): Promise<string> => {
  const newest = (await backend.compactions(id)).findLast(({ undone_at }) => undone_at === undefined)
  if (newest === undefined) return `nothing of ${id}'s history is compacted`
  await backend.undoCompaction(id, newest.id)
  return `${id} is asked to revert ${newest.id}`
}

const cost = async (backend: Backend, id: string): Promise<string> => {
  const tree = await backend.subAgentTree(id)
  if (tree === undefined) return `nothing is known of ${id}`
  const used = async (assistant: string) => useText((await backend.usage({ assistant, from: 0, limit: 1 })).total)
  const below = namesBelow(tree).map(async (name) => `  ${name}: ${await used(name)}`)
  return [await used(id), ...(await Promise.all(below))].join("\n")
}

/** Everybody who was created for a task of it. */
const namesBelow = ({ subAgents }: Pick<SubAgentTree, "subAgents">): ReadonlyArray<string> =>
  subAgents.flatMap((each) => [...(each.state === "planned" ? [] : [each.id]), ...namesBelow(each)])

/** Rows of `/state`: a list of all is a command of its own. */
const STATE_ROWS = 10

/** Names that `/to` lists. */
const MOST_NAMES = 20

const answers: Readonly<Record<string, (backend: Backend, id: string) => Promise<string>>> = {
  "/state": (backend) => foremost(backend, STATE_ROWS),
  "/context": context,
  "/memory": memory,
  "/compact": compact,
  "/dream": dream,
  "/undo": undo,
  "/cost": cost
}

/** True when it was one of these; the answer has been told. */
const answerSlash = async (backend: Backend, id: string, command: string): Promise<boolean> => {
  const answer = Object.hasOwn(answers, command) ? answers[command] : undefined
  if (answer === undefined) return false
  say(plain(await answer(backend, id)))
  return true
}

/** True when it looks like a command: it was mistyped, and is not said to anybody. */
const refuseCommand = (text: string, command: string): boolean => {
  if (!COMMAND_FORM.test(text)) return false
  const unknown = `there is no command ${unknownName(command, commandNames)}`
  note(`${painted("red", "reverie:")} ${onOneLine(unknown, 400)}; /${onOneLine(command)} says it as it is`)
  return true
}

interface Question {
  readonly text: string
  readonly to: string
}

class Conversation {
  readonly #backend: Backend
  readonly #stop: Stop
  /** Lines are typed, and not piped in. */
  readonly #isTyped: boolean
  readonly #questions: Array<Question> = []
  readonly #context: string | undefined
  readonly #turned: ((to: string) => void) | undefined
  #to: string
  #answering: Promise<void> | undefined
  /** Resolves when the answer at hand waits for a person. */
  #waiting = Promise.withResolvers<void>()

  constructor({ backend, context, stop, to, turned }: ChatOptions, isTyped: boolean) {
    this.#backend = backend
    this.#isTyped = isTyped
    this.#context = context
    this.#turned = turned
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
    if (!this.#isTyped && COMMAND_FORM.test(text)) await Promise.race([this.#answering, this.#waiting.promise])
    if (text === "/quit" || text === "/exit") return false
    if (text.startsWith("/") && (await this.#command(text))) return true
    this.#questions.push({ text: text.startsWith("//") ? text.slice(1) : text, to: this.#to })
    this.#answering ??= this.#answerAll().finally(() => {
      this.#answering = undefined
    })
    return true
  }

  /** Resolves when every question so far has been answered. */
  async answered(): Promise<void> {
    await this.#answering
  }

  /** True when it is one of ours, or one that was mistyped; a call of a tool, or a path, is said to the assistant. */
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
        return (await this.#slash(command)) || refuseCommand(text, command)
    }
  }

  /** What can not be done is reported, and ends nothing. */
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
    this.#waiting = Promise.withResolvers<void>()
    note(`${asked.tool}: ${decision}`)
  }

  async #turnTo(id: string | undefined): Promise<void> {
    const known = await this.#backend.beginning("")
    if (id !== undefined && known.includes(id)) {
      this.#to = id
      this.#turned?.(id)
      return
    }
    if (id !== undefined) note(`${painted("red", "reverie:")} there is no assistant ${onOneLine(id)}`)
    const more = known.length > MOST_NAMES ? `, and ${known.length - MOST_NAMES} more` : ""
    note(`/to ASSISTANT: there are ${known.slice(0, MOST_NAMES).join(", ")}${more}`)
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
  async #answer({ text, to }: Question): Promise<void> {
    this.#waiting = Promise.withResolvers<void>()
    const cancelled = Promise.withResolvers<undefined>()
    const release = this.#stop.intercept(() => {
      cancelled.resolve(undefined)
      return true
    })
    const asked = { from: "person", ...defined({ context: this.#context }) }
    const parts = this.#backend.ask(to, text, asked)[Symbol.asyncIterator]()
    const printer = new AnswerPrinter()
    try {
      while (true) {
        const next = await this.#backend.within(Promise.race([parts.next(), cancelled.promise]))
        if (next === undefined) {
          printer.breakLine()
          note(painted("dim", `${to} goes on without us; the answer will stand in its history`))
          return
        }
        if (next.done === true) return
        printer.print(next.value)
        if (next.value.type !== "approval") continue
        note(`  ${await writtenCall(this.#backend, to, next.value.call)}`)
        this.#waiting.resolve()
      }
    } finally {
      release()
      // Not awaited: a generator that waits for its next part returns only after it.
      void parts.return?.()
    }
  }
}

// Chat: a conversation over standard input.
// Owns reading lines and the prompt. What a line means is decided above.
// C1  Without a terminal nothing is prompted; a closed or empty input is no error.
// C2  What was asked before the input ended is answered before the chat ends.

export interface ChatOptions {
  readonly backend: Backend
  readonly stop: Stop
  readonly to: string
  /** The kind of context that all that is said is handled in. */
  readonly context?: string
  /** Whom the person speaks with from now on. */
  readonly turned?: (to: string) => void
}

/** Talks until the person leaves or the input ends. */
export const chat = async (options: ChatOptions): Promise<"left" | "input-ended"> => {
  const { backend, stop } = options
  const isTerminal = process.stdin.isTTY && process.stderr.isTTY
  const lines = createInterface({ input: process.stdin, output: isTerminal ? process.stderr : undefined })
  const conversation = new Conversation(options, process.stdin.isTTY)
  const ended = Promise.withResolvers<"left" | "input-ended">()
  const prompt = () => {
    if (!isTerminal) return
    lines.setPrompt(`${conversation.to}> `)
    lines.prompt(true)
  }
  let messageFilter: Promise<void> = Promise.resolve()
  const hear = async (line: string) => {
    const stays = await conversation.hear(line)
    if (!stays) ended.resolve("left")
    void conversation.answered().then(prompt, ended.reject)
  }
  lines.on("line", (line) => {
    messageFilter = messageFilter.then(() => hear(line)).catch(ended.reject)
  })
  lines.on("SIGINT", () => stop.interrupt())
  lines.on("close", () => {
    messageFilter = messageFilter
      .then(() => conversation.answered())
      .then(() => ended.resolve("input-ended"), ended.reject)
  })
  process.stdin.on("error", () => lines.close())
  prompt()
  try {
    return await backend.within(ended.promise)
  } finally {
    // The prompt stands open on its line.
    if (isTerminal) note("")
    lines.close()
    process.stdin.pause()
  }
}

/** Stays up for a chat; when no one can chat, until a signal comes. */
export const stayUp = async (options: ChatOptions): Promise<void> => {
  if (process.stdin.isTTY) note(`Speak with ${options.to}, /help shows the commands, Ctrl-C ends.`)
  else note("Stays up until SIGINT or SIGTERM.")
  const outcome = await chat(options)
  if (outcome === "left") return
  await options.backend.within(new Promise<never>(() => {}))
}

/** The failure of an answer that did not come. */
export const noAnswer = (to: string, reason: string): CommandFailed =>
  new CommandFailed("answer-failed", `${to} could not answer: ${reason}`)
