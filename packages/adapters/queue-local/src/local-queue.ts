// LocalQueue: the WakeQueue of one process.
// Owns the wake-ups that no one has taken yet. Leaves finding them again after the process has ended to `Mailbox.due`.
// A wake-up leaves the queue before it is handed out. So one that is given while its assistant is being handled stands in
// the queue again (Q3) without any memory of who is handling what: the one who handles it learns of it at once (Q6).
// L1  A wake-up is either in the queue or handed out: a taker that stops waiting takes none with it.
// L2  While wake-ups are waiting, someone who waits for one is on the way: no one sleeps beside a full queue.
// L3  While a later wake-up is known, someone who waits sleeps no longer than until its time.

import { WakeQueue, type WakeUp } from "@reverie/mailbox"
import { type Address, addressKey, URGENCIES, type Urgency } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

interface Waiting {
  readonly address: Address
  readonly trace?: string
}

const waitingOf = (address: Address, trace: string | undefined): Waiting =>
  trace === undefined ? { address } : { address, trace }

/** The wake-ups that no one has taken, one for each assistant. */
const makeWaiting = () => {
  /** In the order in which they were first given: a map keeps a key in its place when it is set again. */
  const wakeUps: Readonly<Record<Urgency, Map<string, Waiting>>> = {
    order: new Map(),
    person: new Map(),
    routine: new Map()
  }
  return {
    isEmpty: (): boolean => URGENCIES.every((urgency) => wakeUps[urgency].size === 0),
    put: (address: Address, urgency: Urgency, trace?: string): void => {
      const key = addressKey(address)
      const present = URGENCIES.find((each) => wakeUps[each].has(key))
      if (present !== undefined && URGENCIES.indexOf(present) <= URGENCIES.indexOf(urgency)) return
      if (present !== undefined) wakeUps[present].delete(key)
      wakeUps[urgency].set(key, waitingOf(address, trace))
    },
    first: (): WakeUp | undefined => {
      for (const urgency of URGENCIES) {
        for (const [key, waiting] of wakeUps[urgency]) {
          wakeUps[urgency].delete(key)
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

/** The wake-ups for later, the earliest one for each assistant. */
const makeLater = () => {
  const later = new Map<string, Later>()
  /** The earliest of all: no one who takes a wake-up has to look through them before. */
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

/** Those who wait for a wake-up. */
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

  /** Until someone gives a wake-up, or the time of the earliest later one has come. */
  const sleep = Effect.suspend(() => {
    const soonest = later.soonest()
    if (soonest === Number.POSITIVE_INFINITY) return roused
    return Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Effect.race(roused, Effect.sleep(Math.max(0, soonest - now)))
    )
  }).pipe(
    // Who stops waiting may have been the only one that was told, of a wake-up or of an earlier time.
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
        // Anyone who sleeps may have to sleep less.
        if (later.put(address, dueAt)) rouseOne()
      }),
    take: Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        while (true) {
          for (const { address } of later.ripen(yield* Clock.currentTimeMillis)) waiting.put(address, "routine")
          const wakeUp = waiting.first()
          if (wakeUp !== undefined) return wakeUp
          yield* restore(sleep)
        }
      })
    ),
    // It never held any of it.
    redact: () => Effect.void
  }
}

/** A queue of its own for each time the layer is built. */
export const queueLocalLayer: Layer.Layer<WakeQueue> = Layer.sync(WakeQueue, makeLocalQueue)
