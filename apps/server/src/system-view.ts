// SystemView: what a deployment is, in words and figures.
// Owns its checks. Leaves measuring to whoever does the work.

import { chart, type Fleet, type Json } from "reverie"
import type { Outage, Principal } from "./api/index.ts"
import type { Desk } from "./desk.ts"
import { version } from "./version.ts"

export interface SystemQuestion {
  readonly fleet: Fleet
  readonly principal: Principal["Service"]
  readonly desk: Desk["Service"]
  readonly config: ReadonlyArray<{ readonly name: string; readonly value: string; readonly origin: string }>
  readonly outages: ReadonlyArray<Outage>
}

const checked = async (name: string, ask: () => Promise<string>, hint: string) => {
  try {
    return { name, ok: true, says: await ask() }
  } catch {
    return { name, ok: false, says: "it does not answer", hint }
  }
}

const time = (at: number): string => new Date(at).toISOString().slice(0, 19).replace("T", " ")

/** Whether anybody waits for a model. */
const modelCheck = ([away]: ReadonlyArray<Outage>) => {
  if (away === undefined) return { name: "model", ok: true, says: "nobody waits for it" }
  const { assistants, nextTry, reason, server, since } = away
  const next = nextTry === undefined ? "it is being tried now" : `it is tried again by ${time(nextTry)}`
  const says = `${server} has not answered since ${time(since)} UTC (${reason}); ${assistants} wait for it, ${next}`
  return { name: "model", ok: false, says, hint: "nothing is lost: they go on by themselves when it answers" }
}

export const systemOf = async ({ config, desk, fleet, outages, principal }: SystemQuestion) => {
  const [store, outboxEnd] = await Promise.all([
    checked("store", async () => `position ${await fleet.outboxEnd()}`, "look whether the store of the profile runs"),
    fleet.outboxEnd()
  ])
  const definitions = fleet.definitions() as unknown as ReadonlyArray<Json>
  return {
    version,
    node: process.version,
    role: desk.role,
    profile: fleet.profile,
    tenant: principal.tenant,
    principal: principal.name,
    readOnly: principal.readOnly,
    startedAt: desk.startedAt,
    now: Date.now(),
    outboxEnd,
    machine: chart().hash,
    checks: [store, modelCheck(outages)],
    config,
    definitions
  }
}
