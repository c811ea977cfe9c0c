// Small doors: health that asking changes, readiness that does not look, a page that tells too much, ids and keys that mean
// something else than they say.

import { execFileSync } from "node:child_process"
import { request } from "node:http"
import type { Attack, Check } from "../attack.ts"
import { Client } from "../client.ts"
import { judge, pause } from "../judge.ts"
import { untilRest } from "../measures.ts"
import type { Scene, Server } from "../scene.ts"

const SECRETS = {
  boss: "boss-secret-0123456789",
  peek: "peek-secret-0123456789",
  south: "south-secret-0123456789"
} as const
const TOKENS = `boss:default:${SECRETS.boss},peek:default:${SECRETS.peek}:ro,south:south:${SECRETS.south}`

const as = (server: Server, who: keyof typeof SECRETS): Client =>
  new Client(server.url, { authorization: `Bearer ${SECRETS[who]}` })

const JSON_TYPE = { "content-type": "application/json" }
const posting = (value: unknown): RequestInit => ({ method: "POST", headers: JSON_TYPE, body: JSON.stringify(value) })

/** A request as node sends it, with every header as it is said; `fetch` would join two of one name. */
const statusOf = (server: Server, path: string, headers: ReadonlyArray<string>, body: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const asked = request(`${server.url}${path}`, { method: "POST", headers, agent: false }, (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
    asked.once("error", reject)
    asked.end(body)
  })

const lagOf = async ({ client }: Server): Promise<number> =>
  ((await (await client.fetch("/livez")).json()) as { readonly lagMs: number }).lagMs

const HELD_MILLIS = 400

/** Stops the process for a moment: everybody who asks afterwards has to learn of it. */
const livez = async (server: Server): Promise<ReadonlyArray<Check>> => {
  server.signal("SIGSTOP")
  await pause(HELD_MILLIS)
  server.signal("SIGCONT")
  const lags = [await lagOf(server), await lagOf(server), await lagOf(server)]
  return [
    {
      says: "/livez tells the same hold to all who ask",
      ok: lags.every((lag) => lag >= HELD_MILLIS / 2),
      seen: `${lags.join(", ")} ms after a hold of ${HELD_MILLIS} ms`
    }
  ]
}

const ids = async (server: Server): Promise<ReadonlyArray<Check>> => {
  const boss = as(server, "boss")
  const got = await boss.status("/v1/assistants/DESK")
  const posted = await boss.status("/v1/assistants/DESK/messages", posting({ text: "hello", id: "upper" }))
  const key = `authorization`
  const body = JSON.stringify({ text: "hello" })
  const headers = [key, `Bearer ${SECRETS.boss}`, "content-type", "application/json"]
  const twice = [...headers, "idempotency-key", "one-key", "idempotency-key", "other-key"]
  const two = await statusOf(server, "/v1/assistants/desk/messages", twice, body)
  const taken = await boss.taken("desk")
  return [
    { says: "DESK is nowhere, by GET and by POST", ok: got === 404 && posted === 404, seen: `${got}, ${posted}` },
    {
      says: "two idempotency keys are refused",
      ok: two === 400 && !taken.some((id) => id.includes("one-key")),
      seen: `${two}`
    }
  ]
}

const tellsOf = async (server: Server, who: keyof typeof SECRETS): Promise<string> =>
  JSON.stringify(await as(server, who).json("/v1/system"))

const system = async (server: Server): Promise<ReadonlyArray<Check>> => {
  await as(server, "south").status("/v1/assistants", posting({ id: "south-clerk", definition: "clerk" }))
  const [boss, peek, south] = [
    await tellsOf(server, "boss"),
    await tellsOf(server, "peek"),
    await tellsOf(server, "south")
  ]
  const config = (text: string): number =>
    (JSON.parse(text) as { readonly config: ReadonlyArray<unknown> }).config.length
  return [
    {
      says: "an operator sees its definitions",
      ok: boss.includes("PROMPT-OF-DESK") && boss.includes("PROMPT-OF-CLERK")
    },
    { says: "a token that may only look sees no prompt", ok: !peek.includes("PROMPT-OF-") && config(peek) === 0 },
    {
      says: "another tenant sees no prompt but of what it has, and no configuration",
      ok: !south.includes("PROMPT-OF-DESK") && config(south) === 0,
      seen: `${config(south)} lines of configuration`
    }
  ]
}

const ready = (server: Server): Promise<number> => server.client.status("/readyz")

/** An answer is known for a second. */
const until = async (server: Server, wanted: number): Promise<number> => {
  let status = await ready(server)
  for (let tries = 0; tries < 20 && status !== wanted; tries++) {
    await pause(250)
    status = await ready(server)
  }
  return status
}

const halting = async (server: Server): Promise<ReadonlyArray<Check>> => {
  const [boss, south] = [as(server, "boss"), as(server, "south")]
  const order = async (name: "halt" | "resume") => {
    await boss.status("/v1/orders", posting({ order: name, reason: "attack" }))
    await south.status("/v1/orders", posting({ order: name, reason: "attack" }))
  }
  const before = await until(server, 200)
  await order("halt")
  const halted = await until(server, 503)
  await order("resume")
  const after = await until(server, 200)
  return [
    {
      says: "/readyz is 503 while all are halted, and 200 before and after",
      ok: before === 200 && halted === 503 && after === 200,
      seen: `${before}, ${halted}, ${after}`
    }
  ]
}

const limitFiles = (server: Server, limit: string): void => {
  execFileSync("prlimit", ["--pid", String(server.pid), `--fsize=${limit}`])
}

const full = async (server: Server): Promise<ReadonlyArray<Check>> => {
  limitFiles(server, "1024:unlimited")
  const unable = await until(server, 503)
  const post = await as(server, "boss").status(
    "/v1/assistants/desk/messages",
    posting({ text: "hello".repeat(1_000), id: "full" })
  )
  limitFiles(server, "unlimited")
  const after = await until(server, 200)
  return [
    {
      says: "/readyz is 503 while the store refuses to write, a message is not acknowledged, and all is well afterwards",
      ok: unable === 503 && post !== 202 && after === 200,
      seen: `${unable}, ${post}, ${after}`
    }
  ]
}

const hasPrlimit = (): boolean => {
  try {
    execFileSync("prlimit", ["--version"])
    return true
  } catch {
    return false
  }
}

const smallDoors: Attack = {
  name: "small-doors",
  item: 10,
  says: "health, readiness, the system page, ids in another case and two keys, each asked twice and from the side",
  isShort: true,
  wants: () => (hasPrlimit() ? undefined : "prlimit"),
  run: async (scene: Scene) => {
    const server = await scene.serve({ fleet: "small.ts", env: { REVERIE_TOKENS: TOKENS } })
    const boss = as(server, "boss")
    const posted = { assistant: "desk", id: "well" }
    const isAcknowledged = await boss.post(posted, "hello")
    await untilRest(boss, 20_000)
    const checks = [
      ...(await livez(server)),
      ...(await ids(server)),
      ...(await system(server)),
      ...(await halting(server)),
      ...(await full(server))
    ]
    const judged = await judge(boss, isAcknowledged ? [posted] : [])
    await server.stop()
    return { ...judged, checks }
  }
}

export const smallDoor: ReadonlyArray<Attack> = [smallDoors]
