// Searcher: searches of large memories, off the event loop.
// Owns the thread that they are done on: it starts with the first of them and ends with the index. Leaves searching to
// search-thread.ts, and what is searched here to recall.ts.
// A1  A thread that does not answer costs nothing but its help: the question comes back unanswered and is answered here.
// A2  Whoever opens the file anew ends the thread: it would go on reading the file before.
// A3  The thread keeps no process alive, but by a question that waits.

import { Worker } from "node:worker_threads"
import type { Hit, IndexPosition, RecallQuery } from "@reverie/memory"
import type { Address } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import type { Sizes } from "../words/words.ts"

export interface Opening {
  readonly directory: string
  readonly sizes: Sizes | undefined
}

export interface Asked {
  readonly id: number
  readonly viewer: Address
  readonly query: RecallQuery
  /** Where the index of the viewer stands. */
  readonly at: IndexPosition
}

export interface Answer {
  readonly id: number
  readonly hits: ReadonlyArray<Hit> | undefined
}

type Waiting = (hits: ReadonlyArray<Hit> | undefined) => void

/** Who asked does not wait any more. */
const unheard: Waiting = () => undefined

/** A thread that ended by itself so often is not started again. */
const MOST_FAILURES = 3

interface Started {
  readonly worker: Worker
  readonly waiting: Map<number, Waiting>
  readonly ended: Promise<void>
}

export class Searcher {
  readonly #opening: Opening
  #started: Started | undefined
  #last = 0
  #failures = 0

  constructor(opening: Opening) {
    this.#opening = opening
  }

  /** Undefined when the thread does not answer. */
  ask(question: Omit<Asked, "id">): Effect.Effect<ReadonlyArray<Hit> | undefined> {
    return Effect.callback((resume) => {
      if (this.#failures >= MOST_FAILURES) return resume(Effect.undefined)
      const { waiting, worker } = (this.#started ??= this.#start())
      const id = ++this.#last
      waiting.set(id, (hits) => resume(Effect.succeed(hits)))
      worker.ref()
      // A port of threads has no origin.
      // oxlint-disable-next-line unicorn/require-post-message-target-origin
      worker.postMessage({ ...question, id } satisfies Asked)
      return Effect.sync(() => void waiting.set(id, unheard))
    })
  }

  /** Ends the thread; the next question starts another one. */
  end(): Promise<void> {
    const started = this.#started
    this.#started = undefined
    started?.worker.ref()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    started?.worker.postMessage("end")
    return started?.ended ?? Promise.resolve()
  }

  #start(): Started {
    const worker = new Worker(new URL("./search-thread.ts", import.meta.url), { workerData: this.#opening })
    worker.unref()
    const waiting = new Map<number, Waiting>()
    worker.on("message", ({ hits, id }: Answer) => {
      waiting.get(id)?.(hits)
      waiting.delete(id)
      if (waiting.size === 0 && this.#started?.worker === worker) worker.unref()
    })
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    // It fails, and then it ends.
    worker.on("error", () => this.#failures++)
    worker.on("exit", () => {
      if (this.#started?.worker === worker) this.#started = undefined
      for (const each of waiting.values()) each(undefined)
      waiting.clear()
      resolve()
    })
    return { worker, waiting, ended }
  }
}
