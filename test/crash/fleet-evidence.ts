// FleetEvidence: waiting until a fleet has nothing left to do, and reading what it has done.
// Owns both, through a process of its own that works nothing. Leaves the judgement to fleet-judge.ts.
// E1  The database itself writes down which worker was granted which assistant, so that no process can be late with it.
// E2  Calm is that no one has anything to do and nothing was committed, in several looks one after the other.

import { setTimeout as sleep } from "node:timers/promises"
import type { Entry } from "@reverie/protocol"
import { postgresSays } from "@reverie/testkit/servers"
import { type Deployment, Fleet } from "reverie"
import type { Grant } from "./fleet-judge.ts"
import { laneFleet } from "./fleet-scene.ts"

const LOOK_MILLIS = 500
const CALM_LOOKS = 4
const PAGE = 1_000

export const openObserver = (deployment: Deployment, assistants: number): Promise<Fleet> =>
  Fleet.open({ deployment, role: "api", model: "offline", fleet: laneFleet(assistants) })

/** Commits since creation when no one has anything to do; undefined when someone has. */
const commitsAtRest = async (fleet: Fleet): Promise<number | undefined> => {
  try {
    const views = await fleet.views()
    const isBusy = views.some(({ jobs, timers, waiting }) => waiting > 0 || jobs.length > 0 || timers.length > 0)
    return isBusy ? undefined : views.reduce((sum, { commits }) => sum + commits, 0)
  } catch {
    // The store is just being started again.
    return undefined
  }
}

/** Whether the fleet came to rest in time. */
export const comesToRest = async (fleet: Fleet, patienceMillis: number): Promise<boolean> => {
  const until = performance.now() + patienceMillis
  let last: number | undefined
  let calm = 0
  while (performance.now() < until) {
    const commits = await commitsAtRest(fleet)
    calm = commits !== undefined && commits === last ? calm + 1 : 0
    if (calm >= CALM_LOOKS) return true
    last = commits
    await sleep(LOOK_MILLIS)
  }
  return false
}

const entriesOf = async (fleet: Fleet, id: string): Promise<ReadonlyArray<Entry>> => {
  const all: Array<Entry> = []
  for (;;) {
    const page = await fleet.history.entries(id, all.length + 1, PAGE)
    all.push(...page.map(({ entry }) => entry))
    if (page.length < PAGE) return all
  }
}

/** The whole ledger, by assistant. */
export const ledgerOf = async (fleet: Fleet): Promise<ReadonlyMap<string, ReadonlyArray<Entry>>> => {
  const ledger = new Map<string, ReadonlyArray<Entry>>()
  for (const { id } of await fleet.views()) ledger.set(id, await entriesOf(fleet, id))
  return ledger
}

/** From now on the database notes every grant, beside the tables of the deployment. */
export const noteGrants = async ({
  database,
  name
}: Required<Pick<Deployment, "database" | "name">>): Promise<void> => {
  await postgresSays(
    database,
    `CREATE TABLE ${name}.grants (assistant text, epoch bigint, worker text, at timestamptz DEFAULT clock_timestamp())`,
    `CREATE FUNCTION ${name}.note_grant() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       INSERT INTO ${name}.grants (assistant, epoch, worker) VALUES (new.id, new.epoch, new.worker);
       RETURN NULL;
     END $$`,
    `CREATE TRIGGER note_grant AFTER UPDATE OF epoch ON ${name}.assistants FOR EACH ROW
       WHEN (new.epoch <> old.epoch) EXECUTE FUNCTION ${name}.note_grant()`
  )
}

/** In the order of their times. */
export const grantsIn = async ({
  database,
  name
}: Required<Pick<Deployment, "database" | "name">>): Promise<ReadonlyArray<Grant>> => {
  const rows = await postgresSays(
    database,
    `SELECT assistant, epoch, worker, extract(epoch FROM at) * 1000 FROM ${name}.grants ORDER BY at, epoch`
  )
  return rows.map(([assistant, epoch, worker, at]) => ({
    assistant: assistant ?? "",
    epoch: Number(epoch),
    worker: worker ?? "",
    at: Number(at)
  }))
}
