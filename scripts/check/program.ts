// Program: running a command of the check and keeping what it said.
// Owns the child processes. Leaves what their words mean to the steps.

import { spawn } from "node:child_process"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"

export const root = fileURLToPath(new URL("../..", import.meta.url))

export interface Said {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program of node_modules/.bin or of the system, in the root, without colours and without a terminal. */
export const run = (
  command: string,
  args: ReadonlyArray<string>,
  added: Readonly<Record<string, string>> = {}
): Promise<Said> =>
  new Promise((resolve) => {
    const path = `${join(root, "node_modules/.bin")}${delimiter}${process.env["PATH"] ?? ""}`
    const env = {
      ...process.env,
      PATH: path,
      NO_COLOR: "1",
      FORCE_COLOR: undefined,
      TURBO_TELEMETRY_DISABLED: "1",
      ...added
    }
    // What npm brings is a script on Windows, which a shell alone starts.
    const shell = process.platform === "win32" && /^[\w-]+$/.test(command)
    const child = spawn(command, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"], shell })
    let stdout = ""
    let stderr = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text))
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
    child.on("error", (error) => resolve({ code: 127, stdout, stderr: error.message }))
    child.on("close", (code) => resolve({ code: code ?? 1, stdout, stderr }))
  })

export const allOf = ({ stderr, stdout }: Said): string => `${stdout}\n${stderr}`.trim()

/** The number that the pattern's first group holds; 0 when nothing was said of it, so that the step fails. */
export const numberIn = (text: string, pattern: RegExp): number =>
  Number(pattern.exec(text)?.[1]?.replace(",", "") ?? 0)
