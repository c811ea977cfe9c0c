// Searcher: searches of an index on a thread of its own, off the event loop.
// Owns asking the thread, starting it again, and its end. Leaves what it runs to the adapter, which starts it by its file,
// and searching where it does not answer too.
// A1  A thread that does not answer costs nothing but its help: the question comes back unanswered and is answered by
//     who asked.
// A2  Anyone who opens the index anew ends the thread: it would go on reading the one before.
// A3  The thread keeps no process alive, but by a question that waits.
// A4  An index that does not answer the thread is not asked again at once: its failure is the answer.

import type { Address } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { RecallUnavailable } from "./errors.ts"
import type { IndexPosition } from "./indexing/index-status.ts"
import type { Hit, Joined, RecallQuery } from "./recall.ts"
import { inRounds } from "./text/rounds.ts"

export interface SearchAsked {
  readonly id: number
  readonly viewer: Address
  readonly query: RecallQuery
  /** It is asked in both rounds. */
  readonly isInRounds: boolean
  /** Where the index of the viewer stands, where the thread may see another one. */
  readonly at?: IndexPosition
}

export interface SearchAnswer {
  readonly id: number
  /** Undefined where the thread can not tell. */
  readonly found: Joined | undefined
  /** Why the index does not answer. */
  readonly unavailable?: string
}

/** What a searcher and its thread say to each other. */
export type ToSearchThread = SearchAsked | "end"

/** What a thread finds, by how it searches. */
export const foundBy = <E>(
  search: (viewer: Address, query: RecallQuery) => Effect.Effect<ReadonlyArray<Hit>, E>,
  { isInRounds, query, viewer }: SearchAsked
): Effect.Effect<Joined, E> =>
  isInRounds ? inRounds(query, (each) => search(viewer, each)) : Effect.map(search(viewer, query), (hits) => ({ hits }))

/** What is used of a `Worker` of Node. */
export interface Thread {
  readonly postMessage: (message: ToSearchThread) => void
  readonly ref: () => void
  readonly unref: () => void
  readonly on: {
    (event: "message", heard: (answer: SearchAnswer) => void): unknown
    (event: "error" | "exit", heard: () => void): unknown
  }
}

type Waiting = (answer: SearchAnswer | undefined) => void

/** Who asked does not wait any more. */
const unheard: Waiting = () => undefined

/** A thread that ended by itself so often is not started again. */
const MOST_FAILURES = 3

interface Started {
  readonly thread: Thread
  readonly waiting: Map<number, Waiting>
  readonly ended: Promise<void>
}

export class Searcher {
  readonly #startThread: () => Thread
  #started: Started | undefined
  #last = 0
  #failures = 0

  constructor(startThread: () => Thread) {
    this.#startThread = startThread
  }

  /** Undefined when the thread does not answer. */
  ask(question: Omit<SearchAsked, "id">): Effect.Effect<Joined | undefined, RecallUnavailable> {
    return Effect.callback((resume) => {
      if (this.#failures >= MOST_FAILURES) return resume(Effect.undefined)
      const { thread, waiting } = (this.#started ??= this.#start())
      const id = ++this.#last
      waiting.set(id, (answer) =>
        resume(
          answer?.unavailable === undefined
            ? Effect.succeed(answer?.found)
            : Effect.fail(new RecallUnavailable({ operation: "search", message: answer.unavailable }))
        )
      )
      thread.ref()
      // A port of threads has no origin.
      // oxlint-disable-next-line unicorn/require-post-message-target-origin
      thread.postMessage({ ...question, id })
      return Effect.sync(() => void waiting.set(id, unheard))
    })
  }

  /** Ends the thread; the next question starts another one. */
  end(): Promise<void> {
    const started = this.#started
    this.#started = undefined
    started?.thread.ref()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    started?.thread.postMessage("end")
    return started?.ended ?? Promise.resolve()
  }

  #start(): Started {
    const thread = this.#startThread()
    thread.unref()
    const waiting = new Map<number, Waiting>()
    thread.on("message", (answer) => {
      waiting.get(answer.id)?.(answer)
      waiting.delete(answer.id)
      if (waiting.size === 0 && this.#started?.thread === thread) thread.unref()
    })
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    // It fails, and then it ends.
    thread.on("error", () => this.#failures++)
    thread.on("exit", () => {
      if (this.#started?.thread === thread) this.#started = undefined
      for (const each of waiting.values()) each(undefined)
      waiting.clear()
      resolve()
    })
    return { thread, waiting, ended }
  }
}
