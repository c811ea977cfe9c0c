// A burst of assistants, and what stays of it in memory when all of them are at rest.

import type { Attack } from "../attack.ts"
import type { Client, Posted } from "../client.ts"
import { judge, pause } from "../judge.ts"
import { residentMegabytes, untilRest } from "../measures.ts"

const AT_ONCE = 50
const REST_SECONDS = 60

const created = async (client: Client, id: string): Promise<boolean> => {
  const init = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ id, definition: "ann" })
  }
  return (await client.status("/v1/assistants", init)) < 300
}

const burst = (name: string, assistants: number, maxMegabytes: number, isShort: boolean): Attack => ({
  name,
  item: 10,
  says: `${assistants.toLocaleString("en")} assistants are created and sent a message each; memory at rest`,
  isShort,
  run: async (scene) => {
    const server = await scene.serve()
    const { client } = server
    await client.post({ assistant: "ann", id: "warm" }, "hello")
    await untilRest(client, 30_000)
    const before = residentMegabytes(server.pid)
    const ids = Array.from({ length: assistants }, (_, index) => `burst-${index}`)
    const posted: Array<Posted> = []
    let most = 0
    for (let at = 0; at < ids.length; at += AT_ONCE) {
      const some = ids.slice(at, at + AT_ONCE).map(async (assistant) => {
        const message = { assistant, id: `to-${assistant}` }
        if ((await created(client, assistant)) && (await client.post(message, "hello"))) posted.push(message)
      })
      await Promise.all(some)
      if (at % 1_000 === 0) most = Math.max(most, residentMegabytes(server.pid))
    }
    const rested = await untilRest(client, 300_000)
    const atOnce = residentMegabytes(server.pid)
    // So long the process has to give back what it does not need.
    let after = atOnce
    for (let waited = 0; waited < REST_SECONDS && after - before > maxMegabytes; waited++) {
      await pause(1_000)
      after = residentMegabytes(server.pid)
    }
    const judged = await judge(client, posted.slice(0, 50))
    await server.stop()
    return {
      ...judged,
      checks: [
        { says: "all were created and sent to", ok: posted.length === assistants, seen: `${posted.length}` },
        { says: "all come to rest", ok: rested !== undefined },
        {
          says: `resident memory at rest is at most ${maxMegabytes} MB more than before`,
          ok: after - before <= maxMegabytes,
          seen: `${before} MB before, ${Math.max(most, atOnce)} MB at most, ${atOnce} MB at the end, ${after} MB at rest`
        }
      ]
    }
  }
})

export const bursts: ReadonlyArray<Attack> = [burst("burst", 10_000, 150, false)]
