// Server: a real server that a test talks to, no matter who started it.
// Owns the words for it and what holds of every one. Leaves finding to places, starting to redis and postgres.
// S1  What the environment names is someone's: it is never killed, paused or restarted, and only what a test made
//     in it (a database, the keys under a prefix) is removed.
// S2  A server of our own listens on 127.0.0.1 only, keeps its data in a directory of its own, and is gone with that
//     directory when it is stopped or when the process that started it ends, in whatever way.
//     A process that ends of itself without having stopped it does so then; one that is killed leaves it there.
// S3  A restart keeps the port and, as far as the server wrote it down, the data.

import { ServerFailed } from "./errors.ts"

/** Who started it: the one who set the variable, this process from a program of the machine, or a Docker engine. */
export type Origin = "environment" | "machine" | "docker"

/** What can be done to a server of our own. */
export interface Reins {
  /** SIGKILL, to all of its processes at once. Resolves when it is dead. */
  readonly kill: () => Promise<void>
  /** Stops it in good order if it still runs, and starts it on the same port with the same data. */
  readonly restart: () => Promise<void>
  /** SIGSTOP: connections stay open, and nothing answers. */
  readonly pause: () => Promise<void>
  readonly resume: () => Promise<void>
}

export interface Server extends Reins {
  readonly url: string
  readonly origin: Origin
  readonly version: string
  /** Whether it may be killed, paused and restarted; else those four reject. */
  readonly isOwn: boolean
  /** Removes what is ours: the server, or what was made in it. A second time is nothing. */
  readonly stop: () => Promise<void>
}

/** The reins of a server that is not ours (S1). */
export const noReins = (server: string, origin: Origin): Reins => {
  const refuse = (doing: string) => (): Promise<void> =>
    Promise.reject(
      new ServerFailed({ server, doing, reason: `it is a server of ${origin}, which this test does not own` })
    )
  return { kill: refuse("kill"), restart: refuse("restart"), pause: refuse("pause"), resume: refuse("resume") }
}

/** What is to be removed from servers of others when this process ends of itself. */
const left = new Set<() => Promise<void>>()
process.once("beforeExit", () => {
  for (const stop of left) stop().catch(() => undefined)
})

/** A `stop` that runs at the latest when this process has nothing else to do. */
export const atLatestAtEnd = (stop: () => Promise<void>): (() => Promise<void>) => {
  const first = once(() => {
    left.delete(first)
    return stop()
  })
  left.add(first)
  return first
}

/** Runs once, and answers every further call with the first one's promise. */
export const once = <A>(run: () => Promise<A>): (() => Promise<A>) => {
  let running: Promise<A> | undefined
  return () => (running ??= run())
}
