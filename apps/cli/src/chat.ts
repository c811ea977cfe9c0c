// Chat: a conversation over standard input.
// Owns reading lines and the prompt. Leaves what a line means to conversation.ts.
// C1  Without a terminal nothing is prompted; a closed or empty input is no error.
// C2  What was asked before the input ended is answered before the chat ends.

import { createInterface } from "node:readline"
import { Conversation } from "./conversation.ts"
import { CommandFailed } from "./failure.ts"
import { note } from "./output.ts"
import type { Backend } from "./backend/backend.ts"
import type { Stop } from "./running/stop.ts"

export interface ChatOptions {
  readonly backend: Backend
  readonly stop: Stop
  readonly to: string
}

/** Talks until the person leaves or the input ends. */
export const chat = async ({ backend, stop, to }: ChatOptions): Promise<"left" | "input-ended"> => {
  const isTerminal = process.stdin.isTTY && process.stderr.isTTY
  const lines = createInterface({ input: process.stdin, output: isTerminal ? process.stderr : undefined })
  const conversation = new Conversation(backend, stop, to)
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

/** Stays up for a chat; when nobody can chat, until a signal comes. */
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
