// FleetCrew: the processes of a fleet's crash lane.
// Owns starting, stopping, killing and replacing them. Leaves when to the nemeses, and what they do to fleet-child.ts.
// W1  A place that lost its process gets another one, until the crew is dismissed; the other one has another name.
// W2  No process of it outlives the crew.

import { type ChildProcess, fork } from "node:child_process"
import { join } from "node:path"
import type { ChildLife, Order, Word } from "./fleet-child.ts"
import { steadyMillis } from "./fleet-diary.ts"

export interface Death {
  readonly name: string
  readonly at: number
}

/** One process of a place. */
export interface Hand {
  readonly name: string
  /** It has opened its fleet, and lives. */
  readonly isReady: () => boolean
  /** Resolves too when it dies on its way. */
  readonly ready: Promise<void>
  /** Resolves when it is gone, however it went. */
  readonly gone: Promise<Death>
  readonly order: (order: Order) => void
  readonly signal: (signal: "SIGKILL" | "SIGSTOP" | "SIGCONT") => void
}

export interface Post {
  readonly hand: () => Hand
  /** A process that was not meant to end: what it said last. */
  readonly mishaps: ReadonlyArray<string>
  /** Ends in good order, and for good. */
  readonly dismiss: () => Promise<void>
}

export type LifeOf = (life: number) => ChildLife

/** Told of every word of every process of the place. */
export type Listener = (word: Word, hand: Hand) => void

const WORDS_KEPT = 2_000
const FAREWELL_MILLIS = 10_000
/** A process that ends by itself is not started anew for ever. */
const MOST_MISHAPS = 20

const startHand = (life: ChildLife, listener: Listener, mishap: (text: string) => void): Hand => {
  const child: ChildProcess = fork(join(import.meta.dirname, "fleet-child.ts"), [JSON.stringify(life)], {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    execArgv: ["--disable-warning=ExperimentalWarning"]
  })
  let said = ""
  child.stderr?.on("data", (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-WORDS_KEPT)
  })
  const ready = Promise.withResolvers<void>()
  const gone = Promise.withResolvers<Death>()
  let isReady = false
  const hand: Hand = {
    name: life.name,
    isReady: () => isReady,
    ready: ready.promise,
    gone: gone.promise,
    order: (order) => {
      // What is dying receives nothing any more.
      if (child.connected) child.send(order, () => undefined)
    },
    signal: (signal) => void child.kill(signal)
  }
  child.on("message", (word: Word) => {
    if (word.is === "ready") {
      isReady = true
      ready.resolve()
    }
    listener(word, hand)
  })
  child.on("error", () => undefined)
  child.on("exit", (code, signal) => {
    const at = steadyMillis()
    isReady = false
    if (code !== 0 && signal !== "SIGKILL") mishap(`${life.name} ended with ${code ?? signal}: ${said.trim()}`)
    ready.resolve()
    gone.resolve({ name: life.name, at })
  })
  return hand
}

/** Keeps one place filled. */
export const startPost = (lifeOf: LifeOf, listener: Listener): Post => {
  const mishaps: Array<string> = []
  let lives = 0
  let dismissed = false
  const begin = (): Hand => {
    const hand = startHand(lifeOf(lives++), listener, (text) => mishaps.push(text))
    const replace = async (): Promise<void> => {
      await hand.gone
      if (!dismissed && mishaps.length < MOST_MISHAPS) current = begin()
    }
    void replace()
    return hand
  }
  let current = begin()
  const dismiss = async (): Promise<void> => {
    dismissed = true
    current.signal("SIGCONT")
    current.order({ do: "end" })
    const late = setTimeout(() => current.signal("SIGKILL"), FAREWELL_MILLIS)
    await current.gone
    clearTimeout(late)
  }
  return { hand: () => current, mishaps, dismiss }
}
