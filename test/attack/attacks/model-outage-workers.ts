// The same on PostgreSQL and Redis: two workers wait for one model server, one of them is killed and started again, and a
// third process, which asks no model, says what both of them wait for.

import { postTo } from "../answers.ts"
import type { Attack, Finding } from "../attack.ts"
import { FailingModel } from "../failing-model.ts"
import { CROWD, SOME } from "../fleets/forty.ts"
import { judge, pause } from "../judge.ts"
import { saidAway, saidByMetrics } from "../outage-views.ts"
import type { Scene } from "../scene.ts"
import { type Deployment, lacking, onServers } from "../servers.ts"
import { greeting, recovering } from "./model-outage.ts"

/** A little longer than the lease of what the killed worker held. */
const LEASE_MILLIS = 32_000

const BOUNDS = { mostCalls: 2 * CROWD.length, probeSeconds: 35 }

const away = async (scene: Scene, model: FailingModel, { serve }: Deployment): Promise<Finding> => {
  const { host } = model
  const api = await serve("api")
  const [killed, kept] = [await serve("worker"), await serve("worker")]
  const well = await greeting(api)
  await model.goAway()
  const posted = [...well.posted, ...(await postTo(api, "gone", CROWD))]
  await pause(8_000)
  const said = [...(await saidAway({ scene, server: api, host, isBrief: false })), await saidByMetrics(kept, host)]
  await killed.kill()
  const anew = await serve("worker")
  await model.fallIll("overloaded")
  posted.push(...(await postTo(api, "overloaded", SOME)))
  await pause(LEASE_MILLIS)
  said.push(...(await saidAway({ scene, server: api, host, isBrief: true })))
  const { checks, seconds } = await recovering({ model, serve: () => Promise.resolve(api), posted, bounds: BOUNDS })
  const judged = await judge(api.client, posted)
  await Promise.all([anew.stop(), kept.stop(), api.stop()])
  return { ...judged, recoverSeconds: seconds, checks: [well.check, ...said, ...checks] }
}

const onTheirServers = async (scene: Scene): Promise<Finding> => {
  const model = await FailingModel.open()
  const common = { fleet: "forty.ts", env: { OPENAI_BASE_URL: model.url } }
  try {
    return await onServers(scene, (deployment) => away(scene, model, deployment), common)
  } finally {
    await model.goAway()
  }
}

export const modelOutageWorkers: ReadonlyArray<Attack> = [
  {
    name: "model-away-workers",
    item: 4,
    says: "the model server of two workers on PostgreSQL and Redis goes away, and one of them is killed and started again",
    wants: lacking(),
    run: onTheirServers
  }
]
