// InProcess: a command run inside the test, with what it said.
// Owns standing in for the two streams. What concerns a process of its own (signals, pipes) is tested with command-line.ts.

import { call } from "../src/call.ts"
import { Stop } from "../src/running/stop.ts"
import type { Said } from "./command-line.ts"

type Write = typeof process.stdout.write

const taking = (stream: NodeJS.WriteStream, take: (text: string) => void): (() => void) => {
  const before = stream.write.bind(stream)
  stream.write = ((chunk: string | Uint8Array, ...rest: ReadonlyArray<unknown>) => {
    take(typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8"))
    const done = rest.findLast((each) => typeof each === "function") as (() => void) | undefined
    done?.()
    return true
  }) as Write
  return () => {
    stream.write = before
  }
}

/** Runs it as `main.ts` does; one at a time, for the streams are the process's own. */
export const said = async (args: ReadonlyArray<string>): Promise<Said> => {
  let stdout = ""
  let stderr = ""
  const leave = [taking(process.stdout, (text) => (stdout += text)), taking(process.stderr, (text) => (stderr += text))]
  const env = { ...process.env }
  try {
    return { code: await call(args, new Stop()), stdout, stderr }
  } finally {
    for (const back of leave) back()
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name]
  }
}
