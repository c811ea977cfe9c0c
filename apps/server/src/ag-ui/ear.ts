// Ear: what this process tells of one assistant while it happens.
// Owns waking anyone who reads the ledger, and keeping pieces of a reply until they may be told. Leaves telling them to run.ts.
// E1  Pieces are kept in their order; what was committed before one comes before it.
// E2  However slow the reader, what is kept of a reply is its words, once.
// E3  Closed, it hears nothing, and no one waits for it.

import type { Piece } from "@reverie/protocol"
import type { Notice } from "reverie"
import type { ReadFleet } from "../gateway.ts"

/** How often its reader looks unasked, the longer the less: another process may commit, of which nothing is heard here. */
const MIN_POLL_MILLIS = 250
const MAX_POLL_MILLIS = 2_000

/** A piece of a reply that is being made, as it is heard. */
export type PieceNotice = Extract<Notice, { readonly type: "part" }>

interface Kept {
  readonly notice: PieceNotice
  /** Entries up to this place of the outbox come first. */
  readonly behind: number
}

/** Both as one, where the second goes on with the first. */
const joined = (first: Piece, second: Piece): Piece | undefined => {
  if (!("text" in first) || !("text" in second) || first.kind !== second.kind) return undefined
  if (first.kind === "arguments" && second.kind === "arguments" && first.call !== second.call) return undefined
  return { ...first, text: first.text + second.text }
}

export interface MessageFilter {
  readonly assistant: string
  readonly envelope: string
}

export class Ear {
  readonly #stop: () => void
  #pieces: Array<Kept> = []
  #announced = 0
  #wake: () => void = () => {}
  #wasWoken = false
  #pauseMillis = MIN_POLL_MILLIS

  constructor(fleet: ReadFleet, { assistant, envelope }: MessageFilter) {
    this.#stop = fleet.on("*", (notice) => {
      if (notice.address.assistant !== assistant) return
      this.#hear(notice, envelope)
      this.#wasWoken = true
      this.#wake()
    })
  }

  /** Pieces before which nothing is to be told any more. */
  ready(seq: number): ReadonlyArray<PieceNotice> {
    const ready = this.#pieces.filter(({ behind }) => behind <= seq)
    this.#pieces = this.#pieces.filter(({ behind }) => behind > seq)
    return ready.map(({ notice }) => notice)
  }

  /** Resolves with the next notice, after a while, or when the signal says so. */
  async next(signal: AbortSignal): Promise<void> {
    if (!this.#wasWoken && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const wake = () => resolve()
      const timer = setTimeout(wake, this.#pauseMillis)
      this.#wake = wake
      signal.addEventListener("abort", wake)
      await promise
      clearTimeout(timer)
      signal.removeEventListener("abort", wake)
    }
    this.#pauseMillis = this.#wasWoken ? MIN_POLL_MILLIS : Math.min(MAX_POLL_MILLIS, this.#pauseMillis * 2)
    this.#wasWoken = false
  }

  close(): void {
    this.#stop()
    this.#pieces = []
    this.#wake()
  }

  #hear(notice: Notice, envelope: string): void {
    if (notice.type !== "part") this.#announced = Math.max(this.#announced, notice.seq ?? 0)
    else if (notice.envelope === envelope) this.#keep({ notice, behind: this.#announced })
  }

  #keep(kept: Kept): void {
    const last = this.#pieces.at(-1)
    const isNext = last?.behind === kept.behind && last.notice.iteration === kept.notice.iteration
    const piece = last !== undefined && isNext ? joined(last.notice.piece, kept.notice.piece) : undefined
    if (piece === undefined) this.#pieces.push(kept)
    else this.#pieces[this.#pieces.length - 1] = { ...kept, notice: { ...kept.notice, piece } }
  }
}
