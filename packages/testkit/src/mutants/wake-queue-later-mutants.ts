// Wake-queue mutants about wake-ups for a later time.

import { type Address, addressKey } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { Patience } from "../patience.ts"
import type { QueueMistakes } from "./wake-queue-mutants.ts"

const A_MOMENT_EARLY = 1.5
const MOMENTS_LATE = 20

const moments = (count: number) => Effect.map(Patience, ({ momentMillis }) => count * momentMillis)

export const laterMistakes: QueueMistakes = {
  takesLaterForNow: (right) => ({ ...right, wakeAt: (address) => right.wake(address, "routine") }),
  forgetsLater: (right) => ({ ...right, wakeAt: () => Effect.void }),
  comesTooEarly: (right) => ({
    ...right,
    wakeAt: (address, dueAt) => Effect.flatMap(moments(A_MOMENT_EARLY), (early) => right.wakeAt(address, dueAt - early))
  }),
  comesTooLate: (right) => ({
    ...right,
    wakeAt: (address, dueAt) => Effect.flatMap(moments(MOMENTS_LATE), (late) => right.wakeAt(address, dueAt + late))
  }),
  comesOnlyWhenSomebodyLooks: (right) => {
    const later: Array<readonly [Address, number]> = []
    return {
      ...right,
      wakeAt: (address, dueAt) => Effect.sync(() => later.push([address, dueAt])),
      take: Effect.gen(function* () {
        const { now } = yield* Patience
        const at = yield* now
        for (const [address, dueAt] of later) if (dueAt <= at) yield* right.wake(address, "routine")
        return yield* right.take
      })
    }
  },
  keepsTheFirstTime: (right) => {
    const known = new Set<string>()
    return {
      ...right,
      wakeAt: (address, dueAt) =>
        Effect.suspend(() => {
          if (known.has(addressKey(address))) return Effect.void
          known.add(addressKey(address))
          return right.wakeAt(address, dueAt)
        })
    }
  },
  keepsTheLastTime: (right) => {
    const last = new Map<string, number>()
    return {
      ...right,
      wakeAt: (address, dueAt) =>
        Effect.suspend(() => {
          last.set(addressKey(address), dueAt)
          return right.wakeAt(address, dueAt)
        }),
      take: Effect.gen(function* () {
        const { now } = yield* Patience
        while (true) {
          const wakeUp = yield* right.take
          const dueAt = last.get(addressKey(wakeUp.address)) ?? 0
          if (dueAt <= (yield* now)) return wakeUp
          yield* wakeUp.done
        }
      })
    }
  },
  losesItsPatience: (right) => {
    let given = 0
    return {
      ...right,
      wakeAt: (...wakeUp) => Effect.suspend(() => (given++ > 0 ? Effect.void : right.wakeAt(...wakeUp)))
    }
  },
  remembersATimeThatHasCome: (right) => {
    const handed = new Map<string, number>()
    return {
      ...right,
      // For a moment one that was handed out still stands for all that are given.
      wakeAt: (address, dueAt) =>
        Effect.gen(function* () {
          const { momentMillis, now } = yield* Patience
          if ((yield* now) - (handed.get(addressKey(address)) ?? -Infinity) < momentMillis / 2) return
          yield* right.wakeAt(address, dueAt)
        }),
      take: Effect.tap(right.take, ({ address }) =>
        Patience.use(({ now }) => Effect.map(now, (at) => handed.set(addressKey(address), at)))
      )
    }
  },
  laterSwallowsPresent: (right) => {
    const later = new Set<string>()
    return {
      ...right,
      wake: (address, urgency) =>
        Effect.suspend(() => (later.has(addressKey(address)) ? Effect.void : right.wake(address, urgency))),
      wakeAt: (address, dueAt) =>
        Effect.suspend(() => {
          later.add(addressKey(address))
          return right.wakeAt(address, dueAt)
        }),
      take: Effect.tap(right.take, ({ address }) => Effect.sync(() => later.delete(addressKey(address))))
    }
  },
  presentSwallowsLater: (right) => {
    const swallowed = new Map<string, number>()
    return {
      ...right,
      wakeAt: (address, dueAt) =>
        Effect.suspend(() => {
          swallowed.set(addressKey(address), 0)
          return right.wakeAt(address, dueAt)
        }),
      wake: (address, urgency) =>
        Effect.suspend(() => {
          if (swallowed.has(addressKey(address))) swallowed.set(addressKey(address), 1)
          return right.wake(address, urgency)
        }),
      take: Effect.gen(function* () {
        while (true) {
          const wakeUp = yield* right.take
          const key = addressKey(wakeUp.address)
          const seen = swallowed.get(key) ?? 0
          if (seen < 2) {
            if (seen === 1) swallowed.set(key, 2)
            return wakeUp
          }
          swallowed.delete(key)
          yield* wakeUp.done
        }
      })
    }
  }
}
