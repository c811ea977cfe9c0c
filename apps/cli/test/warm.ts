// Warm: a process that runs one command after the other, and is loaded once.
// Owns giving each the arguments, the directory and the standard input of a process of its own, and taking
// what it says. Leaves what concerns a process (signals, pipes, colours, the environment) to command-line.ts, which starts one.

import { Readable } from "node:stream"
import { call } from "../src/call.ts"
import { Stop } from "../src/running/stop.ts"
import type { Said } from "./command-line.ts"

export interface Call {
  readonly args: ReadonlyArray<string>
  readonly cwd?: string
  readonly input?: string
}

type Write = typeof process.stdout.write

let stdout = ""
let stderr = ""

const take = (stream: NodeJS.WriteStream, keep: (text: string) => void): void => {
  stream.write = ((chunk: string | Uint8Array, ...rest: ReadonlyArray<unknown>) => {
    keep(typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8"))
    const done = rest.findLast((each) => typeof each === "function") as (() => void) | undefined
    if (done !== undefined) queueMicrotask(done)
    return true
  }) as Write
}

take(process.stdout, (text) => (stdout += text))
take(process.stderr, (text) => (stderr += text))

const home = process.cwd()

const run = async ({ args, cwd = home, input }: Call): Promise<Said> => {
  stdout = ""
  stderr = ""
  process.chdir(cwd)
  Object.defineProperty(process, "stdin", {
    configurable: true,
    value: Readable.from(input === undefined ? [] : [Buffer.from(input)], { objectMode: false })
  })
  const code = await call(args, new Stop())
  process.exitCode = 0
  return { code, stdout, stderr }
}

process.on("message", (asked: Call) => void run(asked).then((said) => process.send?.(said)))
process.on("disconnect", () => process.exit())
