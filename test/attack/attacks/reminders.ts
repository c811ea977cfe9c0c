// A server dies before a reminder is due, stays away over its time, and dies again and again around it: it is heard once, or
// stands on record with the reason.

import type { Attack, Check } from "../attack.ts"
import type { Client } from "../client.ts"
import { judge, pause } from "../judge.ts"
import type { Server } from "../scene.ts"

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

const until = async (
  client: Client,
  reminder: string,
  holds: (found: Shown) => boolean
): Promise<Shown | undefined> => {
  for (let tries = 0; tries < 60; tries++) {
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

export const reminders: ReadonlyArray<Attack> = [
  {
    name: "reminders",
    item: 13,
    says: "kill -9 before reminders are due, away over their time, killed again around it; each is heard once",
    isShort: true,
    run: async (scene, { isShort }) => {
      let server: Server = await scene.serve({ fleet: "small.ts" })
      const statuses = [
        await set(server.client, "soon", { inMillis: 1_500 }),
        await set(server.client, "gone", { inMillis: 1_500 }),
        await set(server.client, "daily", { cron: "0 9 * * *", timeZone: "Europe/Berlin" })
      ]
      const wrong = await set(server.client, "wrong", { cron: "61 * * * *" })
      await until(server.client, "daily", ({ state }) => state === "active")
      const cancelled = await server.client.status("/v1/assistants/desk/reminders/gone", { method: "DELETE" })
      await until(server.client, "gone", ({ state }) => state === "cancelled")
      await server.kill()
      await pause(1_500)
      server = await scene.serve({ fleet: "small.ts" })
      if (!isShort) {
        await pause(100)
        await server.kill()
        server = await scene.serve({ fleet: "small.ts" })
      }
      const soon = await until(server.client, "soon", hasRun)
      const gone = await shown(server.client, "gone")
      const listed = await scene.cli(["reminders", "ls", "desk", "--url", server.url, "--json"])
      const set2 = await scene.cli([
        "reminders",
        "set",
        "desk",
        "late",
        "From the command.",
        "--in",
        "1",
        "--url",
        server.url,
        "--json"
      ])
      const late = await until(server.client, "late", hasRun)
      const counts = await heard(server.client)
      const proof = { assistant: "desk", id: "proof" }
      const said = await server.client.post(proof, "hello")
      const judged = await judge(server.client, said ? [proof] : [])
      await server.stop()
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
          ok: set2.code === 0 && late?.sent === 1,
          seen: set2.stderr + JSON.stringify(late)
        }
      ]
      return { ...judged, checks }
    }
  }
]
