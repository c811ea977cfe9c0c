// Ending: how a worker comes to rest before it is interrupted.
// Owns the asking, and how much is still at work. Leaves how long that may take to the one who asks.
// E1  Once it is asked, nothing is claimed and nothing is taken up but orders. What runs ends, and its end is committed.
// E2  Tools that a reply in hand asks for still run: left open, no one could say of them that they never began.
// E3  A model call, or a step of a dream or a compaction, that would begin is left open for the next holder, who begins it; but a call
//     that a budget counts is made here, for taken up later it would count as one that was cut off.

import type { OpenJob } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import { isMetered } from "../jobs/job-end.ts"
import type { Session } from "../session/session.ts"

export class Ending {
  readonly #asked = Latch.makeUnsafe()
  readonly #rested = Latch.makeUnsafe()
  #isAsked = false
  #working = 0

  get isAsked(): boolean {
    return this.#isAsked
  }

  /** Pieces of work that run or wait for a turn. */
  get working(): number {
    return this.#working
  }

  /** The work, which is waited for. */
  readonly counted = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      this.#working++
      return Effect.ensuring(
        work,
        Effect.suspend(() => {
          this.#working--
          return this.#look
        })
      )
    })

  /** Done as soon as it is asked. */
  readonly whenAsked: Effect.Effect<void> = Latch.await(this.#asked)

  /** Asks; done when nothing runs any more. */
  readonly ask: Effect.Effect<void> = Effect.suspend(() => {
    this.#isAsked = true
    return Effect.andThen(Latch.open(this.#asked), Effect.andThen(this.#look, Latch.await(this.#rested)))
  })

  readonly #look: Effect.Effect<void> = Effect.suspend(() =>
    this.#isAsked && this.#working === 0 ? Effect.asVoid(Latch.open(this.#rested)) : Effect.void
  )
}

/** Whether a job that a commit has opened is begun here, once the ending is asked. */
export const isBegunAtEnd = (session: Session, { src }: OpenJob): boolean =>
  src === "tool" || src === "child" || (src === "infer" && isMetered(session))
