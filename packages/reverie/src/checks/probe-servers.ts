// ProbeServers: whether the servers of a deployment answer.
// Owns one question to each, and the words for the answer. Leaves their choice to deployment.ts.
// P1  Nothing of a password is in what it says. The tables of the store are made where they are missing, nothing else.

import * as Effect from "effect/Effect"
import { type Deployment, deployedQueueMeasures, deploymentFromConfig, hostIn } from "../opening/deployment.ts"
import { Peek } from "../views/peek.ts"

export interface ServerProbe {
  readonly name: "database" | "queue"
  /** Why it does not answer; undefined when it does. */
  readonly failure?: unknown
  readonly says: string
}

const database = async (deployment: Deployment): Promise<ServerProbe> => {
  const says = `PostgreSQL at ${hostIn(deployment.database)}`
  try {
    await using peek = await Peek.open()
    const { accepted } = await peek.totals()
    return { name: "database", says: `${says} answers, ${accepted} envelopes accepted so far` }
  } catch (failure) {
    return { name: "database", says, failure }
  }
}

const queue = async (deployment: Deployment): Promise<ServerProbe> => {
  const { redis } = deployment
  const says = redis === undefined ? "BullMQ on the same PostgreSQL" : `BullMQ on Redis at ${hostIn(redis)}`
  const measures = await Effect.runPromise(Effect.scoped(deployedQueueMeasures(deployment)))
  return measures === ""
    ? { name: "queue", says, failure: new Error(`${says} does not answer`) }
    : { name: "queue", says: `${says} answers` }
}

/** Asks each server that the environment names; nothing when it names none. */
export const probeServers = async (): Promise<ReadonlyArray<ServerProbe>> => {
  const deployment = await Effect.runPromise(deploymentFromConfig)
  return deployment === undefined ? [] : [await database(deployment), await queue(deployment)]
}
