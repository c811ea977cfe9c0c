// Wake-queue mutants: wrong queues, each made of a right one, that the wake-queue laws must kill.

import { WakeQueue } from "@reverie/mailbox"
import { type Address, addressKey, AssistantId, TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { FreshLayer } from "../law.ts"

type Queue = WakeQueue["Service"]

const never = Effect.void

/** Keeps its own list; the right queue only tells that something is in it. */
const withList = (right: Queue, put: (list: Array<Address>, address: Address) => void): Queue => {
  const list: Array<Address> = []
  let given = 0
  return {
    wake: (address) =>
      Effect.suspend(() => {
        const before = list.length
        put(list, address)
        if (list.length === before) return never
        return right.wake({ ...address, assistant: AssistantId.make(`signal-${given++}`) })
      }),
    take: Effect.map(right.take, (signal) => list.shift() ?? signal)
  }
}

const placeOf = (list: ReadonlyArray<Address>, address: Address): number =>
  list.findIndex((other) => addressKey(other) === addressKey(address))

const mistakes: Readonly<Record<string, (right: Queue) => Queue>> = {
  losesEveryOther: (right) => {
    let given = 0
    return { ...right, wake: (address) => Effect.suspend(() => (given++ % 2 === 0 ? right.wake(address) : never)) }
  },
  losesWhatSomebodyWaitsFor: (right) => {
    let waiting = 0
    return {
      wake: (address) => Effect.suspend(() => (waiting > 0 ? never : right.wake(address))),
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
      take: Effect.map(right.take, (address) => {
        const before = last ?? address
        last = address
        return before
      })
    }
  },
  collapsesNothing: (right) => withList(right, (list, address) => list.push(address)),
  collapsesByNameAlone: (right) => {
    const tenants = new Map<string, Address>()
    return {
      wake: (address) =>
        Effect.suspend(() => {
          if (!tenants.has(address.assistant)) tenants.set(address.assistant, address)
          return right.wake({ ...address, tenant: TenantId.make("any") })
        }),
      take: Effect.map(right.take, (address) => {
        const first = tenants.get(address.assistant)
        tenants.delete(address.assistant)
        return first ?? address
      })
    }
  },
  collapsesForEver: (right) => {
    const given = new Set<string>()
    return {
      ...right,
      wake: (address) =>
        Effect.suspend(() => {
          if (given.has(addressKey(address))) return never
          given.add(addressKey(address))
          return right.wake(address)
        })
    }
  },
  forgetsWhoIsInHand: (right) => {
    let inHand = ""
    return {
      wake: (address) => Effect.suspend(() => (addressKey(address) === inHand ? never : right.wake(address))),
      take: Effect.tap(right.take, (address) =>
        Effect.sync(() => {
          inHand = addressKey(address)
        })
      )
    }
  },
  handsOutTheNewestFirst: (right) =>
    withList(right, (list, address) => {
      if (placeOf(list, address) < 0) list.unshift(address)
    }),
  movesARepeatedHintBack: (right) =>
    withList(right, (list, address) => {
      const place = placeOf(list, address)
      if (place >= 0) list.splice(place, 1)
      list.push(address)
    })
}

/** Needs a right queue to be made of. */
export const wakeQueueMutants = (right: FreshLayer<WakeQueue>): Readonly<Record<string, FreshLayer<WakeQueue>>> =>
  Object.fromEntries(
    Object.entries(mistakes).map(([name, mistake]) => [
      name,
      () => Layer.effect(WakeQueue, Effect.map(WakeQueue, mistake)).pipe(Layer.provide(right()))
    ])
  )
