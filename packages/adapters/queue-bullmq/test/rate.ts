// Rate: how many wake-ups a second go through giving, taking and ending, beside jobs of plain BullMQ that do nothing.
// `node test/rate.ts REDIS_URL [PROCESSES] [HINTS]`. It proves nothing; it is for people.

import { type ChildProcess, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { Queue, Worker } from "bullmq"
import * as Redacted from "effect/Redacted"
import { Redis } from "ioredis"
import { addressOf, openLine } from "./line.ts"

const AT_ONCE = 500
const CONCURRENCY = 64

/** Something else comes to its turn in between, as it does in a worker. */
const handle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1))

type Way = "wakeUps" | "jobs"

interface Share {
  readonly url: string
  readonly prefix: string
  readonly name: string
  readonly count: number
  readonly onEnd: () => void
}

const giveAndTakeWakeUps = async ({ url, prefix, name, count, onEnd }: Share): Promise<() => Promise<void>> => {
  const line = openLine({
    backend: { redis: Redacted.make(url) },
    prefix,
    concurrency: CONCURRENCY,
    deadlineMillis: 30_000
  })
  await line.ready()
  return async () => {
    const take = async (): Promise<void> => {
      for (;;) {
        const wakeUp = await line.take()
        void handle().then(() => line.done(wakeUp).then(onEnd))
      }
    }
    void take()
    for (let from = 0; from < count; from += AT_ONCE) {
      const part = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, i) => addressOf(`${name}-${from + i}`))
      await Promise.all(part.map((address) => line.wake(address)))
    }
  }
}

const giveAndTakeJobs = async ({ url, prefix, count, onEnd }: Share): Promise<() => Promise<void>> => {
  const connection = new Redis(url, { maxRetriesPerRequest: null })
  const queue = new Queue("jobs", { connection, prefix, defaultJobOptions: { removeOnComplete: true } })
  const worker = new Worker("jobs", handle, {
    connection,
    prefix,
    concurrency: CONCURRENCY,
    autorun: false
  })
  worker.on("completed", onEnd)
  await queue.waitUntilReady()
  return async () => {
    void worker.run()
    for (let from = 0; from < count; from += AT_ONCE) {
      const size = Math.min(AT_ONCE, count - from)
      await queue.addBulk(Array.from({ length: size }, (_, i) => ({ name: "tick", data: { i: from + i } })))
    }
  }
}

const beChild = async (way: Way, url: string, prefix: string, name: string, count: number): Promise<void> => {
  let ended = 0
  const share = { url, prefix, name, count, onEnd: () => ended++ }
  const begin = await (way === "wakeUps" ? giveAndTakeWakeUps(share) : giveAndTakeJobs(share))
  process.send?.("ready")
  let before = process.cpuUsage()
  process.on("message", () => {
    before = process.cpuUsage()
    void begin()
  })
  setInterval(() => {
    const { system, user } = process.cpuUsage(before)
    process.send?.([ended, (system + user) / 1_000])
  }, 20)
}

const childrenReady = (children: ReadonlyArray<ChildProcess>) =>
  Promise.all(children.map((child) => new Promise((resolve) => child.once("message", resolve))))

const sumOf = (numbers: Iterable<number>): number => [...numbers].reduce((sum, each) => sum + each, 0)

/** How many a second, and how much of a core's time each of them took. */
const measure = async (way: Way, url: string, processes: number, wakeUps: number): Promise<string> => {
  const prefix = `rate-${process.pid}-${way}-${processes}`
  const children = Array.from({ length: processes }, (_, i) =>
    spawn(
      process.execPath,
      [fileURLToPath(import.meta.url), url, "child", way, prefix, `c${i}`, String(Math.ceil(wakeUps / processes))],
      { stdio: ["ignore", "inherit", "inherit", "ipc"] }
    )
  )
  await childrenReady(children)
  const ended = new Map<ChildProcess, number>()
  const cpuMillis = new Map<ChildProcess, number>()
  const since = performance.now()
  await new Promise<void>((resolve) => {
    for (const child of children) {
      child.on("message", (report) => {
        const [count = 0, millis = 0] = report as ReadonlyArray<number>
        ended.set(child, count)
        cpuMillis.set(child, millis)
        if (sumOf(ended.values()) >= wakeUps) resolve()
      })
      child.send("begin")
    }
  })
  const rate = wakeUps / ((performance.now() - since) / 1_000)
  for (const child of children) child.kill("SIGKILL")
  return `${Math.round(rate)} /s, ${(sumOf(cpuMillis.values()) / wakeUps).toFixed(2)} ms of a core each`
}

const [url = "", second = "1", ...rest] = process.argv.slice(2)
if (second === "child") {
  const [way = "", prefix = "", name = "", count = ""] = rest
  await beChild(way as Way, url, prefix, name, Number(count))
} else {
  for (const way of ["jobs", "wakeUps", "jobs", "wakeUps"] as const) {
    const rate = await measure(way, url, Number(second), Number(rest[0] ?? 20_000))
    console.log(`${way}: ${rate} with ${second} processes`)
  }
}
