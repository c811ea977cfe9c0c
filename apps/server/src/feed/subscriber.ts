// Subscriber: one open event stream.
// Owns what it has told, and telling the next when its reader has room. Leaves the newest entries to the tail they are kept in.
// U1  Every notice of the tenant after its place is told once, in order: from the store while it is behind the tail, from
//     the tail after that.
// U2  It takes nothing before there is room for it: a slow reader costs no memory, and goes on from the store.

import { Readable } from "node:stream"
import type { OutboxRow } from "reverie"
import { type EntryFrames, framesOf, standing } from "./frame.ts"
import type { Place } from "./place.ts"
import { CHUNK_CHARS, type Chunk, type Tail } from "./tail.ts"

export interface Wish {
  readonly tenant: string
  readonly assistant?: string
  readonly from: Place
}

export type ReadOutbox = (after: number, limit: number) => Promise<ReadonlyArray<OutboxRow>>

const PAGE = 200

export class Subscriber extends Readable {
  readonly #wish: Wish
  readonly #tail: Tail
  readonly #readOutbox: ReadOutbox
  #place: Place
  #hasRoom = false
  #isTelling = false
  #isStarted = false
  #wasWoken = false

  constructor(wish: Wish, tail: Tail, readOutbox: ReadOutbox) {
    super({ highWaterMark: CHUNK_CHARS })
    this.#wish = wish
    this.#place = wish.from
    this.#tail = tail
    this.#readOutbox = readOutbox
  }

  override _read(): void {
    this.#hasRoom = true
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

  /** Told only to whoever keeps up. */
  pass(frame: string, tenant: string, assistant: string): void {
    if (this.#isMine(tenant, assistant) && this.#hasRoom && this.#place.seq >= this.#tail.end) this.#tell(frame)
  }

  beat(): void {
    if (!this.#hasRoom || this.destroyed) return
    this.#tell(this.#place.told === 0 && this.#place.seq >= this.#tail.end ? standing(this.#place.seq) : ": here\n\n")
  }

  #isMine(tenant: string, assistant: string): boolean {
    return tenant === this.#wish.tenant && (this.#wish.assistant === undefined || assistant === this.#wish.assistant)
  }

  #tell(text: string | Buffer): void {
    if (!this.push(text)) this.#hasRoom = false
  }

  /** What everybody of the tenant hears; undefined where this one hears less, or the tail does not hold it. */
  #shared(): Chunk | undefined {
    const { assistant, tenant } = this.#wish
    const isWhole = assistant === undefined && this.#place.told === 0
    return isWhole ? this.#tail.chunkAfter(this.#place.seq, tenant) : undefined
  }

  async #goOn(): Promise<void> {
    while (this.#hasRoom && !this.destroyed && this.#place.seq < this.#tail.end) {
      const shared = this.#shared()
      if (shared !== undefined) {
        this.#place = { seq: shared.end, told: 0 }
        if (shared.bytes.length > 0) this.#tell(shared.bytes)
        continue
      }
      const kept = this.#tail.after(this.#place.seq)
      if (kept === undefined) {
        const rows = await this.#readOutbox(this.#place.seq, PAGE)
        if (rows.length === 0) return
        this.#tellAll(rows.map(framesOf))
      } else this.#tellAll(kept)
    }
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
