// Chat command: a conversation with one assistant.
// Owns the choice of whom, and the single message of -m or of a pipe. Leaves talking to conversation.ts.

import { defined } from "@reverie/protocol"
import { chat } from "../conversation.ts"
import { CommandFailed } from "../failure.ts"
import { loadFleet } from "../running/fleet-file.ts"
import { named } from "../named.ts"
import { note } from "../output.ts"
import { findBackend, serverFor, type Where } from "../backend/find-backend.ts"
import type { Stop } from "../running/stop.ts"
import { askOnce, assertLives, needsFleet } from "./running/run.ts"

export interface ChatCommandOptions extends Where {
  readonly model: string
  readonly message?: string
  /** The file of a JSON Schema; of a single message. */
  readonly form?: string
  /** The kind of context that what is said is handled in. */
  readonly context?: string
  /** Files that go with a single message. */
  readonly attach?: ReadonlyArray<string>
  readonly json: boolean
  readonly timeout?: number
  /** Seconds; of a single message. */
  readonly waitModel?: number
}

export const chatWith = async (agent: string, options: ChatCommandOptions, stop: Stop): Promise<number> => {
  const { form, json, message } = options
  if (json && message === undefined) throw new CommandFailed("usage", "--json needs a message (-m)")
  if (options.attach !== undefined && message === undefined)
    throw new CommandFailed("usage", "--attach needs a message (-m)")
  if (form !== undefined && message === undefined) throw new CommandFailed("usage", "--form needs a message (-m)")
  if ((await serverFor(options)) === undefined) {
    const { assistants } = await loadFleet(needsFleet(options.fleet, "chat"))
    await assertLives(agent, options, assistants)
  }
  await using backend = await findBackend(options, "order", stop)
  if (message !== undefined) {
    const headless = { exit: true, jsonl: false, quiet: true, resume: false, patience: 0 }
    return await askOnce(backend, agent, message, { ...options, ...headless })
  }
  const { id } = await named(backend, agent)
  if (process.stdin.isTTY) note(`Speak with ${id}, /help shows the commands, /quit or Ctrl-C ends.`)
  await chat({ backend, stop, to: id, ...defined({ context: options.context }) })
  return 0
}
