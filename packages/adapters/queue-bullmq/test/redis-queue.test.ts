import { shareRedis } from "@reverie/testkit/shared-servers"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { afterEach, assert, test } from "vitest"
import { QUANTUM } from "../src/priority.ts"
import { addressOf, type Line, openLine, sleep } from "./line.ts"
import { optionsAt } from "./place.ts"
import type { QueueBullmqOptions } from "@reverie/queue-bullmq"

const redis = shareRedis()
const lines: Array<Line> = []

const ownOptions = (more: Partial<QueueBullmqOptions> = {}) =>
  optionsAt({ redis: Redacted.make(redis.server().url) }, more)

const lineWith = (options: QueueBullmqOptions): Line => {
  const line = openLine(options)
  lines.push(line)
  return line
}

afterEach(async () => {
  await Promise.all(lines.splice(0).map((line) => line.close()))
})

const takeNext = async (line: Line): Promise<string> => {
  const wakeUp = await line.take()
  await line.done(wakeUp)
  return `${wakeUp.address.tenant}/${wakeUp.address.assistant}`
}

redis.describe("queue-bullmq", () => {
  test("P2 Q4 a tenant with 10,000 wake-ups waiting does not hold up another tenant's one, and keeps its own order", async () => {
    const line = lineWith(ownOptions())
    const crowd = Array.from({ length: 10_000 }, (_, i) => addressOf(`a-${i}`, "crowd"))
    await Promise.all(crowd.map((address) => line.wake(address)))
    await line.wake(addressOf("only", "quiet"))
    const taken: Array<string> = []
    while (taken.at(-1) !== "quiet/only") taken.push(await takeNext(line))
    assert.isAtMost(taken.length, QUANTUM + 1)
    for (let i = 0; i < 100; i++) taken.push(await takeNext(line))
    const ofCrowd = taken.filter((key) => key.startsWith("crowd/"))
    assert.deepStrictEqual(
      ofCrowd,
      ofCrowd.map((_, i) => `crowd/a-${i}`)
    )
    await line.wake(addressOf("late", "quiet"))
    taken.length = 0
    while (taken.at(-1) !== "quiet/late") taken.push(await takeNext(line))
    assert.isAtMost(taken.length, 2 * QUANTUM)
  })

  test("P1 an order comes before any backlog of people, and a person before any of routine", async () => {
    const line = lineWith(ownOptions())
    const many = (name: string) => Array.from({ length: 300 }, (_, i) => addressOf(`${name}-${i}`, "crowd"))
    await Promise.all(many("routine").map((address) => line.wake(address, "routine")))
    await Promise.all(many("person").map((address) => line.wake(address, "person")))
    await line.wake(addressOf("routine-299", "crowd"), "order")
    await line.wake(addressOf("routine-298", "crowd"), "person")
    const taken: Array<string> = []
    for (let i = 0; i < 303; i++) taken.push(await takeNext(line))
    assert.strictEqual(taken[0], "crowd/routine-299")
    assert.isBelow(taken.indexOf("crowd/routine-298"), 302)
    assert.strictEqual(new Set(taken).size, 303)
  })

  test("H4 Q6 an order given in another process reaches who has the assistant in hand, before it is done", async () => {
    const options = ownOptions()
    const [holder, publisher] = [lineWith(options), lineWith(options)]
    await publisher.wake(addressOf("ada"))
    const held = await holder.take()
    const waiting = holder.take()
    // Who listens is not known to have begun: an order may be given twice.
    let order: Awaited<typeof waiting> | undefined
    void waiting.then((wakeUp) => (order = wakeUp))
    while (order === undefined) {
      await publisher.wake(addressOf("ada"), "order")
      await sleep(50)
    }
    assert.strictEqual(order.address.assistant, "ada")
    await holder.done(order)
    await holder.done(held)
    // Told twice, in case the first was not heard.
    assert.strictEqual(await takeNext(holder), "default/ada")
  })

  test("H2 a wake-up that was fetched for someone who left goes to another process", async () => {
    const options = ownOptions()
    const [leaver, stayer] = [lineWith(options), lineWith(options)]
    await leaver.ready()
    await stayer.ready()
    const leaving = new AbortController()
    const left = leaver.take(leaving.signal)
    left.catch(() => undefined)
    await sleep(100)
    leaving.abort()
    await left.catch(() => undefined)
    // The fetch of the one who left still blocks, and may get this one.
    await stayer.wake(addressOf("ada"))
    assert.strictEqual(await takeNext(stayer), "default/ada")
  })

  test("the end of a queue waits for wake-ups in hand, and hands out nothing more", async () => {
    const options = ownOptions({ drainMillis: 20_000 })
    const [ending, other] = [lineWith(options), lineWith(options)]
    await other.wake(addressOf("ada"))
    const held = await ending.take()
    let isClosed = false
    const closing = ending.close().then(() => (isClosed = true))
    await other.wake(addressOf("bob"))
    assert.strictEqual(await takeNext(other), "default/bob")
    assert.isFalse(isClosed)
    await Effect.runPromise(held.done)
    await closing
    await other.wake(addressOf("ada"))
    assert.strictEqual(await takeNext(other), "default/ada")
  })

  test("T2 a machine whose clock is ahead gives no wake-up before its time", async () => {
    const now = (): number => Date.now() - 3_000
    const line = lineWith(ownOptions({ now: Effect.sync(now) }))
    const dueAt = now() + 1_000
    await line.wakeAt(addressOf("ada"), dueAt)
    assert.strictEqual(await takeNext(line), "default/ada")
    assert.isAtLeast(now(), dueAt)
  })

  test("T1 whichever process sets the times of an assistant in whatever order, the earliest counts", async () => {
    const options = ownOptions()
    const [one, two] = [lineWith(options), lineWith(options)]
    await Promise.all([one.ready(), two.ready()])
    for (let round = 0; round < 20; round++) {
      const address = addressOf(`a-${round}`)
      const dueAt = Date.now() + 200
      await Promise.all([one.wakeAt(address, dueAt), two.wakeAt(address, dueAt + 3_600_000)])
    }
    const taken = new Set<string>()
    while (taken.size < 20) taken.add(await takeNext(one))
  })

  test("SleepSchedules: each turn of a schedule gives a wake-up; a pattern that is none is refused; one can be taken away", async () => {
    const line = lineWith(ownOptions())
    await line.schedule(addressOf("ada"), { pattern: "* * * * * *", timeZone: "Europe/Berlin" })
    assert.strictEqual(await takeNext(line), "default/ada")
    assert.strictEqual(await takeNext(line), "default/ada")
    await line.schedule(addressOf("ada"), undefined)
    const refused = await line.schedule(addressOf("bob"), { pattern: "at night", timeZone: "Mars/Olympus" }).then(
      () => undefined,
      (cause: unknown) => cause
    )
    assert.match(String(refused), /sleep schedule/)
  })

  test("QueueMetrics: what waits in both queues is counted for Prometheus", async () => {
    const line = lineWith(ownOptions())
    await line.wake(addressOf("ada"))
    await line.wakeAt(addressOf("bob"), Date.now() + 3_600_000)
    const text = await line.metrics()
    assert.match(text, /bullmq_job_count\{queue="events", ?state="prioritized"[^}]*\} 1/)
    assert.match(text, /bullmq_job_count\{queue="sleep", ?state="delayed"[^}]*\} 1/)
  })
})
