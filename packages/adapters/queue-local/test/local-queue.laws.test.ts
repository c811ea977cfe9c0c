import { WakeQueue } from "@reverie/mailbox"
import { addressKey, URGENCIES, type Urgency } from "@reverie/protocol"
import { queueLocalLayer } from "@reverie/queue-local"
import { wakeQueueLaws, wakeQueueMutants } from "@reverie/testkit"
import { bite, prove } from "@reverie/testkit/prove"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const fresh = () => queueLocalLayer

type Queue = WakeQueue["Service"]

/** Hands a wake-up out again only when the one before is done, as queues do that several processes share. */
const stern = (right: Queue): Queue => {
  const inHand = new Map<string, Urgency | "nothing">()
  return {
    ...right,
    wake: (address, urgency) =>
      Effect.suspend(() => {
        const stored = inHand.get(addressKey(address))
        if (stored === undefined || urgency === "order") return right.wake(address, urgency)
        const known = stored === "nothing" ? URGENCIES.length : URGENCIES.indexOf(stored)
        if (URGENCIES.indexOf(urgency) < known) inHand.set(addressKey(address), urgency)
        return Effect.void
      }),
    take: Effect.map(right.take, ({ address, done }) => {
      const key = addressKey(address)
      let isDone = false
      inHand.set(key, "nothing")
      const again = Effect.suspend(() => {
        if (isDone) return Effect.void
        isDone = true
        const stored = inHand.get(key) ?? "nothing"
        inHand.delete(key)
        return stored === "nothing" ? Effect.void : right.wake(address, stored)
      })
      return { address, done: Effect.andThen(done, again) }
    })
  }
}

const sternLayer = () => Layer.effect(WakeQueue, Effect.map(WakeQueue, stern)).pipe(Layer.provide(queueLocalLayer))

prove("queue-local: wake-queue laws", wakeQueueLaws, fresh)
prove(
  "wake-queue laws allow that a wake-up is handed out again only when the one before is done",
  wakeQueueLaws,
  sternLayer
)
bite("wake-queue laws bite", wakeQueueLaws, wakeQueueMutants(fresh))
