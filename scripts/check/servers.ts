// Servers: the step that starts each server that tests find here and stops it again, and says which those are.
// Owns which of them must be there. Leaves finding and starting to testkit.
// R1  A server that is there and does not start or answer is a failure.
// R2  In CI Redis and PostgreSQL are there, or the check has not proved what it is to prove. Elsewhere it only says so.

import {
  clauseOf,
  placeOf,
  type ServerName,
  serverNames,
  startPostgres,
  startRedis
} from "../../packages/testkit/src/servers/index.ts"
import type { Outcome, Step } from "./step.ts"

export interface Sight {
  readonly server: ServerName
  /** What is said of it: where it is from, or why it is not there. */
  readonly clause: string
  readonly isThere: boolean
  /** Undefined when it is well. */
  readonly fault?: string
}

const mustBeInCi: ReadonlySet<ServerName> = new Set<ServerName>(["redis", "postgres"])

export const outcomeOf = (sights: ReadonlyArray<Sight>, isCi: boolean): Outcome => {
  const faults = sights.flatMap(({ clause, fault, isThere, server }) => {
    if (fault !== undefined) return [fault]
    const mustBe = isCi && mustBeInCi.has(server)
    return mustBe && !isThere ? [`${clause}: what needs it would go unproved in CI`] : []
  })
  const remark = sights.map(({ clause }) => clause).join("; ")
  return { ok: faults.length === 0, count: sights.length, output: faults.join("\n"), remark }
}

const qdrantAnswers = async (): Promise<void> => {
  const key = process.env["QDRANT_API_KEY"]
  const headers = key === undefined ? {} : { "api-key": key }
  const { status } = await fetch(new URL("readyz", `${process.env["QDRANT_URL"] ?? ""}/`), { headers })
  if (status !== 200) throw new Error(`the Qdrant of QDRANT_URL answers /readyz with ${status}`)
}

const probe: Readonly<Record<ServerName, () => Promise<void>>> = {
  redis: async () => (await startRedis()).stop(),
  postgres: async () => (await startPostgres()).stop(),
  qdrant: qdrantAnswers
}

const look = async (server: ServerName): Promise<Sight> => {
  const sight = { server, clause: clauseOf(server), isThere: placeOf(server).origin !== undefined }
  if (!sight.isThere) return sight
  try {
    await probe[server]()
    return sight
  } catch (cause) {
    return { ...sight, fault: cause instanceof Error ? cause.message : String(cause) }
  }
}

const isCi = process.env["CI"] === "true"

export const servers: Step = {
  name: "servers",
  unit: "places",
  prove: async () => outcomeOf(await Promise.all(serverNames.map(look)), isCi)
}
