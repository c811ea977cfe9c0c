// LocalQueue: the WakeQueue of one process.
// Owns the hints that nobody has taken yet. Leaves finding them again after the process has ended to `Mailbox.due`.
// A hint leaves the queue before it is handed out. So one that is given while its assistant is being handled stands in
// the queue again (Q3) without any memory of who is handling what: whoever handles it hears of it at once (Q6).
// L1  A hint is either in the queue or handed out: a taker that stops waiting takes none with it.
// L2  While hints are waiting, somebody who waits for one is on the way: nobody sleeps beside a full queue.
// L3  While a later hint is known, somebody who waits sleeps no longer than until its time.

import { type Hint, URGENCIES, type Urgency, WakeQueue } from "@reverie/mailbox"
import { type Address, addressKey } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

interface Waiting {
  readonly address: Address
  readonly trace?: string
}

const waitingOf = (address: Address, trace: string | undefined): Waiting =>
  trace === undefined ? { address } : { address, trace }

/** The hints that nobody has taken, one for each assistant. */
const makeWaiting = () => {
  /** In the order in which they were first given: a map keeps a key in its place when it is set again. */
  const hints: Readonly<Record<Urgency, Map<string, Waiting>>> = {
    order: new Map(),
    person: new Map(),
    routine: new Map()
  }
  return {
    isEmpty: (): boolean => URGENCIES.every((urgency) => hints[urgency].size === 0),
    put: (address: Address, urgency: Urgency, trace?: string): void => {
      const key = addressKey(address)
      const present = URGENCIES.find((each) => hints[each].has(key))
      if (present !== undefined && URGENCIES.indexOf(present) <= URGENCIES.indexOf(urgency)) return
      if (present !== undefined) hints[present].delete(key)
      hints[urgency].set(key, waitingOf(address, trace))
    },
    first: (): Hint | undefined => {
      for (const urgency of URGENCIES) {
        for (const [key, waiting] of hints[urgency]) {
          hints[urgency].delete(key)
          return { ...waiting, done: Effect.void }
        }
      }
      return undefined
    }
  }
}

interface Later {
  readonly address: Address
  readonly dueAt: number
}

/** The hints for later, the earliest one for each assistant. */
const makeLater = () => {
  const later = new Map<string, Later>()
  /** The earliest of all: nobody who takes a hint has to look through them before. */
  let soonest = Number.POSITIVE_INFINITY
  return {
    soonest: (): number => soonest,
    /** Whether this is news. */
    put: (address: Address, dueAt: number): boolean => {
      const key = addressKey(address)
      const known = later.get(key)
      if (known !== undefined && known.dueAt <= dueAt) return false
      later.set(key, { address, dueAt })
      soonest = Math.min(soonest, dueAt)
      return true
    },
    /** Takes out those whose time has come, in the order of their times. */
    ripen: (now: number): ReadonlyArray<Later> => {
      if (soonest > now) return []
      const ripe = [...later].filter(([, { dueAt }]) => dueAt <= now)
      for (const [key] of ripe) later.delete(key)
      soonest = Number.POSITIVE_INFINITY
      for (const { dueAt } of later.values()) soonest = Math.min(soonest, dueAt)
      return ripe.map(([, each]) => each).toSorted((a, b) => a.dueAt - b.dueAt)
    }
  }
}

/** Those who wait for a hint. */
const makeSleepers = () => {
  const sleepers = new Set<() => void>()
  return {
    rouseOne: (): void => {
      const [first] = sleepers
      if (first === undefined) return
      sleepers.delete(first)
      first()
    },
    roused: Effect.callback<void>((resume) => {
      const rouse = () => resume(Effect.void)
      sleepers.add(rouse)
      return Effect.sync(() => {
        sleepers.delete(rouse)
      })
    })
  }
}

export const makeLocalQueue = (): WakeQueue["Service"] => {
  const waiting = makeWaiting()
  const later = makeLater()
  const { roused, rouseOne } = makeSleepers()

  /** Until somebody gives a hint, or the time of the earliest later one has come. */
  const sleep = Effect.suspend(() => {
    const soonest = later.soonest()
    if (soonest === Number.POSITIVE_INFINITY) return roused
    return Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Effect.race(roused, Effect.sleep(Math.max(0, soonest - now)))
    )
  }).pipe(
    // Who stops waiting may have been the only one that was told, of a hint or of an earlier time.
    Effect.onInterrupt(() =>
      Effect.sync(() => {
        if (!waiting.isEmpty() || later.soonest() < Number.POSITIVE_INFINITY) rouseOne()
      })
    )
  )

  return {
    wake: (address, urgency, trace) =>
      Effect.sync(() => {
        waiting.put(address, urgency, trace)
        rouseOne()
      }),
    wakeAt: (address, dueAt) =>
      Effect.sync(() => {
        // Whoever sleeps may have to sleep less.
        if (later.put(address, dueAt)) rouseOne()
      }),
    take: Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        while (true) {
          for (const { address } of later.ripen(yield* Clock.currentTimeMillis)) waiting.put(address, "routine")
          const hint = waiting.first()
          if (hint !== undefined) return hint
          yield* restore(sleep)
        }
      })
    )
  }
}

/** A queue of its own for each time the layer is built. */
export const queueLocalLayer: Layer.Layer<WakeQueue> = Layer.sync(WakeQueue, makeLocalQueue)
