// One process of the fleet benchmark: it takes in, or works, or does both, and answers what it is asked.
// H1  What is posted is acknowledged before it counts, and settled before the clock stops.
// H2  Both contestants have as many requests under way, and as many jobs at work, as each other.

import { setTimeout as sleep } from "node:timers/promises"
import type { Reply } from "@reverie/model"
import { Queue, Worker } from "bullmq"
import * as Effect from "effect/Effect"
import { defineAssistant, defineFleet, Fleet, type FleetRole } from "reverie"
import type { Contestant, Question } from "./fleet-crew.ts"

/** How many requests a process that takes in has under way, and how many jobs a worker does at a time. */
const IN_FLIGHT = 256
const CONCURRENCY = 64
const POLL_MILLIS = 10

const contestant = JSON.parse(process.argv[2] ?? "{}") as Contestant

const millis = (): number => Number(process.hrtime.bigint()) / 1e6

/** Asks until it is so. */
const until = async (isSo: () => Promise<boolean>): Promise<void> => {
  while (!(await isSo())) await sleep(POLL_MILLIS)
}

/** Does something `count` times, so many at once. */
const manyAtOnce = async (count: number, one: (index: number) => Promise<unknown>): Promise<void> => {
  let next = 0
  const inTurn = async (): Promise<void> => {
    while (next < count) await one(next++)
  }
  await Promise.all(Array.from({ length: Math.min(count, IN_FLIGHT) }, inTurn))
}

const reply: Reply = {
  text: "done",
  calls: [],
  finish: "stop",
  usage: { inputTokens: 1, outputTokens: 1, source: "counted" },
  model: "instant"
}

const assistantId = (index: number): string => `desk-${index}`

const fleetOf = (count: number) =>
  defineFleet({
    assistants: Array.from({ length: count }, (_, index) =>
      defineAssistant({
        id: assistantId(index),
        instructions: "You run the front desk of a small harbour.",
        // What is said in a channel passes by: one commit, and no model.
        listening: { otherwise: "ignore" },
        memory: { recall: "off" },
        settings: { compactEnabled: false },
        maxContextTokens: 2_000
      })
    )
  })

/** When each assistant's envelope was durable, and when it was claimed. */
const moments: { readonly accepted: Array<[string, number]>; readonly claimed: Array<[string, number]> } = {
  accepted: [],
  claimed: []
}

const openFleet = (role: FleetRole, where: { data: string } | { deployment: { database: string; redis: string } }) =>
  Fleet.open({
    ...where,
    role,
    durability: "full",
    model: { infer: () => Effect.succeed(reply) },
    fleet: fleetOf(contestant.assistants),
    worker: { concurrency: CONCURRENCY },
    faults: {
      at: (point, { assistant }) =>
        Effect.sync(() => {
          if (point === "after-accept") moments.accepted.push([assistant, millis()])
          else if (point === "after-claim") moments.claimed.push([assistant, millis()])
        })
    }
  })

interface Bench {
  readonly run: (count: number, kind: "noop" | "tick") => Promise<void>
  readonly trickle: (count: number, everyMillis: number) => Promise<void>
  readonly close: () => Promise<unknown>
}

const benchOf = (fleet: Fleet): Bench => {
  let posted = 0
  const post = async (kind: "noop" | "tick"): Promise<void> => {
    const number = posted++
    const to = assistantId(number % contestant.assistants)
    const channel = kind === "noop" ? { channel: "elsewhere" } : {}
    await fleet.post(to, { type: "message", text: `ship ${number}`, ...channel }, { id: `${process.pid}-${number}` })
  }
  return {
    run: async (count, kind) => {
      await manyAtOnce(count, () => post(kind))
      await until(async () => {
        const { accepted, dead, settled } = await fleet.monitor.totals()
        return settled + dead >= accepted
      })
    },
    trickle: async (count, everyMillis) => {
      for (let index = 0; index < count; index++) {
        await post("noop")
        await sleep(everyMillis)
      }
    },
    close: () => fleet.close()
  }
}

/** The queue alone: a job is added, fetched and done. */
const rawAdder = (connection: { url: string }): Bench => {
  const queue = new Queue("raw", { connection })
  const isDone = async (): Promise<boolean> =>
    Object.values(await queue.getJobCounts("wait", "active", "prioritized", "delayed")).every((count) => count === 0)
  return {
    run: async (count) => {
      await manyAtOnce(count, (index) =>
        queue.add("job", { to: assistantId(index % contestant.assistants) }, { removeOnComplete: true })
      )
      await until(isDone)
    },
    trickle: () => Promise.resolve(),
    close: () => queue.close()
  }
}

const rawWorker = (connection: { url: string }): Bench => {
  const worker = new Worker("raw", () => Promise.resolve(), { connection, concurrency: CONCURRENCY })
  return { run: () => Promise.resolve(), trickle: () => Promise.resolve(), close: () => worker.close() }
}

const open = async ({ database, data, redis, what }: Contestant): Promise<Bench> => {
  const connection = { url: redis, maxRetriesPerRequest: null }
  switch (what) {
    case "raw-adder":
      return rawAdder(connection)
    case "raw-worker":
      return rawWorker(connection)
    case "embedded":
      return benchOf(await openFleet("all", { data }))
    default:
      return benchOf(await openFleet(what, { deployment: { database, redis } }))
  }
}

const bench = await open(contestant)

const answered = async (question: Question): Promise<object> => {
  switch (question.ask) {
    case "run": {
      const begun = millis()
      await bench.run(question.count, question.kind)
      return { millis: millis() - begun }
    }
    case "trickle":
      await bench.trickle(question.count, question.everyMillis)
      return {}
    case "moments": {
      const told = { accepted: [...moments.accepted], claimed: [...moments.claimed] }
      moments.accepted.length = moments.claimed.length = 0
      return told
    }
    case "cpu": {
      const { system, user } = process.cpuUsage()
      return { millis: (system + user) / 1_000 }
    }
    case "end":
      await bench.close()
      return {}
  }
}

const answer = async (question: Question): Promise<void> => {
  const said = await answered(question).catch((failure: unknown) => ({ failed: String(failure) }))
  process.send?.({ n: question.n, ...said }, () => {
    if (question.ask === "end") process.exit(0)
  })
}
process.on("message", (question: Question) => void answer(question))
process.on("disconnect", () => process.exit(0))
process.send?.({ n: 0 })
