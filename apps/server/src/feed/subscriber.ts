// Subscriber: one open event stream.
// Owns what it has told, and telling the next when its reader has room. Leaves the newest entries to the tail they are kept in.
// U1  Every notice of the tenant after its place is reported once, in order: from the store while it is behind the tail, from
//     the tail after that.
// U2  It takes nothing before there is room for it: a slow reader costs no memory, and goes on from the store. One that
//     reads nothing for too many beats is cut off, and comes back with its last id if it is still there.
// U3  Nothing is read for a client that has left.
// U4  One that is far behind is served at the pace of all that are.

import { Readable } from "node:stream"
import * as Equal from "effect/Equal"
import * as Hash from "effect/Hash"
import { type EntryFrames, type Place, standing } from "./frame.ts"
import { type Chunk, CHUNK_CHARS, type OldPages, type Tail } from "./tail.ts"

export interface Request {
  readonly tenant: string
  readonly assistant?: string
  readonly from: Place
  /** Beats without room after which it is cut off. */
  readonly maxStalledBeats: number
}

/** So many entries behind the newest one it is far behind. */
const FAR = 100

/** Made once: an error for each client that leaves costs more than serving it. */
const LEFT = new Error("the client has left")

export class Subscriber extends Readable {
  readonly #request: Request
  readonly #tail: Tail
  readonly #old: OldPages
  readonly #pace: Pace
  readonly #leaving = new AbortController()
  #place: Place
  #stalled = 0
  #hasRoom = false
  #isTelling = false
  #isStarted = false
  #wasWoken = false

  constructor(request: Request, tail: Tail, old: OldPages, pace: Pace) {
    super({ highWaterMark: CHUNK_CHARS })
    this.#request = request
    this.#place = request.from
    this.#tail = tail
    this.#old = old
    this.#pace = pace
  }

  // The router compares what it answered with when someone leaves, by hashing all that can be reached from it: a stream
  // reaches everything that is sent to anybody. It is itself and nothing else.
  [Hash.symbol](): number {
    return Hash.random(this)
  }

  [Equal.symbol](that: unknown): boolean {
    return this === that
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#leaving.abort(LEFT)
    done(error)
  }

  override _read(): void {
    this.#hasRoom = true
    this.#stalled = 0
    if (!this.#isStarted) {
      this.#isStarted = true
      // In the middle of an entry no whole number tells the place.
      this.#tell(this.#place.told === 0 ? standing(this.#place.seq) : ": here\n\n")
    }
    this.wake()
  }

  /** There may be more to tell. */
  wake(): void {
    this.#wasWoken = true
    if (this.#isTelling || !this.#hasRoom || this.destroyed) return
    this.#isTelling = true
    this.#wasWoken = false
    this.#goOn()
      .catch((error: unknown) => this.destroy(error instanceof Error ? error : new Error(String(error))))
      .finally(() => {
        this.#isTelling = false
        if (this.#wasWoken) this.wake()
      })
  }

  /** Told only to anyone who keeps up. */
  pass(frame: string, tenant: string, assistant: string): void {
    if (this.#isMine(tenant, assistant) && this.#hasRoom && this.#place.seq >= this.#tail.end) this.#tell(frame)
  }

  beat(): void {
    if (this.destroyed) return
    if (!this.#hasRoom) {
      if (++this.#stalled >= this.#request.maxStalledBeats) this.destroy()
      return
    }
    this.#tell(this.#place.told === 0 && this.#place.seq >= this.#tail.end ? standing(this.#place.seq) : ": here\n\n")
  }

  #isMine(tenant: string, assistant: string): boolean {
    return (
      tenant === this.#request.tenant &&
      (this.#request.assistant === undefined || assistant === this.#request.assistant)
    )
  }

  #tell(text: string | Buffer): void {
    if (!this.push(text)) this.#hasRoom = false
  }

  /** What everybody of the tenant receives; undefined where this one receives less, or the tail does not hold it. */
  #shared(): Chunk | undefined {
    const { assistant, tenant } = this.#request
    const isWhole = assistant === undefined && this.#place.told === 0
    return isWhole ? this.#tail.chunkAfter(this.#place.seq, tenant) : undefined
  }

  async #goOn(): Promise<void> {
    while (this.#hasRoom && !this.destroyed && this.#place.seq < this.#tail.end) {
      if (this.#tail.end - this.#place.seq > FAR) {
        await this.#pace.turn(this.#leaving.signal)
        if (!this.#hasRoom || this.destroyed) return
      }
      const shared = this.#shared()
      if (shared !== undefined) {
        this.#place = { seq: shared.end, told: 0 }
        if (shared.bytes.length > 0) this.#tell(shared.bytes)
        continue
      }
      const kept = this.#tail.after(this.#place.seq)
      if (kept !== undefined) this.#tellAll(kept)
      else if (!(await this.#tellOld())) return
    }
  }

  /** Tells a page from before the tail; false when there is none. */
  async #tellOld(): Promise<boolean> {
    const page = await this.#old.after(this.#place.seq, this.#leaving.signal)
    if (page === undefined || this.destroyed) return false
    const { assistant, tenant } = this.#request
    if (assistant === undefined && this.#place.told === 0 && this.#place.seq === page.from) {
      const bytes = page.bytesFor(tenant)
      this.#place = { seq: page.to, told: 0 }
      if (bytes.length > 0) this.#tell(bytes)
    } else this.#tellAll(page.entries.filter(({ seq }) => seq > this.#place.seq))
    return true
  }

  #tellAll(entries: Iterable<EntryFrames>): void {
    let text = ""
    for (const { assistant, frames, seq, tenant } of entries) {
      if (this.destroyed) return
      const { told } = this.#place
      this.#place = { seq, told: 0 }
      if (!this.#isMine(tenant, assistant)) continue
      text += (told === 0 ? frames : frames.slice(told)).join("")
      if (text.length < CHUNK_CHARS) continue
      this.#tell(text)
      text = ""
      if (!this.#hasRoom) return
    }
    if (text !== "") this.#tell(text)
  }
}

// Pace: how many pieces the streams that are behind receive in one turn of the event loop.
// P1  No more than PIECES are sent in a turn, so that everything else gets its turns between them: a socket takes megabytes
//     at once, and two hundred streams from the beginning would make all others wait for seconds.
// P2  Streams are let go on in the order of asking; one that has ended leaves the line.

/** Each is a write of some ten thousand characters. */
const PIECES = 8

export class Pace {
  readonly #line = new Set<() => void>()
  #given = 0
  #isTurning = false

  /** How many wait. */
  get size(): number {
    return this.#line.size
  }

  /** Resolves when the next piece may be told, or the stream has ended. */
  async turn(leaving: AbortSignal): Promise<void> {
    if (leaving.aborted) return
    this.#turning()
    if (this.#given < PIECES && this.#line.size === 0) {
      this.#given++
      return
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    const leave = (): void => {
      this.#line.delete(resolve)
      resolve()
    }
    this.#line.add(resolve)
    leaving.addEventListener("abort", leave, { once: true })
    await promise
    leaving.removeEventListener("abort", leave)
  }

  #turning(): void {
    if (this.#isTurning) return
    this.#isTurning = true
    setImmediate(() => {
      this.#isTurning = false
      this.#given = 0
      for (const goOn of this.#line) {
        if (this.#given >= PIECES) break
        this.#line.delete(goOn)
        this.#given++
        goOn()
      }
      if (this.#given > 0) this.#turning()
    })
  }
}
