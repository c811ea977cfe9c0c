// The same on PostgreSQL and Redis: two workers share the assistants, and each is started again whenever it has ended.

import type { Attack, Check, Finding } from "../attack.ts"
import { judge, pause } from "../judge.ts"
import { allAnswered, askNeighbours, NEIGHBOURS, restarted, until, wordsOf } from "../neighbours.ts"
import type { Scene, Server } from "../scene.ts"
import { type Deployment, lacking, onServers } from "../servers.ts"
import { slowScript } from "../slow-model.ts"

interface Workers {
  /** Kills one of them, the one that has lived longest. */
  readonly killOne: () => Promise<void>
  /** Ends both for good; answers the codes that they ended with before. */
  readonly stop: () => Promise<ReadonlyArray<number>>
}

/** Two workers, each started again whenever it has ended. */
const twoWorkers = (scene: Scene, { options }: Deployment): Workers => {
  const codes: Array<number> = []
  let isOver = false
  const living = new Set<Server>()
  const restart = async (): Promise<void> => {
    while (!isOver) {
      const worker = await restarted(scene, options("worker"), codes)
      living.add(worker)
      const code = await worker.ended
      living.delete(worker)
      if (!isOver) codes.push(code)
    }
  }
  const both = [restart(), restart()]
  return {
    killOne: async () => {
      const [oldest] = living
      await oldest?.kill()
    },
    stop: async () => {
      isOver = true
      await Promise.all([...living].map((worker) => worker.kill()))
      await Promise.all(both)
      return codes
    }
  }
}

const withWorkers = (scene: Scene, attack: (api: Server, workers: Workers) => Promise<Finding>): Promise<Finding> => {
  scene.model.become({ script: slowScript })
  const attacked = async (deployment: Deployment): Promise<Finding> => {
    const api = await deployment.serve("api")
    const workers = twoWorkers(scene, deployment)
    try {
      return await attack(api, workers)
    } finally {
      await workers.stop()
    }
  }
  return onServers(scene, attacked, { fleet: "crashing.ts" })
}

const KILLS = 30

const burst = async (api: Server, { killOne, stop }: Workers): Promise<Finding> => {
  const asked = [...(await askNeighbours(api, 20_000))]
  for (const assistant of ["ann", "bob"]) {
    const behind = { assistant, id: `behind-${assistant}` }
    if (await api.client.post(behind, "hello")) asked.push(behind)
  }
  for (let kill = 0; kill < KILLS; kill++) {
    await pause(1_000 + (kill % 4) * 500)
    await killOne()
  }
  const everyone = await until(api, 180_000, () => allAnswered(api))
  const judged = await judge(api.client, asked)
  await stop()
  await api.stop()
  return {
    ...judged,
    checks: [{ says: "all were answered in the end", ok: everyone, seen: judged.remarks.join("; ") }]
  }
}

const crashLoop = async (api: Server, { stop }: Workers, slowMillis: number): Promise<Finding> => {
  const asked = await askNeighbours(api, slowMillis)
  const order = { assistant: "desk", id: "order" }
  const ordered = (await api.client.post(order, "!kill_from_outside {}")) ? [order] : []
  const isTold = await until(api, 60_000 + 4 * slowMillis, async () =>
    /tool: The process ended/.test(await wordsOf(api, "desk"))
  )
  const everyone = await until(api, 30_000 + 2 * slowMillis, () => allAnswered(api))
  const judged = await judge(api.client, [...asked, ...ordered], { guilty: new Set([order.id]) })
  const dead = await api.client.deadLetters()
  const codes = await stop()
  const checks: ReadonlyArray<Check> = [
    {
      says: "all five neighbours were answered",
      ok: everyone && asked.length === NEIGHBOURS.length,
      seen: judged.remarks.join("; ")
    },
    { says: "workers ended, at most three times", ok: codes.length > 0 && codes.length <= 3, seen: codes.join(", ") },
    { says: "its model was told what had happened", ok: isTold, seen: (await wordsOf(api, "desk")).slice(-300) },
    { says: "its own message went on", ok: dead.length === 0, seen: JSON.stringify(dead) }
  ]
  await api.stop()
  return { ...judged, checks }
}

export const crashingWorkers: ReadonlyArray<Attack> = [
  {
    name: "crash-loop-workers",
    item: 3,
    says: "a tool kills one of two workers on PostgreSQL and Redis whenever it runs; five neighbours wait 20 s for their model",
    wants: lacking(),
    run: (scene) => withWorkers(scene, (api, workers) => crashLoop(api, workers, 20_000))
  },
  {
    name: "kill-burst-workers",
    item: 3,
    says: `${KILLS} kills of the two workers on PostgreSQL and Redis while five assistants wait for slow models`,
    wants: lacking(),
    run: (scene) => withWorkers(scene, burst)
  }
]
