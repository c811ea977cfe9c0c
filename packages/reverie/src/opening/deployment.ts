// Deployment: the servers that a fleet of several processes stands on.
// Owns their choice, by options first and by the environment (through Config) second, and the adapters for them.
// Leaves the choice between a deployment and an embedded store to profile.ts.
// D1  A URL may carry a password: it goes to the server it names and is never printed.
// D2  Without Redis the wake-ups travel through PostgreSQL: slower, and one server less.

import { defined, loadWith } from "@reverie/protocol"
import { DEFAULT_WORKER, feedLayer, type StoreFailure, type WorkerSettings } from "@reverie/runtime"
import { gptTokenizerLayer } from "@reverie/tokens"
import * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { type EmbedderChoice, embedderLayer, type ModelChoice, modelLayer } from "./model-choice.ts"
import type { Profile } from "./ports.ts"
import { type RecallChoice, remoteRecallLayer } from "./recall-index.ts"

export interface Deployment {
  /** `postgres://...`: where everything is kept. */
  readonly database: string
  /** Of the database, as it is, where its URL names none: in a URL `@ / # :` and others have to be escaped. */
  readonly password?: string
  /** `redis://...`: what carries wake-ups. */
  readonly redis?: string
  /** The PostgreSQL schema, and the prefix of keys in Redis; "reverie" when not said. */
  readonly name?: string
}

export interface DeploymentOptions {
  readonly model?: ModelChoice
  readonly embedder?: EmbedderChoice
  readonly recall?: RecallChoice
  readonly worker?: Partial<WorkerSettings>
}

const DEFAULT_NAME = "reverie"

/** The servers that the environment names; undefined when it names no database. */
export const deploymentFromConfig = Effect.gen(function* () {
  const database = yield* Config.option(Config.Redacted("DATABASE_URL"))
  const password = yield* Config.option(Config.Redacted("DATABASE_PASSWORD"))
  const redis = yield* Config.option(Config.Redacted("REDIS_URL"))
  const name = yield* Config.option(Config.String("REVERIE_DEPLOYMENT"))
  if (Option.isNone(database)) return undefined
  return {
    database: Redacted.value(database.value),
    ...defined({
      password: Option.isNone(password) ? undefined : Redacted.value(password.value),
      redis: Option.isNone(redis) ? undefined : Redacted.value(redis.value),
      name: Option.isNone(name) ? undefined : name.value
    })
  } satisfies Deployment
})

/** A store that does not answer is waited for: the worker lets go of everything and begins anew. */
const AGAIN_MILLIS = 1_000

const sustained = <R>(work: Effect.Effect<never, StoreFailure, R>): Effect.Effect<never, StoreFailure, R> =>
  Effect.retry(work, Schedule.spaced(AGAIN_MILLIS))

/** What differs from a worker beside its store: wake-ups are held back while a lease session lasts, so none may stay idle. */
const worker: Profile["worker"] = { leaseMillis: 5_000, idleTimeoutMillis: 0, isOneOfMany: true }

const describe = ({ database, name = DEFAULT_NAME, redis }: Deployment): string =>
  `${name} at ${hostIn(database)}, wake-ups through ${redis === undefined ? "the same" : hostIn(redis)}`

/** Host and port of a URL; nothing else of it. */
export const hostIn = (url: string): string => (URL.canParse(url) ? new URL(url).host : "an address that is no URL")

/** The URL of the database with its password in it. */
export const databaseUrl = ({ database, password = "" }: Deployment): string => {
  if (password === "" || !URL.canParse(database)) return database
  const url = new URL(database)
  if (url.password === "") url.password = encodeURIComponent(password)
  return url.href
}

/** The store of a deployment. Loaded when chosen: whoever needs no server does not wait for its client. */
export const deployedStore = (deployment: Deployment) =>
  Layer.unwrap(
    Effect.map(
      Effect.promise(() => import("@reverie/store-postgres")),
      ({ databaseClockLayer, storePostgresLayer }) =>
        Layer.provideMerge(
          databaseClockLayer,
          storePostgresLayer(Redacted.make(databaseUrl(deployment)), { schema: deployment.name ?? DEFAULT_NAME })
        )
    )
  )

const queueAdapter = () => loadWith("a deployment", ["bullmq", "ioredis", "pg"], () => import("@reverie/queue-bullmq"))

const deployedQueue = (deployment: Deployment, concurrency: number) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { name = DEFAULT_NAME, redis } = deployment
      const { queueBullmqLayer } = yield* Effect.promise(queueAdapter)
      const postgres = () => ({ postgres: Redacted.make(databaseUrl(deployment)) })
      const backend = redis === undefined ? postgres() : { redis: Redacted.make(redis) }
      return queueBullmqLayer({ backend, prefix: name, concurrency, now: Clock.currentTimeMillis })
    })
  )

/** What the queue of a deployment measures, asked through a connection of its own; empty when it does not answer. */
export const deployedQueueMeasures = (deployment: Deployment): Effect.Effect<string> =>
  Effect.provide(queueMeasured, deployedQueue(deployment, 1))

const queueMeasured = Effect.gen(function* () {
  const { QueueMetrics } = yield* Effect.promise(queueAdapter)
  const metrics = yield* Effect.serviceOption(QueueMetrics)
  return Option.isNone(metrics) ? "" : yield* metrics.value.prometheusMetrics
})

const otherWorkers = Effect.gen(function* () {
  const { QueueMetrics } = yield* Effect.promise(queueAdapter)
  const metrics = yield* Effect.serviceOption(QueueMetrics)
  const workers = Option.isNone(metrics) ? undefined : yield* metrics.value.workers
  return workers?.filter(({ isThis }) => !isThis).map(({ name }) => name)
})

/** Nights begin at a full hour; whoever is asleep already takes the wake-up for nothing. */
const keepHours: Profile["keepHours"] = Effect.fnUntraced(function* (address, { sleepStartHour, timeZone }) {
  const { SleepSchedules } = yield* Effect.promise(queueAdapter)
  const schedules = yield* Effect.serviceOption(SleepSchedules)
  if (Option.isNone(schedules)) return
  yield* Effect.ignore(schedules.value.set(address, { pattern: `0 ${sleepStartHour} * * *`, timeZone }))
})

/** Many processes: PostgreSQL, BullMQ, Qdrant where one is named. */
export const deployed = (deployment: Deployment, options: DeploymentOptions): Profile => {
  const { concurrency = DEFAULT_WORKER.concurrency } = options.worker ?? {}
  const ports = Layer.mergeAll(
    Layer.merge(feedLayer(), deployedQueue(deployment, concurrency)).pipe(
      // A package that is missing is named before a server is asked.
      Layer.provideMerge(Layer.unwrap(Effect.as(Effect.promise(queueAdapter), deployedStore(deployment))))
    ),
    gptTokenizerLayer,
    modelLayer(options.model),
    embedderLayer(options.embedder, options.model),
    remoteRecallLayer(options.recall)
  )
  return { says: describe(deployment), ports, measured: queueMeasured, otherWorkers, keepHours, worker, sustained }
}
