// SliceLine: long work of a process, done a slice at a time.
// Owns whose slice is next. Leaves what a slice is to whoever has work.
// L1  Between two slices the event loop turns, whoever they are of: what waits there waits for one slice at most.
// L2  Turns go round: a short work is not behind the whole of a long one.
// L3  Who does not wait any more has no further slice.

import * as Effect from "effect/Effect"

/** One slice of work; answers what came of the whole after the last one, undefined before. */
export type Slice<A> = () => A | undefined

interface Waiting {
  /** True after its last slice. */
  readonly next: () => boolean
}

export class SliceLine {
  readonly #turn: (then: () => void) => void
  #line: Array<Waiting> = []
  #isTurning = false

  /** `turn` calls back when the event loop has turned. */
  constructor(turn: (then: () => void) => void = (then) => void setImmediate(then)) {
    this.#turn = turn
  }

  run<A>(begin: () => Slice<A>): Effect.Effect<A> {
    return Effect.callback<A>((resume) => {
      const slice = begin()
      const waiting: Waiting = {
        next: () => {
          try {
            const made = slice()
            if (made === undefined) return false
            resume(Effect.succeed(made))
          } catch (defect) {
            resume(Effect.die(defect))
          }
          return true
        }
      }
      this.#line.push(waiting)
      this.#go()
      return Effect.sync(() => {
        this.#line = this.#line.filter((each) => each !== waiting)
      })
    })
  }

  #go(): void {
    if (this.#isTurning || this.#line.length === 0) return
    this.#isTurning = true
    this.#turn(() => {
      this.#isTurning = false
      const first = this.#line.shift()
      if (first !== undefined && !first.next()) this.#line.push(first)
      this.#go()
    })
  }
}
