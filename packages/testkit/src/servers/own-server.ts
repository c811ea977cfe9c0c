// OwnServer: a server process of our own, with its directory, its log and its keeper.
// Owns starting, killing, pausing and restarting it. Leaves the command, and what it means to be ready, to the caller.
// O1  It has started when `ready` answers; one that ends before that fails with the last lines of its log.
// O2  A port that someone took in between is left to him, and another one is tried.
// O3  One that was killed is begun again until nothing of it is left that stands in the way of the next.

import { spawn } from "node:child_process"
import { closeSync, openSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { reasonOf, ServerFailed } from "./errors.ts"
import { type Keeper, signalSubAgentTree } from "./keeper.ts"
import { freePort } from "./port.ts"
import type { Reins } from "./server.ts"

export interface Recipe<Fact> {
  readonly server: string
  readonly directory: string
  readonly keeper: Keeper
  readonly command: (port: number) => readonly [program: string, ...args: ReadonlyArray<string>]
  /** The user it runs as, when that is not ours. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined
  /** Rejects as long as it is not ready; what it answers is kept. */
  readonly ready: (port: number) => Promise<Fact>
}

export interface OwnServer<Fact> extends Reins {
  readonly port: number
  readonly fact: Fact
}

const PATIENCE_MILLIS = 60_000
const PAUSE_MILLIS = 15
const LOG_LINES = 12
const PORTS_TO_TRY = 5

interface Life {
  readonly pid: number
  readonly isOver: () => boolean
  /** Waits for its end, and until then keeps this process from ending of itself. */
  readonly over: () => Promise<void>
}

const beginLife = <Fact>({ command, directory, keeper, server, user }: Recipe<Fact>, port: number): Life => {
  const [program, ...args] = command(port)
  const log = openSync(join(directory, "server.log"), "a")
  // A session of its own, so that Ctrl-C reaches the test, and the server is ended in good order.
  const child = spawn(program, args, { cwd: directory, detached: true, stdio: ["ignore", log, log], ...user })
  closeSync(log)
  if (child.pid === undefined) throw new ServerFailed({ server, doing: "start", reason: `${program} can not be run` })
  let isOver = false
  const over = new Promise<void>((resolve) => {
    child.once("exit", () => {
      isOver = true
      keeper.holds(undefined)
      resolve()
    })
  })
  keeper.holds(child.pid)
  child.unref()
  const waiting = (): Promise<void> => {
    if (!isOver) child.ref()
    return over
  }
  return { pid: child.pid, isOver: () => isOver, over: waiting }
}

const lastWords = (directory: string): string =>
  readFileSync(join(directory, "server.log"), "utf8").trimEnd().split("\n").slice(-LOG_LINES).join("\n")

const whenReady = async <Fact>(recipe: Recipe<Fact>, port: number, life: Life): Promise<Fact> => {
  const { directory, ready, server } = recipe
  const until = performance.now() + PATIENCE_MILLIS
  for (;;) {
    try {
      return await ready(port)
    } catch (cause) {
      if (life.isOver()) throw new ServerFailed({ server, doing: "start", reason: lastWords(directory) })
      if (performance.now() > until) throw new ServerFailed({ server, doing: "start", reason: reasonOf(cause) })
      await sleep(PAUSE_MILLIS)
    }
  }
}

const isTaken = (cause: unknown): boolean => /address already in use/i.test(reasonOf(cause))

/** The first life, on a port that was free. */
const firstLife = async <Fact>(recipe: Recipe<Fact>) => {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort()
    const life = beginLife(recipe, port)
    try {
      return { port, life, fact: await whenReady(recipe, port, life) }
    } catch (cause) {
      if (attempt === PORTS_TO_TRY || !isTaken(cause)) throw cause
    }
  }
}

/** Of one that was killed a process may live on for a moment: one that it had just begun. */
const isLeftOver = (cause: unknown): boolean => /is still in use/i.test(reasonOf(cause))

const untilNothingIsLeft = async (begin: () => Promise<unknown>): Promise<void> => {
  const until = performance.now() + PATIENCE_MILLIS
  for (;;) {
    try {
      await begin()
      return
    } catch (cause) {
      if (!isLeftOver(cause) || performance.now() > until) throw cause
      await sleep(PAUSE_MILLIS)
    }
  }
}

export const startOwnServer = async <Fact>(recipe: Recipe<Fact>): Promise<OwnServer<Fact>> => {
  const first = await firstLife(recipe)
  const { fact, port } = first
  let { life } = first
  const kill = async (): Promise<void> => {
    if (!life.isOver()) await signalSubAgentTree(life.pid, "KILL")
    await life.over()
  }
  const leave = async (): Promise<void> => {
    if (life.isOver()) return
    await signalSubAgentTree(life.pid, "CONT")
    // For both servers this is the end in good order: PostgreSQL's fast shutdown, and Redis's.
    process.kill(life.pid, "SIGINT")
    await life.over()
  }
  const signal = (name: "STOP" | "CONT") => async (): Promise<void> => {
    if (life.isOver()) throw new ServerFailed({ server: recipe.server, doing: name, reason: "it does not run" })
    await signalSubAgentTree(life.pid, name)
  }
  return {
    port,
    fact,
    kill,
    pause: signal("STOP"),
    resume: signal("CONT"),
    restart: async () => {
      await leave()
      await untilNothingIsLeft(() => {
        life = beginLife(recipe, port)
        return whenReady(recipe, port, life)
      })
    }
  }
}
