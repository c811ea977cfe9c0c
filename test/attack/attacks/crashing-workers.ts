// The same on PostgreSQL and Redis: two workers share the assistants, and each is started again whenever it has ended.

import { placeOf, type PostgresServer, type RedisServer, startPostgres, startRedis } from "@reverie/testkit/servers"
import type { Attack, Check } from "../attack.ts"
import { judge, pause } from "../judge.ts"
import { allAnswered, askNeighbours, NEIGHBOURS, restarted, until, wordsOf } from "../neighbours.ts"
import type { Scene, Server, ServerOptions } from "../scene.ts"
import { slowScript } from "../slow-model.ts"

const wanting = (): string | undefined => {
  const missing = (["postgres", "redis"] as const).filter((name) => placeOf(name, { own: true }).origin === undefined)
  return missing.length === 0 ? undefined : missing.join(" and ")
}

interface Deployment {
  readonly api: Server
  readonly postgres: PostgresServer
  readonly redis: RedisServer
  /** Keeps starting the two workers until it is told to stop; answers the codes that they ended with. */
  readonly stop: () => Promise<ReadonlyArray<number>>
  /** Kills one of the workers, the one that has lived longest. */
  readonly killOne: () => Promise<void>
}

const deployed = async (scene: Scene): Promise<Deployment> => {
  const [postgres, redis] = await Promise.all([
    startPostgres({ own: true, fsync: false }),
    startRedis({ own: true, durable: false })
  ])
  const options = (role: string): ServerOptions => ({
    fleet: "crashing.ts",
    data: null,
    args: ["--role", role],
    env: { DATABASE_URL: postgres.url, REDIS_URL: redis.url }
  })
  const api = await scene.serve(options("api"))
  const codes: Array<number> = []
  let isOver = false
  const living = new Set<Server>()
  const keep = async (): Promise<void> => {
    while (!isOver) {
      const worker = await restarted(scene, options("worker"), codes)
      living.add(worker)
      const code = await worker.ended
      living.delete(worker)
      if (!isOver) codes.push(code)
    }
  }
  const keepers = [keep(), keep()]
  return {
    api,
    postgres,
    redis,
    killOne: async () => {
      const [oldest] = living
      await oldest?.kill()
    },
    stop: async () => {
      isOver = true
      await Promise.all([...living].map((worker) => worker.kill()))
      await Promise.all(keepers)
      return codes
    }
  }
}

const KILLS = 30

const burst = async (scene: Scene) => {
  scene.model.become({ script: slowScript })
  const { api, killOne, postgres, redis, stop } = await deployed(scene)
  try {
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
  } finally {
    await stop()
    await Promise.all([postgres.stop(), redis.stop()])
  }
}

const crashLoop = async (scene: Scene, slowMillis: number) => {
  scene.model.become({ script: slowScript })
  const { api, postgres, redis, stop } = await deployed(scene)
  try {
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
  } finally {
    await stop()
    await Promise.all([postgres.stop(), redis.stop()])
  }
}

export const crashingWorkers: ReadonlyArray<Attack> = [
  {
    name: "crash-loop-workers",
    item: 3,
    says: "a tool kills one of two workers on PostgreSQL and Redis whenever it runs; five neighbours wait 20 s for their model",
    wants: wanting,
    run: (scene) => crashLoop(scene, 20_000)
  },
  {
    name: "kill-burst-workers",
    item: 3,
    says: `${KILLS} kills of the two workers on PostgreSQL and Redis while five assistants wait for slow models`,
    wants: wanting,
    run: burst
  }
]
