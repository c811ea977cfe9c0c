#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
// The command line. Nothing heavy is loaded before the command is known.

import { CommandFailed } from "./failure.ts"
import { flushed, tellFailure } from "./output.ts"
import { Stop } from "./stop.ts"

const args = process.argv.slice(2)
const ownArgs = args.includes("--") ? args.slice(0, args.indexOf("--")) : args
const asJson = ownArgs.includes("--json") || ownArgs.includes("--jsonl")

/** Commander's way of ending: help and version have been printed, anything else is a wrong use. */
const fromCommander = (error: unknown): number | CommandFailed | undefined => {
  if (!(error instanceof Error) || !String(Reflect.get(error, "code")).startsWith("commander.")) return undefined
  const code = String(Reflect.get(error, "code"))
  if (Reflect.get(error, "exitCode") === 0) return 0
  if (code === "commander.help") return new CommandFailed("usage", "a command is missing")
  return new CommandFailed(
    "usage",
    error.message
      .replace(/^error: /, "")
      .split("\n")
      .join(" ")
  )
}

const main = async (): Promise<number> => {
  const stop = new Stop()
  stop.listen()
  try {
    const { runProgram } = await import("./program.ts")
    return await runProgram(args, stop)
  } catch (error) {
    const ended = fromCommander(error) ?? error
    return typeof ended === "number" ? ended : tellFailure(ended, asJson)
  }
}

for (const event of ["uncaughtException", "unhandledRejection"]) {
  process.on(event, (error: unknown) => process.exit(tellFailure(error, asJson)))
}

process.exitCode = await main()
await flushed()
process.exit()
