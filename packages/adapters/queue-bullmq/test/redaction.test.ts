// What a wake-up is about leaves the queue when it is asked to (mailbox Q7): looked for in all that the server holds.

import { MailboxUnavailable } from "@reverie/mailbox"
import { addressKey } from "@reverie/protocol"
import type { QueueBullmqOptions } from "@reverie/queue-bullmq"
import { anEnvelope } from "@reverie/testkit"
import { heldByPostgres, heldByRedis, notedByPostgres, postgresSays } from "@reverie/testkit/servers"
import { sharePostgres, shareRedis } from "@reverie/testkit/shared-servers"
import * as Redacted from "effect/Redacted"
import { afterEach, assert, test } from "vitest"
import { addressOf, type Line, openLine, sleep } from "./line.ts"
import { optionsAt } from "./place.ts"

const redis = shareRedis()
const postgres = sharePostgres()
const lines: Array<Line> = []

afterEach(async () => {
  await Promise.all(lines.splice(0).map((line) => line.close()))
})

const lineWith = (options: QueueBullmqOptions): Line => {
  const line = openLine(options)
  lines.push(line)
  return line
}

const [ada, bob] = [addressOf("ada"), addressOf("bob")]

const about = (text: string, from = "ann") => anEnvelope({ id: text, from, event: { type: "message", text } })

const kept = (held: string, ...texts: ReadonlyArray<string>) => texts.filter((text) => held.includes(text))

const redactions = (optionsOf: () => QueueBullmqOptions, held: () => Promise<string>) => {
  test("Q7 of a wake-up that waits only its address is left, and it is handed out; that of another is left whole", async () => {
    const line = lineWith(optionsOf())
    await line.wake(ada, "person", undefined, about("canary-waits", "canary-sender"))
    await line.wake(bob, "person", undefined, about("canary-other"))
    const all = ["canary-waits", "canary-sender", "canary-other"]
    assert.deepStrictEqual(kept(await held(), ...all), all)
    await line.redact(ada)
    await line.redact(ada)
    assert.deepStrictEqual(kept(await held(), ...all), ["canary-other"])
    assert.strictEqual(addressKey((await line.take()).address), addressKey(ada))
    assert.strictEqual(addressKey((await line.take()).address), addressKey(bob))
  })

  test("Q7 so it is with one in hand and with what waits behind it, which comes when the handling is done", async () => {
    const line = lineWith(optionsOf())
    await line.wake(ada, "person", undefined, about("canary-in-hand"))
    const inHand = await line.take()
    await line.wake(ada, "person", undefined, about("canary-behind"))
    const both = ["canary-in-hand", "canary-behind"]
    assert.deepStrictEqual(kept(await held(), ...both), both)
    await line.redact(ada)
    assert.deepStrictEqual(kept(await held(), ...both), [])
    await line.done(inHand)
    const next = await line.take()
    assert.strictEqual(addressKey(next.address), addressKey(ada))
    assert.deepStrictEqual(kept(await held(), ...both), [])
    await line.done(next)
  })

  test("Q7 for one for whom nothing waits it is nothing to do", async () => {
    const line = lineWith(optionsOf())
    await line.redact(ada)
    await line.wake(ada)
    assert.strictEqual(addressKey((await line.take()).address), addressKey(ada))
  })
}

redis.describe("redaction on Redis", () => {
  redactions(
    () => optionsAt({ redis: Redacted.make(redis.server().url) }),
    () => heldByRedis(redis.server().url)
  )
})

postgres.describe("redaction on PostgreSQL", () => {
  redactions(
    () => optionsAt({ postgres: Redacted.make(postgres.server().url) }),
    () => heldByPostgres(postgres.server().url)
  )
})

postgres.describe("what PostgreSQL notes of jobs", () => {
  test("for its plans has nothing of what they are about, in no table of BullMQ", async () => {
    const line = lineWith(optionsAt({ postgres: Redacted.make(postgres.server().url) }))
    for (let which = 0; which < 12; which++) {
      const address = addressOf(`noted-${which}`)
      await line.wake(address, "person", undefined, about(`canary-noted-${which}`))
      await line.take()
      await line.wake(address, "person", undefined, about(`canary-noted-behind-${which}`))
    }
    const noted = await notedByPostgres(postgres.server().url)
    assert.include(noted, "bullmq,job,")
    assert.deepStrictEqual(kept(noted, "canary"), [])
  })
})

postgres.describe("redaction of what is late", () => {
  test("Q7 who ends the job at the same moment, and locks in another order, is not in its way, nor it in theirs", async () => {
    const { url } = postgres.server()
    const options = optionsAt({ postgres: Redacted.make(url) })
    const line = lineWith(options)
    await line.wake(ada, "person", undefined, about("canary-ends"))
    const queue = `${options.prefix}-events`
    const ending = postgresSays(
      url,
      "BEGIN",
      `SELECT id FROM bullmq.job WHERE queue = '${queue}' FOR UPDATE`,
      "SELECT pg_sleep(1)",
      `SELECT pg_advisory_xact_lock(hashtext('bullmq:dedup:${queue}:default/ada'))`,
      "COMMIT"
    )
    await sleep(500)
    await Promise.all([ending, line.redact(ada)])
    assert.notInclude(await heldByPostgres(url), "canary-ends")
  })

  test("Q7 G4 what was given up and is still on its way is waited for, or it is not certain", async () => {
    const { url } = postgres.server()
    const options = optionsAt({ postgres: Redacted.make(url) }, { deadlineMillis: 300 })
    const line = lineWith(options)
    await line.wake(bob)
    // As long as someone ends jobs of all queues, none is added.
    const names = `hashtext('bullmq:finalization'), hashtext('${options.prefix}-events')`
    const held = postgresSays(url, "BEGIN", `SELECT pg_advisory_xact_lock(${names})`, "SELECT pg_sleep(3)", "COMMIT")
    await sleep(500)
    await line.wake(ada, "person", undefined, about("canary-late"))
    const failure: unknown = await line.redact(ada).catch((error: unknown) => error)
    assert.instanceOf(failure, MailboxUnavailable)
    await held
    for (let tries = 0; tries < 50 && !(await heldByPostgres(url)).includes("default/ada"); tries++) await sleep(100)
    await line.redact(ada)
    const all = await heldByPostgres(url)
    assert.include(all, "default/ada")
    assert.notInclude(all, "canary-late")
  })
})

test("Q7 where the server does not answer it is not certain, and says so", async () => {
  const line = lineWith(optionsAt({ redis: Redacted.make("redis://127.0.0.1:1") }, { deadlineMillis: 100 }))
  await line.ready()
  const failure: unknown = await line.redact(ada).catch((error: unknown) => error)
  assert.instanceOf(failure, MailboxUnavailable)
  assert.strictEqual(failure.recovery, "retry")
  assert.include(failure.message, "default/ada")
})
