// Wake-queue mutants: wrong queues, each made of a right one, that the wake-queue laws must kill.

import { type WakeUp, WakeQueue } from "@reverie/mailbox"
import { type Address, addressKey, AssistantId, TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { FreshLayer } from "../law.ts"
import { laterMistakes } from "./wake-queue-later-mutants.ts"

export type Queue = WakeQueue["Service"]
export type QueueMistakes = Readonly<Record<string, (right: Queue) => Queue>>

/** Keeps its own list; the right queue only tells that something is in it. */
const withList = (right: Queue, put: (list: Array<Address>, address: Address) => void): Queue => {
  const list: Array<Address> = []
  let given = 0
  return {
    ...right,
    wake: (address, urgency) =>
      Effect.suspend(() => {
        const before = list.length
        put(list, address)
        if (list.length === before) return Effect.void
        return right.wake({ ...address, assistant: AssistantId.make(`signal-${given++}`) }, urgency)
      }),
    take: Effect.map(right.take, ({ address, done }) => ({ address: list.shift() ?? address, done }))
  }
}

const placeOf = (list: ReadonlyArray<Address>, address: Address): number =>
  list.findIndex((other) => addressKey(other) === addressKey(address))

const atDone = (wakeUp: WakeUp, then: Effect.Effect<void>): WakeUp => ({
  ...wakeUp,
  done: Effect.andThen(wakeUp.done, then)
})

const losing: QueueMistakes = {
  losesEveryOther: (right) => {
    let given = 0
    return {
      ...right,
      wake: (...wakeUp) => Effect.suspend(() => (given++ % 2 === 0 ? right.wake(...wakeUp) : Effect.void))
    }
  },
  losesWhatSomebodyWaitsFor: (right) => {
    let waiting = 0
    return {
      ...right,
      wake: (...wakeUp) => Effect.suspend(() => (waiting > 0 ? Effect.void : right.wake(...wakeUp))),
      take: Effect.suspend(() => {
        waiting++
        return Effect.ensuring(
          right.take,
          Effect.sync(() => {
            waiting--
          })
        )
      })
    }
  },
  losesItWithTheTaker: (right) => ({ ...right, take: Effect.tap(right.take, () => Effect.yieldNow) }),
  handsOutAnother: (right) => {
    let last: Address | undefined
    return {
      ...right,
      take: Effect.map(right.take, ({ address, done }) => {
        const before = last ?? address
        last = address
        return { address: before, done }
      })
    }
  }
}

const collapsing: QueueMistakes = {
  collapsesNothing: (right) => withList(right, (list, address) => list.push(address)),
  collapsesByNameAlone: (right) => {
    const tenants = new Map<string, Address>()
    return {
      ...right,
      wake: (address, urgency) =>
        Effect.suspend(() => {
          if (!tenants.has(address.assistant)) tenants.set(address.assistant, address)
          return right.wake({ ...address, tenant: TenantId.make("any") }, urgency)
        }),
      take: Effect.map(right.take, ({ address, done }) => {
        const first = tenants.get(address.assistant)
        tenants.delete(address.assistant)
        return { address: first ?? address, done }
      })
    }
  },
  collapsesForEver: (right) => {
    const given = new Set<string>()
    return {
      ...right,
      wake: (address, urgency) =>
        Effect.suspend(() => {
          if (given.has(addressKey(address))) return Effect.void
          given.add(addressKey(address))
          return right.wake(address, urgency)
        })
    }
  },
  handsOutTheNewestFirst: (right) =>
    withList(right, (list, address) => {
      if (placeOf(list, address) < 0) list.unshift(address)
    }),
  movesARepeatedWakeUpBack: (right) =>
    withList(right, (list, address) => {
      const place = placeOf(list, address)
      if (place >= 0) list.splice(place, 1)
      list.push(address)
    })
}

const urgent: QueueMistakes = {
  takesEveryWakeUpForRoutine: (right) => ({ ...right, wake: (address) => right.wake(address, "routine") }),
  takesOrdersForMessages: (right) => ({
    ...right,
    wake: (address, urgency) => right.wake(address, urgency === "order" ? "person" : urgency)
  }),
  keepsTheFirstUrgency: (right) => {
    const waiting = new Set<string>()
    return {
      ...right,
      wake: (address, urgency) =>
        Effect.suspend(() => {
          if (waiting.has(addressKey(address))) return Effect.void
          waiting.add(addressKey(address))
          return right.wake(address, urgency)
        }),
      take: Effect.tap(right.take, ({ address }) => Effect.sync(() => waiting.delete(addressKey(address))))
    }
  },
  repeatsWhatIsRaised: (right) => {
    const waiting = new Set<string>()
    return {
      ...right,
      wake: (address, urgency) =>
        Effect.suspend(() => {
          const namesake = { ...address, assistant: AssistantId.make(`${address.assistant}:${urgency}`) }
          const isRaised = waiting.has(addressKey(address)) && urgency === "order"
          waiting.add(addressKey(address))
          return right.wake(isRaised ? namesake : address, urgency)
        }),
      take: Effect.map(right.take, (wakeUp) => {
        waiting.delete(addressKey(wakeUp.address))
        const [assistant = ""] = wakeUp.address.assistant.split(":")
        return { ...wakeUp, address: { ...wakeUp.address, assistant: AssistantId.make(assistant) } }
      })
    }
  },
  forgetsUrgencyInHand: (right) => {
    const inHand = new Set<string>()
    return {
      ...right,
      wake: (address, urgency) =>
        Effect.suspend(() => right.wake(address, inHand.has(addressKey(address)) ? "routine" : urgency)),
      take: Effect.map(right.take, (wakeUp) => {
        inHand.add(addressKey(wakeUp.address))
        return atDone(
          wakeUp,
          Effect.sync(() => inHand.delete(addressKey(wakeUp.address)))
        )
      })
    }
  }
}

/** Keeps wake-ups for who is in hand to itself; `release` answers what becomes of them when that is done. */
const withholding = (
  right: Queue,
  release: (address: Address) => Effect.Effect<void>,
  withholds: (urgency: string) => boolean = () => true
): Queue => {
  const inHand = new Map<string, number>()
  const withheld = new Set<string>()
  return {
    ...right,
    wake: (address, urgency) =>
      Effect.suspend(() => {
        const key = addressKey(address)
        if ((inHand.get(key) ?? 0) === 0 || !withholds(urgency)) return right.wake(address, urgency)
        withheld.add(key)
        return Effect.void
      }),
    take: Effect.map(right.take, (wakeUp) => {
      const key = addressKey(wakeUp.address)
      inHand.set(key, (inHand.get(key) ?? 0) + 1)
      return atDone(
        wakeUp,
        Effect.suspend(() => {
          inHand.set(key, (inHand.get(key) ?? 1) - 1)
          return withheld.delete(key) ? release(wakeUp.address) : Effect.void
        })
      )
    })
  }
}

const handling: QueueMistakes = {
  forgetsWhoIsInHand: (right) => withholding(right, () => Effect.void),
  keepsOrdersUntilDone: (right) =>
    withholding(
      right,
      (address) => right.wake(address, "order"),
      (urgency) => urgency === "order"
    ),
  givesAgainWithEveryDone: (right) => ({
    ...right,
    take: Effect.map(right.take, (wakeUp) => {
      let times = 0
      return atDone(
        wakeUp,
        Effect.suspend(() => (times++ > 0 ? right.wake(wakeUp.address, "person") : Effect.void))
      )
    })
  }),
  takesALaterWakeUpAwayWithDone: (right) => {
    const ended = new Set<string>()
    return {
      ...right,
      wake: (address, urgency) =>
        Effect.suspend(() => (ended.delete(addressKey(address)) ? Effect.void : right.wake(address, urgency))),
      take: Effect.map(right.take, (wakeUp) => {
        let times = 0
        return atDone(
          wakeUp,
          Effect.sync(() => {
            if (times++ > 0) ended.add(addressKey(wakeUp.address))
          })
        )
      })
    }
  },
  handsOutOneAtATime: (right) => {
    const waiting: Array<Effect.Effect<void>> = []
    let isHeld = false
    return {
      ...right,
      wake: (...wakeUp) =>
        Effect.suspend(() => {
          if (!isHeld) return right.wake(...wakeUp)
          waiting.push(right.wake(...wakeUp))
          return Effect.void
        }),
      take: Effect.map(right.take, (wakeUp) => {
        isHeld = true
        return atDone(
          wakeUp,
          Effect.suspend(() => {
            isHeld = false
            return Effect.all(waiting.splice(0), { discard: true })
          })
        )
      })
    }
  }
}

const mistakes: QueueMistakes = { ...losing, ...collapsing, ...urgent, ...handling, ...laterMistakes }

/** Needs a right queue to be made of. */
export const wakeQueueMutants = (right: FreshLayer<WakeQueue>): Readonly<Record<string, FreshLayer<WakeQueue>>> =>
  Object.fromEntries(
    Object.entries(mistakes).map(([name, mistake]) => [
      name,
      () => Layer.effect(WakeQueue, Effect.map(WakeQueue, mistake)).pipe(Layer.provide(right()))
    ])
  )
