// Rate: how many hints a second go through giving, taking and ending, beside jobs of plain BullMQ that do nothing.
// `node test/rate.ts REDIS_URL [PROCESSES] [HINTS]`. It proves nothing; it is for people.

import { type ChildProcess, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { Queue, Worker } from "bullmq"
import * as Redacted from "effect/Redacted"
import { Redis } from "ioredis"
import { addressOf, openLine } from "./line.ts"

const AT_ONCE = 500
const CONCURRENCY = 64

type Way = "hints" | "jobs"

interface Share {
  readonly url: string
  readonly prefix: string
  readonly name: string
  readonly count: number
  readonly onEnd: () => void
}

const giveAndTakeHints = async ({ url, prefix, name, count, onEnd }: Share): Promise<() => Promise<void>> => {
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
        const hint = await line.take()
        void line.done(hint).then(onEnd)
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
  const worker = new Worker("jobs", () => Promise.resolve(), {
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
  const begin = await (way === "hints" ? giveAndTakeHints(share) : giveAndTakeJobs(share))
  process.send?.("ready")
  process.on("message", () => void begin())
  setInterval(() => process.send?.(ended), 20)
}

const childrenReady = (children: ReadonlyArray<ChildProcess>) =>
  Promise.all(children.map((child) => new Promise((resolve) => child.once("message", resolve))))

const measure = async (way: Way, url: string, processes: number, hints: number): Promise<number> => {
  const prefix = `rate-${process.pid}-${way}-${processes}`
  const children = Array.from({ length: processes }, (_, i) =>
    spawn(
      process.execPath,
      [fileURLToPath(import.meta.url), url, "child", way, prefix, `c${i}`, String(Math.ceil(hints / processes))],
      { stdio: ["ignore", "inherit", "inherit", "ipc"] }
    )
  )
  await childrenReady(children)
  const ended = new Map<ChildProcess, number>()
  const since = performance.now()
  await new Promise<void>((resolve) => {
    for (const child of children) {
      child.on("message", (count) => {
        ended.set(child, Number(count))
        if ([...ended.values()].reduce((sum, each) => sum + each, 0) >= hints) resolve()
      })
      child.send("begin")
    }
  })
  const rate = hints / ((performance.now() - since) / 1_000)
  for (const child of children) child.kill("SIGKILL")
  return rate
}

const [url = "", second = "1", ...rest] = process.argv.slice(2)
if (second === "child") {
  const [way = "", prefix = "", name = "", count = ""] = rest
  await beChild(way as Way, url, prefix, name, Number(count))
} else {
  for (const way of ["jobs", "hints", "jobs", "hints"] as const) {
    const rate = await measure(way, url, Number(second), Number(rest[0] ?? 20_000))
    console.log(`${way}: ${Math.round(rate)} /s with ${second} processes`)
  }
}
