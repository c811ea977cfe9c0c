import { blackHole } from "@reverie/testkit/servers"
import { shareRedis } from "@reverie/testkit/shared-servers"
import * as Redacted from "effect/Redacted"
import { afterEach, test } from "vitest"
import { addressOf, type Line, openLine, sleep, takenInTheEnd } from "./line.ts"
import { optionsAt } from "./place.ts"

const redis = shareRedis({ own: true })
const ada = addressOf("ada")
const lines: Array<Line> = []
let holes: Array<{ readonly close: () => Promise<void> }> = []

const lineTo = (url: string, deadlineMillis = 400): Line => {
  const line = openLine(optionsAt({ redis: Redacted.make(url) }, { deadlineMillis }))
  lines.push(line)
  return line
}

const holeIn = async (url: string) => {
  const hole = await blackHole(url)
  holes.push(hole)
  return hole
}

/** One wake-up goes all the way; others, given late, may come before it. */
const works = async (line: Line): Promise<void> => {
  let taken = ""
  while (taken !== "ada") {
    const wakeUp = await takenInTheEnd(line, ada)
    taken = wakeUp.address.assistant
    await line.done(wakeUp)
  }
}

afterEach(async () => {
  await Promise.all(lines.splice(0).map((line) => line.close()))
  await Promise.all(holes.map((hole) => hole.close()))
  holes = []
})

redis.describe("queue-bullmq in trouble", () => {
  test("B2 H5 C1 a Redis that is killed and comes back with nothing: wake returns meanwhile, and taking goes on", async () => {
    const line = lineTo(redis.server().url)
    await works(line)
    const waiting = line.take()
    await sleep(100)
    await redis.server().kill()
    for (let i = 0; i < 20; i++) await line.wake(addressOf(`away-${i}`))
    await redis.server().restart()
    await line.done(await giveUntil(line, waiting))
    await works(line)
  })

  test("B2 a Redis that is away at the start: the queue opens, and works when it is there", async () => {
    const hole = await holeIn(redis.server().url)
    await hole.cut()
    const line = lineTo(hole.url)
    await line.ready()
    await line.wake(ada)
    await line.wakeAt(ada, Date.now() + 50)
    const waiting = line.take()
    await sleep(300)
    await hole.heal()
    await line.done(await giveUntil(line, waiting))
    await works(line)
  })

  test("R1 R2 B2 a black hole: wake and done return, and taking goes on when it is over", async () => {
    const hole = await holeIn(redis.server().url)
    const line = lineTo(hole.url)
    await works(line)
    const held = await takenInTheEnd(line, ada)
    const waiting = line.take()
    hole.hang()
    for (let i = 0; i < 20; i++) await line.wake(addressOf(`lost-${i}`))
    await line.done(held)
    await line.wakeAt(ada, Date.now())
    await hole.heal()
    await line.done(await giveUntil(line, waiting))
    await works(line)
  })

  test.each(["cut", "hang"] as const)(
    "B2 C5 a Redis that is away (%s) when the queue is closed: closing ends",
    async (away) => {
      const hole = await holeIn(redis.server().url)
      const line = lineTo(hole.url)
      await works(line)
      await hole[away]()
      await sleep(300)
      await line.close()
    }
  )

  test("C1 a Redis that is read-only for a while", async () => {
    const line = lineTo(redis.server().url)
    await works(line)
    const waiting = line.take()
    await redis.server().send("REPLICAOF", "127.0.0.1", "1")
    await line.wake(ada)
    await sleep(300)
    await redis.server().send("REPLICAOF", "NO", "ONE")
    await line.done(await giveUntil(line, waiting))
    await works(line)
  })

  test("H5 S1 FLUSHALL: taking goes on, a wake-up in hand ends, and schedules are set again", async () => {
    const line = lineTo(redis.server().url)
    const cleo = addressOf("cleo")
    await line.schedule(cleo, { pattern: "0 3 * * *", timeZone: "Europe/Berlin" })
    const held = await takenInTheEnd(line, ada)
    const waiting = line.take()
    await redis.server().send("FLUSHALL")
    await line.done(held)
    await line.done(await giveUntil(line, waiting))
    await works(line)
    const isSet = async (): Promise<boolean> => {
      const keys = await redis.server().send("KEYS", "*:repeat:*cleo")
      return Array.isArray(keys) && keys.length > 0
    }
    while (!(await isSet())) await sleep(100)
  })
})

/** As a sweep does, until someone who waits is handed it. */
const giveUntil = async <A>(line: Line, waiting: Promise<A>): Promise<A> => {
  let isOver = false
  const over = waiting.finally(() => {
    isOver = true
  })
  while (!isOver) {
    await line.wake(ada, "routine")
    await Promise.race([over, sleep(200)])
  }
  return over
}
