// What is forgotten is in no wake-up either, also where no one works and it waits for long.

import { setTimeout as sleep } from "node:timers/promises"
import { heldByPostgres, heldByRedis } from "@reverie/testkit/servers"
import { sharePostgres, shareRedis } from "@reverie/testkit/shared-servers"
import { assert, it } from "vitest"
import {
  type Deployment,
  defineAssistant,
  defineFleet,
  Fleet,
  type ForgetReceipt,
  MailboxUnavailable
} from "../src/index.ts"
import { failureOf } from "./rig.ts"

const postgres = sharePostgres({ fsync: false })
const redis = shareRedis({ own: true })

const fleet = defineFleet({
  assistants: ["desk", "clerk"].map((id) => defineAssistant({ id, instructions: "You are under test." }))
})

/** A process that takes in and does no work. */
const openDoor = (deployment: Deployment): Promise<Fleet> =>
  Fleet.open({ fleet, deployment, role: "api", model: "offline", recall: "none" })

const SECRETS = ["ann-of-the-quay", "the-winch-slips", "bob-of-the-yard", "the-crane-is-late"]

const waitWithSecrets = async (door: Fleet): Promise<void> => {
  await door.send("desk", "the-winch-slips", { from: "ann-of-the-quay" })
  await door.send("clerk", "the-crane-is-late", { from: "bob-of-the-yard" })
}

const inQueue = async (held: () => Promise<string>): Promise<ReadonlyArray<string>> => {
  const all = await held()
  return SECRETS.filter((secret) => all.includes(secret))
}

/** The connection is given up and made again: until then the answer is the same. */
const askedAgain = async (forget: () => Promise<ForgetReceipt>): Promise<number> => {
  for (let tries = 0; tries < 100; tries++) {
    const receipt = await forget().catch(() => undefined)
    if (receipt !== undefined) return receipt.assistants
    await sleep(100)
  }
  return 0
}

postgres.describe("forgetting what waits in a queue", () => {
  redis.describe("on Redis", () => {
    it("a person is in no wake-up any more; what others wait for is untouched, and is handled", async () => {
      const deployment = { database: postgres.server().url, redis: redis.server().url, name: "waits" }
      const held = () => heldByRedis(redis.server().url)
      const door = await openDoor(deployment)
      try {
        await waitWithSecrets(door)
        assert.deepStrictEqual(await inQueue(held), SECRETS)
        await door.forget({ person: "ann-of-the-quay" }, { dryRun: true })
        assert.deepStrictEqual(await inQueue(held), SECRETS)
        await door.forget({ person: "ann-of-the-quay", assistant: "desk" })
        assert.deepStrictEqual(await inQueue(held), ["bob-of-the-yard", "the-crane-is-late"])
        await door.forget({ assistant: "clerk" })
        assert.deepStrictEqual(await inQueue(held), [])
        await using works = await Fleet.open({ fleet, deployment, model: "offline", recall: "none" })
        await works.idle()
        assert.strictEqual((await door.inspect("desk"))?.waiting, 0)
      } finally {
        await door.close()
      }
    })

    it("while the queue does not answer nothing is forgotten, and that is said; asked again it goes", async () => {
      const deployment = { database: postgres.server().url, redis: redis.server().url, name: "silent" }
      const door = await openDoor(deployment)
      try {
        await waitWithSecrets(door)
        await redis.server().pause()
        const failure = await failureOf(door.forget({ person: "ann-of-the-quay" }))
        await redis.server().resume()
        assert.instanceOf(failure, MailboxUnavailable)
        assert.include(failure.message, "what waits in the queue for default/")
        assert.strictEqual((await door.inspect("desk"))?.waiting, 1)
        assert.include(await heldByPostgres(postgres.server().url), "the-winch-slips")
        assert.strictEqual(await askedAgain(() => door.forget({ person: "ann-of-the-quay" })), 1)
        assert.notInclude(await heldByPostgres(postgres.server().url), "the-winch-slips")
        assert.notInclude(await heldByRedis(redis.server().url), "the-winch-slips")
      } finally {
        await door.close()
      }
    })
  })

  it("on PostgreSQL alone it is in no table at all", async () => {
    const { url: database } = await postgres.server().freshDatabase()
    const door = await openDoor({ database, name: "alone" })
    const held = () => heldByPostgres(database)
    try {
      await waitWithSecrets(door)
      assert.deepStrictEqual(await inQueue(held), SECRETS)
      await door.forget({ person: "ann-of-the-quay" })
      assert.deepStrictEqual(await inQueue(held), ["bob-of-the-yard", "the-crane-is-late"])
    } finally {
      await door.close()
    }
  })
})
