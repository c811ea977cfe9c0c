// PostgresCarrier: wake-ups carried by PostgreSQL, with BullMQ's own tables.
// Owns the pool, and telling orders. Leaves jobs to others.
// C3  One pool a process. Tables are made at the first use; anyone who comes second finds them.
// C4  Ranks of tenants are not kept here: wake-ups of the same urgency go in the order of their arrival.

import { createPostgresBackend, type PgPool, type PgPoolClient, runMigrations, withBackend } from "bullmq"
import { type Address, addressKey } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { escapeIdentifier, Pool } from "pg"
import type { Carrier } from "./carrier.ts"
import { EVENTS, FOR_EVER, payloadOf, type Sleep, SLEEP, sleepIdOf, type Tick } from "../job.ts"
import { BLOCK_SECONDS, RETRY_MILLIS, type Timing } from "../options.ts"
import { bandOf } from "../priority.ts"
import { newWorkerName, within } from "../reach.ts"

const { Queue, Worker } = withBackend(createPostgresBackend)

/** Each worker listens on a connection of its own, out of the pool. */
const MOST_CONNECTIONS = 12

const openPool = (url: string, timing: Timing): PgPool => {
  const pool = new Pool({
    connectionString: url,
    max: MOST_CONNECTIONS,
    keepAlive: true,
    connectionTimeoutMillis: timing.deadlineMillis,
    options: "-c search_path=bullmq"
  })
  // Told by what fails because of it.
  pool.on("error", () => undefined)
  return pool
}

/** What is said may stand in a job: the server is to note none of it for its plans, as in the tables of the store. */
const UNNOTED = `
DO $run$ BEGIN
  IF EXISTS (SELECT 1 FROM pg_attribute
    WHERE attrelid = 'job'::regclass AND attname = 'data' AND attstattarget IS DISTINCT FROM 0) THEN
    ALTER TABLE job ALTER data TYPE jsonb, ALTER data SET STATISTICS 0;
    ALTER TABLE dedup_next ALTER payload TYPE jsonb, ALTER payload SET STATISTICS 0;
  END IF;
-- Whose tables they are has made them, or will.
EXCEPTION WHEN insufficient_privilege THEN NULL;
END $run$`

/** Makes the tables that are missing, as soon as the database can be reached. */
const migrated = async (pool: PgPool, isWanted: () => boolean): Promise<void> => {
  while (isWanted()) {
    try {
      const client = await pool.connect()
      try {
        await runMigrations(client)
        await client.query(UNNOTED)
        return
      } finally {
        client.release()
      }
    } catch {
      await new Promise((resolve) => setTimeout(resolve, RETRY_MILLIS))
    }
  }
}

/** Listens for orders on a connection of its own, which is opened again when it ends. */
const openEar = (pool: PgPool, channel: string) => {
  let isClosed = false
  let ear: PgPoolClient | undefined
  let timer: NodeJS.Timeout | undefined
  const listen = async (heard: (key: string) => void): Promise<void> => {
    const again = (): void => {
      ear = undefined
      if (!isClosed) timer = setTimeout(() => void listen(heard), RETRY_MILLIS)
    }
    try {
      const client = await pool.connect()
      if (isClosed) return client.release()
      ear = client
      client.on("notification", ({ payload }) => heard(payload ?? ""))
      client.on("error", () => {
        if (ear !== client) return
        client.release(true)
        again()
      })
      await client.query(`LISTEN ${escapeIdentifier(channel)}`)
    } catch {
      again()
    }
  }
  return {
    listen,
    close: () => {
      isClosed = true
      clearTimeout(timer)
      ear?.release(true)
    }
  }
}

/** What fails tells of it to who asked. */
const tolerant = <A extends { on: (event: "error", listener: () => void) => unknown }>(part: A): A => {
  part.on("error", () => undefined)
  return part
}

// What waits is the job under the name that only one may have, and what BullMQ keeps to put in its place when it ends. Who ends a job locks
// its row first and the name after it. So nothing here waits for a row: one that is locked is tried again, with the name let go meanwhile.
const REDACTIONS = [
  `UPDATE dedup_next SET payload = jsonb_set(payload, '{data}', $3::jsonb) WHERE queue = $1 AND dedup_id = $2`,
  `UPDATE job SET data = $3::jsonb WHERE queue = $1 AND id IN (
     SELECT id FROM job WHERE queue = $1 AND id = (SELECT job_id FROM dedup WHERE queue = $1 AND dedup_id = $2)
     FOR UPDATE SKIP LOCKED)`
]
const IS_LEFT = `
  SELECT 1 FROM dedup d JOIN job j ON j.queue = d.queue AND j.id = d.job_id
  WHERE d.queue = $1 AND d.dedup_id = $2 AND j.data <> $3::jsonb`

/** Tries until all of it is out; a row of a job is locked for a moment only. */
const MOST_TRIES = 50
const AGAIN_MILLIS = 20

const redact = async (pool: PgPool, queue: string, address: Address, tries = MOST_TRIES): Promise<void> => {
  const key = addressKey(address)
  const values = [queue, key, JSON.stringify(payloadOf(address))]
  const client = await pool.connect()
  let isLeft = true
  try {
    await client.query("BEGIN")
    // BullMQ takes this one to put the next job in the place of one that ends.
    await client.query("SELECT pg_advisory_xact_lock(hashtext($1))", [`bullmq:dedup:${queue}:${key}`])
    for (const each of REDACTIONS) await client.query(each, values)
    isLeft = (await client.query(IS_LEFT, values)).rows.length > 0
    await client.query("COMMIT")
    client.release()
  } catch (cause) {
    client.release(true)
    throw cause
  }
  if (!isLeft) return
  if (tries === 0) throw new Error(`the job of ${key} stays locked`)
  await new Promise((resolve) => setTimeout(resolve, AGAIN_MILLIS))
  await redact(pool, queue, address, tries - 1)
}

/** Waits for the database: there is nothing to do without it. */
export const openPostgresCarrier = (url: string, prefix: string, timing: Timing): Effect.Effect<Carrier> =>
  Effect.callback((resume) => {
    const pool = openPool(url, timing)
    let isWanted = true
    void migrated(pool, () => isWanted).then(() => resume(Effect.succeed(carrierOn(pool, prefix, timing))))
    return Effect.sync(() => {
      isWanted = false
      void pool.end()
    })
  })

const appointmentsIn = (
  sleep: InstanceType<typeof Queue<Sleep>>
): Pick<Carrier, "appoint" | "appointed" | "keepAppointment"> => {
  /** The job that stands for the appointment of an assistant: the one under the name that only one may have. */
  const appointment = async (address: Address) => {
    const id = await sleep.getDeduplicationJobId(sleepIdOf(address))
    return id === null ? undefined : await sleep.getJob(id)
  }
  const appointed: Carrier["appointed"] = async (address) => (await appointment(address))?.data.dueAt
  return {
    appointed,
    appoint: async ({ address, dueAt }) => {
      const known = await appointed(address)
      return known === undefined || known > Math.round(dueAt)
    },
    // A job that is active for a moment longer would still pass for the appointment, and one made meanwhile be dropped.
    keepAppointment: async (address, until) => {
      const kept = await appointment(address)
      if (kept?.data.dueAt !== undefined && kept.data.dueAt <= until) await kept.removeDeduplicationKey()
    }
  }
}

const carrierOn = (pool: PgPool, prefix: string, timing: Timing): Carrier => {
  const channel = `${prefix}:orders`
  const ear = openEar(pool, channel)
  const nameOf = (queue: string): string => `${prefix}-${queue}`
  const events = tolerant(new Queue<Tick>(nameOf(EVENTS), { connection: pool }))
  const sleep = tolerant(new Queue<Sleep>(nameOf(SLEEP), { connection: pool }))
  const working = {
    connection: pool,
    lockDuration: timing.lockMillis,
    stalledInterval: timing.stalledMillis,
    maxStalledCount: FOR_EVER,
    drainDelay: BLOCK_SECONDS,
    runRetryDelay: RETRY_MILLIS
  }
  const workerName = newWorkerName()
  return {
    workerName,
    events: events as unknown as Carrier["events"],
    sleep: sleep as unknown as Carrier["sleep"],
    openTaker: () =>
      tolerant(
        new Worker<Tick>(nameOf(EVENTS), null, { ...working, name: workerName, autorun: false })
      ) as unknown as ReturnType<Carrier["openTaker"]>,
    openSleeper: (process) =>
      tolerant(
        new Worker<Sleep>(nameOf(SLEEP), (job, token) => process(job as never, token ?? ""), {
          ...working,
          concurrency: 4
        })
      ) as unknown as ReturnType<Carrier["openSleeper"]>,
    ready: () => events.waitUntilReady(),
    isUp: () => true,
    ping: () => pool.query("SELECT 1"),
    heardBytes: () => 0,
    reconnect: () => undefined,
    priorities: (requests) => Promise.resolve(requests.map(({ urgency }) => bandOf(urgency))),
    publish: async (keys) => {
      await Promise.all(keys.map((key) => pool.query("SELECT pg_notify($1, $2)", [channel, key])))
    },
    listen: ear.listen,
    ...appointmentsIn(sleep),
    redact: (address) => redact(pool, nameOf(EVENTS), address),
    hasForgotten: () => Promise.resolve(false),
    close: async () => {
      ear.close()
      const closing = Promise.allSettled([events.close(), sleep.close()]).then(() => pool.end())
      await within("close", timing.deadlineMillis, closing).catch(() => undefined)
    }
  }
}
