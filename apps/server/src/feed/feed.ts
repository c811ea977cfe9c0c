// Feed: the notices of a store, told to everybody who listens to this process.
// Owns the subscribers, their number and their heartbeat. Leaves reading to the outbox reader, telling to each subscriber.
// D1  The store is read once for all who keep up, and a page of it once for all who are at the same place behind them.
// D2  No one learns of another tenant.
// D3  A piece of a reply is reported after the notices that were committed before it, or not at all.

import { defined, type Notice } from "@reverie/protocol"
import type { OutboxRow } from "reverie"
import { LimitReached } from "../api/index.ts"
import { framesOf, passingFrameOf, type Place } from "./frame.ts"
import type { Outbox, OutboxReader } from "./outbox-reader.ts"
import { OldPages, Tail } from "./tail.ts"
import { Pace, Subscriber } from "./subscriber.ts"

export interface FeedOptions {
  readonly outbox: Outbox
  readonly reader: OutboxReader
  /** Streams of one principal at once. */
  readonly maxStreams: number
  readonly beatMillis: number
  /** Beats after which a stream that takes nothing is cut off; 8 when not said. */
  readonly maxStalledBeats?: number
  readonly onOpen?: () => void
  readonly onClose?: () => void
}

export interface Listening {
  readonly tenant: string
  /** Whose streams are counted together. */
  readonly principal: string
  readonly assistant?: string
  /** Only what is new when not said. */
  readonly from?: Place
}

interface Passing {
  readonly frame: string
  readonly tenant: string
  readonly assistant: string
  /** Entries up to here come first. */
  readonly behind: number
}

const MAX_PASSING = 1_000
/** Two minutes, of a beat every fifteen seconds. */
const MAX_STALLED_BEATS = 8

export class Feed {
  readonly #options: FeedOptions
  readonly #tail = new Tail()
  readonly #old: OldPages
  readonly #pace = new Pace()
  readonly #subscribers = new Set<Subscriber>()
  readonly #byPrincipal = new Map<string, number>()
  #passing: Array<Passing> = []
  #announced = 0
  #stop: ReadonlyArray<() => void> = []
  #beat: NodeJS.Timeout | undefined
  #starting: Promise<void> | undefined

  constructor(options: FeedOptions) {
    this.#options = options
    this.#old = new OldPages((after, limit) => options.outbox.read(after, limit))
  }

  get size(): number {
    return this.#subscribers.size
  }

  /** A stream that begins at once; rejects with `LimitReached` when anyone who asks has too many. */
  async open({ assistant, from, principal, tenant }: Listening): Promise<Subscriber> {
    const streams = this.#byPrincipal.get(principal) ?? 0
    if (streams >= this.#options.maxStreams) {
      const message = `${this.#options.maxStreams} streams are open for this token; close one first`
      throw new LimitReached({ message, retryAfterSeconds: 5 })
    }
    this.#byPrincipal.set(principal, streams + 1)
    try {
      await this.#start()
    } catch (error) {
      this.#released(principal)
      throw error
    }
    const { end } = this.#tail
    // A place that the store has never reached is of another store: what is new is reported.
    const place = from === undefined || from.seq > end ? { seq: end, told: 0 } : from
    const { maxStalledBeats = MAX_STALLED_BEATS } = this.#options
    const request = { tenant, from: place, maxStalledBeats, ...defined({ assistant }) }
    const subscriber = new Subscriber(request, this.#tail, this.#old, this.#pace)
    this.#subscribers.add(subscriber)
    // A store that fails ends the stream; anyone who listened comes back with the last id.
    subscriber.on("error", () => {})
    this.#options.onOpen?.()
    subscriber.once("close", () => {
      this.#subscribers.delete(subscriber)
      this.#released(principal)
      this.#options.onClose?.()
    })
    return subscriber
  }

  /** What was read of the store is read again by those who are behind. */
  drop(): void {
    this.#tail.reset(this.#tail.end)
    this.#old.close()
  }

  /** Ends every stream. */
  close(): void {
    clearInterval(this.#beat)
    this.#old.close()
    for (const stop of this.#stop) stop()
    for (const subscriber of this.#subscribers) subscriber.push(null)
  }

  #released(principal: string): void {
    const streams = (this.#byPrincipal.get(principal) ?? 1) - 1
    if (streams === 0) this.#byPrincipal.delete(principal)
    else this.#byPrincipal.set(principal, streams)
  }

  #start(): Promise<void> {
    this.#starting ??= this.#begin().catch((error: unknown) => {
      this.#starting = undefined
      throw error
    })
    return this.#starting
  }

  async #begin(): Promise<void> {
    const { beatMillis, outbox, reader } = this.#options
    await reader.start()
    this.#tail.reset(reader.position)
    this.#stop = [reader.listen((rows) => this.#take(rows)), outbox.listen((notice) => this.#hear(notice))]
    this.#beat = setInterval(() => {
      for (const subscriber of this.#subscribers) subscriber.beat()
    }, beatMillis)
    this.#beat.unref()
  }

  #take(rows: ReadonlyArray<OutboxRow>): void {
    const last = rows.at(-1)
    if (last === undefined) return
    if (this.#subscribers.size === 0) this.#tail.reset(last.seq)
    else for (const row of rows) this.#tail.add(framesOf(row))
    for (const subscriber of this.#subscribers) subscriber.wake()
    this.#pass()
  }

  #hear(notice: Notice): void {
    if (notice.type !== "part") {
      this.#announced = Math.max(this.#announced, notice.seq ?? 0)
      return
    }
    if (this.#subscribers.size === 0 || this.#passing.length >= MAX_PASSING) return
    const { assistant, tenant } = notice.address
    this.#passing.push({ frame: passingFrameOf(notice), tenant, assistant, behind: this.#announced })
    this.#pass()
  }

  /** Those whose entries have been told. The subscribers tell in the turn after the one in which they were woken. */
  #pass(): void {
    while (this.#passing[0] !== undefined && this.#passing[0].behind <= this.#tail.end) {
      const { assistant, frame, tenant } = this.#passing.shift() as Passing
      for (const subscriber of this.#subscribers) subscriber.pass(frame, tenant, assistant)
    }
  }
}
