// Chat command: a conversation with one assistant of a fleet.
// Owns the choice of whom, and the single message of -m. Leaves talking to chat.ts.

import { chat } from "../chat.ts"
import { CommandFailed } from "../failure.ts"
import { loadFleet } from "../fleet-file.ts"
import { Host } from "../host.ts"
import { note } from "../output.ts"
import type { Stop } from "../stop.ts"
import { run } from "./run.ts"

export interface ChatCommandOptions {
  readonly fleet: string
  readonly data: string | undefined
  readonly model: string
  readonly message?: string
  readonly json: boolean
  readonly timeout?: number
}

export const chatWith = async (agent: string, options: ChatCommandOptions, stop: Stop): Promise<number> => {
  const { message: prompt, ...rest } = options
  if (prompt !== undefined) {
    const headless = { exit: true, jsonl: false, quiet: true, resume: false, patience: 0 }
    return run({ ...rest, ...headless, prompt, agent }, stop)
  }
  if (options.json) throw new CommandFailed("usage", "--json needs a message (-m)")
  const fleet = await loadFleet(options.fleet)
  if (!fleet.assistants.some(({ id }) => id === agent)) {
    throw new CommandFailed("unknown-assistant", `there is no assistant "${agent}" in ${options.fleet}`)
  }
  const model = options.model === "offline" ? { model: "offline" as const } : {}
  await using host = await Host.open({ fleet, data: options.data, ...model, stop })
  if (process.stdin.isTTY) note(`Speak with ${agent}, /help shows the commands, /quit or Ctrl-C ends.`)
  await chat({ host, stop, to: agent })
  return 0
}
