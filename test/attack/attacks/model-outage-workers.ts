// The same on PostgreSQL and Redis: two workers wait for one model server, one of them is killed and started again, and a
// third process, which asks no model, says what both of them wait for.

import { placeOf, startPostgres, startRedis } from "@reverie/testkit/servers"
import { postTo } from "../answers.ts"
import type { Attack, Finding } from "../attack.ts"
import { FailingModel } from "../failing-model.ts"
import { CROWD, SOME } from "../fleets/forty.ts"
import { judge, pause } from "../judge.ts"
import { saidAway, saidByMetrics } from "../outage-views.ts"
import type { Scene, Server, ServerOptions } from "../scene.ts"
import { greeting, recovering } from "./model-outage.ts"

const wanting = (): string | undefined => {
  const missing = (["postgres", "redis"] as const).filter((name) => placeOf(name, { own: true }).origin === undefined)
  return missing.length === 0 ? undefined : missing.join(" and ")
}

/** A little longer than the lease of what the killed worker held. */
const LEASE_MILLIS = 32_000

const BOUNDS = { mostCalls: 2 * CROWD.length, probeSeconds: 35 }

const away = async (scene: Scene, model: FailingModel, options: (role: string) => ServerOptions): Promise<Finding> => {
  const { host } = model
  const api = await scene.serve(options("api"))
  const startWorker = (): Promise<Server> => scene.serve(options("worker"))
  const [killed, kept] = [await startWorker(), await startWorker()]
  const well = await greeting(api)
  await model.goAway()
  const posted = [...well.posted, ...(await postTo(api, "gone", CROWD))]
  await pause(8_000)
  const said = [...(await saidAway({ scene, server: api, host, isBrief: false })), await saidByMetrics(kept, host)]
  await killed.kill()
  const anew = await startWorker()
  await model.fallIll("overloaded")
  posted.push(...(await postTo(api, "overloaded", SOME)))
  await pause(LEASE_MILLIS)
  said.push(...(await saidAway({ scene, server: api, host, isBrief: true })))
  const { checks, seconds } = await recovering({ model, serve: () => Promise.resolve(api), posted, bounds: BOUNDS })
  const judged = await judge(api.client, posted)
  await Promise.all([anew.stop(), kept.stop(), api.stop()])
  return { ...judged, recoverSeconds: seconds, checks: [well.check, ...said, ...checks] }
}

const onServers = async (scene: Scene): Promise<Finding> => {
  const [postgres, redis] = await Promise.all([
    startPostgres({ own: true, fsync: false }),
    startRedis({ own: true, durable: false })
  ])
  const model = await FailingModel.open()
  try {
    const env = { DATABASE_URL: postgres.url, REDIS_URL: redis.url, OPENAI_BASE_URL: model.url }
    return await away(scene, model, (role) => ({ fleet: "forty.ts", data: null, args: ["--role", role], env }))
  } finally {
    await model.goAway()
    await Promise.all([postgres.stop(), redis.stop()])
  }
}

export const modelOutageWorkers: ReadonlyArray<Attack> = [
  {
    name: "model-away-workers",
    item: 4,
    says: "the model server of two workers on PostgreSQL and Redis goes away, and one of them is killed and started again",
    wants: wanting,
    run: onServers
  }
]
