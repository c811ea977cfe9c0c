// LongWork: work on long texts, shared out over the turns of the event loop.
// Owns when such work may begin. Each piece of it is short; nineteen of them in one turn are not.
// W1  A turn in which ROOM characters were worked on begins no more: what wants to begin waits for one of the next turns.
// W2  Work on short texts is not noted, and where its length is known it never waits.
// W3  What waits begins in the order of asking; slices of work that takes long as a whole come after everything else.
// W4  Who is interrupted leaves the line.
// W5  Anyone who waits does so by the scheduler of its own fiber, so that virtual time can pass over it.

import * as Effect from "effect/Effect"

/** A text up to this length is short: in UTF-16 units, or bytes. */
export const SHORT_TEXT = 16_384

/** To read so much and parse it takes a few milliseconds. */
const ROOM = 400_000

type Ticket = object

export class LongWork {
  readonly #first: Array<Ticket> = []
  readonly #slices: Array<Ticket> = []
  /** In this turn, as far as is known. */
  #worked = 0
  #notes = 0
  #isTurning = false

  /** So many characters are worked on in this turn. */
  note(characters: number): void {
    if (characters <= SHORT_TEXT) return
    this.#worked += characters
    this.#notes++
    if (this.#isTurning) return
    this.#isTurning = true
    Effect.runFork(
      Effect.andThen(
        Effect.yieldNow,
        Effect.sync(() => {
          this.#isTurning = false
          this.#worked = 0
        })
      )
    )
  }

  /** Whether work may begin in this turn, and no one waits for it. */
  get hasRoom(): boolean {
    return this.#worked < ROOM && this.#first.length === 0
  }

  /** Waits until the turn has room for work. */
  readonly room: Effect.Effect<void> = Effect.suspend(() =>
    this.hasRoom ? Effect.void : this.#waiting(this.#first, () => this.#worked < ROOM)
  )

  /** Waits until the turn has room, behind everything else: for a slice of work that has many of them. */
  readonly roomForSlice: Effect.Effect<void> = Effect.suspend(() => {
    const isFree = () => this.#worked === 0 && this.#first.length === 0
    return isFree() && this.#slices.length === 0 ? Effect.void : this.#waiting(this.#slices, isFree)
  })

  /** Waits for room for work on a text of that length, and notes it. */
  begin(characters: number): Effect.Effect<void> {
    if (characters <= SHORT_TEXT) return Effect.void
    return Effect.andThen(
      this.room,
      Effect.sync(() => this.note(characters))
    )
  }

  #waiting(line: Array<Ticket>, isFree: () => boolean): Effect.Effect<void> {
    return Effect.suspend(() => {
      const ticket = {}
      line.push(ticket)
      const leave = (): void => {
        const at = line.indexOf(ticket)
        if (at !== -1) line.splice(at, 1)
      }
      const turned: Effect.Effect<void> = Effect.suspend(() => {
        const seen = this.#notes
        return Effect.flatMap(Effect.yieldNow, () => {
          // What was noted before the turn is over.
          if (this.#notes === seen) this.#worked = 0
          if (line[0] !== ticket || !isFree()) return turned
          leave()
          return Effect.void
        })
      })
      return Effect.onInterrupt(turned, () => Effect.sync(leave))
    })
  }
}

/** That of this process: all adapters and doors share one event loop. */
export const longWork = new LongWork()
