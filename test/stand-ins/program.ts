// Program: one command of a step, what it said, and how long it may take.
// Owns the child process. Leaves what its words mean to the steps.
// P1  A command that fails, or takes longer than it may, is a sentence with the last of what it said.

import { spawn } from "node:child_process"

export interface Said {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface ProgramOptions {
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly cwd?: string
  readonly millis?: number
  /** Standard input; none when not said. */
  readonly input?: string
}

/** A step that could not be carried through. */
export class StepFailed extends Error {}

const MINUTES = 60_000
const LAST_LINES = 15

const tailOf = ({ stderr, stdout }: Said): string =>
  `${stdout}\n${stderr}`
    .trim()
    .split("\n")
    .slice(-LAST_LINES)
    .map((line) => `  | ${line}`)
    .join("\n")

/** Runs a command to its end, whatever that is. */
export const attempt = (
  command: string,
  args: ReadonlyArray<string>,
  { cwd, env = process.env, input, millis = 10 * MINUTES }: ProgramOptions = {}
): Promise<Said> =>
  new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env: { ...env }, stdio: ["pipe", "pipe", "pipe"], timeout: millis })
    let [stdout, stderr] = ["", ""]
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text))
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
    // It may end before it has read everything.
    child.stdin.on("error", () => undefined)
    child.stdin.end(input)
    child.on("error", (error) => resolve({ code: 127, stdout, stderr: `${stderr}${error.message}` }))
    child.on("close", (code, signal) => {
      const over = signal === null ? "" : `\nended by ${signal} after at most ${millis / 1_000} s`
      resolve({ code: code ?? 1, stdout, stderr: stderr + over })
    })
  })

/** Runs a command that has to end well; answers what it printed. */
export const must = async (
  doing: string,
  command: string,
  args: ReadonlyArray<string>,
  options: ProgramOptions = {}
): Promise<string> => {
  const said = await attempt(command, args, options)
  if (said.code !== 0) throw new StepFailed(`could not ${doing}: ${command} ended with ${said.code}\n${tailOf(said)}`)
  return said.stdout
}
