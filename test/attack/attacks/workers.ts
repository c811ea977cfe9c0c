// A deployment of an API and two workers on servers of this machine. Anyone who runs it has to see who works: that two do,
// and that one is left after a kill. Nothing that was acknowledged is lost by it.

import type { Attack, Check } from "../attack.ts"
import { judge, pause } from "../judge.ts"
import { sendMany } from "../moves.ts"
import type { Server } from "../scene.ts"
import { type Deployment, lacking, onServers } from "../servers.ts"

interface Queues {
  readonly workers?: ReadonlyArray<{ readonly name: string; readonly role: string }>
}

const PATIENCE_MILLIS = 15_000

/** The names that the API tells, as soon as there are so many, or when the time is over. */
const namesOf = async (api: Server, count: number): Promise<ReadonlyArray<string>> => {
  const until = performance.now() + PATIENCE_MILLIS
  for (;;) {
    const { workers = [] } = (await api.client.json("/v1/queues")) as Queues
    if (workers.length === count || performance.now() > until) return workers.map(({ name }) => name)
    await pause(100)
  }
}

const live = async ({ serve }: Deployment) => {
  const api = await serve("api")
  const [one] = [await serve("worker"), await serve("worker")]
  const both = await namesOf(api, 2)
  const before = await sendMany(api, 8, "before")
  await one.kill()
  const left = await namesOf(api, 1)
  const after = await sendMany(api, 8, "after")
  const judged = await judge(api.client, [...before, ...after])
  const checks: ReadonlyArray<Check> = [
    { says: "two workers are named, each by a name of its own", ok: new Set(both).size === 2, seen: both.join() },
    {
      says: "the one that is left is named alone",
      ok: left.length === 1 && both.includes(left[0] ?? ""),
      seen: left.join()
    }
  ]
  return { ...judged, checks }
}

export const workersSeen: ReadonlyArray<Attack> = [
  {
    name: "workers-seen",
    item: 12,
    says: "one of two workers is killed; the API tells who works",
    wants: lacking(),
    run: (scene) => onServers(scene, live)
  }
]
