// RedisCarrier: wake-ups carried by Redis.
// Owns which connections a process has to Redis, and what is kept there beside BullMQ's own keys. Leaves a connection
// to redis-client (C1, C5), and jobs to others.
// C2  Everything kept here is made again when it is missing, and expires.

import { createHash } from "node:crypto"
import { addressKey, URGENCIES } from "@reverie/protocol"
import { Queue, Worker } from "bullmq"
import { Redis, type RedisOptions } from "ioredis"
import { EVENTS, FOR_EVER, payloadOf, type Sleep, SLEEP, type Tick } from "../job.ts"
import { BLOCK_SECONDS, RETRY_MILLIS, type Timing } from "../options.ts"
import { PRIORITIES_SCRIPT } from "../priority.ts"
import { newWorkerName, within } from "../reach.ts"
import type { Carrier } from "./carrier.ts"

// RedisClient: one connection to Redis that comes back by itself, and ends when it is asked to.
// C1  It comes back by itself, from a Redis that was away, replaced, or made read-only for a while.
// C5  Told to end, it ends, also between two attempts to connect; so do its duplicates, which BullMQ makes and waits for.

class EndingRedis extends Redis {
  /** The client is left waiting for ever where it is asked to end between two attempts: an attempt has an end of its own. */
  override disconnect(reconnect = false): void {
    if (this.status === "reconnecting" && !reconnect) this.connect().catch(() => undefined)
    super.disconnect(reconnect)
  }

  override duplicate(override?: Partial<RedisOptions>): Redis {
    return new EndingRedis({ ...this.options, ...override } as Omit<RedisOptions, "replyMapping">)
  }
}

const openRedisClient = (url: string, deadlineMillis: number): Redis => {
  const client = new EndingRedis(url, {
    maxRetriesPerRequest: null,
    connectTimeout: deadlineMillis,
    disconnectTimeout: RETRY_MILLIS,
    retryStrategy: (times) => Math.min(50 * times, RETRY_MILLIS),
    // A primary that became a replica answers like this until the name leads to the new one.
    reconnectOnError: ({ message }) => message.startsWith("READONLY")
  })
  // Told by what fails because of it.
  client.on("error", () => undefined)
  return client
}

// RedisScript: a Lua script that is sent once and then called by its hash.

type Script = (keys: ReadonlyArray<string>, args: ReadonlyArray<string>) => Promise<unknown>

const makeScript = (client: Redis, source: string): Script => {
  const sha = createHash("sha1").update(source).digest("hex")
  return async (keys, args) => {
    try {
      return await client.evalsha(sha, keys.length, ...keys, ...args)
    } catch (cause) {
      if (!(cause instanceof Error) || !cause.message.startsWith("NOSCRIPT")) throw cause
      return client.eval(source, keys.length, ...keys, ...args)
    }
  }
}

/** How long an appointment is remembered after its time. */
const AFTERWARDS_MILLIS = 60_000

const APPOINT_SCRIPT = `
local known = tonumber(redis.call('GET', KEYS[1]) or '')
if known and known <= tonumber(ARGV[1]) then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
`

const KEEP_SCRIPT = `
local known = tonumber(redis.call('GET', KEYS[1]) or '')
if known and known <= tonumber(ARGV[1]) then redis.call('DEL', KEYS[1]) end
return 0
`

/** What waits is the job under the name that only one may have, and what BullMQ keeps to put in its place when it ends. */
const REDACT_SCRIPT = `
local id = redis.call('GET', KEYS[1])
for _, key in ipairs({ KEYS[2], ARGV[1] .. (id or '') }) do
  if redis.call('HEXISTS', key, 'data') == 1 then redis.call('HSET', key, 'data', ARGV[2]) end
end
return 0
`

/** What this process remembers in Redis beside BullMQ, and how it looks after what is in there. */
const openMemory = (client: Redis, prefix: string) => {
  const prioritiesOf = makeScript(client, PRIORITIES_SCRIPT)
  const appoint = makeScript(client, APPOINT_SCRIPT)
  const keep = makeScript(client, KEEP_SCRIPT)
  const redact = makeScript(client, REDACT_SCRIPT)
  const events = `${prefix}:${EVENTS}:`
  const placeKeys = URGENCIES.map((urgency) => `${prefix}:places:${urgency}`)
  const dueKey = (address: Parameters<typeof addressKey>[0]): string => `${prefix}:due:${addressKey(address)}`
  const eraKey = `${prefix}:era`
  const remembers: Pick<
    Carrier,
    "priorities" | "appoint" | "appointed" | "keepAppointment" | "redact" | "hasForgotten"
  > = {
    priorities: async (requests) => {
      const args = requests.flatMap(({ address, urgency }) => [
        String(URGENCIES.indexOf(urgency)),
        address.tenant,
        addressKey(address)
      ])
      return (await prioritiesOf([`${events}prioritized`, ...placeKeys], [events, ...args])) as ReadonlyArray<number>
    },
    appoint: async ({ address, at, dueAt }) => {
      const ttl = Math.round(Math.max(0, dueAt - at) + AFTERWARDS_MILLIS)
      return (await appoint([dueKey(address)], [String(Math.round(dueAt)), String(ttl)])) === 1
    },
    appointed: async (address) => {
      const dueAt = await client.get(dueKey(address))
      return dueAt === null ? undefined : Number(dueAt)
    },
    keepAppointment: async (address, until) => {
      await keep([dueKey(address)], [String(Math.round(until))])
    },
    redact: async (address) => {
      const key = addressKey(address)
      await redact([`${events}de:${key}`, `${events}dn:${key}`], [events, JSON.stringify(payloadOf(address))])
    },
    hasForgotten: async () => (await client.set(eraKey, "1", "NX")) === "OK"
  }
  return remembers
}

export const openRedisCarrier = (url: string, prefix: string, timing: Timing): Carrier => {
  const client = openRedisClient(url, timing.deadlineMillis)
  const others: Array<Redis> = []
  const shared = { connection: client, prefix }
  const tolerant = <A extends { on: (event: "error", listener: () => void) => unknown }>(part: A): A => {
    part.on("error", () => undefined)
    return part
  }
  const events = tolerant(new Queue<Tick>(EVENTS, shared))
  const sleep = tolerant(new Queue<Sleep>(SLEEP, shared))
  const working = {
    ...shared,
    lockDuration: timing.lockMillis,
    stalledInterval: timing.stalledMillis,
    maxStalledCount: FOR_EVER,
    drainDelay: BLOCK_SECONDS,
    runRetryDelay: RETRY_MILLIS
  }
  const orders = `${prefix}:orders`
  const workerName = newWorkerName()
  return {
    workerName,
    events,
    sleep,
    openTaker: () => tolerant(new Worker<Tick>(EVENTS, null, { ...working, name: workerName, autorun: false })),
    openSleeper: (process) =>
      tolerant(new Worker<Sleep>(SLEEP, (job, token) => process(job, token ?? ""), { ...working, concurrency: 16 })),
    ready: () => events.waitUntilReady(),
    isUp: () => client.status === "ready",
    ping: () => client.ping(),
    heardBytes: () => client.stream?.bytesRead ?? 0,
    reconnect: () => {
      for (const each of [client, ...others]) if (each.status === "ready") each.disconnect(true)
    },
    ...openMemory(client, prefix),
    publish: async (keys) => {
      await Promise.all(keys.map((key) => client.publish(orders, key)))
    },
    listen: async (heard) => {
      const ear = openRedisClient(url, timing.deadlineMillis)
      others.push(ear)
      ear.on("message", (_, key) => heard(key))
      await ear.subscribe(orders)
    },
    close: async () => {
      const closing = Promise.allSettled([events.close(), sleep.close()])
      await within("close", timing.deadlineMillis, closing).catch(() => undefined)
      for (const each of [client, ...others]) each.disconnect()
    }
  }
}
