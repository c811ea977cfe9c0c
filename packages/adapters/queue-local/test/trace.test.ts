import { assert, describe, it } from "@effect/vitest"
import { WakeQueue } from "@reverie/mailbox"
import { queueLocalLayer } from "@reverie/queue-local"
import { anAddress } from "@reverie/testkit"
import * as Effect from "effect/Effect"

const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

describe("the trace of a wake-up", () => {
  it.effect("goes with it, and with the most urgent of those that collapse", () =>
    Effect.gen(function* () {
      const queue = yield* WakeQueue
      const ada = anAddress("ada")
      yield* queue.wake(ada, "person", trace)
      assert.strictEqual((yield* queue.take).trace, trace)
      yield* queue.wake(ada, "routine", "00-1")
      yield* queue.wake(ada, "order", trace)
      yield* queue.wake(ada, "person", "00-2")
      assert.strictEqual((yield* queue.take).trace, trace)
      yield* queue.wake(ada, "person")
      assert.notProperty(yield* queue.take, "trace")
    }).pipe(Effect.provide(queueLocalLayer))
  )
})
