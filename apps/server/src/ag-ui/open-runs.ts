// OpenRuns: the runs that a server tells at this moment.
// Owns their number for each token, the searches for their beginnings, and their end when the server ends. Leaves one run
// to run.ts.
// O1  A token has no more of them open at once than the bound says.
// O2  Ended, it leaves none of them open, and anyone who reads one sees its stream end.

import { Readable } from "node:stream"
import * as Equal from "effect/Equal"
import * as Hash from "effect/Hash"
import { LimitReached } from "../api/index.ts"
import type { ReadFleet } from "../gateway.ts"
import { SharedReads } from "../views/shared-reads.ts"
import { type Beginning, type Listening, type RunRequest } from "./run.ts"
import { Ear } from "./ear.ts"
import { BEAT } from "./events.ts"
import type { RunFormat } from "./formats.ts"

// RunStream: a run as the body of an answer.
// U1  A client that leaves, or never comes, ends the run's listening at once, whatever it waits for.
// U2  Nothing is read from the ledger before there is room for it.

const BEAT_MILLIS = 15_000
const ROOM_CHARS = 65_536

export class RunStream extends Readable {
  readonly #ear: Ear
  readonly #fleet: ReadFleet
  readonly #request: RunRequest
  readonly #leaving = new AbortController()
  readonly #beat: NodeJS.Timeout
  #frames: AsyncGenerator<string> | undefined
  #isReading = false
  #wasRead = false
  #isEnded = false

  /** Listens from now on; tells nothing before `tell`. */
  constructor(fleet: ReadFleet, request: RunRequest) {
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

  tell(known: Pick<Listening, "beginning" | "explain" | "heardSince">, format: RunFormat): this {
    const { signal } = this.#leaving
    const listening = { ...known, fleet: this.#fleet, request: this.#request, ear: this.#ear, signal }
    this.#frames = format(listening)
    return this
  }

  /** Ends in the middle; anyone who asks for the run again receives it from its beginning. */
  end(): void {
    if (this.destroyed || this.readableEnded) return
    this.#isEnded = true
    this.#leave()
    this.push(null)
  }

  override _read(): void {
    this.#wasRead = true
    if (this.#isReading || this.#frames === undefined) return
    this.#isReading = true
    this.#goOn(this.#frames)
      .catch((error: unknown) => this.destroy(error instanceof Error ? error : new Error(String(error))))
      .finally(() => {
        this.#isReading = false
      })
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#leave()
    done(error)
  }

  async #goOn(frames: AsyncGenerator<string>): Promise<void> {
    while (!this.destroyed) {
      const { done, value } = await frames.next()
      if (this.destroyed || this.#isEnded) return
      if (done === true) return this.end()
      if (!this.push(value)) return
    }
  }

  #leave(): void {
    if (this.#leaving.signal.aborted) return
    clearInterval(this.#beat)
    this.#leaving.abort()
    this.#ear.close()
  }

  /** Only where nothing else is on its way. Anyone who never came to read has left. */
  #keepOpen(): void {
    if (!this.#wasRead) this.destroy()
    else if (!this.destroyed && !this.#isEnded && this.readableLength === 0) this.push(BEAT)
  }
}

const MAX_RUNS = 256
const RETRY_SECONDS = 5
/** Each reads thousands of entries where the envelope is old or unknown. */
const MAX_SEARCHES = 4

export class OpenRuns {
  /** By tenant, assistant and envelope. */
  readonly beginnings = new SharedReads<string, Beginning>(MAX_SEARCHES)
  readonly #byToken = new Map<string, Set<RunStream>>()

  /** Refuses before anything of a run is begun. */
  admit(token: string): void {
    if ((this.#byToken.get(token)?.size ?? 0) < MAX_RUNS) return
    const message = `${MAX_RUNS} runs are open for this token; close one first`
    throw new LimitReached({ message, retryAfterSeconds: RETRY_SECONDS })
  }

  add(token: string, run: RunStream): void {
    const runs = this.#byToken.get(token) ?? new Set()
    this.#byToken.set(token, runs.add(run))
    run.once("close", () => {
      runs.delete(run)
      if (runs.size === 0 && this.#byToken.get(token) === runs) this.#byToken.delete(token)
    })
  }

  end(): void {
    for (const runs of this.#byToken.values()) for (const run of runs) run.end()
  }
}

const known = new WeakMap<object, OpenRuns>()

/** Those of one server, by what its handlers have in common. */
export const openRunsOf = (gateway: object): OpenRuns => {
  const runs = known.get(gateway) ?? new OpenRuns()
  known.set(gateway, runs)
  return runs
}
