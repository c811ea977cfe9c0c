// LocalQueue: the WakeQueue of one process.
// Owns the hints that nobody has taken yet. Leaves finding them again after the process has ended to `Mailbox.due`.
// A hint leaves the queue before it is handed out. So one that is given while its assistant is being handled stands in
// the queue again (Q3) without any memory of who is handling what.
// L1  A hint is either in the queue or handed out: a taker that stops waiting takes none with it.
// L2  While hints are waiting, somebody who waits for one is on the way: nobody sleeps beside a full queue.

import { WakeQueue } from "@reverie/mailbox"
import { type Address, addressKey } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

export const makeLocalQueue = (): WakeQueue["Service"] => {
  /** In the order in which they were first given: a map keeps a key in its place when it is set again. */
  const hints = new Map<string, Address>()
  const sleepers = new Set<() => void>()

  const rouseOne = (): void => {
    const [first] = sleepers
    if (hints.size === 0 || first === undefined) return
    sleepers.delete(first)
    first()
  }

  const sleep = Effect.callback<void>((resume) => {
    const rouse = () => resume(Effect.void)
    sleepers.add(rouse)
    return Effect.sync(() => {
      sleepers.delete(rouse)
    })
  }).pipe(Effect.onInterrupt(() => Effect.sync(rouseOne)))

  const first = (): Address | undefined => {
    for (const [key, address] of hints) {
      hints.delete(key)
      return address
    }
    return undefined
  }

  return {
    wake: (address) =>
      Effect.sync(() => {
        hints.set(addressKey(address), address)
        rouseOne()
      }),
    take: Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        while (true) {
          const address = first()
          if (address !== undefined) return address
          yield* restore(sleep)
        }
      })
    )
  }
}

/** A queue of its own for each time the layer is built. */
export const queueLocalLayer: Layer.Layer<WakeQueue> = Layer.sync(WakeQueue, makeLocalQueue)
