// Wake-ups: the wake queue of a simulated world.
// Owns losing, doubling and delaying wake-ups. Leaves timers to the sweep of the workers.

import type { WakeQueue } from "@reverie/mailbox"
import type { Address } from "@reverie/protocol"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Scheduler from "effect/Scheduler"
import type { Fate } from "./fate.ts"
import type { VirtualTime } from "./virtual-time.ts"

/** A queue wakes its takers on the scheduler of the fiber that made it: made elsewhere, no wake-up would ever arrive. */
export const queueIn = (time: VirtualTime): Queue.Queue<Address> => {
  const fiber = Effect.runForkWith(Context.make(Scheduler.Scheduler, time.scheduler))(Queue.unbounded<Address>())
  const exit = fiber.pollUnsafe()
  if (exit?._tag !== "Success") throw new Error("a queue is made in one go")
  return exit.value
}

interface WakeUps {
  readonly fate: Fate
  readonly wakeUps: Queue.Queue<Address>
  readonly healed: boolean
}

/** Wake-ups that get lost, doubled and delayed, until the world has healed. */
export const wakeUpsOf = (world: WakeUps): WakeQueue["Service"] => ({
  wake: (address) =>
    Effect.gen(function* () {
      const { fate, healed, wakeUps } = world
      if (!healed && fate.chance(0.1)) return
      if (!healed && fate.chance(0.1)) yield* Queue.offer(wakeUps, address)
      yield* Queue.offer(wakeUps, address)
    }),
  wakeAt: () => Effect.void,
  take: Effect.map(Queue.take(world.wakeUps), (address) => ({ address, done: Effect.void })),
  redact: () => Effect.void
})
