import { wakeQueueLaws } from "@reverie/testkit"
import { prove } from "@reverie/testkit/prove"
import { shareRedis } from "@reverie/testkit/shared-servers"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { queueAt } from "./place.ts"

const redis = shareRedis()

redis.describe("queue-bullmq on Redis", () => {
  prove("wake-queue laws", wakeQueueLaws, () =>
    Layer.suspend(() => queueAt({ redis: Redacted.make(redis.server().url) }))
  )
})
