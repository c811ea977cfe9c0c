// Runs: what a run of a tool leaves behind in this process, or does to end it, is reported to that run.
// Owns finding the run, and the ways into the process that it watches. Leaves what becomes of the call to the tools' room.
// Loads nothing heavy: a command line can set it up before it loads a fleet.
// G1  The run is found by its asynchronous context, which timers, callbacks and promises carry on by themselves. What has no
//     run, or is of someone else, goes on exactly as without a guard: no listener is added, no default is changed.
// G2  `process.exit`, `process.abort` and a deadly signal to this very process throw within a run, and end nothing. A program
//     that is started to kill this process can not be held back.
// G3  What comes after the end of a run is logged, at most MAX_LATE_LINES times a run.
// G4  It is set up once, however often it is asked for, and taken down with the last who asked.

import { AsyncLocalStorage } from "node:async_hooks"
import { syncBuiltinESMExports } from "node:module"
import { messageOf } from "@reverie/tools/render"

const MAX_LATE_LINES = 3

export interface GuardedRun {
  /** How it is called in the log. */
  readonly says: string
  readonly hide: (text: string) => string
  readonly onStray: (problem: string) => void
  isOver: boolean
  lateLines: number
}

/** Thrown into a run that wants to end the process; it has been told already. */
class EndRefused extends Error {}

const runs = new AsyncLocalStorage<GuardedRun>()

export const inRun = <A>(run: GuardedRun, code: () => A): A => runs.run(run, code)

/** Does something that belongs to no run, wherever it is called. */
export const outsideRuns = <A>(code: () => A): A => runs.exit(code)

/** Where a line about something late goes. */
const logged = (line: string): void => {
  process.stderr.write(`${line.replaceAll(/\s*\n\s*/g, " ")}\n`)
}

const told = (run: GuardedRun, problem: string): void =>
  outsideRuns(() => {
    if (!run.isOver) return run.onStray(problem)
    if (run.lateLines++ >= MAX_LATE_LINES) return
    const more = run.lateLines === MAX_LATE_LINES ? "; what else it leaves behind is not logged" : ""
    logged(`reverie: ${run.says} had ended when ${run.hide(problem)}${more}`)
  })

const refusal = (run: GuardedRun, what: string): EndRefused => {
  told(run, `it called ${what}, which would end the process for everyone and was not done`)
  return new EndRefused(`${what} does nothing in a tool`)
}

/** What the process tells of an error that no one has handled. */
const strays: Readonly<Record<string, string>> = {
  unhandledRejection: "a promise that it left without a handler was rejected",
  uncaughtException: "it threw in a timer or a callback"
}

/** What ends no process, however it is taken. */
const harmless: ReadonlySet<string | number> = new Set([0, "SIGCONT", "SIGCHLD", "SIGURG", "SIGWINCH", 17, 18, 23, 28])

const isOneself = (pid: number): boolean => pid === process.pid || pid === 0 || pid === -1 || pid === -process.pid

type Verb = (...args: ReadonlyArray<never>) => unknown

const emitting =
  (emit: Verb) =>
  (name: string | symbol, ...args: ReadonlyArray<unknown>): unknown => {
    const run = runs.getStore()
    if (run === undefined) return Reflect.apply(emit, process, [name, ...args])
    const stray = strays[String(name)]
    if (stray !== undefined) {
      if (!(args[0] instanceof EndRefused)) told(run, `${stray}: ${messageOf(args[0])}`)
      return true
    }
    if (name === "exit") {
      // It was called by a name that was taken before the guard stood: the process has made up its mind, and is talked out of it.
      Reflect.set(process, "_exiting", false)
      const code = process.exitCode ?? ""
      process.exitCode = undefined
      throw refusal(run, `process.exit(${code})`)
    }
    return Reflect.apply(emit, process, [name, ...args])
  }

const refusing =
  (verb: Verb, spelled: (args: ReadonlyArray<unknown>) => string | undefined) =>
  (...args: ReadonlyArray<unknown>): unknown => {
    const run = runs.getStore()
    const what = run === undefined ? undefined : spelled(args)
    if (run === undefined || what === undefined) return Reflect.apply(verb, process, args)
    throw refusal(run, what)
  }

const spelled = (code: unknown): string => (code === undefined ? "" : JSON.stringify(code))

const guards: Readonly<Record<string, (verb: Verb) => Verb>> = {
  emit: emitting,
  exit: (verb) => refusing(verb, ([code]) => `process.exit(${spelled(code)})`),
  reallyExit: (verb) => refusing(verb, ([code]) => `process.reallyExit(${spelled(code)})`),
  abort: (verb) => refusing(verb, () => "process.abort()"),
  kill: (verb) =>
    refusing(verb, ([pid, signal = "SIGTERM"]) =>
      isOneself(Number(pid)) && !harmless.has(signal as string | number)
        ? `process.kill(process.pid, ${JSON.stringify(signal)})`
        : undefined
    )
}

/** Puts each guard into its place; answers how to take them out again, where no one has put something else there. */
const setUp = (): (() => void) => {
  const placed = Object.entries(guards).map(([name, guarding]) => {
    const verb = Reflect.get(process, name) as Verb
    const guarded = guarding(verb)
    Reflect.set(process, name, guarded)
    return { name, verb, guarded }
  })
  syncBuiltinESMExports()
  return () => {
    for (const { guarded, name, verb } of placed) {
      if (Reflect.get(process, name) === guarded) Reflect.set(process, name, verb)
    }
    syncBuiltinESMExports()
  }
}

let holders = 0
let takeDown = (): void => {}

/** Guards this process until the answer is called. */
export const guardProcess = (): (() => void) => {
  if (holders++ === 0) takeDown = setUp()
  let isHeld = true
  return () => {
    if (!isHeld) return
    isHeld = false
    if (--holders === 0) takeDown()
  }
}
