import { anEnvelope } from "@reverie/testkit"
import { shareRedis } from "@reverie/testkit/shared-servers"
import { Queue } from "bullmq"
import { Redis } from "ioredis"
import * as Redacted from "effect/Redacted"
import { afterEach, assert, test } from "vitest"
import { addressOf, type Line, openLine } from "./line.ts"
import { optionsAt } from "./place.ts"

const redis = shareRedis()
const open: Array<{ readonly close: () => Promise<unknown> }> = []

const lineOf = (options: ReturnType<typeof optionsAt>): Line => {
  const line = openLine(options)
  open.push(line)
  return line
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()))
})

const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

redis.describe("the trace of a wake-up over Redis", () => {
  test("J1 goes from the process that wakes to the one that takes, in the data of the job", async () => {
    const options = optionsAt({ redis: Redacted.make(redis.server().url) })
    const [publisher, taker] = [lineOf(options), lineOf(options)]
    await publisher.wake(addressOf("ada"), "person", trace)
    const client = new Redis(redis.server().url, { maxRetriesPerRequest: null })
    open.push({ close: () => client.quit() })
    const queue = new Queue("events", { connection: client, prefix: options.prefix })
    open.unshift(queue)
    const jobs = await queue.getJobs(["prioritized", "waiting"])
    assert.deepStrictEqual(
      jobs.map(({ data }) => data as unknown),
      [{ tenant: "default", assistant: "ada", trace }]
    )
    const wakeUp = await taker.take()
    assert.strictEqual(wakeUp.trace, trace)
    // Given while in hand: it comes after, with its own.
    const later = trace.replace("b7ad", "c8be")
    await publisher.wake(addressOf("ada"), "person", later)
    await taker.done(wakeUp)
    const next = await taker.take()
    assert.strictEqual(next.trace, later)
    await taker.done(next)
  })

  test("J1 a job shows the event that it was given for, whole where it is small, and a time that has come", async () => {
    const options = optionsAt({ redis: Redacted.make(redis.server().url) })
    const line = lineOf(options)
    const small = anEnvelope({ id: "m-1", to: addressOf("ada"), event: { type: "message", text: "Good morning." } })
    const large = anEnvelope({ id: "m-2", to: addressOf("bob"), event: { type: "message", text: "x".repeat(4_000) } })
    const order = anEnvelope({ id: "m-3", to: addressOf("cy"), event: { type: "halt", reason: "for now" } })
    await line.wake(small.to, "person", trace, small)
    await line.wake(large.to, "person", undefined, large)
    await line.wake(order.to, "order", undefined, order)
    const client = new Redis(redis.server().url, { maxRetriesPerRequest: null })
    open.push({ close: () => client.quit() })
    const queue = new Queue("events", { connection: client, prefix: options.prefix })
    open.unshift(queue)
    const jobs = await queue.getJobs(["prioritized", "waiting"])
    const shown = new Map(jobs.map(({ data }) => [String(data.assistant), data as unknown]))
    assert.deepStrictEqual(shown.get("ada"), {
      ...small.to,
      trace,
      event: { id: "m-1", kind: "message", lane: "mail", sender: small.from, envelope: { ...small } }
    })
    const bare = { id: "m-2", kind: "message", lane: "mail", sender: large.from }
    assert.deepStrictEqual(shown.get("bob"), { ...large.to, event: bare })
    assert.deepInclude(Reflect.get(shown.get("cy") as object, "event"), { id: "m-3", kind: "halt", lane: "control" })
    // What it is about is for those who look: who takes it is handed an address and a trace.
    const wakeUps = [await line.take(), await line.take(), await line.take()]
    for (const wakeUp of wakeUps) assert.notProperty(wakeUp, "event")
    for (const wakeUp of wakeUps) await line.done(wakeUp)
  })

  test("a wake-up without one has none, and what is no text in a job is none", async () => {
    const options = optionsAt({ redis: Redacted.make(redis.server().url) })
    const line = lineOf(options)
    await line.wake(addressOf("ada"))
    const wakeUp = await line.take()
    assert.notProperty(wakeUp, "trace")
    await line.done(wakeUp)
    const client = new Redis(redis.server().url, { maxRetriesPerRequest: null })
    open.push({ close: () => client.quit() })
    const queue = new Queue("events", { connection: client, prefix: options.prefix })
    open.unshift(queue)
    await queue.add("tick", { tenant: "default", assistant: "bob", trace: { hostile: true } })
    const odd = await line.take()
    assert.strictEqual(odd.address.assistant, "bob")
    assert.notProperty(odd, "trace")
    await line.done(odd)
  })
})
