// OutboxReader: the one that reads the outbox for everybody in this process.
// Owns going on from position to position. Leaves what is made of the entries to the code that listens.
// O1  Every entry after the position where it began is reported once, in the order of the outbox.
// O2  It is woken by what is committed here, and looks by itself for what others commit.
// O3  A store that does not answer is asked again; nothing is left out.
// O4  `catchUp` resolves when every notice of this process from before it has been read, or the store does not answer.

import type { Notice } from "@reverie/protocol"
import type { OutboxRow } from "reverie"

export interface Outbox {
  readonly read: (after: number, limit: number) => Promise<ReadonlyArray<OutboxRow>>
  readonly end: () => Promise<number>
  /** Told of every notice of this process. Answers how to stop. */
  readonly listen: (listener: (notice: Notice) => void) => () => void
}

export interface OutboxReaderOptions {
  readonly outbox: Outbox
  /** What is committed within it is read and told together: the more listen, the more each telling costs. */
  readonly gatherMillis?: () => number
  /** How often it looks unasked. */
  readonly pollMillis: number
  readonly onTrouble: (line: string) => void
}

export type BatchListener = (rows: ReadonlyArray<OutboxRow>) => void

const BATCH = 500
const GATHER_MILLIS = 5
const MAX_PAUSE_MILLIS = 5_000

export class OutboxReader {
  readonly #options: OutboxReaderOptions
  readonly #listeners = new Set<BatchListener>()
  #position = 0
  /** The newest entry that a notice of this process told. */
  #noticed = 0
  /** Those who wait until a read that began after they came has ended. */
  #waiting: Array<() => void> = []
  #starting: Promise<void> | undefined
  #isReading = false
  #isWanted = false
  #isGathering = false
  #failures = 0
  #timer: NodeJS.Timeout | undefined
  #stopListening: (() => void) | undefined
  #isClosed = false

  constructor(options: OutboxReaderOptions) {
    this.#options = options
  }

  /** Everything up to here has been told. */
  get position(): number {
    return this.#position
  }

  /** Resolves when it reads; what is committed after that is reported. Rejects when the store does not answer. */
  start(): Promise<void> {
    this.#starting ??= this.#begin().catch((error: unknown) => {
      this.#starting = undefined
      throw error
    })
    return this.#starting
  }

  /** Answers how to stop. */
  listen(listener: BatchListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** What this process committed before the call is reported after it. */
  catchUp(): Promise<void> {
    if (this.#isClosed || this.#noticed <= this.#position) return Promise.resolve()
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      if (!this.#isReading) this.#soon(0)
    })
  }

  close(): void {
    this.#isClosed = true
    this.#stopListening?.()
    clearTimeout(this.#timer)
    for (const resolve of this.#waiting.splice(0)) resolve()
    this.#listeners.clear()
  }

  async #begin(): Promise<void> {
    const { outbox } = this.#options
    // What is committed meanwhile lies behind this position, and is read by the first look.
    this.#position = await outbox.end()
    this.#stopListening = outbox.listen((notice) => {
      if (notice.seq === undefined || notice.seq <= this.#position) return
      this.#noticed = Math.max(this.#noticed, notice.seq)
      this.#soonTold()
    })
    this.#soon(0)
  }

  /** Not put off by what is reported while it waits. */
  #soonTold(): void {
    if (this.#isReading) this.#isWanted = true
    else if (!this.#isGathering) {
      this.#isGathering = true
      this.#soon(this.#options.gatherMillis?.() ?? GATHER_MILLIS)
    }
  }

  #soon(millis: number): void {
    clearTimeout(this.#timer)
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#read(), millis)
  }

  async #read(): Promise<void> {
    this.#isReading = true
    this.#isGathering = false
    this.#isWanted = false
    const waiting = this.#waiting.splice(0)
    let pause = this.#options.pollMillis
    try {
      while (!this.#isClosed) {
        const rows = await this.#options.outbox.read(this.#position, BATCH)
        this.#failures = 0
        if (rows.length === 0 || this.#isClosed) break
        this.#position = rows.at(-1)?.seq ?? this.#position
        for (const listener of this.#listeners) listener(rows)
      }
    } catch (error) {
      if (this.#failures++ === 0) {
        this.#options.onTrouble(`the outbox does not answer: ${error instanceof Error ? error.message : String(error)}`)
      }
      pause = Math.min(MAX_PAUSE_MILLIS, pause * 2 ** Math.min(this.#failures, 10))
    }
    this.#isReading = false
    for (const resolve of waiting) resolve()
    if (this.#waiting.length > 0) this.#soon(0)
    else if (this.#isWanted && this.#failures === 0) this.#soonTold()
    else this.#soon(pause)
  }
}
