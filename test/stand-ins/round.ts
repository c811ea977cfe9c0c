// Round: what a deployment goes through: up, looked at, under load with workers, Redis and PostgreSQL killed, down, up.
// Owns the order and what is looked at. Leaves the verdict to round-judge.ts.

import { request } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { Client } from "../attack/client.ts"
import { judge } from "../attack/judge.ts"
import { Composed } from "./composed.ts"
import { Load } from "./load.ts"
import { type Look, type RoundSeen, verdictOfRound, type RoundVerdict } from "./round-judge.ts"

const PORT = 4_000
const URL_OF_API = `http://127.0.0.1:${PORT}`
/** With everything in it that means something else in a URL, a shell or a file of variables. */
const PASSWORD = "p@ss/w#rd:%20?&='\""
const PATIENCE_MILLIS = 60_000
const REST_MILLIS = 180_000

const PHASES = {
  workers: "a worker is killed, and the process of another",
  redis: "Redis is killed for 8 s",
  postgres: "PostgreSQL is killed for 10 s",
  down: "down, and up again"
} as const

/** The status under a name of one's own choice, which fetch does not let be chosen. */
const statusUnder = (host: string): Promise<number> =>
  new Promise((resolve) => {
    const asking = request(`${URL_OF_API}/v1/assistants`, { headers: { host } }, (response) => {
      resolve(response.statusCode ?? 0)
      response.resume()
    })
    asking.on("error", () => resolve(0))
    asking.end()
  })

const SERVICES = { api: 1, postgres: 1, qdrant: 1, redis: 1, worker: 2 }

interface Queues {
  readonly workers?: ReadonlyArray<{ readonly name: string }>
}

interface Assistant {
  readonly id: string
  readonly state?: string
  readonly waiting?: number
}

const assistantsOf = async (client: Client): Promise<ReadonlyArray<Assistant>> =>
  ((await client.json("/v1/assistants")) as { readonly items: ReadonlyArray<Assistant> }).items

/** For anyone who has to find out what became of messages. */
const statesOf = async (client: Client): Promise<ReadonlyArray<string>> =>
  (await assistantsOf(client)).map(
    ({ id, state, waiting }) => `${id} is ${state ?? "?"}, ${waiting ?? "?"} wait for it`
  )

const workersSeen = async (client: Client, count: number): Promise<number> => {
  const until = performance.now() + PATIENCE_MILLIS
  for (;;) {
    const seen = await client.json("/v1/queues").then(
      (queues) => (queues as Queues).workers?.length ?? -1,
      () => -1
    )
    if (seen === count || performance.now() > until) return seen
    await sleep(500)
  }
}

const ready = async (client: Client): Promise<boolean> => {
  const until = performance.now() + PATIENCE_MILLIS
  while ((await client.status("/readyz")) !== 200) {
    if (performance.now() > until) return false
    await sleep(250)
  }
  return true
}

const lookAround = async (composed: Composed, client: Client): Promise<ReadonlyArray<Look>> => {
  const containers = await composed.containers()
  const counts = Object.fromEntries(
    Object.keys(SERVICES).map((service) => [
      service,
      containers.filter((each) => each.service === service && each.health === "healthy").length
    ])
  )
  const looks: Array<Look> = [
    {
      says: "every service runs and is healthy",
      ok: JSON.stringify(counts) === JSON.stringify(SERVICES),
      seen: JSON.stringify(counts)
    }
  ]
  for (const path of ["/", "/docs", "/openapi.json", "/readyz"]) {
    const status = await client.status(path)
    looks.push({ says: `${path} is served`, ok: status === 200, seen: `${status}` })
  }
  const [own, local, foreign] = [
    await statusUnder(`127.0.0.1:${PORT}`),
    await statusUnder(`localhost:${PORT}`),
    await statusUnder(`evil.example:${PORT}`)
  ]
  const seen = `${own}, ${local}, ${foreign}`
  const ok = own === 200 && local === 200 && foreign === 403
  return [...looks, { says: "the published port is asked under its own names only", ok, seen }]
}

interface Going {
  readonly composed: Composed
  readonly client: Client
  readonly load: Load
  readonly say: (line: string) => void
}

const killWorkers = async ({ client, composed, load }: Going): Promise<ReadonlyArray<Look>> => {
  const looks: Array<Look> = []
  const two = await workersSeen(client, 2)
  looks.push({ says: "/v1/queues names two workers", ok: two === 2, seen: `${two}` })
  await load.during(PHASES.workers, 6, async () => {
    await sleep(5_000)
    const one = await composed.nameOf("worker", 0)
    await composed.kill(one)
    const left = await workersSeen(client, 1)
    looks.push({ says: "/v1/queues names the one that is left", ok: left === 1, seen: `${left}` })
    await sleep(5_000)
    await composed.killProcess(await composed.nameOf("worker", 1))
    await sleep(5_000)
    await composed.start(one)
  })
  const again = await workersSeen(client, 2)
  return [...looks, { says: "both workers are back", ok: again === 2, seen: `${again}` }]
}

const killServer = async (
  { client, composed, load }: Going,
  { away, phase, service }: { readonly away: number; readonly phase: string; readonly service: string }
): Promise<ReadonlyArray<Look>> => {
  let isReady = false
  await load.during(phase, 5, async () => {
    await sleep(3_000)
    const name = await composed.nameOf(service)
    await composed.kill(name)
    await sleep(away)
    await composed.start(name)
    isReady = await ready(client)
    await sleep(5_000)
  })
  return [{ says: `/readyz is well again after ${service}`, ok: isReady }]
}

const downAndUp = async ({ client, composed, load }: Going): Promise<ReadonlyArray<Look>> => {
  await load.during(PHASES.down, 5, async () => {
    await sleep(5_000)
    await composed.run("compose down", "down")
    await composed.up()
    await sleep(5_000)
  })
  return [{ says: "everything is ready after the second up", ok: await ready(client) }]
}

const goThrough = async (going: Going): Promise<ReadonlyArray<Look>> => {
  const { say } = going
  const looks = [...(await killWorkers(going))]
  say(PHASES.workers)
  looks.push(...(await killServer(going, { phase: PHASES.redis, service: "redis", away: 8_000 })))
  say(PHASES.redis)
  looks.push(...(await killServer(going, { phase: PHASES.postgres, service: "postgres", away: 10_000 })))
  say(PHASES.postgres)
  looks.push(...(await downAndUp(going)))
  say(PHASES.down)
  return looks
}

export const runRound = async (copy: string, work: string, say: (line: string) => void): Promise<RoundVerdict> => {
  const composed = await Composed.of(copy, work, { POSTGRES_PASSWORD: PASSWORD })
  await composed.up()
  say("compose up: the image is built, and everything is healthy")
  const client = new Client(URL_OF_API)
  const looks = await lookAround(composed, client)
  const { items } = (await client.json("/v1/assistants")) as { readonly items: ReadonlyArray<{ readonly id: string }> }
  const load = new Load(
    client,
    items.map(({ id }) => id)
  )
  const through = await goThrough({ composed, client, load, say })
  const judged = await judge(client, load.acknowledged, { withinMs: REST_MILLIS })
  if (judged.lost > 0) for (const line of await statesOf(client)) say(line)
  await composed.run("compose down", "down", "--volumes")
  const left = await composed.containers()
  const none = { says: "nothing is left after down", ok: left.length === 0, seen: left.map(({ name }) => name).join() }
  const seen: RoundSeen = {
    phases: load.phases,
    mayRefuse: new Set([PHASES.postgres, PHASES.down]),
    looks: [...looks, ...through, none],
    judged
  }
  return verdictOfRound(seen)
}
