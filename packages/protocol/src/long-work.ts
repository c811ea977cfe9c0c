// LongWork: work on long texts, shared out over the turns of the event loop.
// Owns when such work may begin. Each piece of it is short; nineteen of them in one turn are not.
// W1  A turn in which ROOM characters were worked on begins no more: what wants to begin waits for one of the next turns.
// W2  Work on short texts is not noted, and where its length is known it never waits.
// W3  What waits begins in the order of asking; slices of work that takes long as a whole come after everything else.
// W4  Who is interrupted leaves the line.

import * as Effect from "effect/Effect"

/** A text up to this length is short: in UTF-16 units, or bytes. */
export const SHORT_TEXT = 16_384

/** To read so much and parse it takes a few milliseconds. */
const ROOM = 400_000

/** Begun at most in one turn, in case that none of them notes what it does. */
const MOST_BEGUN = 8

type Turn = (then: () => void) => void

/** Effect yields by a turn of the event loop. */
const turning: Turn = (then) => void Effect.runFork(Effect.andThen(Effect.yieldNow, Effect.sync(then)))

export class LongWork {
  readonly #turn: Turn
  #first: Array<() => void> = []
  #slices: Array<() => void> = []
  #worked = 0
  #isTurning = false

  constructor(turn: Turn = turning) {
    this.#turn = turn
  }

  /** So many characters are worked on in this turn. */
  note(characters: number): void {
    if (characters <= SHORT_TEXT) return
    this.#worked += characters
    this.#goOn()
  }

  /** Waits until the turn has room for work. */
  readonly room: Effect.Effect<void> = Effect.suspend(() =>
    this.#worked < ROOM ? Effect.void : this.#waiting(this.#first)
  )

  /** Waits until the turn has room, behind everything else: for a slice of work that has many of them. */
  readonly roomForSlice: Effect.Effect<void> = Effect.suspend(() =>
    this.#worked === 0 && this.#slices.length === 0 ? Effect.void : this.#waiting(this.#slices)
  )

  /** Waits for room for work on a text of that length, and notes it. */
  begin(characters: number): Effect.Effect<void> {
    if (characters <= SHORT_TEXT) return Effect.void
    return Effect.andThen(
      this.room,
      Effect.sync(() => this.note(characters))
    )
  }

  #waiting(line: Array<() => void>): Effect.Effect<void> {
    return Effect.callback((resume) => {
      const go = () => resume(Effect.void)
      line.push(go)
      this.#goOn()
      return Effect.sync(() => {
        const at = line.indexOf(go)
        if (at !== -1) line.splice(at, 1)
      })
    })
  }

  #goOn(): void {
    if (this.#isTurning) return
    this.#isTurning = true
    this.#turn(() => {
      this.#isTurning = false
      this.#worked = 0
      this.#begin()
      if (this.#worked > 0 || this.#first.length > 0 || this.#slices.length > 0) this.#goOn()
    })
  }

  #begin(): void {
    for (let begun = 0; begun < MOST_BEGUN && this.#worked < ROOM; begun++) {
      const next = this.#first.shift()
      if (next === undefined) break
      next()
    }
    if (this.#worked === 0) this.#slices.shift()?.()
  }
}

/** That of this process: all adapters and doors share one event loop. */
export const longWork = new LongWork()
