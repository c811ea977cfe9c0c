// One process of the benchmark of sleepers: it registers them, or measures what they cost one that is awake.
// S1  Every sleeper is created through the ledger's port, like any other assistant. Every second one has a timer that is a
//     month away.
// S2  Memory is what is resident after the collector has run, with a fleet open that has worked.

import { setTimeout as sleep } from "node:timers/promises"
import { Ledger } from "@reverie/ledger"
import { Mailbox } from "@reverie/mailbox"
import type { Reply } from "@reverie/model"
import { AssistantId, DEFAULT_TENANT } from "@reverie/protocol"
import { creationOf } from "@reverie/runtime"
import { storePostgresLayer } from "@reverie/store-postgres"
import { storeSqliteLayer } from "@reverie/store-sqlite"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import { defineAssistant, defineFleet, Fleet } from "reverie"

export interface IdleTask {
  readonly do: "register" | "measure"
  readonly assistants: number
  readonly where:
    | { readonly data: string }
    | { readonly deployment: { readonly database: string; readonly redis: string; readonly name: string } }
  readonly wakes: number
  readonly seed: number
}

export interface IdleFigures {
  readonly residentBytes: number
  readonly wakeMillis: ReadonlyArray<number>
  readonly nextDue: ReadonlyArray<Look>
  readonly due: ReadonlyArray<Look>
}

export interface Look {
  readonly wallMillis: number
  readonly cpuMillis: number
}

const DAY_MILLIS = 86_400_000
const CREATIONS_AT_ONCE = 1_024
const LOOKS = 50
const DUE_LIMIT = 256
const COLLECTIONS = 4

const task = JSON.parse(process.argv[2] ?? "{}") as IdleTask

const millis = (): number => Number(process.hrtime.bigint()) / 1e6

const sleeper = defineAssistant({
  id: "sleeper",
  instructions: "You sleep until you are told something.",
  listening: { otherwise: "ignore" },
  memory: { recall: "off" }
})

const sleeperId = (index: number): string => `sleeper-${index}`

const storeLayer: Layer.Layer<Ledger | Mailbox, unknown> =
  "data" in task.where
    ? storeSqliteLayer(task.where.data)
    : storePostgresLayer(Redacted.make(task.where.deployment.database), { schema: task.where.deployment.name })

const create = Effect.fnUntraced(function* (index: number) {
  const ledger = yield* Ledger
  const address = { tenant: DEFAULT_TENANT, assistant: AssistantId.make(sleeperId(index)) }
  const creation = yield* creationOf(address, sleeper)
  const dueAt = creation.entry.at + 30 * DAY_MILLIS + index
  const timers = index % 2 === 0 ? [] : [{ name: "far", dueAt, event: { type: "timer", name: "far" } }]
  yield* ledger.create({ ...creation, state: { ...creation.state, timers } })
})

const register = Effect.forEach(Array.from({ length: task.assistants }).keys(), create, {
  concurrency: CREATIONS_AT_ONCE,
  discard: true
})

const look = Effect.fnUntraced(function* <A, E>(reading: Effect.Effect<A, E>) {
  const looks: Array<Look> = []
  for (let index = 0; index < LOOKS; index++) {
    const cpu = process.cpuUsage()
    const begun = millis()
    yield* reading
    const wallMillis = millis() - begun
    const { system, user } = process.cpuUsage(cpu)
    looks.push({ wallMillis, cpuMillis: (system + user) / 1_000 })
  }
  return looks
})

const looks = Effect.gen(function* () {
  const mailbox = yield* Mailbox
  return { nextDue: yield* look(mailbox.nextDue), due: yield* look(mailbox.due(DUE_LIMIT)) }
})

const withStore = async <A, E>(work: Effect.Effect<A, E, Ledger | Mailbox>): Promise<A> => {
  const runtime = ManagedRuntime.make(storeLayer)
  try {
    return await runtime.runPromise(work)
  } finally {
    await runtime.dispose()
  }
}

const reply: Reply = {
  text: "awake",
  calls: [],
  finish: "stop",
  usage: { inputTokens: 1, outputTokens: 1, source: "counted" },
  model: "instant"
}

/** One sleeper after the other hears something: from the moment it is sent to the first commit. */
const wakeSome = async (): Promise<Pick<IdleFigures, "residentBytes" | "wakeMillis">> => {
  const waiting = new Map<string, () => void>()
  await using fleet = await Fleet.open({
    ...task.where,
    durability: "full",
    model: { infer: () => Effect.succeed(reply) },
    fleet: defineFleet({ assistants: [sleeper] }),
    faults: {
      at: (point, { assistant }) =>
        Effect.sync(() => {
          if (point === "after-commit") waiting.get(assistant)?.()
        })
    }
  })
  const wakeMillis: Array<number> = []
  // The first ones warm the code and the caches, as a worker that has run for a while has them.
  for (let index = -WARM_WAKES; index < task.wakes; index++) {
    const to = sleeperId(((index + WARM_WAKES) * STRIDE + task.seed * OTHER_STRIDE) % task.assistants)
    const woken = new Promise<void>((resolve) => waiting.set(to, resolve))
    const begun = millis()
    await fleet.post(to, { type: "message", text: "good morning", channel: "elsewhere" })
    await woken
    if (index >= 0) wakeMillis.push(millis() - begun)
    waiting.delete(to)
  }
  for (let index = 0; index < COLLECTIONS; index++) {
    globalThis.gc?.()
    await sleep(100)
  }
  return { residentBytes: process.memoryUsage.rss(), wakeMillis }
}

const WARM_WAKES = 20
/** Primes, so that those who are woken are spread over all. */
const STRIDE = 7_919
const OTHER_STRIDE = 104_729

const run = async (): Promise<IdleFigures | Record<string, never>> => {
  if (task.do === "register") {
    await withStore(register)
    return {}
  }
  const seen = await withStore(looks)
  return { ...seen, ...(await wakeSome()) }
}

const figures = await run()
process.send?.(figures, () => process.exit(0))
