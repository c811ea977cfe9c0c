import { sharePostgres, shareRedis } from "@reverie/testkit/shared-servers"
import type { QueueBullmqOptions } from "@reverie/queue-bullmq"
import * as Redacted from "effect/Redacted"
import { assert, describe, test } from "vitest"
import { newWorkerName, workersOf } from "../src/reach.ts"
import { type Line, openLine, sleep } from "./line.ts"
import { optionsAt } from "./place.ts"

const redis = shareRedis()
const postgres = sharePostgres({ fsync: false })

/** Waits until so many are seen. */
const seen = async (line: Line, count: number) => {
  for (let looks = 0; looks < 200; looks++) {
    const workers = await line.workers()
    if (workers?.length === count) return workers
    await sleep(50)
  }
  return line.workers()
}

const life = async (backend: QueueBullmqOptions["backend"]): Promise<void> => {
  const options = optionsAt(backend)
  const lines = [openLine(options), openLine(options), openLine(options)] as const
  const [publisher, one, other] = lines
  try {
    assert.deepStrictEqual(await publisher.workers(), [])
    for (const taker of [one, other]) taker.take().catch(() => undefined)
    const both = (await seen(publisher, 2)) ?? []
    assert.lengthOf(both, 2)
    for (const { isThis, name } of both) {
      assert.isFalse(isThis)
      assert.match(name, new RegExp(`^${process.pid}@`))
    }
    assert.deepStrictEqual(
      (await seen(one, 2))?.map(({ isThis }) => isThis).toSorted(),
      [false, true],
      "who works knows its own name"
    )
    await other.close()
    assert.lengthOf((await seen(publisher, 1)) ?? [], 1)
    // Another deployment on the same server is not counted.
    const elsewhere = openLine(optionsAt(backend))
    assert.deepStrictEqual(await elsewhere.workers(), [])
    await elsewhere.close()
  } finally {
    await Promise.all(lines.map((line) => line.close()))
  }
}

redis.describe("workers on Redis", () => {
  test("N1 each process that takes wake-ups is seen by every other, and gone when it has ended", () =>
    life({ redis: Redacted.make(redis.server().url) }))
})

postgres.describe("workers on PostgreSQL", () => {
  test("N1 each process that takes wake-ups is seen by every other, and gone when it has ended", () =>
    life({ postgres: Redacted.make(postgres.server().url) }))
})

describe("workers", () => {
  test("N1 N2 a name is short, whatever the machine is called, and no second queue has it", () => {
    const names = ["quay", "a b=c:w:d", "x".repeat(300), "ÄÖ\n"].map((host) => newWorkerName(host))
    for (const name of names) assert.match(name, /^\d+@[A-Za-z0-9._-]{1,20}(\/\d+)?$/)
    assert.strictEqual(new Set(names).size, names.length)
    assert.isAtMost(Math.max(...names.map((name) => name.length)), 36)
  })

  test("N3 a server that may not tell, or does not answer, is no server without workers", async () => {
    const told = (getWorkers: () => Promise<unknown>) =>
      workersOf({ events: { getWorkers } as never, workerName: "1@here" }, { call: (_, work) => work() })
    assert.deepStrictEqual(await told(() => Promise.resolve([])), [])
    assert.deepStrictEqual(
      await told(() =>
        Promise.resolve([{ rawname: "bull:ZXZlbnRz:w:2@there" }, { rawname: "bull:ZXZlbnRz:w:1@here" }])
      ),
      [
        { name: "1@here", isThis: true },
        { name: "2@there", isThis: false }
      ]
    )
    assert.isUndefined(await told(() => Promise.resolve([{ name: "GCP does not support client list" }])))
    assert.isUndefined(await told(() => Promise.reject(new Error("NOPERM this user has no permissions"))))
  })
})
