// Spawn: a real child process of a test, told apart by its stdout.
// The child dies with the test's scope at the latest.

import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"

export interface Child {
  readonly pid: number
  /** Lines of stdout as they come; ends with the process. */
  readonly lines: AsyncIterable<string>
  /** Kills without a chance to clean up, and waits for the end. */
  readonly kill: Effect.Effect<void>
}

const kill = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const end = once(child, "exit")
  child.kill("SIGKILL")
  await end
}

/** Runs one of the scripts beside this file. */
export const spawnChild = (script: string, ...args: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.sync((): Child => {
      const file = fileURLToPath(new URL(script, import.meta.url))
      const child = spawn(process.execPath, [file, ...args], { stdio: ["ignore", "pipe", "inherit"] })
      return {
        pid: Number(child.pid),
        lines: createInterface({ input: child.stdout }),
        kill: Effect.promise(() => kill(child))
      }
    }),
    (child) => child.kill
  )

/** Runs a script on a directory until it has said so many lines, then kills it; answers all that it said before it died. */
export const linesUntilKilled = (script: string, directory: string, lineCount: number) =>
  Effect.gen(function* () {
    const child = yield* spawnChild(script, directory)
    return yield* Effect.promise(async () => {
      const said: Array<string> = []
      let killed: Promise<void> | undefined
      for await (const line of child.lines) {
        said.push(line)
        if (said.length === lineCount) killed = Effect.runPromise(child.kill)
      }
      await killed
      return said
    })
  }).pipe(Effect.scoped)

/** The first line that a child says. */
export const firstLine = (child: Child): Effect.Effect<string> =>
  Effect.promise(async () => {
    for await (const line of child.lines) return line
    throw new Error("the child ended without a word")
  })
