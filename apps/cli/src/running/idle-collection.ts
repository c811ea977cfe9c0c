// IdleCollection: gives back the memory that a burst of work has left behind, once the process is at rest.
// Owns when the heap is collected. V8 collects when something is allocated: a process that rests after a burst keeps all of
// its garbage for as long as it rests, several times what lives.
// I1  Nothing is collected while the process works: between two looks it has used less than a twentieth of a CPU.
// I2  Nothing is collected twice for the same garbage: only when the heap has grown by GROWN_BYTES since the last time.

import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

const LOOK_MILLIS = 5_000
const CALM_SHARE = 0.05
/** Less is not worth the tenth of a second that a collection holds the event loop. */
const GROWN_BYTES = 64 * 1_024 * 1_024

export interface Figures {
  /** Milliseconds of a clock that only rises. */
  readonly now: number
  /** Milliseconds that the process has computed. */
  readonly cpu: number
  /** Bytes that the heap takes, garbage included. */
  readonly heap: number
}

const figures = (): Figures => {
  const { system, user } = process.cpuUsage()
  return { now: performance.now(), cpu: (system + user) / 1_000, heap: process.memoryUsage().heapTotal }
}

type Collect = () => void

/** Node has no call for it but this; the flag changes nothing else. */
const collector = (): Collect => {
  setFlagsFromString("--expose-gc")
  const collect = runInNewContext("gc") as (options: object) => void
  return () => collect({ type: "major", execution: "sync", flavor: "last-resort" })
}

export class IdleCollection implements Disposable {
  readonly #figures: () => Figures
  readonly #collect: Collect
  #last: Figures
  /** What the heap took after the last collection. */
  #kept = 0
  #timer: NodeJS.Timeout | undefined

  constructor(read: () => Figures, collect: Collect) {
    this.#figures = read
    this.#collect = collect
    this.#last = read()
  }

  /** Looks by itself until it is disposed; keeps no process alive. */
  static start(): IdleCollection {
    const collection = new IdleCollection(figures, collector())
    collection.#timer = setInterval(() => collection.look(), LOOK_MILLIS).unref()
    return collection
  }

  look(): void {
    const before = this.#last
    const seen = this.#figures()
    this.#last = seen
    const isCalm = seen.cpu - before.cpu < CALM_SHARE * (seen.now - before.now)
    if (!isCalm || seen.heap < this.#kept + GROWN_BYTES) return
    this.#collect()
    // A collection is no work that the next look should see.
    this.#last = this.#figures()
    this.#kept = this.#last.heap
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}
