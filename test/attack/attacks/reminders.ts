// What serves dies before a reminder is due, stays away over its time, and dies again and again around it: it is heard once, or
// stands on record with the reason. In one process on a directory, and in three on PostgreSQL and Redis.

import type { Attack, Check, Finding } from "../attack.ts"
import type { Client } from "../client.ts"
import { judge, pause } from "../judge.ts"
import type { Scene } from "../scene.ts"
import { type Deployment, lacking, onServers } from "../servers.ts"

interface Shown {
  readonly id: string
  readonly state: string
  readonly sent: number
  readonly skipped: number
  readonly log: ReadonlyArray<{ readonly outcome: string; readonly reason?: string }>
}

const set = (client: Client, reminder: string, rule: object): Promise<number> =>
  client.status(`/v1/assistants/desk/reminders/${reminder}`, {
    method: "PUT",
    headers: { "content-type": "application/json", "idempotency-key": `set-${reminder}` },
    body: JSON.stringify({ note: `note of ${reminder}`, ...rule })
  })

const shown = async (client: Client, reminder: string): Promise<Shown | undefined> => {
  const { items } = (await client.json("/v1/assistants/desk/reminders")) as { readonly items: ReadonlyArray<Shown> }
  return items.find(({ id }) => id === reminder)
}

/** More than the lease of what was killed. */
const PATIENCE_MILLIS = 20_000

const until = async (
  client: Client,
  reminder: string,
  holds: (found: Shown) => boolean
): Promise<Shown | undefined> => {
  const end = Date.now() + PATIENCE_MILLIS
  while (Date.now() < end) {
    const found = await shown(client, reminder)
    if (found !== undefined && holds(found)) return found
    await pause(100)
  }
  return shown(client, reminder)
}

/** How often each reminder was heard, as the ledger says. */
const heard = async (client: Client): Promise<ReadonlyMap<string, number>> => {
  const counts = new Map<string, number>()
  for (const id of await client.taken("desk")) {
    const reminder = /^reminder\/([^/]+)\//.exec(id)?.[1]
    if (reminder !== undefined) counts.set(reminder, (counts.get(reminder) ?? 0) + 1)
  }
  return counts
}

const hasRun = ({ log }: Shown): boolean => log.at(-1)?.outcome === "ran"

/** All processes of a fleet at work. */
interface AtWork {
  readonly client: Client
  readonly url: string
  /** SIGKILL to each of them; then what only wakes them forgets everything. */
  readonly kill: () => Promise<unknown>
  readonly stop: () => Promise<unknown>
}

/** One process, with everything in it. */
const inOne = async (scene: Scene): Promise<AtWork> => scene.serve({ fleet: "small.ts" })

/** One process that is asked, and two workers, of which either may find what is due. */
const inThree = async ({ emptyRedis, serve }: Deployment): Promise<AtWork> => {
  const [api, ...workers] = [await serve("api"), await serve("worker"), await serve("worker")]
  const each = [...workers, api]
  return {
    client: api.client,
    url: api.url,
    kill: async () => {
      await Promise.all(each.map((server) => server.kill()))
      await emptyRedis()
    },
    stop: () => Promise.all(each.map((server) => server.stop()))
  }
}

const reminded = async (scene: Scene, start: () => Promise<AtWork>, isShort: boolean): Promise<Finding> => {
  let now = await start()
  const statuses = [
    await set(now.client, "soon", { inMs: 1_500 }),
    await set(now.client, "gone", { inMs: 1_500 }),
    await set(now.client, "daily", { cron: "0 9 * * *", timeZone: "Europe/Berlin" })
  ]
  const wrong = await set(now.client, "wrong", { cron: "61 * * * *" })
  await until(now.client, "daily", ({ state }) => state === "active")
  const cancelled = await now.client.status("/v1/assistants/desk/reminders/gone", { method: "DELETE" })
  await until(now.client, "gone", ({ state }) => state === "cancelled")
  await now.kill()
  await pause(1_500)
  now = await start()
  if (!isShort) {
    await pause(100)
    await now.kill()
    now = await start()
  }
  const soon = await until(now.client, "soon", hasRun)
  const gone = await shown(now.client, "gone")
  const listed = await scene.cli(["reminders", "ls", "desk", "--url", now.url, "--json"])
  const order = ["reminders", "set", "desk", "late", "From the command.", "--in", "1", "--url", now.url, "--json"]
  const ordered = await scene.cli(order)
  const late = await until(now.client, "late", hasRun)
  const counts = await heard(now.client)
  const proof = { assistant: "desk", id: "proof" }
  const said = await now.client.post(proof, "hello")
  const judged = await judge(now.client, said ? [proof] : [])
  await now.stop()
  const checks: ReadonlyArray<Check> = [
    { says: "orders were accepted", ok: statuses.every((status) => status === 200), seen: statuses.join(" ") },
    { says: "what is no rule is refused", ok: wrong === 400, seen: String(wrong) },
    { says: "one is cancelled", ok: cancelled === 200 && gone?.sent === 0, seen: JSON.stringify(gone) },
    {
      says: "one that was due while no server ran is heard",
      ok: soon?.sent === 1 && hasRun(soon),
      seen: JSON.stringify(soon)
    },
    {
      says: "it is heard once",
      ok: counts.get("soon") === 1 && !counts.has("gone"),
      seen: JSON.stringify([...counts])
    },
    {
      says: "the command lists them",
      ok: listed.code === 0 && listed.stdout.includes('"daily"'),
      seen: listed.stderr
    },
    {
      says: "the command sets one, and it is heard",
      ok: ordered.code === 0 && late?.sent === 1 && counts.get("late") === 1,
      seen: ordered.stderr + JSON.stringify(late)
    }
  ]
  return { ...judged, checks }
}

export const reminders: ReadonlyArray<Attack> = [
  {
    name: "reminders",
    item: 13,
    says: "kill -9 before reminders are due, away over their time, killed again around it; each is heard once",
    isShort: true,
    run: async (scene, { isShort }) => reminded(scene, () => inOne(scene), isShort)
  },
  {
    name: "reminders-workers",
    item: 13,
    says: "the same to three processes on PostgreSQL and Redis, and Redis forgets all; two of them may find what is due",
    wants: lacking(),
    run: async (scene, { isShort }) =>
      onServers(scene, (deployment) => reminded(scene, () => inThree(deployment), isShort), { fleet: "small.ts" })
  }
]
