// Call: one run of the program, from its arguments to its exit code.
// Owns what happens before and after the command: files of settings, and telling a failure. Leaves the process to main.ts.
// C1  Whatever is thrown becomes one failure, told once, in the form that was asked for.
// C2  Settings of files are put beside the environment before anything reads it; commands that help with settings run
//     even where those are wrong.

import { keepEnvironment } from "./config/settings.ts"
import { applyConfig, readConfig } from "./config/sources.ts"
import { CommandFailed } from "./failure.ts"
import { tellFailure } from "./output.ts"
import type { Stop } from "./running/stop.ts"

/** Whether stdout belongs to a program. */
export const isForPrograms = (args: ReadonlyArray<string>): boolean => {
  const own = args.includes("--") ? args.slice(0, args.indexOf("--")) : args
  return (
    own.includes("--json") ||
    own.includes("--jsonl") ||
    own.some((arg, at) => /^--output=jsonl?$/.test(arg) || (arg === "--output" && /^jsonl?$/.test(own[at + 1] ?? "")))
  )
}

/** Commander's way of ending: help and version have been printed, anything else is a wrong use. */
const fromCommander = (error: unknown): number | CommandFailed | undefined => {
  if (!(error instanceof Error) || !String(Reflect.get(error, "code")).startsWith("commander.")) return undefined
  if (Reflect.get(error, "exitCode") === 0) return 0
  return new CommandFailed(
    "usage",
    error.message
      .replace(/^error: /, "")
      .split("\n")
      .join(" ")
  )
}

/** Commands that need no settings, or are there to put them right. */
const withoutSettings = new Set(["config", "completion", "version", "init", "help", "--version", "-V", "--help", "-h"])
const developing = new Set(["dev", "start", "chat", "run"])

const prepare = (args: ReadonlyArray<string>): void => {
  const [command = ""] = args
  const env = keepEnvironment()
  if (withoutSettings.has(command) || args.includes("--help") || args.includes("-h")) return
  const config = readConfig({ env, directory: process.cwd(), isDeveloping: developing.has(command) })
  if (command !== "doctor") config.assertTrusted()
  applyConfig(config, process.env)
}

/** Runs it, and answers the exit code. */
export const call = async (args: ReadonlyArray<string>, stop: Stop): Promise<number> => {
  try {
    prepare(args)
    const { runProgram } = await import("./program.ts")
    return await runProgram(args, stop)
  } catch (error) {
    const ended = fromCommander(error) ?? error
    return typeof ended === "number" ? ended : tellFailure(ended, isForPrograms(args))
  }
}
