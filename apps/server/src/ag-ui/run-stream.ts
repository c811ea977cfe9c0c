// RunStream: a run as the body of an answer.
// Owns telling the next event when its reader has room, and the beat that keeps it open. Leaves the events to run.ts.
// U1  Whoever leaves, or never comes, ends the run's listening at once, whatever it waits for.
// U2  Nothing is read from the ledger before there is room for it.

import { Readable } from "node:stream"
import * as Equal from "effect/Equal"
import * as Hash from "effect/Hash"
import type { Fleet } from "reverie"
import { Ear } from "./ear.ts"
import { type AgUiEvent, BEAT, frameOf } from "./events.ts"
import { eventsOf, type Listening, type RunRequest } from "./run.ts"

const BEAT_MILLIS = 15_000
const ROOM_CHARS = 65_536

export class RunStream extends Readable {
  readonly #ear: Ear
  readonly #fleet: Fleet
  readonly #request: RunRequest
  readonly #leaving = new AbortController()
  readonly #beat: NodeJS.Timeout
  #events: AsyncGenerator<AgUiEvent> | undefined
  #isReading = false
  #wasRead = false
  #isEnded = false

  /** Listens from now on; tells nothing before `tell`. */
  constructor(fleet: Fleet, request: RunRequest) {
    super({ encoding: "utf8", highWaterMark: ROOM_CHARS })
    this.#fleet = fleet
    this.#request = request
    this.#ear = new Ear(fleet, request)
    this.#beat = setInterval(() => this.#keepOpen(), BEAT_MILLIS)
    this.#beat.unref()
  }

  /** Aborted when its reader leaves, or it ends. */
  get leaving(): AbortSignal {
    return this.#leaving.signal
  }

  // The router hashes it when a client leaves: see the event stream.
  [Hash.symbol](): number {
    return Hash.random(this)
  }

  [Equal.symbol](that: unknown): boolean {
    return this === that
  }

  tell(known: Pick<Listening, "beginning" | "explain" | "heardSince">): this {
    const { signal } = this.#leaving
    this.#events = eventsOf({ ...known, fleet: this.#fleet, request: this.#request, ear: this.#ear, signal })
    return this
  }

  /** Ends in the middle; whoever asks for the run again receives it from its beginning. */
  end(): void {
    if (this.destroyed || this.readableEnded) return
    this.#isEnded = true
    this.#leave()
    this.push(null)
  }

  override _read(): void {
    this.#wasRead = true
    if (this.#isReading || this.#events === undefined) return
    this.#isReading = true
    this.#goOn(this.#events)
      .catch((error: unknown) => this.destroy(error instanceof Error ? error : new Error(String(error))))
      .finally(() => {
        this.#isReading = false
      })
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#leave()
    done(error)
  }

  async #goOn(events: AsyncGenerator<AgUiEvent>): Promise<void> {
    while (!this.destroyed) {
      const { done, value } = await events.next()
      if (this.destroyed || this.#isEnded) return
      if (done === true) return this.end()
      if (!this.push(frameOf(value))) return
    }
  }

  #leave(): void {
    if (this.#leaving.signal.aborted) return
    clearInterval(this.#beat)
    this.#leaving.abort()
    this.#ear.close()
  }

  /** Only where nothing else is on its way. Whoever never came to read has left. */
  #keepOpen(): void {
    if (!this.#wasRead) this.destroy()
    else if (!this.destroyed && !this.#isEnded && this.readableLength === 0) this.push(BEAT)
  }
}
