// Probe: which model a choice leads to, and whether it answers.
// Owns the words for a choice and the one question of a probe. Leaves the choice to profile.ts.
// P1  Nothing of a key is in what it says.

import { Model } from "@reverie/model"
import { defined } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { type ModelChoice, modelLayer, modelText, OFFLINE_TEXT } from "../models/model-choice.ts"
import { serverFromConfig, unusedKey } from "../models/model-names.ts"
import { asksEnvironment, choicesIn, fleetModels } from "../models/models.ts"
import type { FleetDefinition } from "../fleet-options.ts"
import { deployedQueueMeasures, type Deployment, deploymentFromConfig, hostIn } from "../opening/deployment.ts"
import { FleetReader } from "../views/peek.ts"
import { describeIndex } from "./memory-index.ts"

const named = async (choice: ModelChoice | undefined): Promise<string> => {
  if (choice !== undefined) return modelText(choice)
  const server = await Effect.runPromise(serverFromConfig)
  return server === undefined ? OFFLINE_TEXT : modelText({ baseURL: server.baseURL, model: server.model })
}

/**
 * A name for the model of a choice; without one, of what the environment names. With a fleet: for every model that it asks when
 * it is opened with that choice.
 */
export const describeModel = async (choice?: ModelChoice, fleet?: FleetDefinition): Promise<string> => {
  if (fleet === undefined) return named(choice)
  const models = fleetModels(fleet, defined({ model: choice }))
  if (models.only !== undefined) return modelText(models.only)
  const others = choicesIn(models).map(modelText)
  return [...new Set([...(asksEnvironment(models) ? [await named(undefined)] : []), ...others])].join("; ")
}

/** What to say where a provider's key is set and no model is chosen; undefined when there is none. */
export const unusedModelKey = (): Promise<string | undefined> => Effect.runPromise(unusedKey)

/** Asks the model for one word; answers the name it gives itself. Rejects with the error of the model. */
export const probeModel = (choice?: ModelChoice): Promise<string> =>
  Effect.runPromise(
    Model.use((model) =>
      model.infer({
        messages: [{ role: "user", content: "Answer with the one word: ready" }],
        tools: [],
        callPrefix: "probe"
      })
    ).pipe(
      Effect.map((reply) => reply.model),
      Effect.provide(modelLayer(choice))
    )
  )

// ProbeServers: whether the servers of a deployment answer.
// P1  Nothing of a password is in what it says. The tables of store and index are made where they are missing, nothing else.
// P2  A server that is down, or accepts and says nothing, is no answer within seconds: nothing here waits for it to come back.

/** Whether a server that the environment names answers. */
export interface ServerProbe {
  /** Which of them it is. */
  readonly name: "database" | "index" | "queue"
  /** Why it does not answer; undefined when it does. */
  readonly failure?: unknown
  /** What was found, in a sentence without secrets. */
  readonly says: string
}

const away = (name: ServerProbe["name"], says: string): ServerProbe => ({
  name,
  says,
  failure: new Error(`${says} does not answer`)
})

/** Longer than what an opening gives a database, so that its own words are said where it has some. */
const PROBE_MILLIS = 12_000

/** The probe, or the server is away when that takes too long. */
const inTime = (
  name: ServerProbe["name"],
  says: string,
  probe: Effect.Effect<ServerProbe>
): Effect.Effect<ServerProbe> =>
  Effect.timeoutOrElse(probe, { duration: PROBE_MILLIS, orElse: () => Effect.sync(() => away(name, says)) })

const databaseAt = ({ database }: Deployment): string => `PostgreSQL at ${hostIn(database)}`

const database = async (says: string): Promise<ServerProbe> => {
  try {
    await using peek = await FleetReader.open()
    const { accepted } = await peek.monitor.totals()
    return { name: "database", says: `${says} answers, ${accepted} envelopes accepted so far` }
  } catch (failure) {
    return { name: "database", says, failure }
  }
}

const queueAt = ({ redis }: Deployment): string =>
  redis === undefined ? "BullMQ on the same PostgreSQL" : `BullMQ on Redis at ${hostIn(redis)}`

const queue = (deployment: Deployment, says: string): Effect.Effect<ServerProbe> =>
  Effect.map(Effect.scoped(deployedQueueMeasures(deployment)), (measures) =>
    measures === "" ? away("queue", says) : { name: "queue", says: `${says} answers` }
  )

/** How the index of memories is, and how far it is behind what was committed. */
const index = async (says: string): Promise<ServerProbe> => {
  try {
    await using peek = await FleetReader.open()
    const report = await peek.memory.index.status()
    const failure = report.state === "red" ? new Error(`${says}: ${describeIndex(report)}`) : undefined
    return { name: "index", says: `${says}: ${describeIndex(report)}`, ...defined({ failure }) }
  } catch (failure) {
    return { name: "index", says, failure }
  }
}

const INDEX = "the index of memories"

/** Asks each server that the environment names; nothing when it names none. */
export const probeServers = async (): Promise<ReadonlyArray<ServerProbe>> => {
  const deployment = await Effect.runPromise(deploymentFromConfig)
  if (deployment === undefined) return []
  const [store, wakeUps] = [databaseAt(deployment), queueAt(deployment)]
  const asked = Effect.runPromise(
    inTime(
      "database",
      store,
      Effect.promise(() => database(store))
    )
  )
  const withoutDatabase = Effect.flatMap(
    Effect.promise(() => asked),
    ({ failure }) =>
      failure === undefined || deployment.redis !== undefined ? Effect.never : Effect.succeed(away("queue", wakeUps))
  )
  const others = [
    // A queue waits for its database to come back.
    inTime("queue", wakeUps, Effect.raceFirst(queue(deployment, wakeUps), withoutDatabase)),
    inTime(
      "index",
      INDEX,
      Effect.promise(() => index(INDEX))
    )
  ]
  const told = await Effect.runPromise(Effect.all(others, { concurrency: "unbounded" }))
  return [await asked, ...told]
}
