import { wakeQueueLaws } from "@reverie/testkit"
import { prove } from "@reverie/testkit/prove"
import { sharePostgres } from "@reverie/testkit/shared-servers"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { postgresWaivers, queueAt } from "./place.ts"

const postgres = sharePostgres()

postgres.describe("queue-bullmq on PostgreSQL", () => {
  prove(
    "wake-queue laws",
    wakeQueueLaws,
    () => Layer.suspend(() => queueAt({ postgres: Redacted.make(postgres.server().url) })),
    { waivers: postgresWaivers }
  )
})
