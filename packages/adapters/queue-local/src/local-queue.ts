// LocalQueue: the WakeQueue of one process.
// Owns the hints that nobody has taken yet. Leaves finding them again after the process has ended to `Mailbox.due`.
// A hint leaves the queue before it is handed out. So one that is given while its assistant is being handled stands in
// the queue again (Q3) without any memory of who is handling what: whoever handles it hears of it at once (Q6).
// L1  A hint is either in the queue or handed out: a taker that stops waiting takes none with it.
// L2  While hints are waiting, somebody who waits for one is on the way: nobody sleeps beside a full queue.

import { type Hint, URGENCIES, type Urgency, WakeQueue } from "@reverie/mailbox"
import { type Address, addressKey } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

interface Later {
  readonly address: Address
  readonly dueAt: number
}

export const makeLocalQueue = (): WakeQueue["Service"] => {
  /** In the order in which they were first given: a map keeps a key in its place when it is set again. */
  const hints: Readonly<Record<Urgency, Map<string, Address>>> = { order: new Map(), person: new Map(), routine: new Map() }
  const later = new Map<string, Later>()
  const sleepers = new Set<() => void>()

  const waiting = (): number => URGENCIES.reduce((sum, urgency) => sum + hints[urgency].size, 0)

  const rouseOne = (): void => {
    const [first] = sleepers
    if (first === undefined) return
    sleepers.delete(first)
    first()
  }

  const rouse = Effect.callback<void>((resume) => {
    const roused = () => resume(Effect.void)
    sleepers.add(roused)
    return Effect.sync(() => {
      sleepers.delete(roused)
    })
  })

  /** Until somebody gives a hint, or the time of the earliest later one has come. */
  const sleep = Effect.suspend(() => {
    const soonest = [...later.values()].reduce((least, { dueAt }) => Math.min(least, dueAt), Number.POSITIVE_INFINITY)
    if (soonest === Number.POSITIVE_INFINITY) return rouse
    return Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.race(rouse, Effect.sleep(Math.max(0, soonest - now))))
  }).pipe(Effect.onInterrupt(() => Effect.sync(() => (waiting() > 0 ? rouseOne() : undefined))))

  const put = (address: Address, urgency: Urgency): void => {
    const key = addressKey(address)
    const present = URGENCIES.find((each) => hints[each].has(key))
    if (present !== undefined && URGENCIES.indexOf(present) <= URGENCIES.indexOf(urgency)) return
    if (present !== undefined) hints[present].delete(key)
    hints[urgency].set(key, address)
  }

  const ripen = (now: number): void => {
    for (const [key, { address, dueAt }] of later) {
      if (dueAt > now) continue
      later.delete(key)
      put(address, "routine")
    }
  }

  const first = (): Hint | undefined => {
    for (const urgency of URGENCIES) {
      for (const [key, address] of hints[urgency]) {
        hints[urgency].delete(key)
        return { address, done: Effect.void }
      }
    }
    return undefined
  }

  return {
    wake: (address, urgency) =>
      Effect.sync(() => {
        put(address, urgency)
        rouseOne()
      }),
    wakeAt: (address, dueAt) =>
      Effect.sync(() => {
        const key = addressKey(address)
        const known = later.get(key)
        if (known !== undefined && known.dueAt <= dueAt) return
        later.set(key, { address, dueAt })
        // Whoever sleeps may have to sleep less.
        rouseOne()
      }),
    take: Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        while (true) {
          if (later.size > 0) ripen(yield* Clock.currentTimeMillis)
          const hint = first()
          if (hint !== undefined) return hint
          yield* restore(sleep)
        }
      })
    )
  }
}

/** A queue of its own for each time the layer is built. */
export const queueLocalLayer: Layer.Layer<WakeQueue> = Layer.sync(WakeQueue, makeLocalQueue)
