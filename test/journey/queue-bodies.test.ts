// Queue bodies: what waits in BullMQ, looked at from outside while a fleet runs on PostgreSQL and Redis.

import { sharePostgres, shareRedis } from "@reverie/testkit/shared-servers"
import { Queue } from "bullmq"
import { defineAssistant, defineFleet, Fleet, type Deployment, type FleetRole } from "reverie"
import { assert, it } from "vitest"

const postgres = sharePostgres({ fsync: false })
const redis = shareRedis()

const fleet = defineFleet({
  assistants: ["ada", "bo"].map((id) => defineAssistant({ id, instructions: "You are under test." }))
})

const open = (deployment: Deployment, role: FleetRole): Promise<Fleet> =>
  Fleet.open({ fleet, deployment, role, model: "offline", recall: "none" })

postgres.describe("a fleet on PostgreSQL", () => {
  redis.describe("and Redis, looked at from outside", () => {
    it("J1 what waits in the queue of events shows its event, and no one needs it", async () => {
      const deployment = { database: postgres.server().url, redis: redis.server().url, name: "looked-at" }
      await using api = await open(deployment, "api")
      await api.send("ada", "Are you there?", { id: "m-1", from: "person:eve" })
      await api.halt("bo", "for now")
      const queue = new Queue("events", { connection: { url: deployment.redis }, prefix: deployment.name })
      try {
        const jobs = await queue.getJobs(["prioritized", "waiting"])
        const events = new Map(jobs.map(({ data }) => [String(data.assistant), data.event as unknown]))
        assert.deepInclude(events.get("ada"), { id: "m-1", kind: "message", lane: "mail", sender: "person:eve" })
        assert.nestedPropertyVal(events.get("ada"), "envelope.event.text", "Are you there?")
        assert.deepInclude(events.get("bo"), { kind: "halt", lane: "control" })
        // The store is the truth: a job that tells something else, or nothing, changes nothing.
        for (const job of jobs) await job.updateData({ ...job.data, event: { kind: "retire" } })
        await using worker = await open(deployment, "worker")
        await worker.idle()
        assert.strictEqual((await api.inspect("bo"))?.state.status, "halted")
        const ends = (await api.history.entries("ada")).flatMap(({ entry }) => entry.tickEnd ?? [])
        assert.deepStrictEqual(
          ends.map(({ envelope }) => envelope as string),
          ["m-1"]
        )
      } finally {
        await queue.close()
      }
    }, 120_000)
  })
})
