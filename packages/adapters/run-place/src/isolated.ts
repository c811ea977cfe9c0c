// Isolated: one run of a tool in a process of its own.
// Owns starting the process, what is said to and fro, and its end. Leaves loading the module to child/.
// I1  The process and all that it has started have been sent SIGKILL when the run has ended: nothing of it goes on.
// I2  What the function does there, this process goes on; its event loop is not held, and what it receives is bounded.
// I3  An end without an answer is said in a sentence: which bound was passed, which code or signal it was.
// I4  At most MAX_PROCESSES run at once; the others wait their turn, within their own deadline.

import { type ChildProcess, spawn } from "node:child_process"
import { availableParallelism, constants } from "node:os"
import type { Duplex, Readable } from "node:stream"
import { fileURLToPath } from "node:url"
import { serialize } from "node:v8"
import { type IsolatedCall, messageOf } from "@reverie/tools"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import { IsolatedRunFailed } from "./errors.ts"
import { outsideRuns } from "./runs.ts"
import { lineOf, type Order, readingLines, type Said, saidIn, type SaidPart } from "./lines.ts"

const MAIN = fileURLToPath(new URL("./child/main.ts", import.meta.url))
/** What a function that was told to stop still has to put its things in order. */
const GRACE_MILLIS = 250
const MEGABYTE = 1_048_576
/** What Node needs of the heap before the function has any. */
const OWN_HEAP_MB = 32

const MAX_PROCESSES = Math.max(8, 4 * availableParallelism())
const processes = Semaphore.makeUnsafe(MAX_PROCESSES)

/** What of this process's own options another one needs to load the same modules. */
const loading =
  /^(--import|--require|-r|--loader|--experimental-[a-z-]+|--conditions|-C|--disable-warning|--no-warnings|--enable-source-maps|--preserve-symlinks)(=|$)/
const takesValue: ReadonlySet<string> = new Set(["--import", "--require", "-r", "--loader", "--conditions", "-C"])

export const optionsFrom = (own: ReadonlyArray<string>): ReadonlyArray<string> =>
  own.flatMap((option, index) => {
    if (loading.test(option)) return [option]
    return takesValue.has(own[index - 1] ?? "") ? [option] : []
  })

const started = ({ memoryMb }: IsolatedCall): ChildProcess =>
  spawn(
    process.execPath,
    [
      ...optionsFrom(process.execArgv),
      "--disable-warning=ExperimentalWarning",
      `--max-old-space-size=${memoryMb + OWN_HEAP_MB}`,
      MAIN
    ],
    // What it prints goes to the log: standard output belongs to the program. It leads a group, so that all of it ends at once.
    { stdio: ["ignore", 2, 2, "pipe", "pipe"], detached: true }
  )

const killAll = ({ pid }: ChildProcess): void => {
  if (pid === undefined) return
  try {
    outsideRuns(() => process.kill(-pid, "SIGKILL"))
  } catch {
    // All of it has ended.
  }
}

const orderOf = (call: IsolatedCall): Order => {
  const { args, memoryMb, module, run, timeoutMs, tool } = call
  const { assistant, key, now, tenant } = run
  const about = { assistant, tenant, call: run.call, key, now }
  const packed = serialize(args).toString("base64")
  return { type: "run", module, args: packed, about, tool, memoryBytes: memoryMb * MEGABYTE, timeoutMs }
}

const ABORTED = 128 + constants.signals.SIGABRT

/** What an end without an answer means. */
export const endOf = (
  { memoryMb }: Pick<IsolatedCall, "memoryMb">,
  reason: string,
  code: number | null,
  signal: NodeJS.Signals | null
): string => {
  if (reason.startsWith("memory"))
    return `its process was ended: it used more than the ${memoryMb} MB of memory that it may`
  if (code === ABORTED || signal === "SIGABRT") {
    return `its process broke off, most likely because ${memoryMb} MB of memory were not enough for it`
  }
  if (reason.startsWith("time")) return "its process was ended at the deadline"
  return signal === null
    ? `its process ended with exit code ${code ?? 0} before it had answered`
    : `its process was ended by ${signal} before it had answered`
}

const failed = (message: string): Effect.Effect<never, IsolatedRunFailed> =>
  Effect.fail(new IsolatedRunFailed({ message }))

/** A text, or what an open run gives too: a text with parts. */
type Given = string | { readonly text: string; readonly parts: ReadonlyArray<SaidPart> }

const inProcess = (call: IsolatedCall): Effect.Effect<Given, IsolatedRunFailed> =>
  Effect.callback<Given, IsolatedRunFailed>((resume) => {
    const child = started(call)
    const talk = child.stdio[3] as Duplex
    let reason = ""
    const end = (outcome: Effect.Effect<Given, IsolatedRunFailed>): void => {
      killAll(child)
      resume(outcome)
    }
    const hear = (said: Said): void => {
      if (said.type === "done") {
        const { parts, text } = said
        return end(Effect.succeed(parts === undefined ? text : { text, parts }))
      }
      if (said.type === "failed") return end(failed(said.message))
      try {
        call.run.send(said.to, said.text, { wantsAnswer: said.wantsAnswer })
      } catch (refusal) {
        end(failed(messageOf(refusal)))
      }
    }
    const flood = (): void => end(failed("it said more than can be taken in"))
    const onLine = (line: string): void => {
      const said = saidIn(line)
      if (said === undefined) flood()
      else hear(said)
    }
    talk.on("data", readingLines(onLine, flood))
    // A process that has ended reads nothing any more; that it has ended is heard below.
    talk.on("error", () => {})
    const reasons = child.stdio[4] as Readable
    reasons.on("data", (chunk: Buffer) => (reason = (reason + chunk.toString()).slice(0, 64)))
    child.once("error", (error) => end(failed(`its process could not be started: ${error.message}`)))
    child.once("close", (code, signal) => resume(failed(endOf(call, reason, code, signal))))
    talk.write(lineOf(orderOf(call)))
    return Effect.sync(() => {
      talk.write(lineOf({ type: "abort" }))
      setTimeout(() => killAll(child), GRACE_MILLIS)
    })
  })

/** Interrupting it ends its process. */
export const runIsolated = (call: IsolatedCall): Effect.Effect<Given, IsolatedRunFailed> =>
  Effect.suspend(() => {
    try {
      serialize(call.args)
    } catch (thrown) {
      return failed(`its arguments can not be handed to another process: ${messageOf(thrown)}`)
    }
    return Semaphore.withPermits(processes, 1)(inProcess(call))
  })
